// Stands in for the SM around one warp-formation unit: issues what the scheme offers, resolves it some cycles
// later, counts threads at barriers, lets the threads of a warp of 32 meet at warp-level primitives, and
// checks the contract at every step. Throws ContractError at the first violation.
//
//   Driver driver(program, config, geometry);
//   driver.holds = [](unsigned thread, ptx::Pc pc, unsigned visit) { ... };   // does the thread's guard
//   hold? driver.launch(threads); driver.run(10'000); driver.trace();
#ifndef WEFT_TESTS_WARP_FORMATION_DRIVER_H
#define WEFT_TESTS_WARP_FORMATION_DRIVER_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "weft/ptx/program.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation::test {

class ContractError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One issue: threads are numbered by position.
struct Record {
  Cycle cycle = 0;
  ptx::Pc pc = 0;
  std::uint16_t slot = 0;
  std::vector<unsigned> threads;
  unsigned rows = 0;
  friend bool operator==(const Record& a, const Record& b) {
    return a.cycle == b.cycle && a.pc == b.pc && a.slot == b.slot && a.threads == b.threads &&
           a.rows == b.rows;
  }
};

class Driver final : public SmView {
 public:
  Driver(const ptx::Program& program, const Config& config, const Geometry& geometry);

  // Whether the guard of a guarded instruction holds; `visit` counts the thread's executions of it from 0.
  std::function<bool(unsigned thread, ptx::Pc pc, unsigned visit)> holds;
  // If set and not kNoPc: where the thread goes from here, whatever the instruction is (a branch of many
  // targets).
  std::function<ptx::Pc(unsigned thread, ptx::Pc pc)> jump;
  // Loads come back in parts, after random times of up to so many cycles.
  unsigned memory_latency = 1;
  // Why a scheduler cannot take an issue; by default it always can.
  std::function<Stall(unsigned scheduler, const Issue& issue)> refuse;

  bool can_launch(unsigned threads) const;
  // The block's slot.
  std::uint16_t launch(unsigned threads);
  // One cycle. Returns whether something was issued.
  bool step();
  // Until no thread is live; ContractError with the scheme's dump after `cycles`.
  void run(unsigned cycles);
  void reset();
  // The next kernel, of the same program; no thread is live.
  void attach() { unit_->attach(program_, *this); }
  // Goes on where `other` is, which has no live threads, as a run does that is continued: of the scheme's
  // memory only what it archives comes along. NotAtRest if it does not rest.
  void go_on_from(Driver& other);

  WarpFormation& unit() { return *unit_; }
  unsigned live_threads() const { return live_; }
  Cycle now() const { return now_; }
  const std::vector<Record>& trace() const { return trace_; }
  const std::map<std::pair<unsigned, ptx::Pc>, unsigned>& visits() const { return visits_; }
  // The value of one of the scheme's statistics, by the last part of its name.
  double statistic(const std::string& name) const;
  // All of them.
  std::string statistics() const;

  Stall ready(unsigned scheduler, const Issue& issue) const override;
  Stall ready_beside(unsigned scheduler, const Issue& issue) const override;

 private:
  enum class State : std::uint8_t { kAbsent, kIdle, kInFlight, kAtBarrier, kAtSync };
  struct Thread {
    State state = State::kAbsent;
    ptx::Pc pc = 0;
    std::uint16_t slot = 0;
  };
  struct Slot {
    bool live = false;
    Block block;
    unsigned live_threads = 0, arrived = 0;
  };
  struct Part {
    Cycle due = 0;
    IssueId id = 0;
    bool last = false;
    ptx::Pc pc = 0;
    std::vector<ThreadGroup> groups;
  };

  template <class Visit>
  void each_place(const Issue& issue, Visit&& visit) const;
  void take(unsigned scheduler, const Issue& issue);
  void complete(const Part& part);
  void check_issue(const Issue& issue) const;
  void check_census() const;
  void release_barriers(std::uint16_t slot);
  void release_syncs(std::uint16_t slot);
  [[noreturn]] void violated(const std::string& what) const;

  const ptx::Program& program_;
  const Geometry geometry_;
  std::unique_ptr<WarpFormation> unit_;
  statistics::Group tree_;
  std::vector<Thread> threads_;  // by position
  std::vector<Slot> slots_;
  unsigned slot_chunks_ = 0;
  std::vector<Part> parts_;  // in order of their issue
  std::vector<bool> begun_;  // by row and lane: taken by what the scheduler has begun in this cycle
  std::vector<IssueId> free_ids_;
  std::vector<Record> trace_;
  std::map<std::pair<unsigned, ptx::Pc>, unsigned> visits_;
  std::mt19937_64 random_{1};
  unsigned live_ = 0;
  Cycle now_ = 0;
};

}  // namespace weft::warp_formation::test

#endif
