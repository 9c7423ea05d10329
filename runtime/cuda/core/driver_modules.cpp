// Modules and launches of the back-end over the kernel's driver.
#include <algorithm>
#include <cstring>
#include <utility>

#include "execute/kernel.h"
#include "execute/occupancy.h"
#include "runtime/cuda/core/context.h"
#include "runtime/cuda/core/linux_driver.h"
#include "runtime/occupancy.h"
#include "weft/common/error.h"
#include "weft/runtime/device.h"

namespace weft::cuda {
namespace {

constexpr int kLoadWait = 100;  // milliseconds between two looks at whether the program is to end
constexpr std::uint64_t kAlignment = loader::LoadedModule::kAlignment;

std::uint64_t rounded(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

// The GPU gives variables their initial values when it loads a module, at the first kernel of it. This kernel
// is the first, so that what the program writes to variables comes later.
constexpr const char* kFirstKernel = "weft_loads_this_module";
std::string with_first_kernel(const std::string& ptx) {
  return ptx + "\n.visible .entry " + kFirstKernel + "()\n{\nret;\n}\n";
}

[[noreturn]] std::uint64_t refuse_managed(std::uint64_t /*bytes*/) {
  fail(Error::kNotSupported,
       "the module has __managed__ variables, which the GPU's driver cannot show to the host; allowed: "
       "cudaMallocManaged");
}

}  // namespace

// What variables and code take, as the GPU places them: variables first, then each kernel at its first use.
std::uint64_t LinuxDriver::module_bytes(const std::vector<ptx::Module>& parsed) const {
  // For blocks of other sizes the GPU may decode a kernel again, with fewer registers and more code.
  constexpr std::uint64_t kVersions = 4, kFirstKernelBytes = kAlignment;
  std::uint64_t variables = 0, code = 0, functions = 0;
  const auto place = [&](std::uint64_t bytes) {
    variables += rounded(bytes, kAlignment);
    return config_.sm.addresses.device_base;
  };
  const auto write = [](std::uint64_t, const std::vector<std::uint8_t>&) {};
  loader::LoadedModule probe(parsed, place, write, functions, refuse_managed);
  probe.set_options(execute::decode_options(config_.sm));
  for (const std::string& kernel : probe.kernels()) {
    try {
      code += rounded(probe.program(kernel)->code.size() * ptx::kInstructionBytes, kAlignment);
    } catch (const InputError&) {  // NOLINT(bugprone-empty-catch)
      // A kernel that cannot run is refused when the program asks for it.
    }
  }
  return variables + kVersions * code + kFirstKernelBytes;
}

loader::LoadedModule& LinuxDriver::load(const std::string& ptx, const std::string& name,
                                        const loader::LoadedModule::Place& /*place_managed*/,
                                        unsigned max_registers) {
  if (max_registers != 0 && !std::exchange(reported_registers_, true))
    Context::report("CU_JIT_MAX_REGISTERS has no effect with the GPU's driver");
  std::vector<ptx::Module> parsed;
  parsed.push_back(ptx::parse(ptx, name));
  auto module = std::make_unique<Module>();
  const std::uint64_t bytes = module_bytes(parsed);
  try {
    module->memory = std::make_unique<DriverBuffer>(device_.get(), DriverBuffer::Kind::kDevice, bytes);
  } catch (const std::bad_alloc&) {
    throw runtime::OutOfDeviceMemory(
        name + ": no room for a module of " + std::to_string(bytes) + " bytes in device memory", UINT64_MAX);
  }
  const std::string text = with_first_kernel(ptx);
  module->text = std::make_unique<DriverBuffer>(device_.get(), DriverBuffer::Kind::kSystem, text.size());
  std::memcpy(module->text->data(), text.data(), text.size());
  module->text_bytes = text.size();
  std::uint64_t next = module->memory->address();
  const auto place = [&next](std::uint64_t size) {
    return std::exchange(next, next + rounded(size, kAlignment));
  };
  const auto write = [](std::uint64_t, const std::vector<std::uint8_t>&) {};  // the GPU does
  module->loaded =
      std::make_unique<loader::LoadedModule>(std::move(parsed), place, write, next_function_, refuse_managed);
  module->loaded->set_options(execute::decode_options(config_.sm));
  loader::LoadedModule& loaded = *module->loaded;
  Module& kept = *(modules_[&loaded] = std::move(module));
  begin(kept);
  return loaded;
}

void LinuxDriver::begin(Module& module) {
  weft_kernel_dispatch_packet packet{};
  packet.header = WEFT_PACKET_KERNEL_DISPATCH;
  packet.setup = 1;
  for (unsigned d = 0; d < 3; ++d) packet.workgroup_size[d] = packet.grid_size[d] = 1;
  packet.kernel_object = kernel_object(module, kFirstKernel);
  bool done = false;
  DriverWork work;
  work.packets.resize(1);
  std::memcpy(work.packets[0].bytes.data(), &packet, sizeof packet);
  work.done = [&done](const Outcome&) { done = true; };
  queue_of(0).add(std::move(work));
  while (!done && !fault_) {
    if (!progress()) wait(kLoadWait);
  }
  throw_if_faulted();
}

std::uint64_t LinuxDriver::kernel_object(Module& module, const std::string& kernel) {
  std::uint64_t& object = module.kernels[kernel];
  if (object != 0) return object;
  weft_kernel_request request{};
  request.ptx_address = module.text->address();
  request.ptx_bytes = module.text_bytes;
  request.name = kernel.c_str();
  request.memory_address = module.memory->address();
  request.memory_bytes = module.memory->bytes();
  require_done(weft_kernel_create(device_.get(), &request, &object), "kernel " + kernel);
  return object;
}

// Refuses what the GPU would, so that it is this call's error.
DriverWork LinuxDriver::dispatch(Module& module, const Launch& launch) {
  dispatch::Launch checked;
  checked.program = module.loaded->program(launch.kernel);
  checked.grid = launch.grid;
  checked.block = launch.block;
  checked.dynamic_shared = launch.dynamic_shared;
  checked.stack_bytes = std::max<std::uint64_t>(16, rounded(limits_.stack_bytes, 16));
  dispatch::check_block(checked);
  checked.program = runtime::program_for(*module.loaded, launch.kernel, checked.threads_per_block(), config_);
  checked.parameters = runtime::lay_out(launch.arguments, *checked.program);
  dispatch::check(checked);
  if (module.executable.insert(checked.program.get()).second) execute::check_executable(*checked.program);
  execute::occupancy(checked, config_.sm, config_.warp_formation.warp_size);

  weft_kernel_dispatch_packet packet{};
  packet.header = WEFT_PACKET_KERNEL_DISPATCH;
  packet.setup = 3;
  for (unsigned d = 0; d < 3; ++d) {
    const std::uint64_t threads = std::uint64_t{launch.grid[d]} * launch.block[d];
    if (threads > UINT32_MAX) {
      throw InputError("kernel " + launch.kernel, "a grid of " + std::to_string(threads) + " threads in ." +
                                                      "xyz"[d] + "; allowed with the GPU's driver: up to " +
                                                      std::to_string(UINT32_MAX));
    }
    packet.workgroup_size[d] = static_cast<std::uint16_t>(launch.block[d]);
    packet.grid_size[d] = static_cast<std::uint32_t>(threads);
  }
  packet.private_segment_size = static_cast<std::uint32_t>(checked.stack_bytes);
  packet.group_segment_size = static_cast<std::uint32_t>(launch.dynamic_shared);
  packet.kernel_object = kernel_object(module, launch.kernel);
  DriverWork work;
  work.packets.resize(1);
  std::memcpy(work.packets[0].bytes.data(), &packet, sizeof packet);
  work.scratch_bytes = rounded(checked.parameters.size(), WEFT_SCRATCH_ALIGNMENT);
  if (checked.program->local_bytes != 0 || checked.program->recursive)
    work.scratch_bytes += execute::local_area_bytes(checked, config_.sm, config_.warp_formation.warp_size);
  work.parameters = std::move(checked.parameters);
  work.program = checked.program;
  return work;
}

}  // namespace weft::cuda
