// Chains of dependent instructions, for their latency and their throughput.
//
// A chain of n steps is timed for two lengths. The difference of the times, divided by the difference of the
// lengths, is the time of a step without the cost of reading the clock.
#ifndef WEFT_MICROBENCHMARKS_CHAINS_H
#define WEFT_MICROBENCHMARKS_CHAINS_H

#include <cstdint>
#include <string>
#include <vector>

#include "microbenchmarks/bench.h"

namespace weft::microbenchmarks {

// $x, $a, $b (32 bits), $h (16 bits), $p, $q (64 bits), $f, $g (f32, f64) and $c (a predicate) are the
// chain's own registers. A step takes its target to itself.
struct Chain {
  std::string instruction;  // its name; "a + b": a step is both
  std::string step;         // one step in PTX
  std::string target = "$x";
  std::string setup = {};     // PTX before all steps
  unsigned instructions = 1;  // of a step
  // Steps have two guards in turn, which are true. A compiler cannot make one instruction of two such steps.
  bool guarded = false;
  unsigned threads = 32;    // of the one block
  unsigned addresses = 0;   // of an atomic; 0: it is none
  bool throughput = false;  // is measured too
};

std::vector<Chain> chains();
// `count` independent chains of `steps` steps each, side by side.
std::string module_of(const Chain& chain, unsigned count, unsigned steps);
// Cycles of one step of each of the chains in all warps.
double cycles_of_step(Bench& bench, const Chain& chain, unsigned warps, unsigned count,
                      std::uint64_t buffer_bytes = 4096);

}  // namespace weft::microbenchmarks

#endif
