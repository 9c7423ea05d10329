#include "sm/shared_banks.h"

#include <algorithm>

namespace weft::sm {

SharedBanks::SharedBanks(const Config::SharedMemory& config, unsigned pass_threads)
    : banks_(static_cast<std::uint32_t>(config.banks)),
      word_shift_(config.bank_bytes == 8 ? 3 : 2),
      pass_threads_(pass_threads),
      words_(config.banks * kMostWords),
      counts_(config.banks) {}

std::uint32_t SharedBanks::cycles(const LaneAccess& access) {
  const auto words_per_lane = std::max<std::uint32_t>(1, access.bytes >> word_shift_);
  if (access.low == access.high) return words_per_lane;  // broadcast
  const unsigned pass_lanes =
      std::max<unsigned>(1, std::min<unsigned>(isa::kLanes, pass_threads_) / words_per_lane);
  // Fewer words than banks from the first to the last: no two distinct ones in a bank.
  const bool conflict_free =
      (access.high >> word_shift_) - (access.low >> word_shift_) + words_per_lane <= banks_;
  std::uint32_t cycles = 0;
  for (unsigned from = 0; from < isa::kLanes; from += pass_lanes) {
    const std::uint32_t pass = pass_lanes >= 32 ? UINT32_MAX : ((1u << pass_lanes) - 1) << from;
    std::uint32_t rest = access.mask & pass;
    if (rest == 0) continue;
    if (conflict_free) {
      ++cycles;
      continue;
    }
    std::fill(counts_.begin(), counts_.end(), std::uint8_t{0});
    std::uint32_t worst = 1;
    for (; rest != 0; rest &= rest - 1) {
      const auto word0 = static_cast<std::uint32_t>(
          access.address[static_cast<unsigned>(__builtin_ctz(rest))] >> word_shift_);
      for (std::uint32_t w = word0; w < word0 + words_per_lane; ++w) {
        const std::uint32_t bank = w & (banks_ - 1);
        std::uint32_t* seen = words_.data() + bank * kMostWords;
        std::uint8_t& count = counts_[bank];
        if (std::find(seen, seen + count, w) != seen + count) continue;  // broadcast of one word
        seen[count++] = w;
        worst = std::max<std::uint32_t>(worst, count);
      }
    }
    cycles += worst;
  }
  return cycles;
}

}  // namespace weft::sm
