// Which virtual registers are live where.
#ifndef WEFT_PTX_LIVENESS_H
#define WEFT_PTX_LIVENESS_H

#include <utility>
#include <vector>

#include "ptx/flow.h"
#include "weft/ptx/limits.h"

namespace weft::ptx {

// By block: registers of the warp that are live for threads of it that stand elsewhere (scalars.h). The block
// writes none of them.
using KeptScalars = std::vector<std::vector<VirtualId>>;

// Calls visit(id) for every virtual register (not special) that the instruction reads, its guard included.
template <class Visit>
void for_each_read(const DraftInstruction& i, Visit visit) {
  for (const VirtualId id : i.src) {
    if (id < kFirstFixed) visit(id);
  }
  if (i.guard != kNoRegister) visit(i.guard);
}
template <class Visit>
void for_each_write(const DraftInstruction& i, Visit visit) {
  for (const VirtualId id : i.dst) {
    if (id < kFirstFixed) visit(id);
  }
}
// A guarded write may leave the old value, so it ends no live range.
inline bool overwrites(const DraftInstruction& i) {
  return i.guard == kNoRegister || i.fresh;
}

// A set of registers as a list with constant-time insertion, removal and lookup.
class LiveSet {
 public:
  explicit LiveSet(std::size_t registers) : place_(registers, kAbsent) {}
  bool insert(VirtualId id) {
    if (place_[id] != kAbsent) return false;
    place_[id] = static_cast<std::uint32_t>(list_.size());
    list_.push_back(id);
    changed_.push_back(id);
    return true;
  }
  bool erase(VirtualId id) {
    const std::uint32_t place = place_[id];
    if (place == kAbsent) return false;
    list_[place] = list_.back();
    place_[list_[place]] = place;
    list_.pop_back();
    place_[id] = kAbsent;
    changed_.push_back(id);
    return true;
  }
  bool contains(VirtualId id) const { return place_[id] != kAbsent; }
  void clear() {
    for (const VirtualId id : list_) place_[id] = kAbsent;
    list_.clear();
    changed_.clear();
  }
  const std::vector<VirtualId>& list() const { return list_; }

 private:
  friend class LiveOut;
  static constexpr std::uint32_t kAbsent = UINT32_MAX;
  std::vector<std::uint32_t> place_;
  std::vector<VirtualId> list_;
  std::vector<VirtualId> changed_, undone_;  // since the end of the block, once for each time
};

// Registers that are live at the end of each block, kept as what differs from the block before: where
// thousands are live across thousands of blocks, few begin or end in each.
class LiveOut {
 public:
  struct Word {
    std::uint64_t bits = 0;
    std::uint32_t group = 0;  // bit i stands for register 64 * group + i of those given
  };
  LiveOut() = default;
  // `ids`: those that are live at the end of some block, ascending; `first`: by block, of `words`; `size`: of
  // all blocks together.
  LiveOut(std::vector<VirtualId> ids, std::vector<std::size_t> first, std::vector<Word> words,
          std::uint64_t size)
      : ids_(std::move(ids)), first_(std::move(first)), words_(std::move(words)), size_(size) {}

  // Makes `live` what is live at the end of `block`, from what its user made of the block before by inserting
  // and erasing, which is undone. Blocks are entered in order, the first with an empty set. insert(id) and
  // erase(id) are what the user does to keep count, and do the same to `live`.
  template <class Insert, class Erase>
  void enter(std::size_t block, LiveSet& live, Insert insert, Erase erase) const {
    const auto toggle = [&](VirtualId id) {
      if (live.contains(id)) {
        erase(id);
      } else {
        insert(id);
      }
    };
    live.undone_.swap(live.changed_);
    for (; !live.undone_.empty(); live.undone_.pop_back()) toggle(live.undone_.back());
    for (std::size_t w = first_[block]; w < first_[block + 1]; ++w) {
      for (std::uint64_t rest = words_[w].bits; rest != 0; rest &= rest - 1)
        toggle(ids_[64 * words_[w].group + static_cast<std::size_t>(__builtin_ctzll(rest))]);
    }
    live.changed_.clear();
  }
  void enter(std::size_t block, LiveSet& live) const {
    enter(block, live, [&](VirtualId id) { live.insert(id); }, [&](VirtualId id) { live.erase(id); });
  }
  std::uint64_t size() const { return size_; }

 private:
  std::vector<VirtualId> ids_;
  std::vector<std::size_t> first_;
  std::vector<Word> words_;
  std::uint64_t size_ = 0;
};

struct Liveness {
  LiveOut live_out;
  std::vector<VirtualId> live_in_at_entry;  // read on some path before any write, ascending
};

// Only registers that are read in a block before it writes them are looked at; all others live inside one
// block, where a backward scan finds them. 64 of them at a time go upwards from where they are read, through
// the blocks where one of them is live and no others. Throws InputError if that takes more than `most` steps.
Liveness find_liveness(const Draft& draft, const FlowGraph& flow, std::uint64_t most = kMaxLiveSteps);

// From what is live after an instruction to what is live before it.
inline void step_back(const DraftInstruction& i, LiveSet& live) {
  if (overwrites(i))
    for_each_write(i, [&](VirtualId id) { live.erase(id); });
  else
    for_each_write(i, [&](VirtualId id) { live.insert(id); });
  for_each_read(i, [&](VirtualId id) { live.insert(id); });
}

}  // namespace weft::ptx

#endif
