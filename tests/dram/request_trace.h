// Requests in patterns that other simulators of DRAM can replay, and what the scheduler makes of them.
//
// The program `dram_trace` prints a trace, a request per line, and what Weft's scheduler does with it:
//   dram_trace configs/dram/hbm2.json random            cycles, row hits, bus utilisation
//   dram_trace configs/dram/hbm2.json random --refresh  the same with refreshes of all banks
//   dram_trace configs/dram/hbm2.json mixed --drain     the same with writes in a buffer that is drained
//   dram_trace configs/dram/hbm2.json random --print    R|W pseudo-channel group bank row column
// modules/dram/README.md compares its numbers with those of Ramulator 2.
#ifndef WEFT_TESTS_DRAM_REQUEST_TRACE_H
#define WEFT_TESTS_DRAM_REQUEST_TRACE_H

#include <cstdint>
#include <string>
#include <vector>

#include "weft/dram/standard.h"

namespace weft::dram {

// Of one burst each. Banks are numbered within their group.
struct TracedRequest {
  bool write = false;
  unsigned pseudo_channel = 0, group = 0, bank = 0;
  std::uint64_t row = 0;
  unsigned column = 0;  // in bursts
};

// Ramulator 2's: 64 places for writes, drained from 80 % down to 20 %.
inline WriteDrain write_drain_of_the_comparison() {
  return {64, 51, 13};
}

// A file of configs/dram, with or without its refreshes.
Standard standard_of(const std::string& path, bool refreshes);

// `sequential`: consecutive bursts go round the pseudo-channels and bank groups, then the columns of a row.
// `random`: reads of random banks, rows and columns. `strided`: four streams of reads with a stride of five
// bursts take turns; their rows lie in the same banks. `writes`: the same with writes. `mixed`: the fourth
// stream writes.
std::vector<std::string> pattern_names();
std::vector<TracedRequest> trace_of(const Standard& standard, const std::string& pattern,
                                    std::size_t requests);

struct Replay {
  std::uint64_t cycles = 0;  // from the first request to the last data
  std::uint64_t row_hits = 0, row_misses = 0, row_conflicts = 0;
  double hit_share = 0;
  double utilisation = 0;  // of the data buses
};
// A request is offered per cycle; up to 64 wait.
Replay replay(const Standard& standard, const std::vector<TracedRequest>& trace);

}  // namespace weft::dram

#endif
