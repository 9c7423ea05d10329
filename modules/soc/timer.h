// Simulated time, and an interrupt when it reaches a value.
//
//   0x00  TIME_LO      read only: nanoseconds since the start of the simulation; reading it latches TIME_HI
//   0x04  TIME_HI      read only
//   0x08  COMPARE_LO   the output is high while TIME >= COMPARE; all ones at reset
//   0x0c  COMPARE_HI
#ifndef WEFT_SOC_TIMER_H
#define WEFT_SOC_TIMER_H

#include "soc/register_device.h"

namespace weft::soc {

class Timer : public RegisterDevice {
 public:
  SC_HAS_PROCESS(Timer);
  sc_core::sc_out<bool> interrupt;
  Timer(sc_core::sc_module_name name, const sc_core::sc_time& latency);

 private:
  Access read(std::uint64_t offset, std::uint32_t& value, const sc_core::sc_time& at, bool debug) override;
  Access write(std::uint64_t offset, std::uint32_t value, const sc_core::sc_time& at) override;
  void drive();

  std::uint32_t latched_ = 0;
  std::uint64_t compare_ = ~std::uint64_t{0};
  sc_core::sc_event changed_;
};

}  // namespace weft::soc

#endif
