#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "common/output_files.h"
#include "sc_main/interrupt.h"
#include "sc_main/options.h"
#include "sc_main/report.h"
#include "sc_main/results_folder.h"
#include "sc_main/sweep/screening_design.h"
#include "sc_main/sweep/sweep_engine.h"
#include "sc_main/sweep/sweep_plan.h"
#include "sc_main/sweep/sweep_store.h"
#include "sc_main/table.h"
#include "weft/common/error.h"

namespace weft::cli {
namespace {

struct SweepOptions {
  std::string name, store = "weft-sweep.db", exported, effects, engine = "local", slurm, worker;
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

// The value of a factor at a level.
std::string level_of(const Sweep& sweep, std::size_t factor, bool second) {
  for (std::size_t row = 0; row < sweep.design.size(); ++row) {
    if (sweep.design[row][factor] == second) return sweep.points[row].values[sweep.factors[factor]];
  }
  return "";
}

// A table for each combination of the axes that are no factors.
std::string effects(const Sweep& sweep, const SweepStore& store, const std::string& metric) {
  std::string text;
  const std::size_t rows = sweep.design.size();
  for (std::size_t begin = 0; begin < sweep.points.size(); begin += rows) {
    std::string group = metric;
    for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {
      if (std::find(sweep.factors.begin(), sweep.factors.end(), axis) != sweep.factors.end()) continue;
      group += ", " + sweep.axes[axis] + " " + sweep.points[begin].values[axis];
    }
    std::vector<double> results;
    double mean = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const auto value = store.value_of(sweep.runs[sweep.points[begin + row].run].id, metric);
      if (!value.has_value()) break;
      results.push_back(*value);
      mean += *value / static_cast<double>(rows);
    }
    if (results.size() != rows) {
      text += group + ": not all runs have it\n\n";
      continue;
    }
    const std::vector<double> found = effects_of(sweep.design, results);
    std::vector<std::size_t> order(found.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return std::abs(found[a]) > std::abs(found[b]); });
    TextTable table({{"factor", Align::kLeft},
                     {"first", Align::kLeft},
                     {"second", Align::kLeft},
                     {"effect"},
                     {"of the mean"}});
    for (const std::size_t f : order) {
      const std::size_t axis = sweep.factors[f];
      table.row({sweep.axes[axis], level_of(sweep, f, false), level_of(sweep, f, true),
                 fmt::format("{:+.6g}", found[f]),
                 mean == 0 ? "-" : fmt::format("{:+.1f} %", 100 * found[f] / mean)});
    }
    text += group + fmt::format("; mean {:.6g}\n", mean) + table.text(kPageWidth) + "\n";
  }
  return text;
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
      .text("effects", options.effects, "METRIC",
            "of a screening design: how much each factor changes this number, as cycles")
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
  if (!options.effects.empty() && sweep.factors.empty())
    throw InputError("--effects", "has a meaning for a sweep with \"screening\" only");
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
  if (!options.effects.empty()) std::cout << effects(sweep, store, options.effects);
  const ExitCode code = summary(sweep, store, options.store);
  return written ? code : std::max(code, ExitCode::kBadInput);
}

}  // namespace weft::cli
