#include "machine/datapath_of.h"

namespace weft::machine {

std::unique_ptr<datapath::Datapath> datapath_of(const SmConfig& config) {
  datapath::Machine machine;
  machine.schedulers = static_cast<unsigned>(config.schedulers);
  machine.slots = static_cast<unsigned>(config.max_blocks);
  machine.warps = static_cast<unsigned>(config.max_warps);
  machine.simd_groups = static_cast<unsigned>(config.simd_groups);
  machine.simd_width = static_cast<unsigned>(config.simd_width);
  machine.sfu_groups = static_cast<unsigned>(config.sfu_groups);
  machine.sfu_width = static_cast<unsigned>(config.sfu_width);
  machine.memory_width = static_cast<unsigned>(config.memory_width);
  machine.home = config.home();
  machine.bind_groups = config.bind_groups;
  machine.shared_port = config.issue_port == IssuePort::kShared;
  machine.pipeline_depth = config.pipeline_depth;
  machine.branch_cycles =
      config.dependence == Dependence::kBarrel ? config.pipeline_depth : config.branch_latency;
  machine.registers = config.registers;
  machine.register_allocation_unit = config.register_allocation_unit;
  machine.scalar_unit = config.scalarization.separate();
  machine.scalar_registers = config.scalarization.registers;
  // Warps of a scheme, which may have other sizes than those of 32 that sub-cores get; it counts its own.
  if (config.sub_cores() > 1) machine.warps = 1u << 16;
  machine.sub_cores = static_cast<unsigned>(config.sub_cores());
  return datapath::create(config.datapath, machine);
}

}  // namespace weft::machine
