#include "functional/spin_detector.h"

#include <algorithm>
#include <cstring>

namespace weft::functional {

std::uint32_t WriteLog::value_at(std::uintptr_t word) {
  std::uint32_t value = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  std::memcpy(&value, reinterpret_cast<const void*>(word), sizeof value);
  return value;
}

void WriteLog::add(const execute::Executor& executor, const execute::Operation& operation,
                   const execute::ResidentBlock& block) {
  if (operation.instruction->op == ptx::Opcode::kLd) return;
  for (unsigned i = 0; i < executor.access_count() && !overflowed_; ++i) {
    const execute::LaneAccess& access = executor.accesses()[i];
    const std::uint8_t* const base = executor.bytes_of(access.space, block);
    if (base == nullptr) continue;
    for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
      const std::uint64_t address = access.address[static_cast<unsigned>(__builtin_ctz(rest))];
      if (address >= execute::kSystemSpace) continue;
      const auto first = reinterpret_cast<std::uintptr_t>(base + address) & ~std::uintptr_t{3};
      for (std::uint64_t done = 0; done < access.bytes; done += 4) words_.emplace(first + done, 0);
    }
    overflowed_ = words_.size() > kMost;
  }
}

bool WriteLog::read_values() {
  if (overflowed_) return false;
  for (auto& [word, value] : words_) value = value_at(word);
  return true;
}

bool WriteLog::explains(const WriteLog& other) const {
  if (overflowed_ || other.overflowed_) return false;
  const bool known = std::all_of(other.words_.begin(), other.words_.end(),
                                 [this](const auto& entry) { return words_.count(entry.first) != 0; });
  return known && std::all_of(words_.begin(), words_.end(),
                              [](const auto& entry) { return value_at(entry.first) == entry.second; });
}

bool SpinDetector::look(const State& state) {
  switch (phase_) {
    case Phase::kSeek:
      if (snapshot_round_ != 0 && round_ >= next_attempt_ && is_same(state)) {
        period_ = round_ - snapshot_round_;
        until_ = round_ + period_;
        first_.clear();
        phase_ = Phase::kCollect;
        return false;
      }
      if (snapshot_round_ == 0 || round_ >= 2 * snapshot_round_) take(state);
      return false;
    case Phase::kCollect:
      if (round_ < until_) return false;
      if (!is_same(state) || !first_.read_values()) {
        give_up();
        return false;
      }
      until_ += period_;
      second_.clear();
      phase_ = Phase::kConfirm;
      return false;
    case Phase::kConfirm:
      if (round_ < until_) return false;
      if (is_same(state) && first_.explains(second_)) return true;
      give_up();
      return false;
  }
  return false;
}

// Memory is on its way: the next attempt is much later, so that noting stores stays a small part.
void SpinDetector::give_up() {
  phase_ = Phase::kSeek;
  next_attempt_ = 8 * round_;
}

void SpinDetector::take(const State& state) {
  snapshot_round_ = round_;
  snapshot_.warps = state.warps;
  snapshot_.favour_last = state.favour_last;
  snapshot_.live = state.synchroniser.live();
  snapshot_.barriers = state.synchroniser.barriers(0);
  snapshot_.gatherings = state.synchroniser.gatherings().all();
  state.registers.save(snapshot_.registers);
  snapshot_.outside_uses = state.outside_uses;
}

// What differs most likely comes first.
bool SpinDetector::is_same(const State& state) const {
  return snapshot_.outside_uses == state.outside_uses && snapshot_.favour_last == state.favour_last &&
         snapshot_.live == state.synchroniser.live() && snapshot_.warps == state.warps &&
         state.registers.equals(snapshot_.registers) &&
         snapshot_.barriers == state.synchroniser.barriers(0) &&
         snapshot_.gatherings == state.synchroniser.gatherings().all();
}

}  // namespace weft::functional
