#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "sc_main/engine_options.h"
#include "sc_main/options.h"
#include "sc_main/reproduce_claim.h"
#include "study/judge/groups.h"
#include "study/judge/library.h"
#include "study/judge/other_prices.h"
#include "study/page/area_printed.h"
#include "study/page/reproduction.h"
#include "study/run/executor.h"
#include "study/run/folder_store.h"
#include "study/run/results_folder.h"
#include "study/session/interrupt.h"
#include "study/terminal/progress.h"
#include "study/terminal/table.h"

namespace weft::cli {
namespace {

// For --from-results: the folder with the data that come with Weft.
constexpr const char* kOwnResults = "own";

struct ReproduceOptions : ReproductionOptions {
  ReproduceOptions() { out = "weft-reproduce"; }

  std::string name;
  EngineOptions engine;
  bool again = false, any_build = false;
  bool claims = false;  // listed

  Executor::Repeat repeat() const { return again ? Executor::Repeat::kAll : Executor::Repeat::kNone; }
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
  one.plan(store, options.engine.checked(), options.repeat());
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
  for (const auto& part : parts) part->plan(store, options.engine.checked(), options.repeat());
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
                   options.repeat(),
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
            "folder for NAME.md, .json and .csv, verdicts.md, data/NAME.json, and the results of runs under "
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
