#include "runtime/occupancy.h"

#include <algorithm>

#include "execute/occupancy.h"

namespace weft::runtime {

const std::shared_ptr<const ptx::Program>& program_for(loader::LoadedModule& module,
                                                       const std::string& kernel, std::uint64_t threads,
                                                       const GpuConfig& config) {
  const auto& whole = module.program(kernel);
  const std::uint32_t limit =
      execute::registers_to_fit(*whole, threads, config.sm, config.warp_formation.warp_size);
  if (limit == 0) return whole;
  try {
    return module.program(kernel, limit);
  } catch (const InputError&) {
    return whole;  // it cannot do with so few; whoever looks whether it fits says what would help
  }
}

std::uint32_t blocks_per_sm(loader::LoadedModule& module, const std::string& kernel, std::uint32_t threads,
                            std::uint64_t dynamic_shared, const GpuConfig& config) {
  if (threads == 0 || threads > execute::declared_most_threads(*module.program(kernel))) return 0;
  const ptx::Program& program = *program_for(module, kernel, threads, config);
  if (threads > dispatch::kMostThreads[0] || threads > execute::declared_most_threads(program)) return 0;
  const execute::BlockNeeds needs = execute::needs_of(program, threads, dynamic_shared, config.sm);
  return static_cast<std::uint32_t>(
      execute::blocks_that_fit(needs, config.sm, config.warp_formation.warp_size));
}

std::uint32_t most_threads(loader::LoadedModule& module, const std::string& kernel, const GpuConfig& config) {
  const ptx::Program& program = *module.program(kernel);
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
    if (blocks_per_sm(module, kernel, threads, 0, config) != 0) return threads;
  }
  return whole;
}

}  // namespace weft::runtime
