#include "platform/energy_machine.h"

#include "platform/config_files.h"

namespace weft {
namespace {

constexpr double kRegisterBytes = 4, kInstructionBits = 64;

energy::Machine::Cache cache_of(const machine::CacheConfig& cache) {
  return {cache.enabled, static_cast<double>(cache.tags.bytes()), static_cast<double>(cache.tags.ways),
          static_cast<double>(cache.tags.line_bytes)};
}

}  // namespace

energy::Machine machine_of(const GpuConfig& config) {
  const auto real = [](std::uint64_t value) { return static_cast<double>(value); };
  const machine::SmConfig& sm = config.sm;
  energy::Machine m;
  m.core_mhz = config.clocks.core_mhz;
  m.chip_mhz = config.clocks.interconnect_mhz;
  m.sms = real(sm.count);
  const std::uint64_t share = config.crossbar.sms_per_interface;
  m.clusters = real((sm.count + share - 1) / share);
  m.lanes = real(sm.arithmetic_lanes());
  m.schedulers = real(sm.schedulers);
  m.register_bytes = real(sm.registers) * kRegisterBytes;
  if (sm.scalarization.separate()) m.scalar_bytes = real(sm.scalarization.registers) * kRegisterBytes;
  m.register_banks = real(config.energy.register_banks);
  m.row_lanes = real(sm.datapath.kind == "temporal" ? sm.datapath.lane_width : sm.simd_width);
  m.lanes_apart = config.energy.register_lanes == energy::RegisterLanes::kApart;
  m.fetch_bits = real(sm.fetch_width) * kInstructionBits;
  m.buffer_bytes = real(sm.max_warps * sm.instruction_buffer) * kInstructionBits / 8;
  m.unified_l1 = sm.unified_l1.on();
  m.shared_bytes = real(m.unified_l1 ? sm.unified_l1.bytes : sm.shared_bytes);
  m.shared_banks = real(sm.shared_memory.banks);
  m.bank_bits = real(sm.shared_memory.bank_bytes * 8);
  m.block_bytes = real(sm.coalescer.block_bytes);
  m.stores_update = sm.l1d.write_hit == machine::WriteHit::kUpdate;
  m.l1i = cache_of(sm.l1i);
  m.l1d = cache_of(sm.l1d);
  m.l1d_fetch_bytes = real(sm.l1d.unit_bytes());
  m.l1c = cache_of(sm.l1c);
  m.l1t = cache_of(sm.l1t);
  m.flit_bits = real(config.crossbar.flit_bytes * 8);
  if (config.l2.enabled) {
    const auto& tags = config.l2.bank.tags;
    m.l2_banks = real(config.dram.map.channels * config.dram.map.l2_banks);
    m.l2 = {true, real(tags.sets * tags.ways * tags.line_bytes), real(tags.ways), real(tags.line_bytes)};
    m.l2_fetch_bytes = real(config.l2.bank.unit_bytes());
  }
  if (!config.carve_out.enabled) {
    const std::uint64_t devices = config.dram.channel.scheduler.timing.devices;
    m.dram_devices = real(config.dram.map.channels * devices);
    m.row_kilobytes = real(config.dram.map.row_bytes) / 1024;
  }
  return m;
}

energy::Technology technology_of(const energy::Config& config) {
  return energy::Technology::read(config_path(config.technology, "technology", "energy.technology"),
                                  config.node_nm);
}

}  // namespace weft
