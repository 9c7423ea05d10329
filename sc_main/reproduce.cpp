#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "common/output_files.h"
#include "sc_main/interrupt.h"
#include "sc_main/options.h"
#include "sc_main/report.h"
#include "sc_main/reproduce_campaign.h"
#include "sc_main/reproduce_energy.h"
#include "sc_main/reproduce_experiment.h"
#include "sc_main/reproduce_report.h"
#include "sc_main/reproduce_results.h"
#include "sc_main/results_folder.h"
#include "sc_main/table.h"
#include "workloads/workload.h"

namespace weft::cli {
namespace {

struct ReproduceOptions {
  std::string name, only, size, keys, out = "weft-reproduce";
  std::uint64_t jobs = 0;
  bool again = false, sensitivity = false;

  bool whole() const { return only.empty() && size.empty(); }
};

ExitCode list_experiments(const std::string& folder, const Claims& claims) {
  constexpr std::size_t kTitleWidth = 44;
  TextTable table({{"name", Align::kLeft},
                   {"what the paper shows", Align::kLeft},
                   {"programs"},
                   {"variants"},
                   {"claims"},
                   {"keys"}});
  for (const std::string& name : experiment_names(folder)) {
    std::string file = folder;
    file.append("/").append(name).append(".json");
    const Experiment experiment = read_experiment(name, file, claims);
    table.row({name, clipped(experiment.title, kTitleWidth), std::to_string(experiment.programs.size()),
               std::to_string(experiment.variants.size()), std::to_string(experiment.claims.size()),
               std::to_string(experiment.sensitivity.size())});
  }
  std::cout << table.text(kPageWidth, Paint::of(STDOUT_FILENO));
  return ExitCode::kDone;
}

Experiment find_experiment(const std::string& name, const std::string& folder, const Claims& claims) {
  const auto names = experiment_names(folder);
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw InputError("weft reproduce", "unknown experiment '" + name + "'; known: " + joined(names));
  return read_experiment(name, folder + "/" + name + ".json", claims);
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
    if (!options.keys.empty()) throw InputError("--keys", "has a meaning with --sensitivity only");
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
void cut(Experiment& experiment, const ReproduceOptions& options) {
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
    workloads::values_of(*workloads::find(program.workload), options.size);  // throws if it has no such size
    program.size = options.size;
    program.seconds.reset();  // of the other size
  }
}

std::string command_of(const ReproduceOptions& options) {
  return "weft reproduce " + options.name + (options.sensitivity ? " --sensitivity" : "") +
         (options.keys.empty() ? "" : " --keys " + options.keys) +
         (options.only.empty() ? "" : " --only " + options.only) +
         (options.size.empty() ? "" : " --size " + options.size);
}

// False: something is not where it should be.
bool write(const std::string& path, const std::string& text) {
  const std::string elsewhere = save_file(path, text);
  if (!elsewhere.empty()) std::cerr << "weft: " << elsewhere << "\n";
  return elsewhere.empty();
}

}  // namespace

ExitCode reproduce(const Words& words) {
  ReproduceOptions options;
  Options description("options");
  description.text("name", options.name, "NAME", "which experiment; without it, all are listed")
      .text("only", options.only, "PROGRAM,...",
            "only these programs, by the paper's abbreviations; no verdicts")
      .text("size", options.size, "SIZE", "another size for all programs, as small; no verdicts")
      .flag("sensitivity", options.sensitivity,
            "also the headline for other values of what the paper does not print")
      .text("keys", options.keys, "PATH,...", "with --sensitivity: only these of its keys")
      .number("jobs", options.jobs, {1, 1024, 1, "runs"}, "runs at a time; as many as cores if not given")
      .flag("again", options.again, "also repeat runs whose results are there already")
      .text("out", options.out, "DIR",
            "folder for NAME.md, .json and .csv, verdicts.md, and the results of the runs under runs")
      .plugins();
  if (!parse(words, "weft reproduce [NAME] [--out DIR] [--sensitivity] [--only A,B] [--size S]", description,
             "name")) {
    return ExitCode::kDone;
  }
  const std::string folder = experiment_folder();
  const Claims claims = read_claims(folder + "/claims.json");
  if (options.name.empty()) return list_experiments(folder, claims);
  const Causes causes = read_causes(folder + "/causes.json", claims);
  Experiment experiment = find_experiment(options.name, folder, claims);
  cut(experiment, options);
  catch_interrupts();
  const ResultsFolder locked(options.out, "reproduce");
  const auto sensitivities = sensitivities_of(experiment, options);
  std::vector<Sensitivity> to_run = sensitivities;
  to_run.erase(std::remove_if(to_run.begin(), to_run.end(), is_about_prices), to_run.end());
  Campaign campaign(experiment, options.out, to_run);
  campaign.run(options.again, options.jobs);
  if (interrupted()) {
    std::cerr << "weft: interrupted; the same command goes on with the runs that are left\n";
    return ExitCode::kFault;
  }
  const Results results = campaign.results();
  classify(experiment, results);
  auto judged = judge_all(experiment, results, claims.rules, options.whole());
  auto settings = campaign.settings(claims.rules, options.whole());
  for (SettingResult& priced : with_other_prices(experiment, results, claims.rules, options.whole()))
    settings.push_back(std::move(priced));
  mark_flips(settings, judged);
  const Page page =
      page_of({experiment, results, judged, settings, causes, command_of(options), options.whole()});
  // A slice does not take the place of the whole.
  const std::string base = options.out + "/" + options.name + (options.whole() ? "" : "-slice");
  bool there = write(base + ".json", text_of(json_of(experiment, results, judged, settings)));
  there = write(base + ".csv", csv_of(experiment, results, settings)) && there;
  there = write(base + ".md", markdown(page)) && there;
  there = write(options.out + "/verdicts.md", markdown(verdicts_of(claims, options.out))) && there;
  std::cout << plain(page, Paint::of(STDOUT_FILENO));
  const int worst = there ? 0 : static_cast<int>(ExitCode::kBadInput);
  return static_cast<ExitCode>(std::max(worst, campaign.worst()));
}

}  // namespace weft::cli
