// `weft demo`: a breadth-first search, and what another warp-formation scheme makes of it.
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>
#include <utility>

#include "sc_main/options.h"
#include "study/judge/comparison.h"
#include "study/run/executor.h"
#include "study/run/folder_store.h"
#include "study/run/results_folder.h"
#include "study/session/outcome.h"
#include "study/session/session.h"

namespace weft::cli {
namespace {

// The same run under another scheme, in a process of its own; without measures if it did not get to its end.
Row run_under(const std::string& scheme, const SessionOptions& options) {
  Plan plan;
  plan.name = "demo";
  plan.axes = {"scheme"};
  Run run;
  run.program = "bfs";
  run.size = "default";
  run.config = options.config;
  run.core_cycles = options.max_cycles;
  run.overrides = options.overrides;
  run.overrides.push_back("warp_formation.scheme=" + scheme);
  PlanBuilder(plan, PlanBuilder::Refused::kKeep).add({scheme}, std::move(run), "weft demo");
  const ResultsFolder folder("", "demo");
  FolderStore store(folder.path());
  Executor executor(plan, store, {}, Executor::Repeat::kNone, Executor::Lines::kProgress);
  executor.run();
  return row_of("bfs", scheme, executor.end(0));
}

std::string share(std::optional<double> value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << value.value_or(0) * 100 << " %";
  return out.str();
}

// What changed, and what bounds both, in a sentence each.
std::string in_words(const Row& a, const Row& b) {
  const Measures &before = *a.measures, &after = *b.measures;
  const double ratio = static_cast<double>(before.cycles) / static_cast<double>(after.cycles);
  std::ostringstream out;
  out << "With " << b.scheme << " instead of " << a.scheme << " an issue has "
      << share(after.of("lane_activity")) << " of its lanes active instead of "
      << share(before.of("lane_activity")) << ",\nlanes are active in "
      << share(after.of("depth_utilisation")) << " of the cycles of schedulers with threads instead of "
      << share(before.of("depth_utilisation")) << ", and the search takes\n"
      << share(std::abs(1 - 1 / ratio)) << (ratio >= 1 ? " fewer" : " more") << " cycles (speed-up "
      << std::fixed << std::setprecision(3) << ratio << ").\n";
  const auto said = [](const Measures& m) {
    return m.bound == "latency" ? "latency, with no part saturated (" + m.bound_waits + ")" : m.bound_text;
  };
  if (before.bound == after.bound) {
    out << "Both runs have the same bound:\n  " << a.scheme << ": " << said(before) << ",\n  " << b.scheme
        << ": " << said(after) << ".\n";
  } else {
    out << "The runs have different bounds:\n  " << a.scheme << ": " << said(before) << ",\n  " << b.scheme
        << ": " << said(after) << ".\n";
  }
  return out.str();
}

}  // namespace

ExitCode demo(const Words& words) {
  SessionOptions options;
  options.config = "harp-fermi";
  if (!parse(words, "weft demo [OPTIONS]", session_options(options))) return ExitCode::kDone;

  const auto workload = workloads::find("bfs");
  Outcome outcome = outcome_of(*workload, "default");
  Session session(options);
  const GpuConfig& config = session.device().gpu().config();
  std::cout << "Breadth-first search over a random graph of " << outcome.size.at("n")
            << " vertices, from CUDA source ("
            << "workloads/bfs/bfs.cu)\ncompiled to PTX by " << outcome.code.compiler << ", on " << config.name
            << ": " << config.sm.count << " SMs, warps of " << config.warp_formation.warp_size
            << " threads,\ncrossbar, L2 and DRAM, every memory access a TLM-2.0 transaction. One launch per "
               "level of "
               "the search.\n\n"
            << std::flush;
  const ExitCode code = session.execute(outcome, *workload);
  if (code != ExitCode::kDone || outcome.mode != "timed") return code;

  const std::string scheme = config.warp_formation.scheme, other = scheme == "harp" ? "sbr" : "harp";
  std::cout << "\nThe same search under the scheme " << other << ", which forms warps differently:\n\n"
            << std::flush;
  Comparison both{config.name, "default", {}};
  both.rows.push_back(
      {"bfs", scheme, 0, "verified", Measures::of(statistics_json(outcome, session.device()))});
  both.rows.push_back(run_under(other, options));
  std::cout << table(both, Paint::of(STDOUT_FILENO));
  if (!both.rows[1].measures) return static_cast<ExitCode>(both.rows[1].exit_code);
  std::cout << "\n" << in_words(both.rows[0], both.rows[1]);
  return code;
}

}  // namespace weft::cli
