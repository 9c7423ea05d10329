// Timings of a DRAM channel, in cycles of its command clock, and what follows from them.
//
// Names as in JEDEC JESD212 (GDDR5 SGRAM), JESD250 (GDDR6) and JESD235 (HBM). The defaults are those of
// GPGPU-Sim's GTX480 configuration. 0 in place of a long (l) or write (wr) timing means: as the short or read
// one.
#ifndef WEFT_DRAM_TIMING_H
#define WEFT_DRAM_TIMING_H

#include <algorithm>
#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"

namespace weft::dram {

struct Timing {
  std::uint64_t rrd = 6;         // activate to activate of another bank (tRRDS)
  std::uint64_t rrdl = 0;        // ... within a bank group
  std::uint64_t faw = 0;         // window of at most four activates; 0: any number
  std::uint64_t rcd = 12;        // activate to read command (tRCDRD)
  std::uint64_t rcdwr = 0;       // activate to write command
  std::uint64_t ras = 28;        // activate to precharge
  std::uint64_t rp = 12;         // precharge to activate
  std::uint64_t rc = 40;         // activate to activate of the same bank
  std::uint64_t cl = 12;         // read command to first data
  std::uint64_t wl = 4;          // write command to first data
  std::uint64_t wr = 12;         // last write data to precharge
  std::uint64_t wtr = 5;         // last write data to read command (tWTRS, tCDLR)
  std::uint64_t wtrl = 0;        // ... within a bank group
  std::uint64_t rtp = 2;         // read command to precharge
  std::uint64_t ccd = 2;         // column command to column command
  std::uint64_t ccdl = 3;        // ... within a bank group
  std::uint64_t turnaround = 2;  // idle data-bus cycles between read data and write data
  std::uint64_t refi = 0;        // refresh interval; 0: no refresh
  std::uint64_t rfc = 0;         // refresh of all banks to activate (tRFCab)
  std::uint64_t rfcpb = 0;       // refresh of one bank to its activate
  std::uint64_t burst_length = 8;
  std::uint64_t beats_per_clock = 4;  // data transfers per command clock: 4 for GDDR5, 2 for double data rate
  std::uint64_t device_bits = 32;
  std::uint64_t devices = 2;

  // All but `devices`.
  void describe(config::Visitor& v);
  void check(const std::string& where) const;

  std::uint64_t burst_bytes() const { return burst_length * device_bits / 8 * devices; }
  // Data-bus cycles of a burst.
  std::uint64_t burst_cycles() const { return (burst_length + beats_per_clock - 1) / beats_per_clock; }
  // Between column commands of one direction.
  std::uint64_t column_gap() const { return std::max(ccd, burst_cycles()); }
  std::uint64_t column_gap_same_group() const { return std::max(ccdl, column_gap()); }
  std::uint64_t write_to_read() const { return wl + burst_cycles() + wtr; }
  std::uint64_t write_to_read_same_group() const {
    return std::max(column_gap_same_group(), wl + burst_cycles() + std::max(wtr, wtrl));
  }
  std::uint64_t activate_gap_same_group() const { return std::max(rrd, rrdl); }
  std::uint64_t activate_to_write() const { return rcdwr == 0 ? rcd : rcdwr; }
  // The write's data may not meet the read's on the bus.
  std::uint64_t read_to_write() const {
    const std::uint64_t bus_free = cl + burst_cycles() + turnaround;
    return std::max(column_gap(), bus_free > wl ? bus_free - wl : 0);
  }
  double peak_bytes_per_cycle() const {
    return static_cast<double>(burst_bytes()) / static_cast<double>(column_gap());
  }
};

}  // namespace weft::dram

#endif
