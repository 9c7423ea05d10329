#include "soc/interrupt_controller.h"

#include <string>

#include "weft/common/error.h"

namespace weft::soc {
namespace {

std::size_t checked(unsigned sources) {
  if (sources < 1 || sources > InterruptController::kMostSources) {
    throw InputError("interrupt controller",
                     "found " + std::to_string(sources) + " sources; allowed: 1 to 32");
  }
  return sources;
}

}  // namespace

InterruptController::InterruptController(sc_core::sc_module_name name, unsigned count,
                                         const sc_core::sc_time& latency)
    : RegisterDevice(name, latency), sources("source", checked(count)), interrupt("interrupt") {
  SC_METHOD(sample);
  dont_initialize();
  for (auto& source : sources) sensitive << source;
  SC_METHOD(drive);
  sensitive << changed_;
}

void InterruptController::sample() {
  for (unsigned i = 0; i < sources.size(); ++i) {
    const std::uint32_t bit = std::uint32_t{1} << i;
    if (!sources[i].read()) {
      pending_ &= ~bit;
    } else if ((in_service_ & bit) == 0) {
      pending_ |= bit;
    }
  }
  changed_.notify(sc_core::SC_ZERO_TIME);
}

void InterruptController::drive() {
  interrupt.write((pending_ & enable_) != 0);
}

RegisterDevice::Access InterruptController::read(std::uint64_t offset, std::uint32_t& value,
                                                 const sc_core::sc_time&, bool debug) {
  if (offset == kPending) {
    value = pending_;
  } else if (offset == kEnable) {
    value = enable_;
  } else if (offset == kClaim) {
    const std::uint32_t ready = pending_ & enable_;
    value = ready == 0 ? 0 : static_cast<std::uint32_t>(__builtin_ctz(ready)) + 1;
    if (!debug && ready != 0) {
      const std::uint32_t bit = ready & (~ready + 1);
      pending_ &= ~bit;
      in_service_ |= bit;
      changed_.notify(sc_core::SC_ZERO_TIME);
    }
  } else {
    return Access::kNoRegister;
  }
  return Access::kDone;
}

RegisterDevice::Access InterruptController::write(std::uint64_t offset, std::uint32_t value,
                                                  const sc_core::sc_time&) {
  if (offset == kEnable) {
    enable_ = value;
  } else if (offset == kClaim) {
    if (value < 1 || value > sources.size()) return Access::kDone;  // as the PLIC: ignored
    in_service_ &= ~(std::uint32_t{1} << (value - 1));
    sample();
    return Access::kDone;
  } else {
    return offset == kPending ? Access::kNotAllowed : Access::kNoRegister;
  }
  changed_.notify(sc_core::SC_ZERO_TIME);
  return Access::kDone;
}

}  // namespace weft::soc
