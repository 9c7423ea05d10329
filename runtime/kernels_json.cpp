#include "runtime/kernels_json.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "sm/instruction_profile.h"
#include "weft/platform/gpu.h"
#include "weft/runtime/device.h"

namespace weft::runtime {
namespace {

using nlohmann::ordered_json;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 20;

ordered_json text_of_source(const std::string& name, const std::string& folder) {
  namespace fs = std::filesystem;
  for (const fs::path& path : {fs::path(name), fs::path(folder) / name}) {
    std::error_code none;
    if (!fs::is_regular_file(path, none) || fs::file_size(path, none) > kMostBytes) continue;
    std::ifstream in(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (in) return text;
  }
  return nullptr;
}

}  // namespace

std::string kernels_json(const Device& device, const std::string& folder) {
  const sm::InstructionProfile* profile = device.gpu().recordings().profile();
  if (!device.gpu().config().sm.observe.instructions || profile == nullptr) return "";
  ordered_json kernels = ordered_json::array();
  for (const auto& kernel : profile->kernels()) {
    kernels.push_back({{"kernel", kernel.program->name},
                       {"program", kernels.size()},
                       {"threads_per_block", kernel.threads},
                       {"registers_per_thread", kernel.program->registers_per_thread},
                       {"shared_bytes_per_block", kernel.occupancy.shared_per_block},
                       {"blocks_per_sm", kernel.occupancy.blocks},
                       {"limited_by", kernel.occupancy.limit}});
    if (device.gpu().config().sm.unified_l1.on())
      kernels.back()["shared_option_bytes"] = kernel.occupancy.shared_option;
  }
  std::set<std::string> known;
  ordered_json files = ordered_json::array();
  for (const Device::Source& source : device.sources()) {
    if (known.insert(source.file).second)
      files.push_back({{"file", source.file}, {"kind", "ptx"}, {"text", source.ptx}});
  }
  for (const auto& kernel : profile->kernels()) {
    for (const ptx::Instruction& in : kernel.program->code) {
      if (in.source.line == 0 || in.source.file >= kernel.program->files.size()) continue;
      const std::string& name = kernel.program->files[in.source.file];
      if (known.insert(name).second)
        files.push_back({{"file", name}, {"kind", "source"}, {"text", text_of_source(name, folder)}});
    }
  }
  const ordered_json all{{"lanes", device.gpu().totals().lanes}, {"kernels", kernels}, {"files", files}};
  return all.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace weft::runtime
