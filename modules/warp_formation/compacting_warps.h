// What the schemes with thread block compaction share: blocks with a reconvergence stack each, whose top
// entry's threads are compacted into warps.
//
// All warps of a block's top entry run up to the next instruction at which their threads may part, or to the
// entry's reconvergence point, and dissolve there; when the last one has, the stack moves and the compactor
// makes the warps of the new top, one per cycle: each takes from every lane the lowest threads that are left.
// With all threads of the block at the top, these are its static warps.
//
// The paper says nothing of threads that wait for others of the block on other paths. Here, when all warps of
// the top entry wait, they dissolve too, and another path runs (tbc_block.h).
//
// A scheme may let a warp pass a branch alone (`passes`). While its threads are on several paths it has a
// stack of its own, above the block's top entry (lone_warp.h).
#ifndef WEFT_WARP_FORMATION_COMPACTING_WARPS_H
#define WEFT_WARP_FORMATION_COMPACTING_WARPS_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/ring.h"
#include "warp_formation/lone_warp.h"
#include "warp_formation/tbc_block.h"
#include "warp_formation/tbc_statistics.h"
#include "warp_formation/tbc_warp.h"
#include "weft/warp_formation/scheduling.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

class CompactingWarps : public WarpFormation {
 public:
  void attach(const ptx::Program& program, const SmView& sm) override;
  bool can_launch(const Block& block) const override {
    return static_warps_ + warps_of(block) <= std::max(1u, geometry_.threads / size_) &&
           free_.size() >= contexts_for(block.threads);
  }
  void launch(const Block& block) override;
  void retire(const Block& block) override;
  void reset() override;

  void advance(Cycle now) override;
  Stall pick(unsigned scheduler, Issue& issue) override;
  void issued(IssueId id, const Issue& issue) override;
  void memory_issued(IssueId id) override;
  void resolved(IssueId id, Outcomes outcomes) override;

  std::uint32_t waiting_to_exit(std::uint16_t slot) const override { return ending(blocks_[slot]).count(); }
  std::uint32_t ending(unsigned chunk) const override;
  std::uint32_t held_back(unsigned chunk, const std::uint32_t* standing) const override;
  void barrier_released(std::uint16_t slot, unsigned barrier) override;
  void warp_sync_released(Groups threads) override;

  unsigned warp_width() const override { return size_; }
  Census census() const override;
  Cycle next_event(Cycle now) const override {
    return compactions_.empty() && questions_ == 0 ? kNoEvent : now + 1;
  }
  ContextTable& contexts() override { return table_; }
  unsigned ready_warps() const override;
  storage::Arrays arrays(std::uint64_t stack_entries) const override;
  std::string dump() const override;
  // Warps and blocks start anew.
  bool can_be_kept() const override { return true; }
  void archive(Archive& archive) override;

 protected:
  using Warp = TbcWarp;

  // How warps run.
  struct Rules {
    SbrOrder order = SbrOrder::kFallthroughFirst;
    bool likely_key = false;  // the scheme knows likely-convergence points,
    bool likely = false;      // ... and has them
    bool lone = false;        // some warps may pass branches alone
  };
  struct Resident {
    bool live = false;
    bool in_question = false;  // perhaps all its warps wait
    bool stuck = false;        // no path can run
    TbcBlock state;
    std::vector<std::uint16_t> contexts;  // for its warps
    unsigned warps = 0;  // of the top entry that have not dissolved (WCnt), without those that go alone
    unsigned lone_warps = 0;
    std::uint64_t generation = 0;  // of the top entry
  };

  CompactingWarps(const Rules& rules, const CommonConfig& config, const Geometry& geometry);

  // The warp, which belongs to the top entry, has executed an instruction at which threads may part; its
  // record says where they go. False: it dissolves and waits for the others of the entry.
  virtual bool passes(unsigned context) {
    static_cast<void>(context);
    return false;
  }
  // The others of the top entry do not wait for the warp any more: it is none, or goes alone.
  virtual void left(Resident& b, unsigned context) {
    static_cast<void>(b);
    static_cast<void>(context);
  }
  // For `passes`: the warp goes on. If its threads part, the entry does without it until they are together
  // again, or else until the entry reconverges.
  void go_on_alone(unsigned context);
  // Whether the warps of the top entry that have come to a branch wait there for this one, which goes alone.
  bool awaits(const Resident& b, unsigned context) const;
  // Of all parts; `bits`: those of the tables of this scheme alone, of which `meaning` speaks too.
  void bind_shared(statistics::Group& group, const char* meaning, std::function<std::uint64_t()> bits);

  const Warp& warp(unsigned context) const { return warps_[context]; }
  Resident& block_of(unsigned context) { return blocks_[warps_[context].slot]; }
  const TbcStatistics& shared_statistics() const { return statistics_; }
  unsigned contexts_in_use() const { return table_.size(); }
  // Warps with paths of their own, now.
  unsigned lone_warps() const { return lone_warps_; }
  unsigned warp_size() const { return size_; }
  unsigned lanes() const { return lanes_; }
  const Geometry& geometry() const { return geometry_; }

 private:
  struct Scheduler : WaitingWarps {
    Scheduler(const CommonConfig& config, unsigned contexts) : policy(config, contexts) {}
    WarpScheduler policy;
    ContextSet eligible, far;
    void archive(Archive& archive) {
      archive_none(archive);
      archive(policy, at_rest(eligible), far);
    }
  };

  unsigned warps_of(const Block& block) const { return (block.threads + size_ - 1) / size_; }
  // Warps that `threads` threads can be compacted into at most: as many as the static ones; warps of more
  // than 32 threads may be cut short by the groups of an issue (lane_packing.h).
  unsigned contexts_for(unsigned threads) const {
    const unsigned warps = (threads + size_ - 1) / size_;
    return size_ <= kChunk ? warps : warps + (threads + kChunk - 1) / kChunk;
  }
  Scheduler& scheduler_of(unsigned context) { return schedulers_[context % schedulers_.size()]; }
  BlockMask ending(const Resident& b) const;

  void clear();
  void offer(unsigned context, Issue& issue) const;
  void commit(unsigned context);
  void go_on(unsigned context);
  void wait(unsigned context, bool at_barrier);
  void wake(Resident& b);
  void stop_waiting(unsigned context);
  void forget(unsigned context);
  void dissolve(unsigned context);
  void question(Resident& b);
  void decide(Resident& b);
  void next_entry(Resident& b, bool may_leave);
  void compact(Resident& b, unsigned context);
  unsigned free_context(Resident& b);

  void commit_alone(unsigned context);
  void run_alone(unsigned context, bool runs, bool ask = true);
  void end_alone(unsigned context);
  void take_over(unsigned context);
  void look_for_next_entry(Resident& b);
  void choose_alone(Resident& b);

  const CommonConfig config_;
  const Rules options_;
  const StackRules rules_;
  const Geometry geometry_;
  const unsigned size_, lanes_;
  const ptx::Program* program_ = nullptr;
  const SmView* sm_ = nullptr;
  ContextTable table_;
  std::vector<Warp> warps_;       // by context
  std::vector<LoneWarp> lone_;    // by context; empty if no warp goes alone
  std::vector<Resident> blocks_;  // by slot
  std::vector<Scheduler> schedulers_;
  std::vector<std::uint16_t> context_of_;  // by issue id
  ContextSet free_;                        // contexts of no block
  Ring<std::uint16_t> compactions_;        // slots of blocks whose top entry waits for the compactor
  unsigned static_warps_ = 0;              // of the resident blocks
  unsigned questions_ = 0, stuck_ = 0;     // blocks
  unsigned lone_warps_ = 0;
  std::vector<ptx::Pc> likely_;  // by PC of a branch; empty: not asked for
  TbcStatistics statistics_;
};

}  // namespace weft::warp_formation

#endif
