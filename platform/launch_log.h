// launches.csv: a row per launch that ran on the SMs.
//
// An SM holds one kernel at a time. What it counts while it does belongs to the launch of that kernel, also
// where launches overlap, and until it turns to another or the GPU is idle. So the rows add up to the
// statistics of the run.
#ifndef WEFT_PLATFORM_LAUNCH_LOG_H
#define WEFT_PLATFORM_LAUNCH_LOG_H

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "dispatch/dispatcher.h"
#include "platform/energy_columns.h"
#include "platform/sm_columns.h"
#include "weft/common/archive.h"

namespace weft {

class LaunchLog {
 public:
  using Number = dispatch::Dispatcher::Number;
  static constexpr std::size_t kMostRows = std::size_t{1} << 18;

  struct Machine {
    std::uint64_t schedulers = 1;  // of an SM
    Beats beats;
    std::uint64_t sms_per_interface = 1;
  };
  // Of the SMs below `root`. Launches beyond `most_rows` share one row, the last. `energy`: nullptr, or what
  // they take is among the columns.
  LaunchLog(const statistics::Group& root, const Machine& machine, EnergyColumns* energy = nullptr,
            std::size_t most_rows = kMostRows);

  void begun(Number number, const dispatch::Launch& launch, Cycle first_cycle);
  // The SM turns to the launch, and has closed its account.
  void assigned(unsigned sm, Number number);
  // A block of the launch came to the SM, or has retired there.
  void block(unsigned sm, Number number, bool came, Cycle now);
  // The launch ended, by itself or not; its SMs have closed their accounts unless another launch still runs.
  void ended(Number number, const dispatch::LaunchOutcome& outcome);
  // The GPU is about to be reset, and forgets what runs.
  void forget();
  // It was: everything counts from 0 again.
  void reset();
  // When no launch runs.
  void archive(Archive& archive);

  std::string csv();

 private:
  struct Row {
    std::string kernel;
    std::uint32_t queue = 0;
    dispatch::Dim3 grid{}, block{};
    Cycle first_cycle = 0, last_cycle = 0, cycles = 0;
    std::string end = "running";
    bool overlapped = false;
    std::uint64_t interface_sm_cycles = 0;
    std::uint64_t launches = 1;
    // Of the kernel's program, summed over the launches of the row: see ptx::Program.
    struct Code {
      std::uint64_t instructions = 0, scalar_instructions = 0;
      std::uint64_t registers = 0, scalars = 0;  // per thread; per warp
      std::uint64_t unscalarized_registers = 0;  // per thread, without scalarization
      void add(const ptx::Program& program);
      void archive(Archive& archive);
    } code;
    statistics::Snapshot values;
    statistics::Snapshot memory;
    // What no SM counted since a launch ended before, in cycles in which one ran.
    statistics::Snapshot chip;
    std::uint64_t chip_cycles = 0;
    void archive(Archive& archive);
  };
  struct PerSm {
    statistics::Columns columns;
    statistics::Snapshot before;
    Row* holder = nullptr;
  };
  struct Running {
    Number number = 0;
    Row* row = nullptr;
    Cycle first_cycle = 0;
    // By network interface: its blocks on the SMs behind it, and since when there are any.
    struct Blocks {
      std::uint64_t count = 0;
      Cycle since = 0;
    };
    std::vector<Blocks> blocks;
  };

  Running& running(Number number);
  void close(Running& launch, std::size_t interface, Cycle now);
  void settle(PerSm& sm);
  void charge_memory(Row& row);
  void charge_chip(Row& row);
  void settle_all();
  void write_energy(std::ostream& out, const Row& row) const;

  const Machine machine_;
  const std::size_t most_rows_;
  std::vector<PerSm> sms_;
  std::deque<Row> rows_;  // in the order in which they began; pointers stay good
  std::vector<Running> running_;
  statistics::Snapshot now_;
  EnergyColumns* const energy_;
  std::size_t sm_events_ = 0;  // the first column that is one
  statistics::Columns memory_columns_;
  statistics::Snapshot memory_before_, memory_now_;
  statistics::Columns chip_columns_;
  statistics::Snapshot chip_before_, chip_now_;
  Cycle charged_until_ = 0;
};

}  // namespace weft

#endif
