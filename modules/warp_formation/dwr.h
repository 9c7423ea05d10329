// Dynamic warp resizing (Lashgar, Baniasadi, Khonsari: Dynamic warp resizing: analysis and benefits in high-
// performance SIMT, ICCD 2012).
//
// Sub-warps as wide as the SIMD group (or wider), each with a reconvergence stack of its own, run apart.
// Before a load or store of global or local memory (a LAT, large-warp-intensive instruction) the partners of
// a group wait for each other, at the LAT barrier; those that then stand at the same PC issue as one large
// warp, whose accesses are coalesced together. A PC at which waiting was in vain goes into the ignore list.
// Each sub-warp of a large issue goes on when its own threads are done.
#ifndef WEFT_WARP_FORMATION_DWR_H
#define WEFT_WARP_FORMATION_DWR_H

#include <map>
#include <string>
#include <vector>

#include "common/ring.h"
#include "warp_formation/dwr_options.h"
#include "warp_formation/pc_table.h"
#include "warp_formation/sbr_warp.h"
#include "weft/warp_formation/scheduling.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {

class Dwr final : public WarpFormation {
 public:
  Dwr(const DwrOptions& options, const Config& config, const Geometry& geometry);

  void attach(const ptx::Program& program, const SmView& sm) override;
  bool can_launch(const Block& block) const override;
  void launch(const Block& block) override;
  void retire(const Block& block) override;
  void reset() override;

  void advance(Cycle now) override;
  Stall pick(unsigned scheduler, Issue& issue) override;
  void issued(IssueId id, const Issue& issue) override;
  void memory_issued(IssueId id) override;
  void resolved(IssueId id, Outcomes outcomes) override;
  std::uint32_t waiting_to_exit(std::uint16_t slot) const override;
  std::uint32_t ending(unsigned chunk) const override;
  std::uint32_t held_back(unsigned chunk, const std::uint32_t* standing) const override;
  void barrier_released(std::uint16_t slot, unsigned barrier) override;
  void warp_sync_released(Groups threads) override;
  bool keeps_warps() const override { return width_ % kChunk == 0; }

  Census census() const override;
  Cycle next_event(Cycle now) const override;
  ContextTable& contexts() override { return table_; }
  unsigned ready_warps() const override;
  void bind(statistics::Group& group) override;
  storage::Arrays arrays(std::uint64_t stack_entries) const override;
  std::string dump() const override;
  bool can_be_kept() const override { return true; }
  void archive(Archive& archive) override;

 private:
  static constexpr unsigned kLatBarrier =
      0;  // of Census::own: waits before a large-warp-intensive instruction

  // Partners, bit i: sub-warp i of the group.
  using Partners = std::uint64_t;

  // Where a sub-warp is with respect to the LAT barrier.
  enum class AtLat : std::uint8_t { kNo, kExecuting, kLocked, kCombineReady };

  // A context. If it may be issued, `groups` are the threads of all that issue with it.
  struct SubWarp : SbrWarp {
    explicit SubWarp(unsigned size) : SbrWarp(size) {}
    bool held = false;  // its number is taken until its block retires (`partners=id`)
    AtLat at_lat = AtLat::kNo;
    bool learns = false;        // is at a LAT that nobody has detected yet
    std::uint64_t members = 1;  // that issue with it; bit i: context + i
    Cycle locked_since = 0;
  };
  // An entry of the partner-synch table, and what the hardware reads from the scheduler's status bits.
  struct Group {
    bool valid = false;
    ptx::Pc pc = ptx::kNoPc;
    Partners lock = 0;
    Cycle since = 0;                 // when it became valid
    Partners absent = ~Partners{0};  // exited, or never there
    Partners parked = 0;             // at a block barrier, or a warp-level primitive
    unsigned live = 0;
    void archive(Archive& archive) {
      auto& [valid_, pc_, lock_, since_, absent_, parked_, live_] = *this;
      archive(at_rest(valid_), pc_, lock_, since_, absent_, parked_, at_rest(live_));
    }
  };
  struct Scheduler : WaitingWarps {  // sub-warps
    Scheduler(const CommonConfig& config, unsigned contexts) : policy(config, contexts), slots(contexts) {}
    WarpScheduler policy;
    ContextSet eligible, far;
    Ring<std::uint16_t> slots;  // LAT barriers that wait for their issue slot (`real`)
    unsigned at_lat = 0;        // sub-warps
    void archive(Archive& archive) {
      archive_none(archive);
      archive(policy, at_rest(eligible), far, at_rest(slots), at_rest(at_lat));
    }
  };
  // An instruction in flight: its sub-warps that are not done, bit i: context + i.
  struct Flight {
    std::uint16_t context = 0;
    std::uint64_t members = 0;
  };
  struct Barrier {
    std::uint16_t context = 0;
    Cycle due = 0;
  };
  // Of a kernel, over all its launches.
  struct KernelLats {
    std::uint64_t lats = 0;
    ptx::Pc first = 0;          // its PCs in an ignore list that outlives it begin here
    std::vector<bool> ignored;  // by PC: ever in the ignore list
    void archive(Archive& archive) {
      auto& [lats_, ignored_, first_] = *this;
      archive(lats_, ignored_, first_);
    }
  };
  struct Statistics {
    std::uint64_t lat_barriers = 0, lat_slots = 0, lat_wait_cycles = 0, lat_timeouts = 0;
    TableAccesses partner_synch, ignore_list, lat_table;
    std::uint64_t ilt_hits = 0, ilt_inserts = 0, ilt_evictions = 0, ilt_releases = 0;
    std::uint64_t lats_missed = 0, lats_detected = 0, lat_table_evictions = 0;
    std::uint64_t large_issues = 0, large_sub_warps = 0;
  };

  unsigned sub_warps_of(const Block& block) const { return (block.threads + width_ - 1) / width_; }
  Scheduler& scheduler_of(unsigned context) { return schedulers_[context / partners_ % schedulers_.size()]; }
  Group& group_of(unsigned context) { return groups_[context / partners_]; }
  Partners bit_of(unsigned context) const { return Partners{1} << (context % partners_); }
  std::uint32_t threads_of(const SubWarp& warp) const { return warp.stack.top().mask.words[0] << warp.shift; }
  static bool stands(const SubWarp& warp) { return warp.at_barrier || warp.at_sync; }
  static unsigned lowest(std::uint64_t bits) { return static_cast<unsigned>(__builtin_ctzll(bits)); }
  bool is_lat(const ptx::Instruction& in) const;
  void clear();

  void start(unsigned context, const Block& block, unsigned number);
  void split(const Outcome& outcome);
  void land(unsigned context);
  void commit_together(unsigned context, const Outcome& outcome);
  void commit(unsigned context);
  void offer(unsigned context);
  void park(unsigned context);
  void unpark(unsigned context);
  void end(unsigned context);

  bool known(unsigned context);
  void learn(ptx::Pc pc);
  void execute_barrier(unsigned context);
  bool passes_ignored(unsigned context);
  void go_past(unsigned context);
  ptx::Pc key_of(ptx::Pc pc) const { return kernel_->first + pc; }
  void ignore(ptx::Pc pc);
  void reconsider(Group& group);
  void end_long_waits();
  void release(Group& group);
  void combine(unsigned leader, Partners members);

  const CommonConfig config_;
  const DwrOptions options_;
  const StackRules rules_;
  const Geometry geometry_;
  const unsigned width_;     // threads of a sub-warp
  const unsigned rows_;      // ... their beats on the lanes
  const unsigned partners_;  // sub-warps of a group
  const unsigned most_;      // resident sub-warps
  const ptx::Program* program_ = nullptr;
  const SmView* sm_ = nullptr;
  std::vector<Group> groups_;
  ContextTable table_;
  std::vector<SubWarp> warps_;
  std::vector<Scheduler> schedulers_;
  std::vector<Flight> flights_;      // by issue id
  std::vector<std::uint16_t> home_;  // context of each `width_` positions
  PcTable ignored_;
  PcTable detected_;                     // `lats=dynamic`: PCs that were seen to be LATs
  std::vector<std::uint8_t> lat_;        // by PC: whether it is one
  std::vector<std::uint16_t> fresh_;     // contexts that came to a LAT since the last `advance`
  Ring<Barrier> executing_;              // LAT barriers in their pipeline
  std::vector<std::uint16_t> released_;  // contexts that a LAT barrier let go since the last `advance`
  unsigned live_ = 0, held_ = 0;         // sub-warps
  bool slot_taken_ = false;
  Cycle now_ = 0;
  unsigned waiting_groups_ = 0;    // those that are valid
  Cycle next_timeout_ = kNoEvent;  // no time-out of theirs comes before
  std::map<std::string, KernelLats> kernels_;
  KernelLats* kernel_ = nullptr;
  ptx::Pc next_first_ = 0;
  StackStatistics stack_statistics_;
  Statistics statistics_;
};

}  // namespace weft::warp_formation

#endif
