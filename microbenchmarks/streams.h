// Loops over memory, on one SM and on all of them.
#ifndef WEFT_MICROBENCHMARKS_STREAMS_H
#define WEFT_MICROBENCHMARKS_STREAMS_H

#include <cstdint>
#include <string>

#include "microbenchmarks/bench.h"

namespace weft::microbenchmarks {

// All SMs, full of blocks of so many threads.
inline constexpr unsigned kStreamThreads = 256;
Shape whole_gpu(const Facts& facts);
// Around what each thread of the whole GPU does %number times. The body may use %q0, the thread's number.
std::string whole_gpu_module(const std::string& before_loop, const std::string& body,
                             const std::string& after);
// What the longer launch takes longer: `blocks` blocks with `turns` turns of the loop each.
struct Length {
  unsigned blocks = 1;
  std::uint64_t turns = 1;
};
Bench::Stretch between(Bench& bench, const std::string& text, std::uint64_t buffer, const Length& shorter,
                       const Length& longer, std::uint64_t other);

// Cycles of one turn of a loop on one SM. The body is what each thread of the block does.
inline constexpr unsigned kLoopThreads = 512;
double cycles_of_turn(Bench& bench, const std::string& declarations, const std::string& before_loop,
                      const std::string& body, const std::string& after, std::uint64_t buffer_bytes);

}  // namespace weft::microbenchmarks

#endif
