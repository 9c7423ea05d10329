// What lanes that each run warps of their own did with the cycles of an SM (`sm.observe.lanes`): lanes that
// had warps, lanes whose warps all waited for memory, lanes that waited for the front end, and what each lane
// was issued [ST-SIMT 5.4, 5.6, Table IV, Fig. 6].
//
// Once a step, before the schedulers choose, it looks at every lane and every warp. An SM that sleeps stays
// as that step found it, since it does not sleep after one that issued.
#ifndef WEFT_SM_OBSERVERS_LANE_ACCOUNT_H
#define WEFT_SM_OBSERVERS_LANE_ACCOUNT_H

#include <array>
#include <cstdint>
#include <vector>

#include "sm/sm_observer.h"

namespace weft::sm {

class Sm;

class LaneAccount final : public SmObserver {
 public:
  LaneAccount(const Sm& sm, unsigned lanes) : sm_(sm), lanes_(lanes) {}

  void kernel_started(const KernelStart& start) override;
  void counted(Cycle end) override { bring_to(end); }
  void reset() override;
  void choosing(Cycle now) override;
  void issued(const Issue& issue) override;
  // Loads whose data are far away.
  void accessed(const InFlight& flight, const execute::LaneAccess* accesses, unsigned count) override;
  void arrived(const InFlight& flight, unsigned chunk, std::uint32_t threads) override;
  void stepped(Cycle now, bool issued) override;
  void bind(statistics::Group& sm) override;

 private:
  struct Lane {
    unsigned warps = 0, stalled = 0;  // of the survey
    bool ready = false;               // a warp of it could be issued in this cycle
    std::uint64_t issues = 0, threads = 0, executed = 0;
  };
  void bring_to(Cycle now);
  void begin_survey(Cycle now, bool holds_block);
  void has_warps(Lane& lane, unsigned count);
  void stalls(Lane& lane);
  void look_at(const warp_formation::Issue& offer, unsigned domain, Cycle now);
  unsigned lane_for(unsigned own, const execute::Operation& op, Cycle now) const;
  bool waits(const execute::Operation& op, const warp_formation::Issue& offer) const;
  std::uint32_t& pending(unsigned chunk, std::uint16_t key) { return pending_[keys_ * chunk + key]; }

  const Sm& sm_;
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
