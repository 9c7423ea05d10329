#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

#include "common/output_files.h"
#include "sc_main/interrupt.h"
#include "sc_main/options.h"
#include "sc_main/report.h"
#include "sc_main/results_folder.h"
#include "sc_main/sweep/candidates.h"
#include "sc_main/sweep/halving.h"
#include "sc_main/sweep/screening_design.h"
#include "sc_main/sweep/sweep_engine.h"
#include "sc_main/sweep/sweep_pareto.h"
#include "sc_main/sweep/sweep_plan.h"
#include "sc_main/sweep/sweep_store.h"
#include "sc_main/table.h"
#include "weft/common/error.h"

namespace weft::cli {
namespace {

struct SweepOptions {
  std::string name, store = "weft-sweep.db", exported, effects, pareto, per, engine = "local", slurm, worker;
  std::uint64_t jobs = 0;
  bool retry = false, again = false, plan = false, ranking = false, keep = false;
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

// Candidates that the end of a search lists; --ranking has all.
constexpr std::size_t kMostListed = 20;

void show_plan(const Sweep& sweep, const SweepStore& store) {
  if (sweep.halving.has_value()) {
    std::cout << halving_plan(sweep, SuccessiveHalving(sweep), store);
    return;
  }
  for (std::size_t point = 0; point < sweep.points.size(); ++point)
    std::cout << plan_line(sweep, store, point);
}

// False: the file could not be written.
bool write_export(const SweepStore& store, const std::string& sweep, const std::string& file) {
  if (file.empty()) return true;
  return save_result(file, ends_with(file, ".csv") ? store.csv(sweep) : text_of(store.json(sweep)));
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
      const auto value = value_of(store, sweep.runs[sweep.points[begin + row].run].id, metric);
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

// What the runs came to, and the worst exit code.
ExitCode summary(const Sweep& sweep, const std::vector<std::size_t>& runs, const SweepStore& store,
                 const std::string& file) {
  std::size_t done = 0, missing = 0;
  ExitCode worst = ExitCode::kDone;
  for (const std::size_t run : runs) {
    const auto state = store.state_of(sweep.runs[run].id);
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
  std::cout << sweep.name << ": ";
  if (!sweep.halving.has_value()) std::cout << sweep.points.size() << " points, ";
  std::cout << runs.size() << " runs: " << done << " done, " << runs.size() - done - missing << " failed, "
            << missing << " to do; " << file << "\n";
  return missing != 0 ? ExitCode::kFault : worst;
}

// Does what is left of a sweep.
class Doing {
 public:
  Doing(const Sweep& sweep, SweepStore& store, const std::string& folder, const SweepOptions& options)
      : sweep_(sweep),
        store_(store),
        options_(options),
        engine_(sweep, store, folder, options.keep),
        cluster_(options.engine == "slurm"),
        parallel_(parallel_of(options.jobs)),
        slurm_{folder, sweep.name, static_cast<unsigned>(options.jobs), options.slurm} {}

  // All runs. Returns them.
  std::vector<std::size_t> all() {
    store_.describe(sweep_);
    std::vector<std::size_t> runs(sweep_.runs.size());
    std::iota(runs.begin(), runs.end(), 0);
    const auto open = engine_.open(runs, options_.retry, options_.again);
    announce(std::to_string(sweep_.points.size()) + " points", runs.size(), open.size());
    run(open, runs.size(), "");
    return runs;
  }

  // The rungs of a search, until one is not finished. Returns the runs that it came to need.
  std::vector<std::size_t> search(const SuccessiveHalving& search) {
    std::set<std::size_t> needed;
    std::vector<std::size_t> points;
    for (std::size_t rung = 0; rung < search.rungs(); ++rung) {
      std::vector<std::size_t> entered;
      if (rung > 0) {
        const auto played = search.played(store_);
        if (played.size() <= rung) break;
        entered = played[rung].entered;
      } else {
        entered.resize(search.candidates().size());
        std::iota(entered.begin(), entered.end(), 0);
      }
      const auto more = search.points(rung, entered);
      points.insert(points.end(), more.begin(), more.end());
      store_.describe(sweep_, points);
      const auto runs = search.runs(rung, entered);
      needed.insert(runs.begin(), runs.end());
      play(search, rung, runs);
      if (interrupted()) break;
    }
    return {needed.begin(), needed.end()};
  }

 private:
  void announce(const std::string& what, std::size_t runs, std::size_t open) const {
    std::cerr << "weft: " << sweep_.name << ": " << what << ", " << runs << " runs, " << open << " to do";
    if (!cluster_ || options_.jobs != 0) std::cerr << ", " << parallel_.most << " at a time";
    std::cerr << (cluster_ ? ", by Slurm\n" : "\n");
  }
  void run(const std::vector<std::size_t>& open, std::size_t all, const std::string& what) {
    engine_.run(open, all, what, parallel_, cluster_ ? &slurm_ : nullptr);
  }
  void play(const SuccessiveHalving& search, std::size_t rung, const std::vector<std::size_t>& runs) {
    const std::string name = "rung " + std::to_string(rung + 1) + " of " + std::to_string(search.rungs());
    std::vector<std::size_t> open = engine_.open(runs, options_.retry, options_.again);
    announce(name + ", " + sweep_.axes[sweep_.halving->rungs] + " " + search.value(rung), runs.size(),
             open.size());
    // A metric that is none should cost one run.
    if (rung == 0 && open.size() == runs.size() && open.size() > 1) {
      run({open[0]}, runs.size(), name + ": ");
      if (interrupted()) return;
      open.erase(open.begin());
    }
    if (rung == 0) search.check_metric(store_, runs[0]);
    run(open, runs.size(), name + ": ");
  }

  const Sweep& sweep_;
  SweepStore& store_;
  const SweepOptions& options_;
  SweepEngine engine_;
  const bool cluster_;
  const Parallel parallel_;
  const SlurmOptions slurm_;
};

void check_searches(const SweepOptions& options, const Sweep& sweep) {
  if (!options.effects.empty() && sweep.factors.empty())
    throw InputError("--effects", "has a meaning for a sweep with \"screening\" only");
  if (options.ranking && !sweep.halving.has_value())
    throw InputError("--ranking", "has a meaning for a sweep with \"halving\" only");
  if (!options.per.empty() && options.pareto.empty())
    throw InputError("--per", "has a meaning with --pareto only");
}

// Points whose candidates are compared: all, or of a search those of the last rung that was run.
std::vector<std::size_t> compared_points(const Sweep& sweep, const SweepStore& store) {
  if (!sweep.halving.has_value()) return all_points(sweep);
  const SuccessiveHalving search(sweep);
  const auto played = search.played(store);
  const std::size_t rung =
      played.back().judged() || played.size() == 1 ? played.size() - 1 : played.size() - 2;
  return search.points(rung, played[rung].entered);
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
      .text(
          "pareto", options.pareto, "METRIC,...",
          "which combinations no other one beats in these numbers, as cycles,energy,area; least is best, or "
          "METRIC:most")
      .text("per", options.per, "AXIS,...", "with --pareto: a front for each value of these axes")
      .flag("ranking", options.ranking, "of a search by halving: only print how all candidates stand")
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
  check_searches(options, sweep);
  const std::vector<std::size_t> per =
      options.per.empty() ? std::vector<std::size_t>() : axes_named(sweep, options.per);
  const std::vector<Objective> objectives =
      options.pareto.empty() ? std::vector<Objective>() : read_objectives(options.pareto);
  if (!objectives.empty()) compared_axes(sweep, per);
  SweepStore store(options.store);
  if (options.plan) {
    show_plan(sweep, store);
    return ExitCode::kDone;
  }
  if (options.ranking) {
    const SuccessiveHalving search(sweep);
    std::cout << ranking(sweep, search, store, search.candidates().size());
    return ExitCode::kDone;
  }
  const ResultsFolder folder(options.store + ".runs", "sweep");
  Doing doing(sweep, store, folder.path(), options);
  std::optional<SuccessiveHalving> search;
  if (sweep.halving.has_value()) search.emplace(sweep);
  const std::vector<std::size_t> runs = search ? doing.search(*search) : doing.all();
  if (interrupted()) std::cerr << "weft: interrupted; the same command goes on with the runs that are left\n";
  const bool written = write_export(store, sweep.name, options.exported);
  if (!options.effects.empty()) std::cout << effects(sweep, store, options.effects);
  if (search) std::cout << ranking(sweep, *search, store, kMostListed);
  if (!objectives.empty())
    std::cout << (search ? "\n" : "")
              << pareto_text(sweep, store, compared_points(sweep, store), objectives, per);
  const ExitCode code = summary(sweep, runs, store, options.store);
  return written ? code : std::max(code, ExitCode::kBadInput);
}

}  // namespace weft::cli
