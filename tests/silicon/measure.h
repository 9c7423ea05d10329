// Latencies of a GPU in cycles of its SMs, by %clock64 around chains of dependent instructions.
//
// A chain of n instructions is timed for two lengths. The difference, divided by the difference of the
// lengths, is the latency without the cost of reading the clock. Each chain runs four times in a kernel and
// the kernel three times; the shortest time counts, so that misses of the instruction cache do not.
#ifndef WEFT_TESTS_SILICON_MEASURE_H
#define WEFT_TESTS_SILICON_MEASURE_H

#include "conformance/machine.h"

namespace weft::test::silicon {

struct Chain {
  std::string name;
  std::string step;           // one step in PTX
  unsigned threads = 1;       // of the one block
  std::string setup = {};     // PTX before it
  std::string target = "%x";  // register that the last step writes
};
// A step takes %x (32 bits) or %p (64 bits) to itself. %y and %z are 1 and 0, but the compiler does not know
// it.
std::vector<Chain> chains();
std::string module_of(const Chain& chain, unsigned steps, const std::string& header);

// Cycles of one step.
double measure(conformance::Machine& machine, const Chain& chain);

// Cycles of one load in a chase of pointers through `bytes`, `stride` bytes apart, after one pass over all.
struct Chase {
  std::string cache;  // operator of the load: "ca" (L1 and L2) or "cg" (L2)
  std::uint64_t bytes = 0, stride = 0;
  double cycles = 0;
};
std::vector<Chase> chase(conformance::Machine& machine, std::uint64_t most_bytes);

// All of them, as JSON.
std::string measurements(conformance::Machine& machine, std::uint64_t most_bytes);

}  // namespace weft::test::silicon

#endif
