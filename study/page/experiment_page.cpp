#include "study/page/experiment_page.h"

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "common/input_file.h"
#include "study/page/experiment_tables.h"
#include "study/page/spread.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

std::string code(const std::string& text) {
  return "`" + text + "`";
}

std::string why(const ClaimResult& result, const Causes& causes, bool whole) {
  if (!whole) return "";
  if (!result.finding) return "a run or a statistic that it needs is missing";
  if (*result.verdict == Verdict::kReproduced) return "";
  std::string text = joined(result.flips);
  const auto cause = causes.find(result.claim->id);
  if (cause == causes.end()) return text.empty() ? "no cause found yet" : text;
  return text + (text.empty() ? "" : "; ") + cause->second.cause + ": " + cause->second.text + " Shown by " +
         cause->second.counter + ": " + code(cause->second.run);
}

Section variants_section(const Experiment& experiment) {
  Section section;
  section.title = "Variants";
  section.table.headings = {"variant", "set"};
  for (const ExperimentVariant& variant : experiment.variants) {
    std::string set;
    for (const std::string& text : variant.overrides) set.append(set.empty() ? "" : " ").append(code(text));
    section.table.rows.push_back({variant.label, set.empty() ? "-" : set});
  }
  return section;
}

// A line for each run of which `said` has something to say.
template <class Said>
Section section_of_runs(const Reported& reported, const char* title, const char* heading, Said said) {
  const Experiment& experiment = reported.experiment;
  Section section;
  section.title = title;
  for (std::size_t p = 0; p < experiment.programs.size(); ++p) {
    for (std::size_t v = 0; v < experiment.variants.size(); ++v) {
      const std::string text = said(reported.results.run(p, v));
      if (!text.empty())
        section.table.rows.push_back({experiment.programs[p].abbr, experiment.variants[v].label, text});
    }
  }
  if (!section.table.rows.empty()) section.table.headings = {"program", "variant", heading};
  return section;
}

Section bounds_section(const Reported& reported) {
  return section_of_runs(reported, "What bounds the runs", "bound",
                         [](const RunResult& run) { return run.reading.bound; });
}

Section failures_section(const Reported& reported) {
  return section_of_runs(reported, "Runs without results", "why", [](const RunResult& run) {
    return run.exit_code != 0 ? run.result : run.reading.missing;
  });
}

// The settings that the experiment knows, less those in the table.
std::string settings_left(const Reported& reported) {
  std::string text;
  for (const Sensitivity& one : reported.experiment.sensitivity) {
    for (const Sensitivity::Setting& known : one.settings) {
      const auto is_it = [&](const SettingResult& setting) { return setting.setting == known.name; };
      if (std::any_of(reported.settings.begin(), reported.settings.end(), is_it)) continue;
      text.append(text.empty() ? "" : ", ").append(code(known.name));
    }
  }
  return text;
}

bool any_together(const Experiment& experiment) {
  const auto together = [](const Sensitivity::Setting& setting) { return setting.overrides.size() > 1; };
  return std::any_of(experiment.sensitivity.begin(), experiment.sensitivity.end(),
                     [&](const Sensitivity& one) {
                       return std::any_of(one.settings.begin(), one.settings.end(), together);
                     });
}

Section sensitivity_section(const Reported& reported) {
  Section section;
  section.title = "Sensitivity to what is not printed";
  const std::string left = settings_left(reported);
  if (!left.empty()) section.paragraphs.push_back("Not run for this page: " + left + ".");
  if (reported.settings.empty()) return section;
  section.paragraphs.insert(
      section.paragraphs.begin(),
      "Each line is the headline with one value of the machine set to another one that is as plausible." +
          std::string(any_together(reported.experiment) ? " Settings in one line are set together." : "") +
          std::string(
              reported.experiment.price_times.empty()
                  ? ""
                  : " `EVENT x N`: each event of that kind costs so many times as much, by what the runs "
                    "counted; events of which no run has 0.1 % of its energy are left out."));
  section.table.headings = {"setting", "why"};
  std::vector<std::string> base{"as configured", ""};
  for (const std::string& id : reported.experiment.headline) {
    section.table.headings.push_back(code(id));
    const auto found = std::find_if(reported.claims.begin(), reported.claims.end(),
                                    [&](const ClaimResult& claim) { return claim.claim->id == id; });
    base.push_back(shown(*found->claim, found->finding));
  }
  section.table.rows.push_back(base);
  for (const SettingResult& setting : reported.settings) {
    std::vector<std::string> row{code(setting.setting), setting.of->why};
    for (const ClaimResult& claim : setting.claims) {
      row.push_back(shown(*claim.claim, claim.finding) +
                    (claim.verdict ? std::string(", ") + name_of(*claim.verdict) : ""));
    }
    section.table.rows.push_back(row);
  }
  return section;
}

std::string programs_line(const Experiment& experiment) {
  std::string text = "Programs: ";
  bool kernels = false;
  for (const ExperimentProgram& program : experiment.programs) {
    text.append(&program == &experiment.programs.front() ? "" : ", ").append(program.abbr).append(" = ");
    if (!program.kernel.empty()) text.append("kernel ").append(code(program.kernel)).append(" of ");
    if (program.is_own()) {
      std::string command = std::filesystem::path(program.file).filename().string();
      for (const std::string& argument : program.arguments) command += " " + argument;
      text.append(code(command));
    } else {
      text.append(code(program.workload + " --size " + program.size));
    }
    const char* before = " with ";
    for (const std::string& set : program.overrides)
      text.append(std::exchange(before, " ")).append(code(set));
    kernels = kernels || !program.kernel.empty();
  }
  text += ".";
  if (kernels) text += " What is said of a kernel is of all of its launches together.";
  return text;
}

// What an experiment's results say about a claim; "-": nothing.
struct Judged {
  std::string experiment = "-", shown = "-", at_defaults = "-", worst = "-";
};

// Older results have the verdict at the defaults only where nothing else turns it.
std::string verdict_in(const nlohmann::json& claim, const char* key) {
  const std::string verdict = claim.value(key, claim.at("verdict").get<std::string>());
  return verdict == name_of(Verdict::kDependsOnUnprinted) ? "-" : verdict;
}

// By the claim's ID.
std::map<std::string, Judged> judged_in(const std::string& folder) {
  std::set<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") files.insert(entry.path());
  }
  std::map<std::string, Judged> judged;
  for (const std::filesystem::path& file : files) {
    const auto json = nlohmann::json::parse(read_regular_file(file.string()), nullptr, false);
    if (!json.is_object() || !json.contains("experiment") || !json.contains("claims")) continue;
    for (const auto& claim : json.at("claims")) {
      if (!claim.at("verdict").is_string()) continue;
      judged[claim.at("id")] = {json.at("experiment"), claim.at("shown"), verdict_in(claim, "at_defaults"),
                                verdict_in(claim, "worst")};
    }
  }
  return judged;
}

// How many claims have which verdict.
using VerdictCounts = std::map<std::string, std::size_t>;

std::vector<std::string> count_row(const std::string& paper, std::size_t claims, const char* verdicts,
                                   VerdictCounts count) {
  const std::size_t reproduced = count[name_of(Verdict::kReproduced)],
                    trend = count[name_of(Verdict::kSameTrend)];
  return {paper,
          std::to_string(claims),
          std::to_string(count["-"]),
          verdicts,
          std::to_string(reproduced),
          std::to_string(trend),
          std::to_string(count[name_of(Verdict::kNot)]),
          std::to_string(reproduced + trend) +
              (claims == 0 ? "" : " (" + std::to_string(100 * (reproduced + trend) / claims) + " %)")};
}

}  // namespace

std::string cell_of(const std::optional<Verdict>& verdict) {
  return verdict ? name_of(*verdict) : "not judged";
}

Section claims_section(const std::vector<ClaimResult>& claims, const Causes& causes, bool whole) {
  Section section;
  section.title = "Claims";
  if (!whole)
    section.paragraphs.emplace_back("A slice: not all programs, or other sizes. Claims are not judged.");
  section.table.headings = {"claim", "place", "what", "printed", "ours", kAtDefaults, kWhatever, "why"};
  for (const ClaimResult& result : claims) {
    const Claim& claim = *result.claim;
    std::string what = claim.statement;
    if (!claim.note.empty()) what += " (" + claim.note + ")";
    section.table.rows.push_back({code(claim.id), claim.place, what, printed(claim),
                                  shown(claim, result.finding), cell_of(result.plain), cell_of(result.worst),
                                  why(result, causes, whole)});
  }
  return section;
}

// "machine `a`", or "machines `a`, `b`" if variants have their own.
std::string machines(const Experiment& experiment) {
  std::vector<std::string> names{experiment.config};
  for (const ExperimentVariant& variant : experiment.variants) {
    if (std::find(names.begin(), names.end(), variant.config) == names.end()) names.push_back(variant.config);
  }
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ", ").append(code(name));
  return (names.size() == 1 ? "machine " : "machines ") + text;
}

Page page_of(const Reported& reported) {
  const Experiment& experiment = reported.experiment;
  Page page;
  page.title = experiment.title;
  page.paragraphs.push_back(experiment.paper + ", " + experiment.place + ". Made by " +
                            code(reported.command) + "; " + machines(experiment) +
                            (experiment.overrides.empty() ? "" : " with ") +
                            [&] {
                              std::string set;
                              for (const std::string& text : experiment.overrides)
                                set.append(set.empty() ? "" : " ").append(code(text));
                              return set;
                            }() +
                            ".");
  if (!experiment.about.empty()) page.paragraphs.push_back(experiment.about);
  page.paragraphs.push_back(programs_line(experiment));
  if (!experiment.claims.empty())
    page.sections.push_back(claims_section(reported.claims, reported.causes, reported.whole));
  if (!experiment.numbers.empty()) page.sections.push_back(numbers_section(reported));
  if (experiment.classes) page.sections.push_back(types_section(reported));
  std::vector<std::string> done, in_tables;
  for (const Ratio& ratio : experiment.comparisons) {
    if (std::find(done.begin(), done.end(), ratio.measure) != done.end()) continue;
    done.push_back(ratio.measure);
    page.sections.push_back(ratios(reported, ratio.measure));
  }
  for (const ExperimentTable& table : experiment.tables) {
    page.sections.push_back(beside_printed(reported, table));
    for (const auto& column : table.columns) in_tables.push_back(column.measure);
  }
  for (const Measure& measure : experiment.measures) {
    const bool shown = std::find(in_tables.begin(), in_tables.end(), measure.name) != in_tables.end();
    if (measure.name != "speed" && !shown) page.sections.push_back(measured(reported, measure));
  }
  if (!experiment.sensitivity.empty() || !reported.settings.empty())
    page.sections.push_back(sensitivity_section(reported));
  if (!reported.seeds.empty()) page.sections.push_back(spread_section(reported));
  for (Section section : {bounds_section(reported), failures_section(reported)}) {
    if (!section.table.rows.empty()) page.sections.push_back(std::move(section));
  }
  page.sections.push_back(variants_section(experiment));
  return page;
}

Page verdicts_of(const Claims& claims, const std::string& folder) {
  const auto judged = judged_in(folder);
  Page page;
  page.title = "Claims and verdicts";
  page.paragraphs.emplace_back(
      "Every claim of the papers beside what the experiments in this folder found. Made by `weft reproduce`; "
      "the rules are in VERDICTS.md of the experiments.");
  page.paragraphs.push_back(
      "The verdict \"" + std::string(kAtDefaults) +
      "\" has the values that were chosen for what a paper does not print. The verdict \"" + kWhatever +
      "\" is the worst one over all other plausible values that ran.");
  Section counts{"Per paper",
                 {},
                 {{"paper", "claims", "not judged yet", "verdicts", name_of(Verdict::kReproduced),
                   name_of(Verdict::kSameTrend), name_of(Verdict::kNot), "at least same trend"},
                  {}}};
  std::vector<Section> papers;
  for (const auto& [paper, title] : claims.papers) {
    Section section{paper,
                    {title + "."},
                    {{"claim", "place", "what", "printed", "ours", kAtDefaults, kWhatever, "in"}, {}}};
    VerdictCounts at_defaults, worst;
    for (const Claim& claim : claims.list) {
      if (claim.paper != paper) continue;
      const auto found = judged.find(claim.id);
      const Judged& one = found == judged.end() ? Judged() : found->second;
      ++at_defaults[one.at_defaults];
      ++worst[one.worst];
      section.table.rows.push_back(
          {code(claim.id), claim.place, claim.statement, printed(claim), one.shown, one.at_defaults,
           one.worst, one.experiment == "-" ? "-" : "[" + one.experiment + "](" + one.experiment + ".md)"});
    }
    const std::size_t all = section.table.rows.size();
    counts.table.rows.push_back(count_row(paper, all, kAtDefaults, std::move(at_defaults)));
    counts.table.rows.push_back(count_row(paper, all, kWhatever, std::move(worst)));
    papers.push_back(std::move(section));
  }
  page.sections.push_back(std::move(counts));
  for (Section& section : papers) page.sections.push_back(std::move(section));
  return page;
}

}  // namespace weft::study
