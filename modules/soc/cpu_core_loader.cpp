#include "soc/cpu_core_loader.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "common/shared_object.h"
#include "weft/common/error.h"

namespace weft::soc {
namespace {

constexpr const char* kObject = "weft_cpu_cores.so";

std::vector<std::filesystem::path> folders() {
  std::vector<std::filesystem::path> list;
  if (const char* given = std::getenv("WEFT_CPU_CORES")) list.emplace_back(given);
  list.emplace_back(WEFT_CPU_CORE_FOLDER);
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!ignored) list.push_back(program.parent_path() / "../lib/weft");
  return list;
}

}  // namespace

std::unique_ptr<CpuCore> load_cpu_core(const std::string& architecture) {
  std::string tried;
  void* object = nullptr;
  for (const auto& folder : folders()) {
    const auto path = folder / kObject;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      tried += (tried.empty() ? "" : ", ") + path.string();
      continue;
    }
    read_shared_object(path.string());
    object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) throw InputError("host CPU " + architecture, dlerror());
    break;
  }
  if (object == nullptr) {
    throw InputError("host CPU " + architecture,
                     std::string(kObject) + ": core not found (tried " + tried +
                         "); install libunicorn-dev and build Weft again, or use an external CPU");
  }
  using Make = CpuCore* (*)(const char*);
  const auto make = reinterpret_cast<Make>(dlsym(object, "weft_make_cpu_core"));
  if (make == nullptr) throw InputError("host CPU " + architecture, dlerror());
  std::unique_ptr<CpuCore> core(make(architecture.c_str()));
  if (core == nullptr) throw InputError("host CPU", "found \"" + architecture + "\"; allowed: rv64, aarch64");
  return core;
}

}  // namespace weft::soc
