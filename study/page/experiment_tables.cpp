#include "study/page/experiment_tables.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>

namespace weft::study {

std::string cell_of(const std::optional<double>& value, int digits) {
  if (!value) return "-";
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << *value;
  return out.str();
}

namespace {

// Headings of the columns that every table of programs begins with.
std::vector<std::string> program_headings(const Experiment& experiment) {
  const bool types = std::any_of(experiment.programs.begin(), experiment.programs.end(),
                                 [](const ExperimentProgram& program) { return !program.type.empty(); });
  return types ? std::vector<std::string>{"type", "program"} : std::vector<std::string>{"program"};
}

std::vector<std::string> program_cells(const Experiment& experiment, const ExperimentProgram& program) {
  if (program_headings(experiment).size() == 1) return {program.abbr};
  return {program.type, program.abbr};
}

// A row whose first cells are one text.
std::vector<std::string> named_row(const Experiment& experiment, const std::string& name) {
  std::vector<std::string> cells(program_headings(experiment).size());
  cells.back() = name;
  return cells;
}

// What the papers print of a ratio of two variants, from the claims that are made of it: over all programs,
// or over those of a computed type.
std::string printed_of(const Experiment& experiment, const Ratio& ratio, const std::string& type = "") {
  std::string text;
  for (const ClaimPlan& plan : experiment.claims) {
    if (!plan.value || plan.value->kind != Value::Kind::kMeasure) continue;
    if (plan.value->measure != ratio.measure || plan.value->variant != ratio.variant) continue;
    if (plan.value->over != ratio.over) continue;
    if (type.empty() ? plan.value->programs.size() != experiment.programs.size() || !plan.value->types.empty()
                     : plan.value->types != std::vector<std::string>{type}) {
      continue;
    }
    const bool extreme = plan.value->mean == Mean::kMaximum || plan.value->mean == Mean::kMinimum;
    text.append(text.empty() ? "" : "; ")
        .append(plan.value->mean == Mean::kMaximum   ? "max. "
                : plan.value->mean == Mean::kMinimum ? "min. "
                                                     : "mean ")
        .append(extreme ? printed(*plan.claim) : cell_of(plan.claim->number, 3));
  }
  return text.empty() ? "-" : text;
}

std::optional<double> ratio_of(const Results& results, const Ratio& ratio, const std::string& program) {
  const auto one = results.at(ratio.measure, ratio.variant, program),
             other = results.at(ratio.measure, ratio.over, program);
  if (!one || !other || *other == 0) return {};
  return *one / *other;
}

std::string heading_of(const Experiment& experiment, const Ratio& ratio) {
  return experiment.variant(ratio.variant).label + " : " + experiment.variant(ratio.over).label;
}

// The geometric mean over the programs that `counts` says; none if one is missing, or there are none.
std::optional<double> mean_over(const Reported& reported, const Ratio& ratio,
                                const std::function<bool(const ExperimentProgram&)>& counts) {
  std::vector<double> values;
  for (const ExperimentProgram& program : reported.experiment.programs) {
    if (!counts(program)) continue;
    const auto value = ratio_of(reported.results, ratio, program.abbr);
    if (!value) return {};
    values.push_back(*value);
  }
  return mean_of(Mean::kGeometric, values);
}

// Rows of the means over the programs of each type.
void add_means_of_types(const Reported& reported, const std::vector<Ratio>& columns, Table& table) {
  const Experiment& experiment = reported.experiment;
  if (!experiment.classes) return;
  for (const std::string& type : {experiment.classes->below, experiment.classes->otherwise}) {
    auto row = named_row(experiment, "geometric mean"), beside = named_row(experiment, "printed");
    row.front() = beside.front() = type;
    for (const Ratio& ratio : columns) {
      const auto mean =
          mean_over(reported, ratio, [&](const ExperimentProgram& program) { return program.type == type; });
      row.push_back(cell_of(mean, 3));
      beside.push_back(printed_of(experiment, ratio, type));
    }
    table.rows.push_back(row);
    table.rows.push_back(beside);
  }
}

}  // namespace

Section ratios(const Reported& reported, const std::string& measure) {
  const Experiment& experiment = reported.experiment;
  std::vector<Ratio> columns;
  for (const Ratio& ratio : experiment.comparisons) {
    if (ratio.measure == measure) columns.push_back(ratio);
  }
  Section section;
  section.title = "Ratios: " + experiment.measure(measure).heading;
  section.table.headings = program_headings(experiment);
  std::vector<std::vector<double>> values(columns.size());
  std::vector<bool> whole(columns.size(), true);
  for (const Ratio& ratio : columns) {
    section.table.headings.push_back(heading_of(experiment, ratio));
  }
  for (const ExperimentProgram& program : experiment.programs) {
    auto row = program_cells(experiment, program);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto ratio = ratio_of(reported.results, columns[c], program.abbr);
      row.push_back(cell_of(ratio, 3));
      if (ratio) values[c].push_back(*ratio);
      whole[c] = whole[c] && ratio;
    }
    section.table.rows.push_back(row);
  }
  const std::vector<std::pair<const char*, Mean>> means{{"harmonic mean", Mean::kHarmonic},
                                                        {"geometric mean", Mean::kGeometric},
                                                        {"arithmetic mean", Mean::kArithmetic},
                                                        {"maximum", Mean::kMaximum},
                                                        {"minimum", Mean::kMinimum}};
  for (const auto& [name, mean] : means) {
    auto row = named_row(experiment, name);
    for (std::size_t c = 0; c < columns.size(); ++c)
      row.push_back(cell_of(whole[c] ? mean_of(mean, values[c]) : std::nullopt, 3));
    section.table.rows.push_back(row);
  }
  auto row = named_row(experiment, "printed");
  for (const Ratio& ratio : columns) row.push_back(printed_of(experiment, ratio));
  section.table.rows.push_back(row);
  add_means_of_types(reported, columns, section.table);
  return section;
}

namespace {

// The claim that is made of a measure of one run alone.
const Claim* claim_of(const Experiment& experiment, const std::string& measure, const std::string& variant,
                      const std::string& program) {
  for (const ClaimPlan& plan : experiment.claims) {
    if (!plan.value || plan.value->kind != Value::Kind::kMeasure || !plan.value->over.empty()) continue;
    if (plan.value->mean != Mean::kNone) continue;
    if (plan.value->measure == measure && plan.value->variant == variant &&
        plan.value->programs == std::vector<std::string>{program}) {
      return plan.claim;
    }
  }
  return nullptr;
}

}  // namespace

Section measured(const Reported& reported, const Measure& measure) {
  const Experiment& experiment = reported.experiment;
  Section section;
  section.title = measure.heading;
  section.table.headings = program_headings(experiment);
  std::vector<bool> has_printed;
  for (const ExperimentVariant& variant : experiment.variants) {
    section.table.headings.push_back(variant.label);
    has_printed.push_back(std::any_of(
        experiment.programs.begin(), experiment.programs.end(), [&](const ExperimentProgram& program) {
          return claim_of(experiment, measure.name, variant.name, program.abbr) != nullptr;
        }));
    if (has_printed.back()) section.table.headings.push_back("printed");
  }
  std::vector<std::vector<double>> values(experiment.variants.size());
  for (const ExperimentProgram& program : experiment.programs) {
    auto row = program_cells(experiment, program);
    for (std::size_t v = 0; v < experiment.variants.size(); ++v) {
      const std::string& variant = experiment.variants[v].name;
      const auto value = reported.results.at(measure.name, variant, program.abbr);
      row.push_back(cell_of(value, measure.digits));
      if (value) values[v].push_back(*value);
      if (!has_printed[v]) continue;
      const Claim* claim = claim_of(experiment, measure.name, variant, program.abbr);
      row.push_back(claim == nullptr ? "-" : printed(*claim));
    }
    section.table.rows.push_back(row);
  }
  auto row = named_row(experiment, "arithmetic mean");
  for (std::size_t v = 0; v < experiment.variants.size(); ++v) {
    const bool whole = values[v].size() == experiment.programs.size();
    row.push_back(
        cell_of(whole ? mean_of(Mean::kArithmetic, values[v]) : std::nullopt, std::max(measure.digits, 2)));
    if (has_printed[v]) row.emplace_back("-");
  }
  section.table.rows.push_back(row);
  return section;
}

// A row of means per limit, as it is and moved to where the near programs change sides, and one without those
// that stand apart.
Section types_section(const Reported& reported) {
  const Experiment& experiment = reported.experiment;
  const ExperimentClass& classes = *experiment.classes;
  Section section;
  section.title = "Types";
  const std::string heading =
      experiment.measure(classes.measure).heading + " under " + experiment.variant(classes.variant).label;
  section.paragraphs.push_back("A program is " + classes.below + " if its " + heading + " is below " +
                               cell_of(classes.limit, 2) + ", else " + classes.otherwise + ".");
  const auto measured = [&](const ExperimentProgram& program) {
    return reported.results.at(classes.measure, classes.variant, program.abbr);
  };
  std::string near;
  for (const ExperimentProgram& program : experiment.programs) {
    const auto value = measured(program);
    if (!value || std::abs(*value - classes.limit) > classes.near) continue;
    near.append(near.empty() ? "" : ", ").append(program.abbr).append(" ").append(cell_of(value, 3));
  }
  section.paragraphs.push_back("Within " + cell_of(classes.near, 2) +
                               " of it: " + (near.empty() ? "none" : near) +
                               ". The table has the geometric means for the limit as it is, and for limits "
                               "beyond which these are of the other type.");
  Table& table = section.table;
  table.headings = {"limit", "type", "programs"};
  for (const Ratio& ratio : experiment.comparisons) table.headings.push_back(heading_of(experiment, ratio));
  const auto add = [&](const std::string& name, double moved, const std::vector<std::string>& without) {
    for (const std::string& type : {classes.below, classes.otherwise}) {
      const auto counts = [&](const ExperimentProgram& program) {
        if (std::find(without.begin(), without.end(), program.abbr) != without.end()) return false;
        const auto value = measured(program);
        return value && type_at(classes, *value, moved) == type;
      };
      const auto count = std::count_if(experiment.programs.begin(), experiment.programs.end(), counts);
      std::vector<std::string> row{name, type, std::to_string(count)};
      for (const Ratio& ratio : experiment.comparisons)
        row.push_back(cell_of(mean_over(reported, ratio, counts), 3));
      table.rows.push_back(row);
    }
  };
  add(cell_of(classes.limit, 2), 0, {});
  if (classes.near > 0) {
    add(cell_of(classes.limit - classes.near, 2), -classes.near, {});
    add(cell_of(classes.limit + classes.near, 2), classes.near, {});
  }
  if (!classes.apart.empty())
    add(cell_of(classes.limit, 2) + " without " + joined(classes.apart), 0, classes.apart);
  return section;
}

Section numbers_section(const Reported& reported) {
  Section section;
  section.title = "Further numbers";
  section.table.headings = {"what", "printed", "ours", "note"};
  for (const ExperimentNumber& one : reported.experiment.numbers) {
    section.table.rows.push_back({one.what, one.printed.empty() ? "-" : one.printed,
                                  cell_of(reported.results.value(one.value), one.digits), one.note});
  }
  return section;
}

Section beside_printed(const Reported& reported, const ExperimentTable& of) {
  const Experiment& experiment = reported.experiment;
  Section section;
  section.title = of.title;
  if (!of.about.empty()) section.paragraphs.push_back(of.about);
  Table& table = section.table;
  table.headings = program_headings(experiment);
  std::vector<std::vector<double>> ours(of.columns.size()), printed(of.columns.size());
  std::vector<bool> whole(of.columns.size(), true);
  for (const auto& column : of.columns) {
    table.headings.push_back(experiment.measure(column.measure).heading);
    table.headings.emplace_back("printed");
  }
  for (const ExperimentProgram& program : experiment.programs) {
    auto row = program_cells(experiment, program);
    for (std::size_t c = 0; c < of.columns.size(); ++c) {
      const int digits = experiment.measure(of.columns[c].measure).digits;
      const auto& series = of.columns[c].printed->series;
      const auto value = reported.results.at(of.columns[c].measure, of.variant, program.abbr);
      const auto beside = series.find(program.abbr);
      row.push_back(cell_of(value, digits));
      row.push_back(beside == series.end() ? "-" : cell_of(beside->second, digits));
      if (beside == series.end()) continue;
      whole[c] = whole[c] && value;
      ours[c].push_back(value.value_or(0));
      printed[c].push_back(beside->second);
    }
    table.rows.push_back(row);
  }
  auto means = named_row(experiment, "arithmetic mean"), ranks = named_row(experiment, "rank correlation");
  for (std::size_t c = 0; c < of.columns.size(); ++c) {
    const int digits = experiment.measure(of.columns[c].measure).digits;
    const bool compared = whole[c] && ours[c].size() > 2;
    means.push_back(cell_of(whole[c] ? mean_of(Mean::kArithmetic, ours[c]) : std::nullopt, digits));
    means.push_back(cell_of(mean_of(Mean::kArithmetic, printed[c]), digits));
    ranks.push_back(compared ? cell_of(rank_correlation(printed[c], ours[c]), 3) : "-");
    ranks.emplace_back("");
  }
  table.rows.push_back(means);
  table.rows.push_back(ranks);
  return section;
}

}  // namespace weft::study
