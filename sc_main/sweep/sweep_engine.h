// Does the runs of a sweep that its store does not have, in processes of their own, on this machine or a
// cluster.
#ifndef WEFT_SC_MAIN_SWEEP_SWEEP_ENGINE_H
#define WEFT_SC_MAIN_SWEEP_SWEEP_ENGINE_H

#include <chrono>
#include <cstddef>
#include <optional>
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

  // What is to be done of these runs: those that are not in the store, those that failed if `retry`, all if
  // `again`; nothing that this engine has done.
  std::vector<std::size_t> open(const std::vector<std::size_t>& runs, bool retry, bool again) const;
  // Does them, so many at a time, and says on standard error how far it is: of `all` runs, behind `what`.
  // After an interrupt those that ran are lost, and those that were to come not done. `slurm`: there, not on
  // this machine.
  void run(const std::vector<std::size_t>& open, std::size_t all, const std::string& what, Parallel parallel,
           const SlurmOptions* slurm);

 private:
  std::string folder_of(std::size_t run) const;
  SweepResult result_of(std::size_t run, const JobEnd& end) const;
  void say(std::size_t run, const SweepResult& result) const;
  double seconds_left() const;

  const Sweep& sweep_;
  SweepStore& store_;
  const std::string folder_;
  const bool keep_;
  std::vector<bool> done_;           // by this engine
  std::vector<std::size_t> points_;  // the first one of each run
  // While they run.
  unsigned parallel_ = 1;
  std::string what_;
  std::size_t all_ = 0, to_do_ = 0, ended_ = 0;
  std::vector<std::optional<double>> expected_;  // seconds per run; nothing is known of others
  double known_seconds_ = 0;                     // of those to do of which something is known ...
  std::size_t unknown_ = 0;                      // ... and how many others there are
  std::chrono::steady_clock::time_point began_;
};

}  // namespace weft::cli

#endif
