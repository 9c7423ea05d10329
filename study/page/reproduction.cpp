#include "study/page/reproduction.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "common/output_files.h"
#include "study/judge/other_prices.h"
#include "study/judge/results.h"
#include "study/page/drawing.h"
#include "study/page/experiment_page.h"
#include "study/plan/place.h"
#include "study/session/outcome.h"
#include "workloads/workload.h"

namespace weft::study {
namespace {

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

// The experiment as --only and --size cut it down.
void cut_down(Experiment& experiment, const ReproductionOptions& options) {
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

std::string slice_of(const ReproductionOptions& options) {
  return (options.only.empty() ? "" : " --only " + options.only) +
         (options.size.empty() ? "" : " --size " + options.size);
}

std::string command_of(const std::string& name, const ReproductionOptions& options) {
  return "weft reproduce " + name + (options.sensitivity ? " --sensitivity" : "") +
         (options.keys.empty() ? "" : " --keys " + options.keys) +
         (options.seeds == 1 ? "" : " --seeds " + std::to_string(options.seeds)) + slice_of(options);
}

// Draws every figure, whose numbers other inputs and settings do not change.
std::string drawing_command(const std::string& name, const ReproductionOptions& options) {
  return "weft reproduce " + name + slice_of(options) + " --figures";
}

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

Experiment prepared(const std::string& name, const Library& library, const ReproductionOptions& options) {
  Experiment experiment = library.read(name);
  cut_down(experiment, options);
  return experiment;
}

}  // namespace

std::vector<Sensitivity> sensitivities_of(const Experiment& experiment, const ReproductionOptions& options) {
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

Reproduction::Reproduction(const std::string& name, const Library& library,
                           const ReproductionOptions& options)
    : library_(library),
      options_(options),
      experiment_(prepared(name, library, options)),
      seeds_(options.seeds) {
  if (!options.from.empty()) read_data();
  for (Sensitivity& one :
       data_ ? settings_in(*data_, experiment_.sensitivity) : sensitivities_of(experiment_, options)) {
    if (!is_about_prices(one)) to_run_.push_back(std::move(one));
  }
  plan_ = std::make_unique<ExperimentPlan>(experiment_, to_run_, seeds_);
}

void Reproduction::plan(FolderStore& store, const Engine& engine, Executor::Repeat repeat) {
  store_ = &store;
  executor_ = std::make_unique<Executor>(plan_->plan(), store, engine, repeat);
}

bool Reproduction::write_results() {
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
    there = save_result(data_file(options_.out, named()), data_text(*plan_, table, command)) && there;
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

std::vector<std::vector<std::string>> Reproduction::summary() const {
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

// A slice is there as such, or is a part of the whole.
void Reproduction::read_data() {
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
RunTable Reproduction::table_of_data() {
  RunTable table = data_->table(*plan_, missing_);
  for (const std::string& text : missing_) {
    std::cerr << fmt::format("weft: the data {}; weft reproduce {} does the runs\n", text, experiment_.name);
  }
  return table;
}

}  // namespace weft::study
