#include "study/page/claim_page.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/input_file.h"
#include "study/page/experiment_page.h"
#include "study/page/value_words.h"

namespace weft::study {
namespace {

std::string in_code(const std::string& text) {
  return "`" + text + "`";
}

Section printed_section(const Claim& claim, const Claims& claims) {
  Section section{"What the paper prints", {}, {{"what", "text"}, {}}};
  auto& rows = section.table.rows;
  rows = {{"paper", claims.papers.at(claim.paper)},
          {"place", claim.place},
          {"as printed", claim.as_printed},
          {"as a number", printed(claim)}};
  if (!claim.program.empty()) rows.push_back({"program", claim.program});
  if (!claim.note.empty()) rows.push_back({"note", claim.note});
  return section;
}

Section verdict_section(const ClaimResult& result, const Rules& rules) {
  const Claim& claim = *result.claim;
  Section section{"Verdict", {}, {}};
  section.paragraphs.push_back("Ours: " + shown(claim, result.finding) + ". Printed: " + printed(claim) +
                               ". At the defaults: " + cell_of(result.plain) +
                               ". Whatever is not printed: " + cell_of(result.worst) + ".");
  if (!result.finding) {
    section.paragraphs.emplace_back("A run or a statistic that it needs is missing.");
    return section;
  }
  std::string rule = "The rule is that of " + in_code(name_of(claim.type));
  const bool of_single = claim.type == ClaimType::kMaximum || claim.type == ClaimType::kMinimum ||
                         claim.type == ClaimType::kSeries;
  if (of_single) rule += " of " + in_code(name_of(claim.of));
  const bool is_ratio = claim.type == ClaimType::kRatio || (of_single && claim.of == ClaimType::kRatio) ||
                        claim.type == ClaimType::kRange;
  section.paragraphs.push_back(rule + "." + (is_ratio ? " The effect of a ratio is the ratio minus 1." : ""));
  section.table.headings = {"for the verdict", "condition", "holds"};
  for (const Condition& condition : ruling(claim, rules, *result.finding).conditions)
    section.table.rows.push_back({name_of(condition.of), condition.text, condition.holds ? "yes" : "no"});
  return section;
}

Section formula_section(const ShownClaim& shown) {
  Section section{"Formula", {}, shown.formula};
  section.paragraphs.push_back("In " + in_code(shown.file) + ": " + in_code(shown.written));
  return section;
}

Section unprinted_section(const ShownClaim& shown) {
  Section section{"What is not printed", {}, {}};
  if (shown.others.empty() && shown.not_run.empty())
    section.paragraphs.emplace_back("The experiment knows no other reading or setting for this claim.");
  if (!shown.not_run.empty()) section.paragraphs.push_back(shown.not_run);
  if (shown.others.empty()) return section;
  section.table.headings = {"kind", "name", "ours", "verdict", "turns it"};
  for (const ShownClaim::Other& other : shown.others) {
    section.table.rows.push_back({other.kind, other.name, other.shown, cell_of(other.verdict),
                                  other.verdict && other.verdict != shown.result.plain ? "yes" : "no"});
  }
  return section;
}

Section cause_section(const ClaimResult& result, const Causes& causes) {
  Section section{"Cause", {}, {}};
  const auto cause = causes.find(result.claim->id);
  if (cause == causes.end()) {
    section.paragraphs.emplace_back(result.worst == Verdict::kReproduced
                                        ? "The claim is reproduced; no cause is asked for."
                                        : "No cause has been found yet.");
    return section;
  }
  section.paragraphs = {cause->second.cause + ": " + cause->second.text,
                        "Shown by " + cause->second.counter + ": " + in_code(cause->second.run)};
  return section;
}

Section runs_section(const ShownClaim& shown) {
  Section section{"Runs", {}, shown.runs};
  if (!shown.runs_about.empty()) section.paragraphs.push_back(shown.runs_about);
  return section;
}

}  // namespace

std::string written_claim(const std::string& file, const std::string& id) {
  const auto document = nlohmann::ordered_json::parse(read_input(file), nullptr, true, true);
  for (const auto& claim : document.at("claims")) {
    if (claim.at("id") == id) return claim.dump();
  }
  return "";
}

ShownClaim shown_claim(const Experiment& experiment, const Results& results, ClaimResult result,
                       const Rules& rules) {
  const ClaimPlan& plan = experiment.claims.front();
  const Lookup at = results.lookup();
  ShownClaim shown_one;
  shown_one.experiment = experiment.name;
  shown_one.file = experiment.file;
  shown_one.written = written_claim(experiment.file, plan.claim->id);
  shown_one.result = std::move(result);
  shown_one.formula = formula_table(experiment, plan, at);
  shown_one.numbers = numbers_table(experiment, plan, at);
  for (const ClaimPlan::Reading& reading : plan.readings) {
    const std::optional<Finding> finding = finding_of(reading, at);
    std::optional<Verdict> verdict;
    if (finding) verdict = judge(*plan.claim, rules, *finding);
    shown_one.others.push_back({"reading", reading.name, shown(*plan.claim, finding), verdict});
  }
  return shown_one;
}

Page claim_page(const ShownClaim& shown, const Claims& claims, const Causes& causes) {
  const Claim& claim = *shown.result.claim;
  Page page;
  page.title = claim.id;
  page.paragraphs = {claim.statement, "Judged by " + in_code(shown.experiment) + "."};
  page.sections = {printed_section(claim, claims), verdict_section(shown.result, claims.rules),
                   formula_section(shown)};
  if (!shown.numbers.headings.empty())
    page.sections.push_back({"Numbers that go into it", {}, shown.numbers});
  page.sections.push_back(unprinted_section(shown));
  page.sections.push_back(cause_section(shown.result, causes));
  page.sections.push_back(runs_section(shown));
  return page;
}

}  // namespace weft::study
