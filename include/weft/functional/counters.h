#ifndef WEFT_FUNCTIONAL_COUNTERS_H
#define WEFT_FUNCTIONAL_COUNTERS_H

#include <cstdint>

namespace weft::functional {

// What has been executed without timing since construction or reset.
struct Counters {
  std::uint64_t launches = 0, blocks = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;           // threads of the issue mask, whether or not a guard holds
  std::uint64_t executed_thread_instructions = 0;  // those whose guard holds
};

}  // namespace weft::functional

#endif
