// The banks of shared memory: how many cycles an access takes.
#ifndef WEFT_SM_SHARED_BANKS_H
#define WEFT_SM_SHARED_BANKS_H

#include <cstdint>
#include <vector>

#include "sm/executor.h"
#include "sm/sm_config.h"

namespace weft::sm {

class SharedBanks {
 public:
  // `pass_threads`: threads that the load-store unit serves in one pass.
  SharedBanks(const Config::SharedMemory& config, unsigned pass_threads);

  // Cycles that the banks need: in each pass, the most distinct words of one bank. Threads that read the same
  // word share it (broadcast).
  std::uint32_t cycles(const LaneAccess& access);

 private:
  static constexpr unsigned kMostWords = 64;  // of one bank in a pass: 32 lanes of two words

  const std::uint32_t banks_;
  const unsigned word_shift_;
  const unsigned pass_threads_;
  std::vector<std::uint32_t> words_;  // scratch: words seen, kMostWords for each bank
  std::vector<std::uint8_t> counts_;
};

}  // namespace weft::sm

#endif
