#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "common/output_files.h"
#include "sc_main/comparison.h"
#include "sc_main/interrupt.h"
#include "sc_main/options.h"
#include "sc_main/planned_run.h"
#include "sc_main/progress.h"
#include "sc_main/report.h"
#include "sc_main/results_folder.h"
#include "sc_main/run_queue.h"
#include "sc_main/variant.h"
#include "weft/warp_formation/scheme.h"
#include "workloads/workload.h"

namespace weft::cli {
namespace {

struct CompareOptions {
  std::string config = "gtx480", schemes = "sbr,dwf,lwm,dwr-16,dwr-32,dwr-64,crown,harp,tbc", workloads;
  std::string size = "default", out;
  std::vector<std::string> overrides;
  std::uint64_t max_cycles = 0, jobs = 0;
  bool again = false;
};

Words workloads_of(const CompareOptions& options) {
  Words names;
  if (options.workloads.empty()) {
    for (const auto& workload : workloads::all()) names.push_back(workload->name());
    return names;
  }
  names = split("--workloads", options.workloads, ',');
  for (const std::string& name : names) workloads::find(name);
  return names;
}

// comparison.csv and comparison.json, which say at any time what is finished. Each is whole at any time.
class Tables {
 public:
  // Throws InputError: what cannot be written now should not cost the runs.
  Tables(std::string folder, const Comparison& comparison) : folder_(std::move(folder)) {
    for (const auto& [path, text] : files(comparison)) replace_file(path, text);
  }
  // A disk that is full meanwhile may have room again at the end.
  void update(const Comparison& comparison) {
    try {
      for (const auto& [path, text] : files(comparison)) replace_file(path, text);
    } catch (const InputError& error) {
      if (!complained_) std::cerr << "weft: " << error.what() << "\n";
      complained_ = true;
    }
  }
  // False: they are not where they should be.
  bool finish(const Comparison& comparison) const {
    bool there = true;
    for (const auto& [path, text] : files(comparison)) there = save_result(path, text) && there;
    return there;
  }

 private:
  std::vector<std::pair<std::string, std::string>> files(const Comparison& comparison) const {
    return {{folder_ + "/comparison.csv", csv(comparison)},
            {folder_ + "/comparison.json", text_of(json(comparison))}};
  }
  const std::string folder_;
  bool complained_ = false;
};

std::vector<PlannedRun> plan(const CompareOptions& options, const std::vector<Variant>& variants,
                             const Words& names, const std::string& folder) {
  std::vector<PlannedRun> runs;
  for (const std::string& workload : names) {
    for (const Variant& scheme : variants) {
      SessionOptions session;
      session.config = options.config;
      session.out = folder;
      session.out.append("/").append(workload).append("/").append(scheme.label);
      session.max_cycles = options.max_cycles;
      session.overrides = {"sm.observe.lane_oracle=true", "sm.observe.stalled_threads=true",
                           "sm.observe.events=true", "sm.observe.instructions=true"};
      for (const auto* overrides : {&options.overrides, &scheme.overrides})
        session.overrides.insert(session.overrides.end(), overrides->begin(), overrides->end());
      runs.emplace_back(workload, scheme.label, options.size, session);
    }
  }
  return runs;
}

}  // namespace

ExitCode compare(const Words& words) {
  CompareOptions options;
  Options description("options");
  description.text("config", options.config, "NAME", "name or JSON file")
      .text("schemes", options.schemes, "NAME,...",
            "with commas; NAME, dwr-N for dwr+dwr.largest_warp=N, or NAME+PATH=VALUE... with paths below "
            "warp_formation; speed-ups are over the first")
      .text("workloads", options.workloads, "NAME,...",
            "with commas; all of weft list workloads if not given")
      .text("size", options.size, "SIZE", "as for weft run")
      .list("set", options.overrides, "PATH=VALUE", "override values for all runs")
      .plugins()
      .number("max-cycles", options.max_cycles, kCycleBounds, "stop each run after so many core cycles")
      .number("jobs", options.jobs, {1, 1024, 1, "runs"}, "runs at a time; as many as cores if not given")
      .flag("again", options.again, "also repeat runs whose results are in --out already")
      .text(
          "out", options.out, "DIR",
          "folder for comparison.csv and .json, and for the results of each run under runs/WORKLOAD/SCHEME");
  if (!parse(words, "weft compare [--config C] [--schemes a,b] [--workloads a,b] [--size S] [--out DIR]",
             description)) {
    return ExitCode::kDone;
  }
  std::vector<Variant> variants;
  for (const std::string& label : split("--schemes", options.schemes, ','))
    variants.push_back(variant("--schemes", label));
  const Words names = workloads_of(options);
  load_config(options.config, options.overrides);  // a mistake here would be one of every run
  catch_interrupts();
  const ResultsFolder folder(options.out, "compare");
  std::vector<PlannedRun> runs = plan(options, variants, names, folder.path() + "/runs");
  Comparison comparison{options.config, options.size, {}};
  std::optional<Tables> tables;
  QueueProgress progress;
  progress.changed = [&] {
    if (options.out.empty()) return;
    if (tables) {
      tables->update(comparison);
    } else {
      tables.emplace(options.out, comparison);
    }
  };
  QueueLine line("runs");
  progress.ended = [&](std::size_t, std::size_t done, std::size_t all) { line.ended(done, all); };
  complete(runs, comparison.rows, options.again ? Reuse::kNone : Reuse::kOfThisBuild, options.jobs, progress);
  end_progress_line();
  std::cout << table(comparison, Paint::of(STDOUT_FILENO));
  int worst = tables && !tables->finish(comparison) ? static_cast<int>(ExitCode::kBadInput) : 0;
  for (const Row& row : comparison.rows) worst = std::max(worst, row.exit_code);
  return static_cast<ExitCode>(worst);
}

}  // namespace weft::cli
