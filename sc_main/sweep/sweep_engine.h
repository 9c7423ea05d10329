// Does the runs of a sweep that its store does not have, in processes of their own, on this machine or a
// cluster.
#ifndef WEFT_SC_MAIN_SWEEP_SWEEP_ENGINE_H
#define WEFT_SC_MAIN_SWEEP_SWEEP_ENGINE_H

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "sc_main/sweep/slurm.h"
#include "sc_main/sweep/sweep_plan.h"
#include "sc_main/sweep/sweep_store.h"

namespace weft::cli {

class SweepEngine {
 public:
  // All must outlive it. `folder` takes the results of runs, which stay there if `keep`.
  SweepEngine(const Sweep& sweep, SweepStore& store, std::string folder, bool keep);

  // What is to be done: runs that are not in the store, those that failed if `retry`, all if `again`.
  std::vector<std::size_t> open(bool retry, bool again) const;
  // Does them, so many at a time, and says on standard error how far it is. After an interrupt those that ran
  // are lost, and those that were to come not done. `slurm`: there, not on this machine.
  void run(const std::vector<std::size_t>& open, unsigned parallel, const SlurmOptions* slurm);

 private:
  std::string folder_of(std::size_t run) const;
  SweepResult result_of(std::size_t run, const JobEnd& end) const;
  void say(std::size_t run, const SweepResult& result, const std::vector<std::size_t>& open) const;
  double seconds_left(const std::vector<std::size_t>& open) const;

  const Sweep& sweep_;
  SweepStore& store_;
  const std::string folder_;
  const bool keep_;
  // While they run.
  unsigned parallel_ = 1;
  std::size_t ended_ = 0;
  std::vector<double> expected_;  // seconds per run; negative: nothing is known
  std::vector<bool> done_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace weft::cli

#endif
