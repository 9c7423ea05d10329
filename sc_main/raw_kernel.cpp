#include "sc_main/raw_kernel.h"

#include <algorithm>

#include "common/digest.h"
#include "workloads/host.h"

namespace weft::cli {
namespace {

// What results depend on besides the code; the content of files is added once it is read.
std::string inputs_of(const KernelOptions& kernel) {
  std::string text = "grid " + kernel.grid + ", block " + kernel.block + ", shared " +
                     std::to_string(kernel.shared) + ", arguments";
  for (const std::string& argument : kernel.arguments) text += " " + argument;
  return text;
}

// The content of a buffer, as a digest.
Output output_of(const runtime::Device& device, std::size_t argument, runtime::Address address,
                 std::uint64_t bytes, const std::function<void()>& poll) {
  constexpr std::uint64_t kPart = std::uint64_t{4} << 20;
  std::vector<char> part(std::min(bytes, kPart));
  Digest digest;
  while (digest.bytes() != bytes) {
    const std::uint64_t count = std::min<std::uint64_t>(part.size(), bytes - digest.bytes());
    device.copy_from(part.data(), address + digest.bytes(), count);
    digest.add(part.data(), count);
    poll();
  }
  return {"argument " + std::to_string(argument), bytes, digest.text()};
}

}  // namespace

RawKernel::RawKernel(const KernelOptions& options)
    : options_(options),
      grid_(options.grid_size()),
      block_(options.block_size()),
      raw_(options.raw_arguments()) {
  outcome_.code = workloads::code_of_file(options.ptx[0], options.kernel);
  sources_.push_back({outcome_.code.ptx, outcome_.code.file});
  for (std::size_t i = 1; i < options.ptx.size(); ++i) {
    sources_.push_back({runtime::read_text(options.ptx[i]), options.ptx[i]});
    outcome_.code.ptx += sources_.back().ptx;  // the report's hash is of all of them
    outcome_.code.file += ", " + options.ptx[i];
  }
  outcome_.inputs = inputs_of(options);
}

std::vector<runtime::Address> RawKernel::run(runtime::Device& device, Outcome& result) const {
  auto& module = device.load_modules(sources_);
  result.workload = workloads::kernel_of(module, result.code);
  runtime::Arguments arguments;
  std::vector<runtime::Address> buffers(raw_.size());
  // Room for all of them on the device comes before memory for any of them here.
  for (std::size_t i = 0; i < raw_.size(); ++i) {
    if (raw_[i].buffer) buffers[i] = device.allocate(raw_[i].buffer->bytes);
  }
  for (std::size_t i = 0; i < raw_.size(); ++i) {
    if (!raw_[i].buffer) {
      arguments.add_bytes(raw_[i].value);
      continue;
    }
    const std::vector<std::uint8_t> content =
        content_of(*raw_[i].buffer, "--arg " + std::to_string(i), [&] { device.stop_if_interrupted(); });
    if (!raw_[i].buffer->file.empty())
      result.inputs += ", content " + fnv1a(std::string(content.begin(), content.end()));
    device.copy_to(buffers[i], content.data(), content.size());
    arguments.add(buffers[i]);
  }
  device.launch(module, result.workload, grid_, block_, arguments, options_.shared);
  device.synchronise();
  return buffers;
}

void RawKernel::keep_outputs(const std::vector<runtime::Address>& buffers, runtime::Device& device,
                             Outcome& result) const {
  for (std::size_t i = 0; i < raw_.size(); ++i) {
    if (!raw_[i].buffer) continue;
    result.outputs.push_back(
        output_of(device, i, buffers[i], raw_[i].buffer->bytes, [&] { device.stop_if_interrupted(); }));
  }
}

}  // namespace weft::cli
