#include "sm/shared_banks.h"

namespace weft::sm {

using execute::LaneAccess;

SharedBanks::SharedBanks(const machine::SmConfig& config)
    : banks_(static_cast<std::uint32_t>(config.shared_memory.banks)),
      word_shift_(config.shared_memory.bank_bytes == 8 ? 3 : 2),
      pass_threads_(static_cast<unsigned>(config.memory_width)),
      places_(static_cast<unsigned>(config.simd_width), config.home()),
      words_(config.shared_memory.banks * kMostWords),
      counts_(config.shared_memory.banks) {}

void SharedBanks::add_words(const LaneAccess& access, std::uint32_t lanes, std::uint32_t words_per_lane) {
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto word0 =
        static_cast<std::uint32_t>(access.address[static_cast<unsigned>(__builtin_ctz(rest))] >> word_shift_);
    for (std::uint32_t w = word0; w < word0 + words_per_lane; ++w) {
      const std::uint32_t bank = w & (banks_ - 1);
      std::uint32_t* seen = words_.data() + bank * kMostWords;
      std::uint8_t& count = counts_[bank];
      if (std::find(seen, seen + count, w) != seen + count) continue;  // broadcast of one word
      seen[count++] = w;
      worst_ = std::max<std::uint32_t>(worst_, count);
    }
  }
}

std::uint32_t SharedBanks::cycles(const LaneAccess& access) {
  const auto words_per_lane = std::max<std::uint32_t>(1, access.bytes >> word_shift_);
  if (access.low == access.high) return words_per_lane;  // broadcast
  const unsigned lanes = pass_lanes(words_per_lane);
  const bool conflict_free = within_the_banks(access.low, access.high, words_per_lane);
  std::uint32_t cycles = 0;
  for (unsigned from = 0; from < isa::kLanes; from += lanes) {
    const std::uint32_t pass = lanes >= 32 ? UINT32_MAX : ((1u << lanes) - 1) << from;
    const std::uint32_t taking = access.mask & pass;
    if (taking == 0) continue;
    if (conflict_free) {
      ++cycles;
      continue;
    }
    begin_pass();
    add_words(access, taking, words_per_lane);
    cycles += worst_;
  }
  return cycles;
}

// Of the threads without rows of their chunk's own at 32 places from `first` on; 0: there are none.
std::uint32_t SharedBanks::cycles(const LaneAccess* accesses, unsigned count,
                                  const warp_formation::ThreadGroup* groups, unsigned first, bool atomic) {
  // Calls visit(access, threads) for those of each access at `lanes` places from `from` on.
  const auto each = [&](unsigned from, unsigned lanes, auto&& visit) {
    for (unsigned i = 0; i < count; ++i) {
      const LaneAccess& access = accesses[i];
      const warp_formation::ThreadGroup& group = groups[access.group];
      if (access.space != ptx::Space::kShared || group.spread) continue;
      const std::uint32_t taking = access.mask & places_.within(group, from, lanes);
      if (taking != 0) visit(access, taking);
    }
  };
  std::uint32_t threads = 0, words_per_lane = 1;
  std::uint64_t low = UINT64_MAX, high = 0;
  each(first, isa::kLanes, [&](const LaneAccess& access, std::uint32_t taking) {
    threads += count_of(taking);
    words_per_lane = std::max<std::uint32_t>(1, access.bytes >> word_shift_);
    if (taking == access.mask) {
      low = std::min(low, access.low);
      high = std::max(high, access.high);
      return;
    }
    for (std::uint32_t rest = taking; rest != 0; rest &= rest - 1) {
      const std::uint64_t address = access.address[static_cast<unsigned>(__builtin_ctz(rest))];
      low = std::min(low, address);
      high = std::max(high, address);
    }
  });
  if (threads == 0) return 0;
  std::uint32_t cycles = 0;
  if (low == high) {  // broadcast
    cycles = words_per_lane;
  } else {
    const unsigned lanes = pass_lanes(words_per_lane);
    const bool conflict_free = within_the_banks(low, high, words_per_lane);
    for (unsigned from = 0; from < isa::kLanes; from += lanes) {
      begin_pass();
      bool any = false;
      each(first + from, std::min(lanes, isa::kLanes - from),
           [&](const LaneAccess& access, std::uint32_t taking) {
             any = true;
             if (!conflict_free) add_words(access, taking, words_per_lane);
           });
      if (any) cycles += worst_;
    }
  }
  return atomic ? std::max(cycles, threads) : cycles;
}

}  // namespace weft::sm
