#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "common/output_files.h"
#include "sc_main/engine_options.h"
#include "sc_main/options.h"
#include "sc_main/reproduce_claim.h"
#include "study/judge/experiment.h"
#include "study/judge/experiment_plan.h"
#include "study/judge/groups.h"
#include "study/judge/library.h"
#include "study/judge/other_prices.h"
#include "study/judge/results.h"
#include "study/judge/results_data.h"
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

// For --from-results: the folder with the data that come with Weft.
constexpr const char* kOwnResults = "own";

struct ReproduceOptions {
  std::string name, only, size, keys, out = "weft-reproduce";
  std::string from;  // the folder of results from whose data everything is made; empty: from runs
  std::uint64_t seeds = 1;
  EngineOptions engine;
  bool again = false, any_build = false, sensitivity = false, figures = false;
  bool claims = false;  // listed

  bool whole() const { return only.empty() && size.empty(); }
};

ExitCode list_experiments(const Library& library) {
  constexpr std::size_t kTitleWidth = 44;
  const Paint paint = Paint::of(STDOUT_FILENO);
  TextTable table({{"name", Align::kLeft},
                   {"result of the paper", Align::kLeft},
                   {"programs"},
                   {"variants"},
                   {"claims"},
                   {"keys"}});
  for (const std::string& name : library.names()) {
    const Experiment experiment = library.read(name);
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

std::string slice_of(const ReproduceOptions& options) {
  return (options.only.empty() ? "" : " --only " + options.only) +
         (options.size.empty() ? "" : " --size " + options.size);
}

std::string command_of(const std::string& name, const ReproduceOptions& options) {
  return "weft reproduce " + name + (options.sensitivity ? " --sensitivity" : "") +
         (options.keys.empty() ? "" : " --keys " + options.keys) +
         (options.seeds == 1 ? "" : " --seeds " + std::to_string(options.seeds)) + slice_of(options);
}

// Draws every figure, whose numbers other inputs and settings do not change.
std::string drawing_command(const std::string& name, const ReproduceOptions& options) {
  return "weft reproduce " + name + slice_of(options) + " --figures";
}

// There are no data of an experiment.
class NoData : public InputError {
 public:
  using InputError::InputError;
};

// "The runs were made by build 0.1.0 3f2a..."
std::string builds_line(const std::map<std::string, std::size_t>& builds) {
  if (builds.empty()) return "No run has results.";
  if (builds.size() == 1) return "The runs were made by build " + builds.begin()->first + ".";
  std::string text;
  for (const auto& [build, count] : builds)
    text += fmt::format("{}{} by build {}", text.empty() ? "" : ", ", count, build);
  return "The runs were made by several builds: " + text + ".";
}

bool is_there(const std::string& file) {
  std::error_code none;
  return std::filesystem::is_regular_file(file, none);
}

// An experiment with its runs, from reading its file to writing its page.
class Reproduction {
 public:
  Reproduction(const std::string& name, const Library& library, const ReproduceOptions& options)
      : library_(library), options_(options), experiment_(prepared(name)), seeds_(options.seeds) {
    if (!options.from.empty()) read_data();
    for (Sensitivity& one :
         data_ ? settings_in(*data_, experiment_.sensitivity) : sensitivities_of(experiment_, options)) {
      if (!is_about_prices(one)) to_run_.push_back(std::move(one));
    }
    plan_ = std::make_unique<ExperimentPlan>(experiment_, to_run_, seeds_);
  }

  // Plans the runs, whose results `store` keeps.
  void plan(FolderStore& store) {
    store_ = &store;
    executor_ = std::make_unique<Executor>(plan_->plan(), store, options_.engine.checked(),
                                           options_.again ? Executor::Repeat::kAll : Executor::Repeat::kNone);
  }

  const Experiment& experiment() const { return experiment_; }
  Executor& executor() { return *executor_; }

  // NAME.json, .csv, .md and verdicts.md. False: something is not where it should be.
  bool write_results() {
    const RunTable table = data_ ? table_of_data() : plan_->read_runs(*executor_, *store_);
    const std::string command = data_ ? data_->command() : command_of(experiment_.name, options_);
    const Results results = plan_->results(table);
    const Rules& rules = library_.claims.rules;
    const bool whole = options_.whole();
    classify(experiment_, results);
    judged_ = judge_all(experiment_, results, rules, whole);
    auto settings = plan_->settings(table, rules, whole);
    const auto seeds = plan_->seeds(table, rules, whole);
    for (SettingResult& priced : with_other_prices(experiment_, results, rules, whole))
      settings.push_back(std::move(priced));
    mark_flips(settings, judged_);
    Page page = page_of({experiment_, results, judged_, settings, seeds, library_.causes,
                         command + (options_.figures ? " --figures" : ""), whole});
    page.paragraphs.push_back(builds_line(plan_->builds(table)));
    for (const std::string& text : missing_) page.paragraphs.push_back("The data " + text + ".");
    auto json = json_of(experiment_, results, judged_, settings, seeds);
    json["figures"] = figures_json(experiment_, results, named());
    on_terminal_ = plain(page, Paint::of(STDOUT_FILENO));
    bool there = save_result(base() + ".json", text_of(json)) && missing_.empty();
    if (!data_) {
      make_folder(options_.out + "/data");
      there = save_result(data_file(options_.out, named()), data_text(experiment_, *plan_, table, command)) &&
              there;
    }
    there = save_result(base() + ".csv", csv_of(experiment_, results, settings, seeds)) && there;
    const Drawings drawings = options_.figures ? Drawings::kAll : whole ? Drawings::kKept : Drawings::kNone;
    const std::string undrawn = draw_figures(json["figures"], drawings, base() + ".json", drawing_script());
    add_figures(json["figures"], drawings, undrawn, drawing_command(experiment_.name, options_), page);
    std::cerr << drawing_message(json["figures"], drawings, undrawn, options_.out + "/figures/" + named());
    there = save_result(base() + ".md", markdown(page)) && there;
    return save_result(options_.out + "/verdicts.md", markdown(verdicts_of(library_.claims, options_.out))) &&
           there;
  }

  // The page without pictures, after write_results.
  const std::string& on_terminal() const { return on_terminal_; }
  // Lines of a group's table: how many runs are verified, and how many claims have which verdict, at the
  // defaults and whatever is not printed.
  std::vector<std::vector<std::string>> summary() const {
    std::vector<std::string> first{
        experiment_.name,
        data_ ? "from data" : fmt::format("{} of {}", executor_->verified(), plan_->plan().runs.size()),
        std::to_string(judged_.size()), kAtDefaults},
        second{"", "", "", kWhatever};
    for (const Verdict verdict : {Verdict::kReproduced, Verdict::kSameTrend, Verdict::kNot}) {
      const auto count = [&](std::optional<Verdict> ClaimResult::* column) {
        const auto is_it = [&](const ClaimResult& one) { return one.*column == verdict; };
        return options_.whole() ? std::to_string(std::count_if(judged_.begin(), judged_.end(), is_it)) : "-";
      };
      first.push_back(count(&ClaimResult::plain));
      second.push_back(count(&ClaimResult::worst));
    }
    first.push_back(base() + ".md");
    second.emplace_back();
    return {first, second};
  }

 private:
  Experiment prepared(const std::string& name) const {
    Experiment experiment = library_.read(name);
    cut_down(experiment, options_);
    return experiment;
  }
  // A slice is there as such, or is a part of the whole.
  void read_data() {
    std::string file = data_file(options_.from, named());
    if (!is_there(file) && options_.size.empty()) file = data_file(options_.from, experiment_.name);
    if (!is_there(file)) {
      throw NoData(file, "found no data of '" + experiment_.name + "'; weft reproduce " + experiment_.name +
                             " --out DIR makes them below DIR");
    }
    data_.emplace(file);
    const std::set<std::string> changes = data_->changes();
    seeds_ = 1;
    while (changes.count("seed " + std::to_string(seeds_)) != 0) ++seeds_;
  }
  RunTable table_of_data() {
    RunTable table = data_->table(experiment_, *plan_, missing_);
    for (const std::string& text : missing_) {
      std::cerr << fmt::format("weft: the data {}; weft reproduce {} does the runs\n", text,
                               experiment_.name);
    }
    return table;
  }

  // A slice does not take the place of the whole.
  std::string named() const { return experiment_.name + (options_.whole() ? "" : "-slice"); }
  std::string base() const { return options_.out + "/" + named(); }

  const Library& library_;
  const ReproduceOptions& options_;
  Experiment experiment_;
  std::uint64_t seeds_;
  std::optional<ResultsData> data_;   // none: from the runs
  std::vector<std::string> missing_;  // what the data do not have
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
                   {"verdicts", Align::kLeft},
                   {"reproduced"},
                   {"same trend"},
                   {"not"},
                   {"page", Align::kLeft}});
  for (const auto& part : parts) {
    for (std::vector<std::string>& row : part->summary()) table.row(std::move(row));
  }
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

// Everything again from data, without a run. An experiment of which there are no data is left out, with a
// message.
ExitCode reproduce_from_data(const std::vector<std::string>& names, const Library& library,
                             const ReproduceOptions& options) {
  const ResultsFolder locked(options.out, "reproduce");
  bool there = true;
  std::vector<std::string> without;
  for (const std::string& name : names) {
    if (name == kAreaPage) {
      there = report_printed_areas(library, options.out, names.size() == 1) && there;
      continue;
    }
    try {
      Reproduction one(name, library, options);
      there = one.write_results() && there;
      if (names.size() == 1) std::cout << one.on_terminal();
    } catch (const NoData& error) {
      if (names.size() == 1) throw;
      without.push_back(name);
    }
  }
  if (!without.empty()) {
    std::cerr << fmt::format("weft: no data of {} in {}; left out\n", joined(without),
                             data_file(options.from, "NAME"));
  }
  return there && without.empty() ? ExitCode::kDone : ExitCode::kBadInput;
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
  if (!options.from.empty()) return reproduce_from_data(group.experiments, library, options);
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
    there = report_printed_areas(library, options.out, false) && there;
  conclude(options.name, parts,
           std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  return static_cast<ExitCode>(std::max(worst, there ? 0 : static_cast<int>(ExitCode::kBadInput)));
}

ExitCode show_claim(const Claim& claim, const Library& library, const ReproduceOptions& options) {
  for (const auto& [option, given] : {std::pair("--only", !options.only.empty()),
                                      {"--size", !options.size.empty()},
                                      {"--seeds", options.seeds != 1},
                                      {"--figures", options.figures}}) {
    if (given) throw InputError(option, "is allowed with an experiment; '" + claim.id + "' is a claim");
  }
  ClaimToShow show{claim,
                   library,
                   {},
                   {},
                   options.engine.checked(),
                   options.again ? Executor::Repeat::kAll : Executor::Repeat::kNone,
                   options.any_build ? FolderStore::Builds::kAny : FolderStore::Builds::kThis,
                   options.out,
                   options.from};
  for (const std::string& name : library.names()) {
    Experiment experiment = library.read(name);
    const auto& plans = experiment.claims;
    if (std::any_of(plans.begin(), plans.end(), [&](const ClaimPlan& plan) { return plan.claim == &claim; }))
      show.experiment = std::move(experiment);
  }
  if (options.sensitivity || !options.keys.empty()) {
    const std::vector<std::string> none;
    const auto& ids = show.experiment ? show.experiment->headline : none;
    if (std::find(ids.begin(), ids.end(), claim.id) == ids.end())
      throw InputError("--sensitivity", "'" + claim.id + "' is in no headline; allowed: " +
                                            (ids.empty() ? "none" : joined(ids)));
    for (Sensitivity& one : sensitivities_of(*show.experiment, options)) {
      if (!is_about_prices(one)) show.settings.push_back(std::move(one));
    }
  }
  return reproduce_claim(show);
}

}  // namespace

ExitCode reproduce(const Words& words) {
  ReproduceOptions options;
  Options description("options");
  description
      .text("name", options.name, "NAME",
            "experiment, group of experiments, or claim (none: list experiments and groups)")
      .flag("claims", options.claims, "list the claims, and which experiment judges each of them")
      .text("only", options.only, "PROGRAM,...",
            "only these programs, by the paper's abbreviations; no verdicts")
      .text("size", options.size, "SIZE", "another size for all programs, for example small; no verdicts")
      .flag("sensitivity", options.sensitivity,
            "also compute the headline for other values of keys that the paper does not print")
      .text("keys", options.keys, "PATH,...", "with --sensitivity: only these keys")
      .number("seeds", options.seeds, {1, 1000, 1, "inputs"},
              "compute the headline for this many generated inputs, including those of the sizes")
      .flag("figures", options.figures,
            "draw every figure, as SVG and PDF (default: figures of headlines, as SVG, unless it is a slice)")
      .add(engine_options(options.engine))
      .word(
          "from-results", options.from, "DIR", kOwnResults,
          "make pages, verdicts and figures from the data below DIR, without a run; own: the data that come "
          "with Weft")
      .flag("again", options.again, "also repeat runs that already have results")
      .flag("any-build", options.any_build, "accept results of any build of Weft; the page names the builds")
      .text("out", options.out, "DIR",
            "folder for NAME.md, .json and .csv, verdicts.md, data/NAME.json, and the results of the runs "
            "under "
            "runs")
      .plugins();
  if (!parse(words, "weft reproduce [NAME] [--out DIR] [--sensitivity] [--seeds N] [--only A,B] [--size S]",
             description, "name")) {
    return ExitCode::kDone;
  }
  options.engine.checked();
  if (options.again && options.any_build)
    throw InputError("--any-build", "found --again as well; allowed: one of the two");
  for (const auto& [option, given] : {std::pair("--again", options.again),
                                      {"--any-build", options.any_build},
                                      {"--sensitivity", options.sensitivity},
                                      {"--seeds", options.seeds != 1}}) {
    if (given && !options.from.empty()) {
      throw InputError(option,
                       "found --from-results as well, which does no runs and shows all that the data have; "
                       "allowed: one of the two");
    }
  }
  if (options.from == kOwnResults) options.from = experiment_folder() + "/results";
  const Library library = read_library(experiment_folder());
  if (options.claims) {
    if (!options.name.empty())
      throw InputError("--claims", "found the name '" + options.name + "' as well; allowed: one of the two");
    return list_claims(library);
  }
  if (options.name.empty()) return list_experiments(library);
  const auto group = library.groups.find(options.name);
  if (group != library.groups.end()) return reproduce_group(group->second, library, options);
  if (options.name == kAreaPage) {
    const ResultsFolder locked(options.out, "reproduce");
    return report_printed_areas(library, options.out, true) ? ExitCode::kDone : ExitCode::kBadInput;
  }
  if (const Claim* claim = library.claims.find(options.name)) return show_claim(*claim, library, options);
  if (!library.has(options.name)) {
    std::vector<std::string> groups;
    for (const auto& [name, one] : library.groups) groups.push_back(name);
    throw InputError("weft reproduce",
                     "unknown experiment '" + options.name + "'; known: " + joined(library.names()) +
                         "; groups: " + joined(groups) + "; claims: weft reproduce --claims lists them" +
                         claims_like(options.name, library.claims));
  }
  if (!options.from.empty()) return reproduce_from_data({options.name}, library, options);
  return reproduce_one(library, options);
}

}  // namespace weft::cli
