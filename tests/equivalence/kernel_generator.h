// Random PTX kernels whose result does not depend on the order of their threads: every thread stores to slots
// of its own, reads what nobody writes, and adds atomically without looking at the old value. They always
// finish: loops are bounded by counters, and barriers stand only where all threads of a block that have not
// exited come past together; threads may exit anywhere before them, at once or by a branch to the end.
#ifndef WEFT_TESTS_EQUIVALENCE_KERNEL_GENERATOR_H
#define WEFT_TESTS_EQUIVALENCE_KERNEL_GENERATOR_H

#include <cstdint>
#include <string>

#include "equivalence/choices.h"

namespace weft::test {

// k(.u64 slots, .u64 table, .u64 sums): per thread of the grid kSlotWords words of `slots`, kTableWords words
// of `table` that are only read, kSums words of `sums` for atomics.
constexpr std::uint32_t kSlotWords = 8, kTableWords = 256, kSums = 16;
constexpr std::uint32_t kMaxBlock = 128;  // threads of a block, by the size of the shared array

struct RandomKernel {
  std::string text;
  std::uint32_t blocks = 1, threads = 1;  // of its launch; threads of a block
};
RandomKernel random_kernel(Choices& choices);
// The text only; it runs with any number of threads up to kMaxBlock.
std::string random_kernel(std::uint64_t seed);

}  // namespace weft::test

#endif
