// Simulated time as a number of picoseconds, for statistics and for software.
#ifndef WEFT_BUS_PICOSECONDS_H
#define WEFT_BUS_PICOSECONDS_H

#include <cstdint>
#include <systemc>

namespace weft {

// SystemC's time resolution is 1 ps or finer (ClockDomain checks it).
inline std::uint64_t picoseconds(const sc_core::sc_time& time) {
  return time.value() / sc_core::sc_time(1, sc_core::SC_PS).value();
}

inline std::uint64_t now_picoseconds() {
  return picoseconds(sc_core::sc_time_stamp());
}

}  // namespace weft

#endif
