// What the tests of single schemes share: a machine of four lanes, on which masks can be read.
#ifndef WEFT_TESTS_WARP_FORMATION_FOUR_LANES_H
#define WEFT_TESTS_WARP_FORMATION_FOUR_LANES_H

#include <algorithm>
#include <utility>
#include <vector>

#include "warp_formation/driver.h"

namespace weft::warp_formation::test {

using Threads = std::vector<unsigned>;

// One scheduler, two block slots of as many threads as are resident (at least one chunk of 32).
inline Geometry four_lanes(unsigned threads) {
  Geometry geometry;
  geometry.threads = threads;
  geometry.lanes = 4;
  geometry.slots = 2;
  geometry.chunks = 2 * std::max(1u, (threads + kChunk - 1) / kChunk);
  geometry.barrel = true;
  return geometry;
}

// What was issued: (pc, threads), in order.
inline std::vector<std::pair<ptx::Pc, Threads>> issues(const Driver& driver) {
  std::vector<std::pair<ptx::Pc, Threads>> list;
  for (const auto& record : driver.trace()) list.emplace_back(record.pc, record.threads);
  return list;
}

// In which cycles: what ends in a cycle is followed by its next instruction in that cycle, unless the scheme
// takes time.
inline std::vector<Cycle> cycles(const Driver& driver) {
  std::vector<Cycle> list;
  for (const auto& record : driver.trace()) list.push_back(record.cycle);
  return list;
}

// How often an instruction was issued.
inline unsigned issues_of(const Driver& driver, ptx::Pc pc) {
  return static_cast<unsigned>(std::count_if(driver.trace().begin(), driver.trace().end(),
                                             [pc](const Record& record) { return record.pc == pc; }));
}

}  // namespace weft::warp_formation::test

#endif
