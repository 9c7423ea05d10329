// Which program a launch takes, and what a device says of launches before they are made.
#include <algorithm>

#include "execute/occupancy.h"
#include "runtime/device_impl.h"

namespace weft::runtime {

const std::shared_ptr<const ptx::Program>& Device::Impl::program_for(LoadedModule& module,
                                                                     const std::string& kernel,
                                                                     std::uint64_t threads) const {
  const auto& whole = module.program(kernel);
  const std::uint32_t limit = gpu.registers_to_fit(*whole, threads);
  if (limit == 0) return whole;
  try {
    return module.program(kernel, limit);
  } catch (const InputError&) {
    return whole;  // it cannot do with so few; whoever looks whether it fits says what would help
  }
}

std::uint32_t Device::blocks_per_sm(LoadedModule& module, const std::string& kernel, std::uint32_t threads,
                                    std::uint64_t dynamic_shared) {
  dispatch::Launch launch;
  launch.program = module.program(kernel);
  if (threads == 0 || threads > execute::declared_most_threads(*launch.program)) return 0;
  launch.program = impl_->program_for(module, kernel, threads);
  launch.block = {threads, 1, 1};
  launch.dynamic_shared = dynamic_shared;
  return impl_->gpu.blocks_per_sm(launch);
}

std::uint32_t Device::most_threads(LoadedModule& module, const std::string& kernel) {
  const ptx::Program& program = *module.program(kernel);
  const GpuConfig& config = impl_->gpu.config();
  execute::BlockNeeds needs = execute::needs_of(program, 1, 0, config.sm);
  const auto most = [&](std::uint32_t registers) {
    needs.registers_per_thread = registers;
    return std::min(execute::most_threads(needs, config.sm, config.warp_formation.warp_size),
                    static_cast<std::uint32_t>(execute::declared_most_threads(program)));
  };
  const std::uint32_t whole = most(static_cast<std::uint32_t>(needs.registers_per_thread));
  if (config.sm.registers_per_thread != 0) return whole;
  // With as few registers as it can do with.
  for (std::uint32_t registers = ptx::kLeastRegisters; registers < program.registers_per_thread;
       ++registers) {
    const std::uint32_t threads = most(registers);
    if (threads <= whole) break;
    if (blocks_per_sm(module, kernel, threads, 0) != 0) return threads;
  }
  return whole;
}

}  // namespace weft::runtime
