// What the kernels of all measurements share: buffers, modules that are compiled once, and times.
//
// A kernel has four parameters, all .u64: where it writes its times (`out`), a buffer, and two numbers. At
// `out` it finds 1 and 0 as 32-bit words, which no compiler knows: they are the operands that change nothing.
#ifndef WEFT_MICROBENCHMARKS_BENCH_H
#define WEFT_MICROBENCHMARKS_BENCH_H

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "microbenchmarks/machine.h"

namespace weft::microbenchmarks {

// How much is done. A simulated machine needs less, because its times do not vary, and takes longer.
struct Sizes {
  unsigned launches = 1;             // of each kernel; the shortest counts
  std::uint64_t chase_bytes = 0;     // the most that pointers lead through
  std::uint64_t chase_loads = 1024;  // that are timed
  std::uint64_t loop = 32;           // turns of loops over one SM
  std::uint64_t dram_bytes = 0;      // of a stream through DRAM: at least four times the L2
  std::uint64_t l2_bytes = 0;        // of a stream through L2: at most half of it
  std::uint64_t l2_passes = 2;       // over them
  std::uint64_t atomics = 16;        // of each thread
  unsigned launches_in_a_row = 8;    // for the time of a launch
};
Sizes sizes_for(const Facts& facts);

// Where the kernels write, and how often they repeat what they time.
inline constexpr unsigned kTurns = 4, kMostWarps = 32;
inline constexpr std::uint64_t kWarpTimes = 4096, kBlockTimes = 16384;

class Bench {
 public:
  explicit Bench(Machine& machine) : Bench(machine, sizes_for(machine.facts())) {}
  Bench(Machine& machine, const Sizes& sizes);
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Machine& machine() { return machine_; }
  const Facts& facts() const { return machine_.facts(); }
  const Sizes& sizes() const { return sizes_; }
  std::uint64_t out() const { return out_; }
  // At least so large, and zero where nobody has written.
  std::uint64_t buffer(std::uint64_t bytes);
  // Pointers through the first bytes of the buffer, each to the one `stride` bytes on. Kept until the next
  // call with another stride.
  std::uint64_t linked(std::uint64_t bytes, std::uint64_t stride);
  // The module behind the machine's header; the same text is loaded once.
  Machine::Kernel kernel(const std::string& text);

  // One block whose warps each store their times kTurns times. Cycles from the first warp's start to the
  // last one's end, of the best turn; the first turn, which fills caches, does not count.
  double span(Machine::Kernel kernel, const Shape& shape, std::uint64_t buffer, std::uint64_t number = 0,
              std::uint64_t other = 0);
  double span_of_one_launch(Machine::Kernel kernel, const Shape& shape, std::uint64_t buffer,
                            std::uint64_t number, std::uint64_t other);
  // Many blocks that each store an SM and times.
  struct Stretch {
    double seconds = 0;  // by %globaltimer, from the first start to the last end
    double cycles = 0;   // by %clock64, of the SM that took longest
  };
  Stretch stretch(Machine::Kernel kernel, const Shape& shape, std::uint64_t buffer, std::uint64_t number,
                  std::uint64_t other);
  // A stretch that several measurements use.
  std::map<std::string, Stretch>& known_stretches() { return known_stretches_; }

 private:
  Machine& machine_;
  Sizes sizes_;
  std::uint64_t out_ = 0, buffer_ = 0, buffer_bytes_ = 0, linked_bytes_ = 0, stride_ = 0;
  std::unordered_map<std::string, Machine::Kernel> kernels_;
  std::unordered_map<std::string, std::string> refused_;
  std::map<std::string, Stretch> known_stretches_;
};

// Begins a kernel: parameters into %out, %buffer, %number and %other; %thread, %lane, %warp; %y (1) and %z
// (0), and the same as %fy, %fz (f32) and %gy, %gz (f64).
std::string kernel_head(const std::string& before = {}, const std::string& declarations = {});
// Around what each warp times: `TURN:` with a barrier and the first reading of the clock, and the second one
// with its stores, the branch back and the end of the kernel.
std::string turn_begin();
std::string turn_end();
// Stores that never happen, so that `type` `register` (u32, u64, f32, f64) has to be computed.
std::string used(const std::string& type, const std::string& name);

}  // namespace weft::microbenchmarks

#endif
