// A clock domain: one process that steps its awake modules in index order.
//
// Edge n lies at round(n / f), never at n times a rounded period, so domains do not drift apart. Domains that
// share an instant run in a fixed order (memory, then interconnect, then core: see `runs_after`). A module
// acts only on inputs that arrived before the edge, and says after each step when it wants the next one;
// `wake` asks for an earlier one. With sleeping off every module is stepped at every edge, and every
// statistic must stay the same.
#ifndef WEFT_BUS_CLOCK_DOMAIN_H
#define WEFT_BUS_CLOCK_DOMAIN_H

#include <cstdint>
#include <limits>
#include <systemc>
#include <vector>

#include "weft/common/archive.h"

namespace weft {

using Cycle = std::uint64_t;
inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

// A part of a clock domain. `now` is the number of the domain's current edge.
class Clocked {
 public:
  virtual ~Clocked() = default;
  // Does the work of edge `now`; returns the next edge at which it has work (> now), or kNever.
  virtual Cycle step(Cycle now) = 0;
};

class ClockDomain : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(ClockDomain);
  // `megahertz` is rounded to a whole number of kilohertz, 1 kHz to 100 GHz; anything else, or a time
  // resolution of SystemC coarser than 1 ps, throws InputError. Every module is first stepped at edge 1.
  ClockDomain(sc_core::sc_module_name name, double megahertz);

  // Order at equal times: this domain's edge comes after `other`'s edge at the same instant.
  void runs_after(ClockDomain& other) { predecessors_.push_back(&other); }
  // Registers a module; the index is the place in the stepping order.
  std::size_t add(Clocked& module);
  void set_sleeping(bool allowed) { sleeping_ = allowed; }
  bool sleeping() const { return sleeping_; }

  // Asks that module `index` be stepped at the first edge after the present instant.
  void wake(std::size_t index);
  // ... or at edge `at`, if that is earlier than what it asked for.
  void wake_at(std::size_t index, Cycle at);

  // Another number than before if module `index` was stepped or woken since, or anything was reset or read:
  // what shows of a module that keeps the contract above stays as it is while this number does.
  std::uint64_t activity(std::size_t index) const { return modules_[index].activity; }

  // The first edge strictly after the present simulated time.
  Cycle next_edge() const;
  // The first edge strictly after `time`: where something that arrives at `time` is acted upon.
  Cycle first_edge_after(const sc_core::sc_time& time) const;
  // The last edge at or before the present simulated time.
  Cycle current_edge() const;
  sc_core::sc_time time_of(Cycle edge) const;
  double megahertz() const { return static_cast<double>(kilohertz_) / 1e3; }
  // Back to the state after construction, keeping the registered modules; edges count on from now.
  void reset();
  // When its modules want their next step. To be read at the simulated time at which it was written.
  // Written from within a step of module `index`: that step and those of the modules behind it at this edge
  // come once more, or for the first time, after reading.
  static constexpr std::size_t kNotStepping = ~std::size_t{0};
  void archive(Archive& archive, std::size_t index = kNotStepping);

 private:
  void start_of_simulation() override;
  void run();
  void schedule();
  std::uint64_t now_picoseconds() const;
  std::uint64_t picoseconds(Cycle edge) const;
  Cycle edge_after(std::uint64_t time) const;  // in picoseconds

  const std::uint64_t kilohertz_;
  const std::uint64_t units_;  // SystemC's time resolution: units per picosecond
  bool sleeping_ = true;
  bool stepping_ = false;
  std::vector<ClockDomain*> predecessors_;
  struct Module {
    Clocked* clocked;
    Cycle due;  // the next edge it wants
    std::uint64_t activity = 0;
  };
  std::vector<Module> modules_;
  Cycle next_ = kNever;             // the edge for which the event is set
  std::uint64_t next_ps_ = kNever;  // ... and its time
  Cycle following_ = 1;             // one past the last edge that ran
  sc_core::sc_event event_;
  // The clock period that was asked for last: most queries fall into the same one and need no division.
  mutable std::uint64_t window_begin_ps_ = 0;
  mutable std::uint64_t window_end_ps_ = 0;
  mutable Cycle window_edge_ = 0;
};

}  // namespace weft

#endif
