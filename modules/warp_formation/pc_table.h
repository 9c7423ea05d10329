// A table of PCs. Dynamic warp resizing has two: the ignore list (PCs at whose LAT barrier sub-warps no
// longer wait), and the PCs that were seen to be LATs where they are detected as they run. CAPRI's remembers
// branches.
#ifndef WEFT_WARP_FORMATION_PC_TABLE_H
#define WEFT_WARP_FORMATION_PC_TABLE_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "warp_formation/dwr_options.h"
#include "weft/common/archive.h"
#include "weft/ptx/program.h"

namespace weft::warp_formation {

// Sets and ways of {valid, tag}. The paper does not name the replacement: least recently used.
class PcTable {
 public:
  struct Inserted {
    bool fresh = false;    // it was not there
    bool evicted = false;  // ... and another one made room
    std::size_t index = 0;
  };

  // `entries` = ways x a power of two.
  PcTable(std::uint64_t entries, std::uint64_t ways, IltIndex index = IltIndex::kInstruction)
      : ways_(ways), sets_(entries / ways), scale_(index == IltIndex::kBytePc ? ptx::kInstructionBytes : 1) {
    entries_.resize(entries);
  }

  void clear() {
    for (auto& entry : entries_) entry = Entry();
    clock_ = 0;
  }

  void archive(Archive& archive) { archive(entries_, clock_); }

  bool hit(ptx::Pc pc) { return use(pc) != kNowhere; }
  // Which entry is the PC's, which is the last one used now; or kNowhere.
  static constexpr std::size_t kNowhere = SIZE_MAX;
  std::size_t use(ptx::Pc pc) {
    Entry* entry = find(pc);
    if (entry->pc != pc) return kNowhere;
    entry->used = ++clock_;
    return static_cast<std::size_t>(entry - entries_.data());
  }

  Inserted insert(ptx::Pc pc) {
    Entry* entry = find(pc);
    const Inserted result{entry->pc != pc, entry->pc != pc && entry->pc != ptx::kNoPc,
                          static_cast<std::size_t>(entry - entries_.data())};
    *entry = {pc, ++clock_};
    return result;
  }

  // Calls visit(pc) for each entry, set by set.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.pc != ptx::kNoPc) visit(entry.pc);
    }
  }

  std::size_t entries() const { return entries_.size(); }
  // A valid bit and the PC of 32 bits without those that choose the set [DWR IV.E].
  std::uint64_t bits() const {
    std::uint64_t index_bits = 0;
    while ((std::uint64_t{1} << index_bits) < sets_) ++index_bits;
    return entries_.size() * (1 + 32 - index_bits);
  }

 private:
  struct Entry {
    ptx::Pc pc = ptx::kNoPc;
    std::uint64_t used = 0;  // when last; 0: empty
    void archive(Archive& archive) {
      auto& [pc_, used_] = *this;
      archive(pc_, used_);
    }
  };

  // The entry of this PC, or the one to replace.
  Entry* find(ptx::Pc pc) {
    const std::size_t first = (std::uint64_t{pc} * scale_ & (sets_ - 1)) * ways_;
    Entry* victim = &entries_[first];
    for (std::size_t e = first; e < first + ways_; ++e) {
      if (entries_[e].pc == pc) return &entries_[e];
      if (entries_[e].used < victim->used) victim = &entries_[e];
    }
    return victim;
  }

  const std::uint64_t ways_, sets_, scale_;
  std::vector<Entry> entries_;
  std::uint64_t clock_ = 0;
};

}  // namespace weft::warp_formation

#endif
