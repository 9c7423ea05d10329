// samples.csv: what each SM did in every interval of N core cycles.
//
// Stepped last in the core domain, at the last edge of each interval in which a launch runs; it only reads.
// SMs that sleep have not counted their cycles yet and are told to (`sm::Sm::settle`), so the rows are the
// same with and without sleeping, and they add up to the statistics of the run.
#ifndef WEFT_PLATFORM_SAMPLER_H
#define WEFT_PLATFORM_SAMPLER_H

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "bus/clock_domain.h"
#include "platform/energy_columns.h"
#include "platform/sm_columns.h"
#include "sm/sm.h"
#include "weft/common/archive.h"

namespace weft {

class Sampler final : public Clocked {
 public:
  // What it looks at; outlives it.
  struct Parts {
    ClockDomain& core;
    std::deque<sm::Sm>& sms;
    const statistics::Group& root;
    std::uint64_t schedulers;
    Beats beats;
    std::function<bool()> active;           // a launch runs
    EnergyColumns* energy;                  // nullptr: not asked for
    std::function<std::uint64_t()> cycles;  // in which a launch ran
  };

  // Registers itself with the core clock: create it after all other parts and before the simulation starts.
  // Were there more than `most_rows` rows, pairs of intervals become one, from the beginning on.
  Sampler(Parts parts, Cycle interval, std::size_t most_rows);

  // A launch begins at edge `now`, and none ran.
  void begun(Cycle now);
  // The row of an interval that has not ended, of what is counted by now; its rest adds to it.
  void finish();
  // The GPU was reset, after `finish`: everything counts from 0 again.
  void reset();
  Cycle step(Cycle now) override;
  void archive(Archive& archive);

  Cycle interval() const { return interval_; }
  std::string csv() const;
  // power.csv: the whole GPU in every interval; empty without energy.
  std::string power() const;

 private:
  // The gauges of one name of an SM, such as those of its scheduler domains.
  struct Gauge {
    std::string name;
    std::vector<const statistics::Entry*> entries;
  };
  struct PerSm {
    statistics::Columns columns;
    std::vector<Gauge> gauges;
    statistics::Snapshot before;
  };
  // Cells of a row: interval, SM, columns, gauges.
  enum Cell : std::size_t { kInterval, kSm, kFirstColumn };

  static std::vector<Gauge> gauges_of(const statistics::Group& sm);
  Cycle interval_of(Cycle edge) const { return (edge - 1) / interval_; }
  std::size_t rows() const { return cells_.size() / width_; }
  void record();
  void record(unsigned sm);
  void record_chip();
  double watts(double picojoules, std::uint64_t cycles) const;
  bool has_chip() const { return parts_.energy != nullptr; }
  // Instead of an SM's number, in rows of what is not of one: cycles, then events.
  std::uint64_t chip() const { return sms_.size(); }
  void add(const std::vector<std::uint64_t>& row);
  void open(Cycle edge);
  void merge_pairs();

  const Parts parts_;
  const std::size_t index_, most_rows_;
  Cycle interval_;
  std::vector<PerSm> sms_;
  std::size_t sm_events_ = 0;  // the first column that is one
  statistics::Columns chip_columns_;
  std::vector<std::uint64_t> chip_before_;  // cycles, events
  std::size_t width_ = 0;                   // cells of a row
  std::vector<std::uint64_t> cells_, row_;
  statistics::Snapshot now_, delta_;
  Cycle current_ = 0;  // the interval that is open
  bool open_ = false;
  Cycle wanted_ = kNever;
};

}  // namespace weft

#endif
