// Interrupt controller with up to 32 level-sensitive sources and one output, in the manner of RISC-V's PLIC
// with one context and no priorities: the lowest source goes first.
//
//   0x00  PENDING   read only: bit i is source i, asked for and not claimed
//   0x04  ENABLE    bit i lets source i through
//   0x08  CLAIM     read: number of the source to serve, from 1, which is no longer pending; 0: none.
//                   write: that source has been served and may ask again
//
// A source whose line is still high when it is completed is pending again.
#ifndef WEFT_SOC_INTERRUPT_CONTROLLER_H
#define WEFT_SOC_INTERRUPT_CONTROLLER_H

#include "soc/register_device.h"

namespace weft::soc {

class InterruptController : public RegisterDevice {
 public:
  SC_HAS_PROCESS(InterruptController);
  static constexpr unsigned kMostSources = 32;

  sc_core::sc_vector<sc_core::sc_in<bool>> sources;
  sc_core::sc_out<bool> interrupt;

  // Throws InputError unless there are 1 to 32 sources.
  InterruptController(sc_core::sc_module_name name, unsigned count, const sc_core::sc_time& latency);

 private:
  enum : std::uint64_t { kPending = 0, kEnable = 4, kClaim = 8 };
  Access read(std::uint64_t offset, std::uint32_t& value, const sc_core::sc_time& at, bool debug) override;
  Access write(std::uint64_t offset, std::uint32_t value, const sc_core::sc_time& at) override;
  void sample();
  void drive();

  std::uint32_t pending_ = 0, enable_ = 0, in_service_ = 0;
  sc_core::sc_event changed_;
};

}  // namespace weft::soc

#endif
