#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/output_files.h"
#include "sc_main/interrupt.h"
#include "sc_main/options.h"
#include "sc_main/report.h"
#include "sc_main/results_folder.h"
#include "sc_main/sweep/sweep_engine.h"
#include "sc_main/sweep/sweep_plan.h"
#include "sc_main/sweep/sweep_store.h"
#include "weft/common/error.h"

namespace weft::cli {
namespace {

struct SweepOptions {
  std::string name, store = "weft-sweep.db", exported, engine = "local", slurm, worker;
  std::uint64_t jobs = 0;
  bool retry = false, again = false, plan = false, keep = false;
};

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// A mistake is found before the runs.
void check_export(const std::string& file) {
  if (file.empty() || ends_with(file, ".csv") || ends_with(file, ".json")) return;
  throw InputError("--export", "found '" + file + "'; allowed: a name that ends in .csv or .json");
}

void check_engine(const SweepOptions& options) {
  if (options.engine != "local" && options.engine != "slurm")
    throw InputError("--engine", "found '" + options.engine + "'; allowed: local, slurm");
  if (!options.slurm.empty() && options.engine != "slurm")
    throw InputError("--slurm", "has a meaning with --engine slurm only");
}

// An element of a job array.
ExitCode work(const std::string& file) {
  const char* const element = std::getenv("SLURM_ARRAY_TASK_ID");
  if (element == nullptr) throw InputError("--worker", "needs SLURM_ARRAY_TASK_ID, which Slurm sets");
  work_for_slurm(file, read_unsigned("SLURM_ARRAY_TASK_ID", element, {0, UINT32_MAX}));
  return interrupted() ? ExitCode::kFault : ExitCode::kDone;
}

ExitCode list_sweeps(const SweepOptions& options) {
  if (!std::filesystem::exists(options.store)) {
    throw InputError("weft sweep", "needs a file or an experiment, or a store to list: there is no " +
                                       options.store + " (--store)");
  }
  for (const auto& sweep : SweepStore(options.store).sweeps()) {
    std::cout << sweep.name << ": " << sweep.done << " of " << sweep.points << " points done";
    if (sweep.failed != 0) std::cout << ", " << sweep.failed << " failed";
    std::cout << "; " << sweep.title << "\n";
  }
  return ExitCode::kDone;
}

void show_plan(const Sweep& sweep, const SweepStore& store) {
  for (const SweepPoint& point : sweep.points) {
    const SweepRun& run = sweep.runs[point.run];
    std::cout << run.id << "  " << store.state_of(run.id).value_or("to do");
    for (std::size_t i = 0; i < sweep.axes.size(); ++i)
      std::cout << "  " << sweep.axes[i] << "=" << point.values[i];
    std::cout << "\n";
  }
}

// False: the file could not be written.
bool write_export(const SweepStore& store, const std::string& sweep, const std::string& file) {
  if (file.empty()) return true;
  const std::string text = ends_with(file, ".csv") ? store.csv(sweep) : text_of(store.json(sweep));
  const std::string elsewhere = save_file(file, text);
  if (!elsewhere.empty()) std::cerr << "weft: " << elsewhere << "\n";
  return elsewhere.empty();
}

// What the points of the sweep came to, and the worst exit code.
ExitCode summary(const Sweep& sweep, const SweepStore& store, const std::string& file) {
  std::size_t done = 0, missing = 0;
  ExitCode worst = ExitCode::kDone;
  for (const SweepRun& run : sweep.runs) {
    const auto state = store.state_of(run.id);
    if (!state.has_value()) {
      ++missing;
      continue;
    }
    if (*state == "done") ++done;
    const ExitCode code = *state == "done"      ? ExitCode::kDone
                          : *state == "wrong"   ? ExitCode::kWrongResult
                          : *state == "refused" ? ExitCode::kBadInput
                                                : ExitCode::kFault;
    worst = std::max(worst, code);
  }
  std::cout << sweep.name << ": " << sweep.points.size() << " points, " << sweep.runs.size()
            << " runs: " << done << " done, " << sweep.runs.size() - done - missing << " failed, " << missing
            << " to do; " << file << "\n";
  return missing != 0 ? ExitCode::kFault : worst;
}

}  // namespace

ExitCode sweep(const Words& words) {
  SweepOptions options;
  Options description("options");
  description
      .text("name", options.name, "FILE|NAME",
            "which sweep: a JSON file, or an experiment; without it, the sweeps of the store are listed")
      .text("store", options.store, "FILE", "SQLite database of runs and what they measured; made if missing")
      .number("jobs", options.jobs, {1, 1024, 1, "runs"}, "runs at a time; as many as cores if not given")
      .text("engine", options.engine, "local|slurm", "where: on this machine, or as job arrays of Slurm")
      .text("slurm", options.slurm, "OPTIONS", "with --engine slurm: further options of sbatch, in one text")
      .text("worker", options.worker, "FILE", "what Slurm starts: a job of the list in this file")
      .flag("retry", options.retry, "repeat runs that failed")
      .flag("again", options.again, "repeat all runs")
      .flag("plan", options.plan, "only print the points, and what is done")
      .flag("keep", options.keep, "keep the results of each run, in STORE.runs/ID")
      .text("export", options.exported, "FILE", "write the points of the sweep as a table, .csv or .json")
      .plugins();
  if (!parse(words, "weft sweep [FILE|NAME] [--store FILE] [--jobs N] [--export FILE]", description, "name"))
    return ExitCode::kDone;
  catch_interrupts();
  if (!options.worker.empty()) return work(options.worker);
  check_export(options.exported);
  check_engine(options);
  if (options.name.empty()) return list_sweeps(options);
  const Sweep sweep = read_sweep(options.name);
  SweepStore store(options.store);
  if (options.plan) {
    show_plan(sweep, store);
    return ExitCode::kDone;
  }
  const ResultsFolder folder(options.store + ".runs", "sweep");
  store.describe(sweep);
  SweepEngine engine(sweep, store, folder.path(), options.keep);
  const auto open = engine.open(options.retry, options.again);
  const unsigned parallel = options.jobs != 0 ? static_cast<unsigned>(options.jobs) : usable_cores();
  const bool cluster = options.engine == "slurm";
  std::cerr << "weft: " << sweep.name << ": " << sweep.points.size() << " points, " << sweep.runs.size()
            << " runs, " << open.size() << " to do";
  if (!cluster || options.jobs != 0) std::cerr << ", " << parallel << " at a time";
  std::cerr << (cluster ? ", by Slurm\n" : "\n");
  const SlurmOptions slurm{folder.path(), sweep.name, static_cast<unsigned>(options.jobs), options.slurm};
  engine.run(open, parallel, cluster ? &slurm : nullptr);
  if (interrupted()) std::cerr << "weft: interrupted; the same command goes on with the runs that are left\n";
  const bool written = write_export(store, sweep.name, options.exported);
  const ExitCode code = summary(sweep, store, options.store);
  return written ? code : std::max(code, ExitCode::kBadInput);
}

}  // namespace weft::cli
