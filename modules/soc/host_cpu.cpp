#include "soc/host_cpu.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace weft::soc {

using sc_core::sc_time;

void HostCpu::Config::describe(config::Visitor& v) {
  v.real("mhz", mhz, {0.001, 100'000}, "MHz", "clock");
  v.real("cycles_per_instruction", cycles_per_instruction, {0.01, 1000}, "cycles",
         "time that an instruction takes");
  v.real("quantum_ns", quantum_ns, {1, 1e9}, "ns",
         "how far the CPU may run ahead of the rest of the simulation");
}

HostCpu::HostCpu(sc_core::sc_module_name name, const Config& config, std::unique_ptr<CpuCore> core,
                 std::vector<Range> ranges)
    : sc_module(name),
      socket("socket"),
      interrupt("interrupt"),
      config_(config),
      period_(config.cycles_per_instruction * 1000 / config.mhz, sc_core::SC_NS),
      core_(std::move(core)),
      ranges_(std::move(ranges)),
      keeper_(sc_time(config.quantum_ns, sc_core::SC_NS)) {
  socket.register_invalidate_direct_mem_ptr(this, &HostCpu::invalidate);
  core_->attach(*this);
  SC_THREAD(run);
}

void HostCpu::bind(statistics::Group& group) {
  group.counter("instructions", units::kInstructions, "instructions executed", instructions_);
  group.counter("reads", units::kTransactions, "reads of devices", reads_);
  group.counter("writes", units::kTransactions, "writes to devices", writes_);
  group.counter("sleeps", statistics::Unit("times"), "times that the CPU slept until an interrupt", sleeps_);
  group.counter("asleep_ns", units::kNanoseconds, "simulated time that the CPU slept", asleep_ns_);
  group.counter("slices", statistics::Unit("slices"), "stretches executed without synchronisation", slices_);
}

bool HostCpu::map_directly(const Range& range) {
  payload_.set_command(tlm::TLM_WRITE_COMMAND);
  payload_.set_address(range.base);
  tlm::tlm_dmi granted;
  granted.init();
  if (!socket->get_direct_mem_ptr(payload_, granted) || !granted.is_read_write_allowed()) return false;
  if (granted.get_start_address() > range.base || granted.get_end_address() < range.base + (range.bytes - 1))
    return false;
  core_->map_memory(range.base, range.bytes,
                    granted.get_dmi_ptr() + (range.base - granted.get_start_address()));
  return true;
}

void HostCpu::map_ranges() {
  remap_ = false;
  for (const Range& range : ranges_) {
    if (!range.memory || !map_directly(range)) core_->map_devices(range.base, range.bytes);
  }
}

// Pointers may be void from now on: they are asked for again before the next slice. Invalidation comes from
// others' processes or from within an access to a device, thus between two memory accesses of the core.
void HostCpu::invalidate(sc_dt::uint64, sc_dt::uint64) {
  remap_ = true;
}

// Counts the time of what has been executed since the last time.
void HostCpu::charge() {
  const std::uint64_t executed = core_->executed();
  const std::uint64_t fresh = executed - charged_;
  charged_ = executed;
  instructions_ += fresh;
  keeper_.inc(static_cast<double>(fresh) * period_);
}

void HostCpu::synchronise() {
  keeper_.sync();
  core_->interrupt(interrupt.read());
}

void HostCpu::transact(tlm::tlm_command command, std::uint64_t address, unsigned char* data, unsigned bytes) {
  if (!fault_.empty()) return;
  charge();
  synchronise();
  payload_.set_command(command);
  payload_.set_address(address);
  payload_.set_data_ptr(data);
  payload_.set_data_length(bytes);
  payload_.set_streaming_width(bytes);
  payload_.set_byte_enable_ptr(nullptr);
  payload_.set_dmi_allowed(false);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_time delay = keeper_.get_local_time();
  socket->b_transport(payload_, delay);
  // At least a clock period, in which what the access caused (an interrupt line that falls) becomes visible.
  keeper_.set(std::max(delay, keeper_.get_local_time() + period_));
  synchronise();
  if (remap_) core_->halt_soon();
  if (payload_.is_response_ok()) return;
  char where[80];
  std::snprintf(where, sizeof where,
                "%s of %u bytes at 0x%llx: ", command == tlm::TLM_READ_COMMAND ? "read" : "write", bytes,
                static_cast<unsigned long long>(address));
  stop(where + payload_.get_response_string());
  core_->halt_soon();
}

std::uint64_t HostCpu::read(std::uint64_t address, unsigned bytes) {
  std::uint64_t value = 0;
  ++reads_;
  transact(tlm::TLM_READ_COMMAND, address, reinterpret_cast<unsigned char*>(&value), bytes);
  return value;
}

void HostCpu::write(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  ++writes_;
  transact(tlm::TLM_WRITE_COMMAND, address, reinterpret_cast<unsigned char*>(&value), bytes);
}

void HostCpu::sleep() {
  keeper_.sync();
  if (!interrupt.read()) {
    const std::uint64_t since = sc_core::sc_time_stamp().value();
    ++sleeps_;
    wait(interrupt.posedge_event());
    asleep_ns_ += (sc_core::sc_time_stamp().value() - since) / sc_time(1, sc_core::SC_NS).value();
    keeper_.reset();
  }
}

void HostCpu::stop(const std::string& reason) {
  if (!fault_.empty()) return;
  fault_ = std::string(name()) + ": " + reason;
  faulted_.notify(sc_core::SC_ZERO_TIME);
}

void HostCpu::run() {
  core_->reset(entry_);
  keeper_.reset();
  while (fault_.empty()) {
    if (remap_) map_ranges();
    core_->memory_changed();
    core_->interrupt(interrupt.read());
    const double budget = std::max(1.0, keeper_.left() / period_);
    ++slices_;
    const CpuCore::Stop why = core_->step(static_cast<std::uint64_t>(budget));
    charge();
    if (why == CpuCore::Stop::kFault) {
      keeper_.sync();
      stop(core_->fault());
    } else if (why == CpuCore::Stop::kWaiting) {
      sleep();
    } else if (keeper_.need_sync()) {
      keeper_.sync();
    }
  }
}

}  // namespace weft::soc
