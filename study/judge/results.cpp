#include "study/judge/results.h"

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/csv.h"

namespace weft::study {

using nlohmann::ordered_json;

namespace {

std::string number(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

// Counts without digits, changes with their sign.
std::string single(ClaimType type, double value) {
  if (type == ClaimType::kChange) return (value < 0 ? "" : "+") + number(value, 3);
  const bool whole = type == ClaimType::kCount && value == static_cast<double>(static_cast<long>(value));
  return number(value, whole ? 0 : 3);
}

bool has_names(const Claim& claim) {
  return claim.type == ClaimType::kOrder || claim.type == ClaimType::kBest ||
         claim.type == ClaimType::kSeries;
}

bool is_extreme(const Claim& claim) {
  return claim.type == ClaimType::kMaximum || claim.type == ClaimType::kMinimum;
}

// A series of more entries than this is not spelt out.
constexpr std::size_t kMostShown = 12;

std::string correlation(const Claim& claim, const Finding& finding) {
  std::vector<double> printed, ours;
  for (const auto& [name, value] : claim.series) {
    printed.push_back(value);
    ours.push_back(finding.values.at(name));
  }
  return "rank correlation " + number(rank_correlation(printed, ours), 3);
}

std::string with_program(const std::string& text, const std::string& program) {
  return program.empty() ? text : text + " (" + program + ")";
}

std::optional<Finding> find(const FindingPlan& plan, const Lookup& at) {
  Finding finding;
  if (plan.value) {
    const auto answer = evaluate(*plan.value, at);
    if (!answer) return {};
    finding.number = answer->number;
    finding.program = answer->program;
  }
  for (const auto& [name, value] : plan.values) {
    const auto answer = evaluate(value, at);
    if (!answer) return {};
    finding.values[name] = answer->number;
  }
  return finding;
}

ClaimResult judge_one(const ClaimPlan& plan, const Results& results, const Rules& rules, bool whole) {
  const Lookup at = results.lookup();
  ClaimResult result;
  result.claim = plan.claim;
  result.finding = find(plan, at);
  if (!whole || !result.finding) return result;
  const Verdict own = judge(*plan.claim, rules, *result.finding);
  result.verdict = result.plain = result.worst = own;
  for (const auto& reading : plan.readings) {
    const auto other = find(reading, at);
    if (!other) continue;
    const Verdict verdict = judge(*plan.claim, rules, *other);
    if (verdict == own) continue;
    add_flip(result, reading.name, other, verdict);
  }
  return result;
}

void add_runs(std::ostringstream& out, const Experiment& experiment, const std::string& setting,
              const Results& results) {
  for (std::size_t p = 0; p < experiment.programs.size(); ++p) {
    for (std::size_t v = 0; v < experiment.variants.size(); ++v) {
      for (const Measure& measure : experiment.measures) {
        const auto value = results.at(measure.name, experiment.variants[v].name, experiment.programs[p].abbr);
        out << as_cell(setting) << "," << as_cell(experiment.programs[p].abbr) << ","
            << as_cell(experiment.variants[v].name) << "," << as_cell(measure.name) << ",";
        if (value) out << *value;
        out << "\n";
      }
    }
  }
}

}  // namespace

std::optional<Finding> finding_of(const FindingPlan& plan, const Lookup& at) {
  return find(plan, at);
}

void add_flip(ClaimResult& result, const std::string& name, const std::optional<Finding>& other,
              Verdict verdict) {
  result.flips.push_back(name + ": " + shown(*result.claim, other) + ", " + name_of(verdict));
  result.verdict = Verdict::kDependsOnUnprinted;
  result.worst = std::max(result.worst.value_or(verdict), verdict);
}

ordered_json json_of(const ClaimResult& result) {
  ordered_json json{{"id", result.claim->id}, {"printed", printed(*result.claim)}};
  json["ours"] = nullptr;
  if (result.finding && has_names(*result.claim)) {
    json["ours"] = result.finding->values;
  } else if (result.finding) {
    json["ours"] = result.finding->number;
    if (is_extreme(*result.claim)) json["program"] = result.finding->program;
  }
  json["shown"] = shown(*result.claim, result.finding);
  json["verdict"] = result.verdict ? ordered_json(name_of(*result.verdict)) : ordered_json(nullptr);
  if (!result.flips.empty()) json["flips"] = result.flips;
  if (result.plain) json["at_defaults"] = name_of(*result.plain);
  if (result.worst) json["worst"] = name_of(*result.worst);
  return json;
}

std::optional<double> Results::at(const std::string& measure, const std::string& variant,
                                  const std::string& program) const {
  const auto& programs = experiment_->programs;
  const auto& variants = experiment_->variants;
  const auto p = std::find_if(programs.begin(), programs.end(),
                              [&](const ExperimentProgram& one) { return one.abbr == program; });
  const auto v = std::find_if(variants.begin(), variants.end(),
                              [&](const ExperimentVariant& one) { return one.name == variant; });
  if (p == programs.end() || v == variants.end()) return {};
  const RunResult& result =
      run(static_cast<std::size_t>(p - programs.begin()), static_cast<std::size_t>(v - variants.begin()));
  const auto value = result.values.find(measure);
  if (value == result.values.end()) return {};
  return value->second;
}

std::optional<double> Results::value(const Value& value) const {
  const auto answer = evaluate(value, lookup());
  if (!answer) return {};
  return answer->number;
}

Lookup Results::lookup() const {
  return [this](const std::string& measure, const std::string& variant, const std::string& program) {
    return at(measure, variant, program);
  };
}

std::string type_at(const ExperimentClass& classes, double measured, double moved) {
  return measured < classes.limit + moved ? classes.below : classes.otherwise;
}

void classify(Experiment& experiment, const Results& results) {
  if (!experiment.classes) return;
  const ExperimentClass& classes = *experiment.classes;
  std::map<std::string, std::string> type_of;
  for (ExperimentProgram& program : experiment.programs) {
    const auto measured = results.at(classes.measure, classes.variant, program.abbr);
    if (measured) program.type = type_of[program.abbr] = type_at(classes, *measured);
  }
  experiment.each_value([&](Value& value) { settle_types(type_of, value); });
}

std::string shown(const Claim& claim, const std::optional<Finding>& finding) {
  if (!finding) return "-";
  if (is_extreme(claim)) return with_program(single(claim.of, finding->number), finding->program);
  if (!has_names(claim)) return single(claim.type, finding->number);
  if (claim.type == ClaimType::kSeries && claim.series.size() > kMostShown)
    return correlation(claim, *finding);
  std::string text;
  for (const auto& [name, value] : finding->values)
    text.append(text.empty() ? "" : ", ").append(name).append(" ").append(number(value, 3));
  return text;
}

std::string printed(const Claim& claim) {
  switch (claim.type) {
    case ClaimType::kRange:
      return number(claim.low, 3) + " to " + number(claim.high, 3);
    case ClaimType::kOrder: {
      std::string text;
      for (const auto& [above, below] : claim.above)
        text.append(text.empty() ? "" : ", ").append(above).append(" > ").append(below);
      return text;
    }
    case ClaimType::kBest:
      return "best: " + joined(claim.best);
    case ClaimType::kSeries:
      return claim.as_printed;
    case ClaimType::kBound:
      return claim.relation + " " + number(claim.number, 3);
    case ClaimType::kMaximum:
    case ClaimType::kMinimum:
      return with_program(single(claim.of, claim.number), claim.program);
    default:
      return single(claim.type, claim.number);
  }
}

std::vector<ClaimResult> judge_all(const Experiment& experiment, const Results& results, const Rules& rules,
                                   bool whole) {
  std::vector<ClaimResult> list;
  list.reserve(experiment.claims.size());
  for (const ClaimPlan& plan : experiment.claims) list.push_back(judge_one(plan, results, rules, whole));
  return list;
}

std::vector<ClaimResult> judge_headline(const Experiment& experiment, const Results& results,
                                        const Rules& rules, bool whole) {
  std::vector<ClaimResult> list;
  for (const std::string& id : experiment.headline) {
    const auto plan = std::find_if(experiment.claims.begin(), experiment.claims.end(),
                                   [&](const ClaimPlan& one) { return one.claim->id == id; });
    ClaimPlan without_readings = *plan;
    without_readings.readings.clear();
    list.push_back(judge_one(without_readings, results, rules, whole));
  }
  return list;
}

void mark_flips(const std::vector<SettingResult>& settings, std::vector<ClaimResult>& claims) {
  for (ClaimResult& claim : claims) {
    if (!claim.plain) continue;
    for (const SettingResult& setting : settings) {
      for (const ClaimResult& other : setting.claims) {
        if (other.claim != claim.claim || !other.verdict || other.verdict == claim.plain) continue;
        add_flip(claim, setting.setting, other.finding, *other.verdict);
      }
    }
  }
}

ordered_json json_of(const Experiment& experiment, const Results& results,
                     const std::vector<ClaimResult>& claims, const std::vector<SettingResult>& settings,
                     const std::vector<SeedResult>& seeds) {
  ordered_json json{{"experiment", experiment.name}, {"title", experiment.title},
                    {"paper", experiment.paper},     {"place", experiment.place},
                    {"config", experiment.config},   {"runs", ordered_json::array()}};
  for (std::size_t p = 0; p < experiment.programs.size(); ++p) {
    for (std::size_t v = 0; v < experiment.variants.size(); ++v) {
      const RunResult& result = results.run(p, v);
      ordered_json run{{"program", experiment.programs[p].abbr},
                       {"workload", experiment.programs[p].workload},
                       {"size", experiment.programs[p].size},
                       {"variant", experiment.variants[v].name},
                       {"result", result.reading.missing.empty() ? result.result : result.reading.missing},
                       {"measures", result.values}};
      if (experiment.variants[v].config != experiment.config) run["config"] = experiment.variants[v].config;
      if (experiment.programs[p].is_own()) run["arguments"] = experiment.programs[p].arguments;
      if (!experiment.programs[p].kernel.empty()) run["kernel"] = experiment.programs[p].kernel;
      if (!experiment.programs[p].overrides.empty()) run["set"] = experiment.programs[p].overrides;
      if (!result.reading.bound.empty()) run["bound"] = result.reading.bound;
      json["runs"].push_back(std::move(run));
    }
  }
  for (const ExperimentNumber& one : experiment.numbers) {
    const auto value = results.value(one.value);
    json["numbers"].push_back({{"what", one.what},
                               {"printed", one.printed},
                               {"ours", value ? ordered_json(*value) : ordered_json(nullptr)}});
  }
  json["claims"] = ordered_json::array();
  for (const ClaimResult& claim : claims) json["claims"].push_back(json_of(claim));
  for (const SettingResult& setting : settings) {
    ordered_json entry{{"setting", setting.setting}, {"why", setting.of->why}};
    for (const ClaimResult& claim : setting.claims) entry["claims"].push_back(json_of(claim));
    json["sensitivity"].push_back(std::move(entry));
  }
  for (const SeedResult& seed : seeds) {
    ordered_json entry{{"inputs", seed.name}};
    for (const ClaimResult& claim : seed.claims) entry["claims"].push_back(json_of(claim));
    json["seeds"].push_back(std::move(entry));
  }
  return json;
}

std::string csv_of(const Experiment& experiment, const Results& results,
                   const std::vector<SettingResult>& settings, const std::vector<SeedResult>& seeds) {
  std::ostringstream out;
  out << std::setprecision(17) << "setting,program,variant,measure,value\n";
  add_runs(out, experiment, "", results);
  for (const SettingResult& setting : settings) {
    if (!setting.computed) add_runs(out, experiment, setting.setting, setting.results);
  }
  for (const SeedResult& seed : seeds) add_runs(out, experiment, seed.name, seed.results);
  return out.str();
}

}  // namespace weft::study
