// Does the runs of a plan whose results its store lacks, each in a process of its own, on this machine or a
// cluster (slurm.h). Runs that take less time start first.
//
//   FolderStore store(folder);
//   Executor executor(plan, store, engine, Executor::Repeat::kNone);
//   executor.run();
//   executor.end(0).text();  // "verified"
#ifndef WEFT_STUDY_RUN_EXECUTOR_H
#define WEFT_STUDY_RUN_EXECUTOR_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "study/plan/plan.h"
#include "study/run/processes.h"
#include "study/run/results_folder.h"
#include "study/run/run_store.h"

namespace weft::study {

// Where runs are done, and how many at a time.
struct Engine {
  std::uint64_t jobs = 0;  // 0: as many as this machine has cores, or as Slurm starts
  bool slurm = false;
  std::string submission;  // further options of sbatch, as a shell reads them

  Parallel parallel() const { return parallel_of(jobs); }
  ResultsFolder::Lock lock() const {
    return slurm ? ResultsFolder::Lock::kAlone : ResultsFolder::Lock::kWithRuns;
  }
};

// An estimate of host time, before runs are done or while they are.
struct Outlook {
  std::size_t open = 0;     // runs to do
  std::size_t unknown = 0;  // ... whose time is not known
  double seconds = 0;       // CPU time of the others
};

class Executor {
 public:
  enum class Repeat : std::uint8_t { kNone, kFailed, kAll };  // runs whose results are there
  enum class Lines : std::uint8_t {
    kAll,       // of each run that ended
    kProgress,  // only one on a terminal, which is rewritten
  };

  // Plan and store must outlive it.
  Executor(const Plan& plan, RunStore& store, Engine engine, Repeat repeat, Lines lines = Lines::kAll);

  // Calls `changed` from now on when an end changes.
  void watch(std::function<void()> changed) { changed_ = std::move(changed); }

  // Which of these runs are to be done; none that this executor has done.
  std::vector<std::size_t> open(const std::vector<std::size_t>& runs);
  // What all runs of the plan will take, without those whose folders are in `counted`, to which it adds its
  // own.
  Outlook outlook(std::set<std::string>& counted);
  // What they took, and how many took it, likewise.
  Outlook taken(std::set<std::string>& counted) const;

  // Does all runs of the plan, or those of `runs`, that are to be done. Standard error gets what is to do,
  // behind the plan's name and `what`, and how far it is. After an interrupt, those that ran are lost, and
  // those that were to come are not done. Throws InputError.
  void run();
  void run(const std::vector<std::size_t>& runs, const std::string& what);
  // Does `open`, without an announcement. `before` runs of `all` were there; `what` begins each line.
  void do_open(const std::vector<std::size_t>& open, std::size_t before, std::size_t all,
               const std::string& what);
  void announce(const std::vector<std::size_t>& runs, const std::vector<std::size_t>& open,
                const std::string& what) const;

  const RunEnd& end(std::size_t run) const { return ends_[run]; }
  // How many runs of the plan ended with their results verified.
  std::size_t verified() const;
  // The worst exit code of a run.
  int worst() const;

 private:
  // Does what runs in `open` are compared with, as far as that is not there.
  void do_references(const std::vector<std::size_t>& open);
  using Starts = std::function<void(std::size_t)>;
  using Ends = std::function<void(std::size_t, const Job&, const JobEnd&)>;
  // Does these runs in order; calls with the number of each of them.
  void do_runs(const std::vector<const Run*>& runs, const Starts& starts, const Ends& ends) const;
  std::optional<double> expected(std::size_t run) const;
  Outlook outlook_of(const std::vector<std::size_t>& open) const;
  double seconds_left() const;
  void ended(std::size_t run, const Job& job, const JobEnd& end);
  void say(std::size_t run) const;
  void changed() const {
    if (changed_) changed_();
  }

  const Plan& plan_;
  RunStore& store_;
  const Engine engine_;
  const Repeat repeat_;
  const Lines lines_;
  std::function<void()> changed_;
  std::vector<RunEnd> ends_;          // by run
  std::vector<bool> done_;            // by this executor
  std::set<std::string> references_;  // IDs of those that were looked at
  // While they run.
  std::string what_;
  std::size_t before_ = 0, all_ = 0, to_do_ = 0, ended_ = 0;
  std::vector<std::optional<double>> expected_;  // seconds, by run
  double known_seconds_ = 0;                     // of the runs left whose time is known ...
  std::size_t unknown_ = 0;                      // ... and the number of the others
  std::chrono::steady_clock::time_point began_;
};

}  // namespace weft::study

#endif
