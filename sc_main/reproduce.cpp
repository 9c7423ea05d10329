#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "common/output_files.h"
#include "sc_main/engine_options.h"
#include "sc_main/options.h"
#include "study/judge/experiment.h"
#include "study/judge/experiment_plan.h"
#include "study/judge/groups.h"
#include "study/judge/other_prices.h"
#include "study/judge/results.h"
#include "study/page/area_printed.h"
#include "study/page/drawing.h"
#include "study/page/experiment_page.h"
#include "study/run/executor.h"
#include "study/run/folder_store.h"
#include "study/run/results_folder.h"
#include "study/session/interrupt.h"
#include "study/session/outcome.h"
#include "study/terminal/progress.h"
#include "study/terminal/table.h"
#include "workloads/workload.h"

namespace weft::cli {
namespace {

struct ReproduceOptions {
  std::string name, only, size, keys, out = "weft-reproduce";
  std::uint64_t seeds = 1;
  EngineOptions engine;
  bool again = false, any_build = false, sensitivity = false;

  bool whole() const { return only.empty() && size.empty(); }
};

// Everything in the folder of experiments.
struct Library {
  std::string folder;
  std::vector<std::string> names;  // of experiments
  Claims claims;
  Causes causes;
  ExperimentGroups groups;
};

Library read_library() {
  Library library;
  library.folder = experiment_folder();
  library.names = experiment_names(library.folder);
  library.claims = read_claims(library.folder + "/claims.json");
  library.causes = read_causes(library.folder + "/causes.json", library.claims);
  auto named = library.names;
  named.emplace_back(kAreaPage);
  library.groups = read_groups(library.folder + "/groups.json", named);
  return library;
}

ExitCode list_experiments(const Library& library) {
  constexpr std::size_t kTitleWidth = 44;
  const Paint paint = Paint::of(STDOUT_FILENO);
  TextTable table({{"name", Align::kLeft},
                   {"result of the paper", Align::kLeft},
                   {"programs"},
                   {"variants"},
                   {"claims"},
                   {"keys"}});
  for (const std::string& name : library.names) {
    const Experiment experiment =
        read_experiment(name, library.folder + "/" + name + ".json", library.claims);
    table.row({name, clipped(experiment.title, kTitleWidth), std::to_string(experiment.programs.size()),
               std::to_string(experiment.variants.size()), std::to_string(experiment.claims.size()),
               std::to_string(experiment.sensitivity.size())});
  }
  TextTable groups({{"name", Align::kLeft}, {"group of experiments", Align::kLeft}});
  for (const auto& [name, group] : library.groups) groups.row({name, group.about});
  std::cout << table.text(kPageWidth, paint) << "\n" << groups.text(kPageWidth, paint);
  return ExitCode::kDone;
}

// The names with commas between them that an option gives, of those known.
std::vector<std::string> chosen(const std::string& option, const std::string& text,
                                const std::vector<std::string>& known) {
  std::vector<std::string> names;
  std::istringstream in(text);
  for (std::string name; std::getline(in, name, ',');) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(option, "found '" + name + "'; known: " + joined(known));
    names.push_back(name);
  }
  return names;
}

// What --sensitivity and --keys ask for.
std::vector<Sensitivity> sensitivities_of(const Experiment& experiment, const ReproduceOptions& options) {
  if (!options.sensitivity) {
    if (!options.keys.empty()) throw InputError("--keys", "is allowed with --sensitivity only");
    return {};
  }
  if (options.keys.empty()) return experiment.sensitivity;
  std::vector<std::string> known;
  known.reserve(experiment.sensitivity.size());
  for (const Sensitivity& one : experiment.sensitivity) known.push_back(one.key);
  const auto wanted = chosen("--keys", options.keys, known);
  std::vector<Sensitivity> list;
  for (const Sensitivity& one : experiment.sensitivity) {
    if (std::find(wanted.begin(), wanted.end(), one.key) != wanted.end()) list.push_back(one);
  }
  return list;
}

// The experiment as --only and --size cut it down.
void cut_down(Experiment& experiment, const ReproduceOptions& options) {
  if (!options.only.empty()) {
    std::vector<std::string> known, wanted;
    for (const ExperimentProgram& program : experiment.programs) known.push_back(program.abbr);
    wanted = chosen("--only", options.only, known);
    const auto gone = [&](const ExperimentProgram& program) {
      return std::find(wanted.begin(), wanted.end(), program.abbr) == wanted.end();
    };
    experiment.programs.erase(std::remove_if(experiment.programs.begin(), experiment.programs.end(), gone),
                              experiment.programs.end());
    experiment.each_value([&](Value& value) { restrict_to(wanted, value); });
  }
  if (options.size.empty()) return;
  for (ExperimentProgram& program : experiment.programs) {
    if (program.is_own()) continue;                                          // it has no sizes
    workloads::values_of(*workloads::find(program.workload), options.size);  // throws if it has no such size
    program.size = options.size;
    program.seconds.reset();  // of the other size
  }
}

std::string command_of(const std::string& name, const ReproduceOptions& options) {
  return "weft reproduce " + name + (options.sensitivity ? " --sensitivity" : "") +
         (options.keys.empty() ? "" : " --keys " + options.keys) +
         (options.seeds == 1 ? "" : " --seeds " + std::to_string(options.seeds)) +
         (options.only.empty() ? "" : " --only " + options.only) +
         (options.size.empty() ? "" : " --size " + options.size);
}

// An experiment with its runs, from reading its file to writing its page.
class Reproduction {
 public:
  Reproduction(const std::string& name, const Library& library, const ReproduceOptions& options)
      : library_(library), options_(options), experiment_(prepared(name)) {
    for (Sensitivity& one : sensitivities_of(experiment_, options)) {
      if (!is_about_prices(one)) to_run_.push_back(std::move(one));
    }
  }

  // Plans the runs, whose results `store` keeps.
  void plan(FolderStore& store) {
    store_ = &store;
    plan_ = std::make_unique<ExperimentPlan>(experiment_, to_run_, options_.seeds);
    executor_ = std::make_unique<Executor>(plan_->plan(), store, options_.engine.checked(),
                                           options_.again ? Executor::Repeat::kAll : Executor::Repeat::kNone);
  }

  const Experiment& experiment() const { return experiment_; }
  Executor& executor() { return *executor_; }

  // NAME.json, .csv, .md and verdicts.md. False: something is not where it should be.
  bool write_results() {
    const Results results = plan_->results(*executor_, *store_);
    const Rules& rules = library_.claims.rules;
    const bool whole = options_.whole();
    classify(experiment_, results);
    judged_ = judge_all(experiment_, results, rules, whole);
    auto settings = plan_->settings(*executor_, *store_, rules, whole);
    const auto seeds = plan_->seeds(*executor_, *store_, rules, whole);
    for (SettingResult& priced : with_other_prices(experiment_, results, rules, whole))
      settings.push_back(std::move(priced));
    mark_flips(settings, judged_);
    Page page = page_of({experiment_, results, judged_, settings, seeds, library_.causes,
                         command_of(experiment_.name, options_), whole});
    std::string others;
    for (const auto& [build, count] : plan_->other_builds(*executor_, *store_))
      others += fmt::format("{}{} by build {}", others.empty() ? "" : ", ", count, build);
    if (!others.empty())
      page.paragraphs.push_back(
          fmt::format("Other builds made some of the {} runs: {}.", plan_->plan().runs.size(), others));
    auto json = json_of(experiment_, results, judged_, settings, seeds);
    json["figures"] = figures_json(experiment_, results, named());
    on_terminal_ = plain(page, Paint::of(STDOUT_FILENO));
    bool there = save_result(base() + ".json", text_of(json));
    there = save_result(base() + ".csv", csv_of(experiment_, results, settings, seeds)) && there;
    const std::string undrawn = draw_figures(json["figures"], base() + ".json", drawing_script());
    add_figures(json["figures"], undrawn, page);
    std::cerr << drawing_message(json["figures"], undrawn, options_.out + "/figures/" + named());
    there = save_result(base() + ".md", markdown(page)) && there;
    return save_result(options_.out + "/verdicts.md", markdown(verdicts_of(library_.claims, options_.out))) &&
           there;
  }

  // The page without pictures, after write_results.
  const std::string& on_terminal() const { return on_terminal_; }
  // A line of a group's table: how many runs are verified, and how many claims have which verdict.
  std::vector<std::string> summary() const {
    std::vector<std::string> row{experiment_.name,
                                 fmt::format("{} of {}", executor_->verified(), plan_->plan().runs.size()),
                                 std::to_string(judged_.size())};
    for (const Verdict verdict :
         {Verdict::kReproduced, Verdict::kSameTrend, Verdict::kNot, Verdict::kDependsOnUnprinted}) {
      const auto count = std::count_if(judged_.begin(), judged_.end(),
                                       [&](const ClaimResult& one) { return one.verdict == verdict; });
      row.push_back(options_.whole() ? std::to_string(count) : "-");
    }
    row.push_back(base() + ".md");
    return row;
  }

 private:
  Experiment prepared(const std::string& name) const {
    Experiment experiment = read_experiment(name, library_.folder + "/" + name + ".json", library_.claims);
    cut_down(experiment, options_);
    return experiment;
  }
  // A slice does not take the place of the whole.
  std::string named() const { return experiment_.name + (options_.whole() ? "" : "-slice"); }
  std::string base() const { return options_.out + "/" + named(); }

  const Library& library_;
  const ReproduceOptions& options_;
  Experiment experiment_;
  std::vector<Sensitivity> to_run_;
  FolderStore* store_ = nullptr;
  std::unique_ptr<ExperimentPlan> plan_;
  std::unique_ptr<Executor> executor_;
  std::vector<ClaimResult> judged_;
  std::string on_terminal_;
};

std::string hours(double seconds) {
  constexpr double kHour = 3600;
  return seconds < kHour ? rounded_time(seconds) : fmt::format("{:.1f} h", seconds / kHour);
}

// What a group will take, before anything runs.
void announce(const std::string& name, const std::vector<std::unique_ptr<Reproduction>>& parts,
              const ReproduceOptions& options) {
  std::set<std::string> counted;
  Outlook all;
  for (const auto& part : parts) {
    const auto one = part->executor().outlook(counted);
    all.open += one.open;
    all.unknown += one.unknown;
    all.seconds += one.seconds;
  }
  const unsigned parallel = options.engine.checked().parallel().most;
  std::cerr << fmt::format("weft: {}: {} experiments, {} of {} runs to do", name, parts.size(), all.open,
                           counted.size());
  if (all.unknown < all.open) {
    std::cerr << fmt::format("; {} of these runs take about {} of CPU, {} with {} at a time",
                             all.open - all.unknown, hours(all.seconds), hours(all.seconds / parallel),
                             parallel);
  }
  if (all.unknown > 0) std::cerr << fmt::format("; the time of {} is unknown", all.unknown);
  std::cerr << "\n";
}

// ... and what it took.
void conclude(const std::string& name, const std::vector<std::unique_ptr<Reproduction>>& parts,
              double wall_seconds) {
  std::set<std::string> counted;
  double seconds = 0;
  for (const auto& part : parts) seconds += part->executor().taken(counted).seconds;
  TextTable table({{"experiment", Align::kLeft},
                   {"verified runs"},
                   {"claims"},
                   {"reproduced"},
                   {"same trend"},
                   {"not"},
                   {"depends on unprinted"},
                   {"page", Align::kLeft}});
  for (const auto& part : parts) table.row(part->summary());
  std::cout << table.text(0, Paint::of(STDOUT_FILENO));
  std::cerr << fmt::format("weft: {}: {} runs took {} of CPU in all; this command took {}\n", name,
                           counted.size(), hours(seconds), rounded_time(wall_seconds));
}

ExitCode interrupted_here() {
  std::cerr << "weft: interrupted; repeat the command to continue with the remaining runs\n";
  return ExitCode::kFault;
}

FolderStore store_of(const ReproduceOptions& options) {
  return FolderStore(options.out + "/runs",
                     options.any_build ? FolderStore::Builds::kAny : FolderStore::Builds::kThis);
}

ExitCode reproduce_one(const Library& library, const ReproduceOptions& options) {
  Reproduction one(options.name, library, options);
  if (options.seeds > 1 && one.experiment().headline.empty())
    throw InputError("--seeds", "'" + options.name + "' has no 'headline', the claims that seeds are for");
  catch_interrupts();
  const ResultsFolder locked(options.out, "reproduce", options.engine.checked().lock());
  FolderStore store = store_of(options);
  one.plan(store);
  one.executor().run();
  if (interrupted()) return interrupted_here();
  const bool there = one.write_results();
  std::cout << one.on_terminal();
  const int worst = there ? 0 : static_cast<int>(ExitCode::kBadInput);
  return static_cast<ExitCode>(std::max(worst, one.executor().worst()));
}

ExitCode reproduce_group(const ExperimentGroup& group, const Library& library, ReproduceOptions options) {
  for (const auto& [option, given] :
       {std::pair("--only", !options.only.empty()), {"--keys", !options.keys.empty()}}) {
    if (given)
      throw InputError(option,
                       "is allowed with an experiment; '" + options.name + "' is a group of experiments");
  }
  if (options.size.empty()) options.size = group.size;
  const auto began = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<Reproduction>> parts;
  for (const std::string& name : group.experiments) {
    if (name != kAreaPage) parts.push_back(std::make_unique<Reproduction>(name, library, options));
  }
  catch_interrupts();
  const ResultsFolder locked(options.out, "reproduce", options.engine.checked().lock());
  FolderStore store = store_of(options);
  for (const auto& part : parts) part->plan(store);
  announce(options.name, parts, options);
  bool there = true;
  int worst = 0;
  for (const auto& part : parts) {
    part->executor().run();
    if (interrupted()) return interrupted_here();
    there = part->write_results() && there;
    worst = std::max(worst, part->executor().worst());
  }
  if (parts.size() != group.experiments.size())
    there = report_printed_areas(library.folder, options.out, false) && there;
  conclude(options.name, parts,
           std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  return static_cast<ExitCode>(std::max(worst, there ? 0 : static_cast<int>(ExitCode::kBadInput)));
}

}  // namespace

ExitCode reproduce(const Words& words) {
  ReproduceOptions options;
  Options description("options");
  description.text("name", options.name, "NAME", "experiment, or group of experiments (none: list all)")
      .text("only", options.only, "PROGRAM,...",
            "only these programs, by the paper's abbreviations; no verdicts")
      .text("size", options.size, "SIZE", "another size for all programs, for example small; no verdicts")
      .flag("sensitivity", options.sensitivity,
            "also compute the headline for other values of keys that the paper does not print")
      .text("keys", options.keys, "PATH,...", "with --sensitivity: only these keys")
      .number("seeds", options.seeds, {1, 1000, 1, "inputs"},
              "compute the headline for this many generated inputs, including those of the sizes")
      .add(engine_options(options.engine))
      .flag("again", options.again, "also repeat runs that already have results")
      .flag("any-build", options.any_build, "accept results of any build of Weft; the page names the builds")
      .text("out", options.out, "DIR",
            "folder for NAME.md, .json and .csv, verdicts.md, and the results of the runs under runs")
      .plugins();
  if (!parse(words, "weft reproduce [NAME] [--out DIR] [--sensitivity] [--seeds N] [--only A,B] [--size S]",
             description, "name")) {
    return ExitCode::kDone;
  }
  options.engine.checked();
  if (options.again && options.any_build)
    throw InputError("--any-build", "found --again as well; allowed: one of the two");
  const Library library = read_library();
  if (options.name.empty()) return list_experiments(library);
  const auto group = library.groups.find(options.name);
  if (group != library.groups.end()) return reproduce_group(group->second, library, options);
  if (options.name == kAreaPage) {
    const ResultsFolder locked(options.out, "reproduce");
    return report_printed_areas(library.folder, options.out, true) ? ExitCode::kDone : ExitCode::kBadInput;
  }
  if (std::find(library.names.begin(), library.names.end(), options.name) == library.names.end()) {
    std::vector<std::string> groups;
    for (const auto& [name, one] : library.groups) groups.push_back(name);
    throw InputError("weft reproduce", "unknown experiment '" + options.name + "'; known: " +
                                           joined(library.names) + "; groups: " + joined(groups));
  }
  return reproduce_one(library, options);
}

}  // namespace weft::cli
