// Which virtual registers are live where.
#ifndef WEFT_PTX_LIVENESS_H
#define WEFT_PTX_LIVENESS_H

#include <vector>

#include "ptx/flow.h"

namespace weft::ptx {

// Registers that are live at the end of each block. Dataflow runs over bit sets of those registers only that
// are read in a block before it writes them; all others live inside one block, where a backward scan finds
// them.
struct Liveness {
  std::vector<std::vector<VirtualId>> live_out;  // by block, ascending
  std::vector<VirtualId> live_in_at_entry;       // read on some path before any write
};
Liveness find_liveness(const Draft& draft, const FlowGraph& flow);

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
    return true;
  }
  bool erase(VirtualId id) {
    const std::uint32_t place = place_[id];
    if (place == kAbsent) return false;
    list_[place] = list_.back();
    place_[list_[place]] = place;
    list_.pop_back();
    place_[id] = kAbsent;
    return true;
  }
  bool contains(VirtualId id) const { return place_[id] != kAbsent; }
  void clear() {
    for (const VirtualId id : list_) place_[id] = kAbsent;
    list_.clear();
  }
  const std::vector<VirtualId>& list() const { return list_; }

 private:
  static constexpr std::uint32_t kAbsent = UINT32_MAX;
  std::vector<std::uint32_t> place_;
  std::vector<VirtualId> list_;
};

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
