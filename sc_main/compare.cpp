#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "common/output_files.h"
#include "sc_main/engine_options.h"
#include "sc_main/options.h"
#include "sc_main/own_program.h"
#include "study/judge/comparison.h"
#include "study/plan/variant.h"
#include "study/run/executor.h"
#include "study/run/folder_store.h"
#include "study/run/results_folder.h"
#include "study/session/interrupt.h"
#include "study/session/outcome.h"
#include "weft/warp_formation/scheme.h"
#include "workloads/workload.h"

namespace weft::cli {
namespace {

struct CompareOptions {
  std::string config = "gtx480", schemes = "all", workloads;
  std::string size, out;
  OwnProgram program;
  std::vector<std::string> overrides;
  std::uint64_t max_cycles = 0;
  EngineOptions engine;
  bool again = false;
};

// The name of the program of one's own, or of workloads.
Words programs_of(const CompareOptions& options) {
  Words names;
  if (options.program.given()) return {options.program.name()};
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

// Throws InputError for options that do not go together.
void check(const CompareOptions& options) {
  options.program.check("weft compare");
  if (!options.program.given()) return;
  for (const auto& [option, text] : {std::pair("--workloads", options.workloads), {"--size", options.size}}) {
    if (!text.empty())
      throw InputError(option, "found " + options.program.option() + " as well; allowed: one of the two");
  }
}

Plan plan_of(const CompareOptions& options, const std::vector<Variant>& variants, const Words& names) {
  Plan plan;
  plan.name = "compare";
  plan.axes = {"workload", "scheme"};
  PlanBuilder builder(plan, PlanBuilder::Refused::kKeep);
  for (const std::string& name : names) {
    for (const Variant& scheme : variants) {
      Run run;
      run.program = name;
      run.size = options.size;
      if (options.program.given()) options.program.make(run);
      run.config = options.config;
      run.folder = name;
      run.folder.append("/").append(scheme.label);
      run.core_cycles = options.max_cycles;
      run.overrides = {"sm.observe.lane_oracle=true", "sm.observe.stalled_threads=true",
                       "sm.observe.events=true", "sm.observe.instructions=true"};
      for (const auto* overrides : {&options.overrides, &scheme.overrides})
        run.overrides.insert(run.overrides.end(), overrides->begin(), overrides->end());
      builder.add({name, scheme.label}, std::move(run), "weft compare");
    }
  }
  return plan;
}

// The labels that --schemes has. "all" begins with sbr, because speed-ups are over the first.
Words labels_of(const std::string& schemes) {
  if (schemes != "all") return split("--schemes", schemes, ',');
  Words labels{"sbr"};
  for (const std::string& name : warp_formation::scheme_names())
    if (name != labels.front()) labels.push_back(name);
  return labels;
}

}  // namespace

ExitCode compare(const Words& words) {
  CompareOptions options;
  Options description("options");
  description.text("config", options.config, "NAME", "name or JSON file")
      .text(
          "schemes", options.schemes, "NAME,...",
          "all, which begins with sbr, or schemes, separated by commas: NAME, dwr-N for "
          "dwr+dwr.largest_warp=N, or NAME+PATH=VALUE... "
          "with paths below warp_formation or of datapath (sbr+datapath.compaction=bcc); speed-ups are over "
          "the first")
      .text("workloads", options.workloads, "NAME,...",
            "workloads, separated by commas (all of weft list workloads)")
      .text("size", options.size, "SIZE", "as for weft run (default)")
      .list("set", options.overrides, "PATH=VALUE", "override values for all runs")
      .plugins()
      .number("max-cycles", options.max_cycles, kCycleBounds, "stop each run after this many core cycles")
      .add(engine_options(options.engine))
      .add(kernel_options(options.program.kernel, "; compared instead of workloads"))
      .flag("again", options.again, "also repeat runs whose results are already in --out")
      .text(
          "out", options.out, "DIR",
          "folder for comparison.csv and .json, and for the results of each run under runs/WORKLOAD/SCHEME");
  if (!parse(take_cuda_program(words, options.program),
             "weft compare [--config C] [--schemes a,b] [--workloads a,b] [--size S] [--out DIR]\n"
             "       weft compare --ptx FILE ... --grid x,y,z --block x,y,z [--kernel NAME] [--arg ARG ...] "
             "[OPTIONS]\n"
             "       weft compare [OPTIONS] -- PROGRAM [ARGUMENTS]",
             description)) {
    return ExitCode::kDone;
  }
  check(options);
  if (options.size.empty() && !options.program.given()) options.size = "default";
  std::vector<Variant> variants;
  for (const std::string& label : labels_of(options.schemes)) variants.push_back(variant("--schemes", label));
  const Words names = programs_of(options);
  load_config(options.config, options.overrides);  // a mistake here would be one of every run
  options.engine.checked();
  catch_interrupts();
  const ResultsFolder folder(options.out, "compare", options.engine.checked().lock());
  const Plan plan = plan_of(options, variants, names);
  FolderStore store(folder.path() + "/runs");
  Executor executor(plan, store, options.engine.checked(),
                    options.again ? Executor::Repeat::kAll : Executor::Repeat::kNone,
                    Executor::Lines::kProgress);
  Comparison comparison{options.config, options.size, {}};
  std::optional<Tables> tables;
  const auto update = [&] {
    comparison.rows.clear();
    for (const Point& point : plan.points)
      comparison.rows.push_back(row_of(point.values[0], point.values[1], executor.end(point.run)));
    if (options.out.empty()) return;
    if (tables) {
      tables->update(comparison);
    } else {
      tables.emplace(options.out, comparison);
    }
  };
  executor.watch(update);
  executor.run();
  update();
  std::cout << table(comparison, Paint::of(STDOUT_FILENO));
  int worst = tables && !tables->finish(comparison) ? static_cast<int>(ExitCode::kBadInput) : 0;
  for (const Row& row : comparison.rows) worst = std::max(worst, row.exit_code);
  return static_cast<ExitCode>(worst);
}

}  // namespace weft::cli
