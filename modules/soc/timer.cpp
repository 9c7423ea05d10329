#include "soc/timer.h"

namespace weft::soc {
namespace {

std::uint64_t nanoseconds(const sc_core::sc_time& time) {
  static const std::uint64_t unit = sc_core::sc_time(1, sc_core::SC_NS).value();
  return time.value() / unit;
}

}  // namespace

Timer::Timer(sc_core::sc_module_name name, const sc_core::sc_time& latency)
    : RegisterDevice(name, latency), interrupt("interrupt") {
  SC_METHOD(drive);
  sensitive << changed_;
}

void Timer::drive() {
  const std::uint64_t now = nanoseconds(sc_core::sc_time_stamp());
  interrupt.write(now >= compare_);
  if (now >= compare_) return;
  // What lies beyond the end of simulated time never comes.
  const double ahead = static_cast<double>(compare_ - now);
  if (ahead < 1e15) changed_.notify(ahead, sc_core::SC_NS);
}

RegisterDevice::Access Timer::read(std::uint64_t offset, std::uint32_t& value, const sc_core::sc_time& at,
                                   bool debug) {
  const std::uint64_t now = nanoseconds(at);
  switch (offset) {
    case 0x0:
      value = static_cast<std::uint32_t>(now);
      if (!debug) latched_ = static_cast<std::uint32_t>(now >> 32);
      return Access::kDone;
    case 0x4:
      value = latched_;
      return Access::kDone;
    case 0x8:
      value = static_cast<std::uint32_t>(compare_);
      return Access::kDone;
    case 0xc:
      value = static_cast<std::uint32_t>(compare_ >> 32);
      return Access::kDone;
    default:
      return Access::kNoRegister;
  }
}

RegisterDevice::Access Timer::write(std::uint64_t offset, std::uint32_t value, const sc_core::sc_time&) {
  if (offset == 0x8) {
    compare_ = (compare_ & ~std::uint64_t{0xffffffff}) | value;
  } else if (offset == 0xc) {
    compare_ = (compare_ & 0xffffffff) | (std::uint64_t{value} << 32);
  } else {
    return offset < 0x8 ? Access::kNotAllowed : Access::kNoRegister;
  }
  changed_.cancel();
  changed_.notify(sc_core::SC_ZERO_TIME);
  return Access::kDone;
}

}  // namespace weft::soc
