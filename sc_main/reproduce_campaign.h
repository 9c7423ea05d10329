// The runs of an experiment, done as far as they are not there yet.
#ifndef WEFT_SC_MAIN_REPRODUCE_CAMPAIGN_H
#define WEFT_SC_MAIN_REPRODUCE_CAMPAIGN_H

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sc_main/planned_run.h"
#include "sc_main/reproduce_experiment.h"
#include "sc_main/reproduce_results.h"

namespace weft::cli {

// CPU seconds of the runs so far, by what was run: they foretell those to come, also of another build or
// another machine file.
class RunSeconds {
 public:
  // As they stand in a folder of results, where they are kept.
  explicit RunSeconds(const std::string& folder);
  std::optional<double> of(const std::string& key) const;
  // The mean of those whose key begins so.
  std::optional<double> like(const std::string& beginning) const;
  void set(const std::string& key, double seconds);

 private:
  const std::string file_;
  std::map<std::string, double> known_;
  bool writable_ = true;
};

// What is the same run in fact (another kernel of the same workload, a setting that is the machine's own, a
// variant that stands in another experiment too) is done once: its folder is named after its configuration.
// Runs that take less time come first.
class Campaign {
 public:
  // Plans the runs, with those of the headline under other settings and for so many `seeds` of the inputs,
  // the sizes' own among them; results go below `folder`/runs. All that is passed must outlive it. Throws
  // InputError for a configuration that is refused.
  Campaign(const Experiment& experiment, const std::string& folder,
           const std::vector<Sensitivity>& sensitivities, std::uint64_t seeds, Reuse reuse,
           RunSeconds& seconds);

  // What is to do, before anything runs.
  struct Outlook {
    std::size_t open = 0, unknown = 0;  // runs to do; those of which nothing is known
    double seconds = 0;                 // of CPU, about, of those to do of which something is
  };
  // Without the runs whose folders are in `counted`, to which it adds its own.
  Outlook outlook(std::set<std::string>& counted) const;
  // CPU seconds that the runs took, and their number, of those not in `counted`.
  Outlook taken(std::set<std::string>& counted) const;

  // Says on standard error what is to do, and what is done. After an interrupt, some runs are not finished.
  void run(std::uint64_t jobs);

  // Of the machine as it is.
  Results results() const { return results_of(0); }
  std::vector<SettingResult> settings(const Rules& rules, bool whole) const;
  // With the inputs of other seeds than the sizes' own.
  std::vector<SeedResult> seeds(const Rules& rules, bool whole) const;
  // How many runs ended with their results verified, and how many there are.
  std::pair<std::size_t, std::size_t> verified() const;
  // Of the runs that other builds made: how many, by build.
  std::map<std::string, std::size_t> other_builds() const;
  // The worst exit code of a run.
  int worst() const;

 private:
  // What is not as in the experiment: a value of the machine, or the seed of the inputs, or nothing.
  struct Change {
    std::string name;                 // for people; empty: nothing
    const Sensitivity* of = nullptr;  // of a value of the machine: `name` is "path=value"
    std::uint64_t seed = 0;
  };
  std::vector<std::string> headline_variants() const;
  // Plans the runs with a change, of all variants or of those needed.
  void add(const Change& change, const std::vector<std::string>* needed = nullptr);
  std::size_t plan(const ExperimentProgram& program, const ExperimentVariant& variant, const Change& change);
  // Where the results of a run lie whose folder of this build would be `own`, if another build made them;
  // else `own`.
  std::string made_before(const PlannedRun& planned, const std::string& own, const std::string& workload);
  Results results_of(std::size_t change) const;
  // CPU seconds that a run of the workload may take, by the experiment.
  std::optional<double> guess(const ExperimentProgram& program) const;
  // ... and that the run may take: as before, else as others of its workload and size, else by the
  // experiment.
  std::optional<double> expected(std::size_t run) const;
  void begins(const std::vector<std::size_t>& open, unsigned parallel);
  void ended(std::size_t run, std::size_t done, std::size_t all);
  double seconds_left() const;

  const Experiment& experiment_;
  const std::string folder_;
  const Reuse reuse_;
  RunSeconds& seconds_;
  // The first is none; and per program and variant the number of the run.
  std::vector<Change> changes_;
  std::vector<std::vector<std::optional<std::size_t>>> places_;
  // Per run.
  std::vector<PlannedRun> runs_;
  std::vector<Row> rows_;
  std::vector<std::string> folders_, keys_, labels_;
  std::vector<std::string> own_folders_;  // that this build would make
  // By workload, the folders of results that are there, by their effective configuration.
  std::map<std::string, std::multimap<std::string, std::string>> there_;
  std::vector<std::string> works_;              // machine, workload and size
  std::vector<std::optional<double>> guesses_;  // seconds that the experiment gives
  // While they run.
  std::vector<std::size_t> open_;
  std::size_t ended_ = 0;
  unsigned parallel_ = 1;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace weft::cli

#endif
