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
#include "sc_main/engine_options.h"
#include "sc_main/options.h"
#include "study/judge/experiment_plan.h"
#include "study/judge/halving.h"
#include "study/judge/plan_pareto.h"
#include "study/plan/candidates.h"
#include "study/plan/plan.h"
#include "study/plan/screening_design.h"
#include "study/run/executor.h"
#include "study/run/results_folder.h"
#include "study/run/slurm.h"
#include "study/run/sqlite_store.h"
#include "study/session/interrupt.h"
#include "study/session/outcome.h"
#include "study/terminal/table.h"
#include "weft/common/error.h"

namespace weft::cli {
namespace {

struct SweepOptions {
  std::string name, store = "weft-sweep.db", exported, effects, pareto, per, worker;
  EngineOptions engine;
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

// An element of a job array.
ExitCode work(const std::string& file) {
  const char* const element = std::getenv("SLURM_ARRAY_TASK_ID");
  if (element == nullptr) throw InputError("--worker", "SLURM_ARRAY_TASK_ID is missing; Slurm sets it");
  work_for_slurm(file, read_unsigned("SLURM_ARRAY_TASK_ID", element, {0, UINT32_MAX}));
  return interrupted() ? ExitCode::kFault : ExitCode::kDone;
}

ExitCode list_sweeps(const SweepOptions& options) {
  if (!std::filesystem::exists(options.store)) {
    throw InputError("weft sweep", "needs a file, an experiment, or a store to list; found no " +
                                       options.store + " (--store)");
  }
  for (const auto& sweep : SqliteStore(options.store).sweeps()) {
    std::cout << sweep.name << ": " << sweep.done << " of " << sweep.points << " points done";
    if (sweep.failed != 0) std::cout << ", " << sweep.failed << " failed";
    std::cout << "; " << sweep.title << "\n";
  }
  return ExitCode::kDone;
}

// Candidates that the end of a search lists; --ranking has all.
constexpr std::size_t kMostListed = 20;

void show_plan(const Plan& sweep, const SqliteStore& store) {
  if (sweep.halving.has_value()) {
    std::cout << halving_plan(sweep, SuccessiveHalving(sweep), store);
    return;
  }
  for (std::size_t point = 0; point < sweep.points.size(); ++point)
    std::cout << plan_line(sweep, store, point);
}

// False: the file could not be written.
bool write_export(const SqliteStore& store, const std::string& sweep, const std::string& file) {
  if (file.empty()) return true;
  return save_result(file, ends_with(file, ".csv") ? store.csv(sweep) : text_of(store.json(sweep)));
}

// The value of a factor at a level.
std::string level_of(const Plan& sweep, std::size_t factor, bool second) {
  for (std::size_t row = 0; row < sweep.design.size(); ++row) {
    if (sweep.design[row][factor] == second) return sweep.points[row].values[sweep.factors[factor]];
  }
  return "";
}

// A table for each combination of the axes that are no factors.
std::string effects(const Plan& sweep, const SqliteStore& store, const std::string& metric) {
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
      text += group + ": not measured in all runs\n\n";
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
ExitCode summary(const Plan& sweep, const std::vector<std::size_t>& runs, const SqliteStore& store,
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

// Does the rungs of a search, until one is not finished. Returns the runs that it came to need.
std::vector<std::size_t> search_by_halving(const Plan& sweep, const SuccessiveHalving& search,
                                           SqliteStore& store, Executor& executor) {
  std::set<std::size_t> needed;
  std::vector<std::size_t> points;
  for (std::size_t rung = 0; rung < search.rungs(); ++rung) {
    std::vector<std::size_t> entered;
    if (rung > 0) {
      const auto played = search.played(store);
      if (played.size() <= rung) break;
      entered = played[rung].entered;
    } else {
      entered.resize(search.candidates().size());
      std::iota(entered.begin(), entered.end(), 0);
    }
    const auto more = search.points(rung, entered);
    points.insert(points.end(), more.begin(), more.end());
    store.describe(sweep, points);
    const auto runs = search.runs(rung, entered);
    needed.insert(runs.begin(), runs.end());
    const std::string name = "rung " + std::to_string(rung + 1) + " of " + std::to_string(search.rungs());
    std::vector<std::size_t> open = executor.open(runs);
    executor.announce(runs, open, name + ", " + sweep.axes[sweep.halving->rungs] + " " + search.value(rung));
    // A metric that is none should cost one run.
    if (rung == 0 && open.size() == runs.size() && open.size() > 1) {
      executor.do_open({open[0]}, 0, runs.size(), name + ": ");
      if (interrupted()) break;
      open.erase(open.begin());
    }
    if (rung == 0) search.check_metric(store, runs[0]);
    executor.do_open(open, runs.size() - open.size(), runs.size(), name + ": ");
    if (interrupted()) break;
  }
  return {needed.begin(), needed.end()};
}

std::vector<std::size_t> all_of(const Plan& sweep, SqliteStore& store, Executor& executor) {
  store.describe(sweep);
  std::vector<std::size_t> runs(sweep.runs.size());
  std::iota(runs.begin(), runs.end(), 0);
  executor.run(runs, std::to_string(sweep.points.size()) + " points");
  return runs;
}

void check_searches(const SweepOptions& options, const Plan& sweep) {
  if (!options.effects.empty() && sweep.factors.empty())
    throw InputError("--effects", "is allowed for a sweep with \"screening\" only");
  if (options.ranking && !sweep.halving.has_value())
    throw InputError("--ranking", "is allowed for a sweep with \"halving\" only");
  if (!options.per.empty() && options.pareto.empty())
    throw InputError("--per", "is allowed with --pareto only");
}

// Points whose candidates are compared: all, or of a search those of the last rung that was run.
std::vector<std::size_t> compared_points(const Plan& sweep, const SqliteStore& store) {
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
            "sweep to run: a JSON file or an experiment (none: list the sweeps of the store)")
      .text("store", options.store, "FILE", "SQLite database of runs and their measurements; made if missing")
      .add(engine_options(options.engine))
      .text("effects", options.effects, "METRIC",
            "show the effect of each factor of a screening design on this number, for example cycles")
      .text("pareto", options.pareto, "METRIC,...",
            "show the combinations that no other combination beats in these numbers, for example "
            "cycles,energy,area; least is best, or METRIC:most")
      .text("per", options.per, "AXIS,...", "with --pareto: a front for each value of these axes")
      .flag("ranking", options.ranking, "only print the ranking of all candidates of a search by halving")
      .text("worker", options.worker, "FILE", "used by Slurm jobs: run a job of the list in this file")
      .flag("retry", options.retry, "repeat runs that failed")
      .flag("again", options.again, "repeat all runs")
      .flag("plan", options.plan, "only print the points and their state")
      .flag("keep", options.keep, "keep the results of each run, in STORE.runs/ID")
      .text("export", options.exported, "FILE", "write the points of the sweep as a table, .csv or .json")
      .plugins();
  if (!parse(words, "weft sweep [FILE|NAME] [--store FILE] [--jobs N] [--export FILE]", description, "name"))
    return ExitCode::kDone;
  catch_interrupts();
  if (!options.worker.empty()) return work(options.worker);
  check_export(options.exported);
  const Engine engine = options.engine.checked();
  if (options.name.empty()) return list_sweeps(options);
  const Plan sweep = plan_named(options.name);
  check_searches(options, sweep);
  const std::vector<std::size_t> per =
      options.per.empty() ? std::vector<std::size_t>() : axes_named(sweep, options.per);
  const std::vector<Objective> objectives =
      options.pareto.empty() ? std::vector<Objective>() : read_objectives(options.pareto);
  if (!objectives.empty()) compared_axes(sweep, per);
  SqliteStore store(options.store, options.keep);
  if (options.plan) {
    show_plan(sweep, store);
    return ExitCode::kDone;
  }
  if (options.ranking) {
    const SuccessiveHalving search(sweep);
    std::cout << ranking(sweep, search, store, search.candidates().size());
    return ExitCode::kDone;
  }
  const ResultsFolder folder(options.store + ".runs", "sweep", engine.lock());
  Executor executor(sweep, store, engine,
                    options.again   ? Executor::Repeat::kAll
                    : options.retry ? Executor::Repeat::kFailed
                                    : Executor::Repeat::kNone);
  std::optional<SuccessiveHalving> search;
  if (sweep.halving.has_value()) search.emplace(sweep);
  const std::vector<std::size_t> runs =
      search ? search_by_halving(sweep, *search, store, executor) : all_of(sweep, store, executor);
  if (interrupted())
    std::cerr << "weft: interrupted; repeat the command to continue with the remaining runs\n";
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
