// `weft demo`: a breadth-first search, and what another warp-formation scheme makes of it.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sc_main/options.h"
#include "study/judge/comparison.h"
#include "study/run/processes.h"
#include "study/session/outcome.h"
#include "study/session/session.h"

namespace weft::cli {
namespace {

// A folder that goes with the object.
class Scratch {
 public:
  Scratch() {
    const char* variable = std::getenv("TMPDIR");
    path_ = std::string(variable == nullptr || *variable == '\0' ? "/tmp" : variable) + "/weft-demo-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr)
      throw InputError(path_, "no folder can be made there; give another one for temporary files in TMPDIR");
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The same run under another scheme, in a process of its own; without measures if it did not get to its end.
Row run_under(const std::string& scheme, const SessionOptions& options) {
  const Scratch folder;
  Job job{{"run", "--config", options.config, "--workload", "bfs", "--out", folder.path()},
          folder.path() + "/messages.txt",
          ""};
  if (options.max_cycles != 0)
    job.arguments.insert(job.arguments.end(), {"--max-cycles", std::to_string(options.max_cycles)});
  job.arguments.emplace_back("--set");
  job.arguments.insert(job.arguments.end(), options.overrides.begin(), options.overrides.end());
  job.arguments.push_back("warp_formation.scheme=" + scheme);
  Row row{"bfs", scheme, static_cast<int>(ExitCode::kFault), "did not end", {}};
  run_apart({job}, {}, [](std::size_t) {}, [&](std::size_t, const JobEnd& end) { row.exit_code = end.code; });
  std::ifstream file(folder.path() + "/stats.json");
  const auto statistics = nlohmann::ordered_json::parse(file, nullptr, false);
  if (row.exit_code == 0 && statistics.is_object()) {
    row.measures = Measures::of(statistics);
    row.result = "verified";
  }
  return row;
}

std::string share(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << value * 100 << " %";
  return out.str();
}

// What changed, and what bounds both, in a sentence each.
std::string in_words(const Row& a, const Row& b) {
  const Measures &before = *a.measures, &after = *b.measures;
  const double ratio = static_cast<double>(before.cycles) / static_cast<double>(after.cycles);
  std::ostringstream out;
  out << "With " << b.scheme << " instead of " << a.scheme << " an issue has " << share(after.lane_activity)
      << " of its lanes active instead of " << share(before.lane_activity) << ",\nlanes are active in "
      << share(after.depth_utilisation) << " of the cycles of schedulers with threads instead of "
      << share(before.depth_utilisation) << ", and the search takes\n"
      << share(std::abs(1 - 1 / ratio)) << (ratio >= 1 ? " fewer" : " more") << " cycles (speed-up "
      << std::fixed << std::setprecision(3) << ratio << ").\n";
  const auto said = [](const Measures& m) {
    return m.bound == "latency" ? "nothing that is saturated (" + m.bound_waits + ")" : m.bound_text;
  };
  if (before.bound == after.bound) {
    out << "Both are bound by the same:\n  " << a.scheme << ": " << said(before) << ",\n  " << b.scheme
        << ": " << said(after) << ".\n";
  } else {
    out << "They are bound by different things:\n  " << a.scheme << ": " << said(before) << ",\n  "
        << b.scheme << ": " << said(after) << ".\n";
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
            << " threads,\ncrossbar, L2 and GDDR5, every memory access a TLM-2.0 transaction. One launch per "
               "level of "
               "the search.\n\n"
            << std::flush;
  const ExitCode code = session.execute(outcome, *workload);
  if (code != ExitCode::kDone || outcome.mode != "timed") return code;

  const std::string scheme = config.warp_formation.scheme, other = scheme == "harp" ? "sbr" : "harp";
  std::cout << "\nThe same under the scheme " << other << ", which forms warps in another way:\n\n"
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
