// The part of a timeline that is an SM's: a track per scheduler, warp slot and lane.
//
// A scheduler's slices are the buckets of the statistics (CycleAccount), cycle by cycle. A warp slot has a
// slice for each issue, and between them one for what it waits for; an arrow goes from the issue of a load to
// the return of its last data.
#ifndef WEFT_PLATFORM_SM_TIMELINE_H
#define WEFT_PLATFORM_SM_TIMELINE_H

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sm/observers/slot_waits.h"
#include "sm/sm.h"
#include "sm/sm_observer.h"
#include "vcd/timeline_writer.h"

namespace weft {

// What instructions of a program are called in a timeline.
struct InstructionNames {
  struct Names {
    vcd::TimelineWriter::Name name = 0;
    vcd::TimelineWriter::Place place = 0;  // in the source, or in the PTX
    std::uint32_t ptx_line = 0;
  };
  std::vector<Names> of;  // by PC
};

class SmTimeline final : public sm::SmObserver {
 public:
  using Writer = vcd::TimelineWriter;
  // What all SMs of a timeline share.
  struct Shared {
    // Of slots: those of Stall, and two that only a slot has.
    static constexpr unsigned kStates = warp_formation::kStalls + 2;
    Writer& writer;
    Writer::Category issue = 0, wait = 0, memory = 0, lane = 0;
    Writer::Key pc = 0, ptx_line = 0, threads = 0, executing = 0, slot = 0;
    std::array<Writer::Name, kStates> states{};
    Writer::Name returned = 0;
    std::uint64_t arrows = 0;  // so far
    std::map<const execute::Kernel*, std::shared_ptr<const InstructionNames>> kernels{};

    explicit Shared(Writer& w);
    // Interned when it is first asked for.
    std::shared_ptr<const InstructionNames> names_of(const execute::Kernel& kernel);
    void forget(const execute::Kernel& kernel) { kernels.erase(&kernel); }
  };

  // Tracks of the SM, below `parent`. They outlive it.
  SmTimeline(Shared& shared, sm::Sm& sm, Writer::Track parent);

  // Watches from cycle `first` on, or until cycle `end`.
  void start(Cycle first);
  void stop(Cycle end);

  void kernel_started(const KernelStart& start) override;
  void kernel_finished(Cycle end) override;
  void issued(const Issue& issue) override;
  void resolved(std::uint16_t id, warp_formation::Outcomes outcomes, Cycle now) override;
  void returned(std::uint16_t id, Cycle now) override;
  void barrier_opened(std::uint16_t slot, unsigned barrier) override;
  void gathered(std::uint16_t slot, unsigned chunk, std::uint32_t threads) override;
  void stepped(Cycle now, bool issued) override;

 private:
  using Stall = warp_formation::Stall;
  enum State : std::uint8_t {
    kNothing = sm::SlotWaits::kNobody,
    kCombined = sm::SlotWaits::kReady + 1  // issued with another
  };
  struct Slot {
    Writer::Track track = 0;
    std::uint8_t shown = kNothing;
    unsigned open_issues = 0;  // slices, of the cycle `issued`
    Cycle issued = 0;
  };
  static constexpr unsigned kNoContext = ~0u;
  struct Flight {
    unsigned context = kNoContext;  // its issue was not seen
    std::uint64_t arrow = 0;
  };
  struct Lane {
    Writer::Track track = 0;
    bool open = false;
    Cycle until = 0;
  };

  void begin(const execute::Kernel& kernel);
  void show_states(Cycle now);
  void show(Slot& slot, std::uint8_t state, Cycle now);
  void close_issues(Slot& slot);
  void show_lane(const Issue& issue, const InstructionNames::Names& names);
  void end_all(Cycle end);

  Shared& shared_;
  Writer& writer_;
  sm::Sm& sm_;
  sm::SlotWaits waits_;
  std::shared_ptr<const InstructionNames> names_;  // of the kernel; nullptr: there is none
  std::vector<Writer::Track> schedulers_;
  std::vector<Stall> stalls_;  // shown of the schedulers; kEmpty: nothing
  std::vector<Slot> slots_;
  std::vector<Lane> lanes_;
  std::vector<Flight> flights_;  // by id
};

}  // namespace weft

#endif
