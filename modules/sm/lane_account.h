// What lanes that each run warps of their own did with the cycles of an SM (`sm.observe.lanes`): lanes that
// had warps, lanes whose warps all waited for memory, lanes that waited for the front end, and what each lane
// was issued [ST-SIMT 5.4, 5.6, Table IV, Fig. 6].
//
// Once a step, before the front end issues, the SM looks at every lane and every warp:
//
//   account.begin_survey(now, holds_block);
//   account.warps(lane, count); account.stalled(lane); account.ready(lane);
//   ... the front end issues: account.issued(lane, threads, executing) ...
//   account.count_conflicts();
//
// An SM that sleeps stays as that step found it, since it does not sleep after one that issued.
#ifndef WEFT_SM_LANE_ACCOUNT_H
#define WEFT_SM_LANE_ACCOUNT_H

#include <array>
#include <cstdint>
#include <vector>

#include "bus/clock_domain.h"
#include "execute/access_record.h"
#include "execute/kernel.h"
#include "weft/common/statistics.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

class LaneAccount {
 public:
  // Without lanes it counts nothing.
  explicit LaneAccount(unsigned lanes) : lanes_(lanes) {}
  bool enabled() const { return !lanes_.empty(); }

  // A kernel begins at `now`, of so many chunks of threads: cycles before are nobody's.
  void start(Cycle now, unsigned chunks, const ptx::Program& program);
  // All cycles before `now` were spent as the last survey found.
  void bring_to(Cycle now);
  // As after construction.
  void reset();

  // --- the survey of cycle `now` ---

  void begin_survey(Cycle now, bool holds_block);
  // Warps of the lane that have not exited.
  void warps(unsigned lane, unsigned count);
  // One of them waits for a load.
  void stalled(unsigned lane);
  // It has a warp that could be issued in this cycle.
  void ready(unsigned lane) { lanes_[lane].ready = true; }
  bool has_ready(unsigned lane) const { return lanes_[lane].ready; }

  // --- what the front end did in that cycle ---

  // The lane got an instruction for so many threads, of which the guard holds for some.
  void issued(unsigned lane, unsigned threads, unsigned executing);
  // It issued something: lanes that were ready and got nothing stand by.
  void count_conflicts();

  // --- loads whose data are far away ---

  // The instruction, a load, has made these accesses, of which some are of memory that lies beyond the SM.
  // `warp`: of a scalar one, all positions of its warp, for which the data are.
  void loads(const ptx::Instruction& in, const execute::LaneAccess* accesses, unsigned count,
             std::uint32_t warp);
  void returned(const ptx::Instruction& in, unsigned chunk, std::uint32_t threads);
  // Whether threads of the issue wait for such loads before the operation can be issued.
  bool waits(const execute::Operation& op, const warp_formation::Issue& issue) const;

  void bind(statistics::Group& group);

 private:
  struct Lane {
    unsigned warps = 0, stalled = 0;  // of the survey
    bool ready = false;
    std::uint64_t issues = 0, threads = 0, executed = 0;
  };
  std::uint32_t& pending(unsigned chunk, std::uint16_t key) { return pending_[keys_ * chunk + key]; }

  std::vector<Lane> lanes_;
  // Of the last survey.
  bool holds_block_ = false;
  unsigned static_lanes_ = 0, dynamic_lanes_ = 0, resident_warps_ = 0;
  Cycle until_ = 0;  // cycles before are accounted for
  std::uint64_t cycles_ = 0, static_ = 0, dynamic_ = 0, resident_ = 0;
  std::array<std::uint64_t, 3> conflicts_{};  // with 1, 2, more lanes
  // By chunk and scoreboard key: threads whose register a load from beyond the SM will write.
  std::vector<std::uint32_t> pending_;
  std::size_t keys_ = 0;
};

}  // namespace weft::sm

#endif
