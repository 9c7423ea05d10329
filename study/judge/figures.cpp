// What stands in the figures of an experiment, out of its runs.
#include "study/judge/figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "study/judge/experiment.h"
#include "study/judge/results.h"

namespace weft::study {
namespace {

using nlohmann::ordered_json;

const ExperimentProgram* program_of(const Experiment& experiment, const std::string& abbr) {
  const auto found = std::find_if(experiment.programs.begin(), experiment.programs.end(),
                                  [&](const ExperimentProgram& program) { return program.abbr == abbr; });
  return found == experiment.programs.end() ? nullptr : &*found;
}

// A slice has left no program of it.
bool is_of_nothing(const Value& value) {
  if (value.parts.empty()) return value.programs.empty();
  return std::all_of(value.parts.begin(), value.parts.end(), is_of_nothing);
}

bool is_in_slice(const Experiment& experiment, const FigurePanel& panel, std::size_t group) {
  const std::string& program = panel.groups[group].program;
  if (!program.empty()) return program_of(experiment, program) != nullptr;
  return !std::all_of(panel.series.begin(), panel.series.end(), [&](const FigureSeries& series) {
    return series.cells[group].value && is_of_nothing(*series.cells[group].value);
  });
}

// Numbers of the panel's groups as they stand on the x axis.
std::vector<std::size_t> groups_of(const Figure& figure, const FigurePanel& panel,
                                   const Experiment& experiment, const Results& results) {
  std::vector<std::size_t> groups;
  for (std::size_t g = 0; g < panel.groups.size(); ++g) {
    if (is_in_slice(experiment, panel, g)) groups.push_back(g);
  }
  if (figure.order_measure.empty()) return groups;
  // Programs without a value after those that have one, then means.
  const auto key = [&](std::size_t g) {
    const FigureGroup& group = panel.groups[g];
    if (group.program.empty()) return std::make_pair(2, 0.0);
    const auto value = results.at(figure.order_measure, figure.order_variant, group.program);
    return value ? std::make_pair(0, *value) : std::make_pair(1, 0.0);
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return groups;
}

// A number that JSON can have, or null.
ordered_json number_or_null(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? ordered_json(*number) : ordered_json(nullptr);
}

struct Counted {
  std::size_t marked = 0, all = 0;
};

ordered_json panel_json(const Figure& figure, const FigurePanel& panel, const Experiment& experiment,
                        const Results& results, Counted& counted) {
  const auto groups = groups_of(figure, panel, experiment, results);
  ordered_json json{
      {"title", panel.title}, {"groups", ordered_json::array()}, {"series", ordered_json::array()}};
  for (const std::size_t g : groups) {
    const FigureGroup& group = panel.groups[g];
    const ExperimentProgram* const program = program_of(experiment, group.program);
    json["groups"].push_back(
        {{"label", group.label}, {"type", program == nullptr ? "" : program->type}, {"mean", group.mean}});
  }
  for (const FigureSeries& series : panel.series) {
    ordered_json one{{"label", series.label}, {"bar", series.bar}};
    one["values"] = one["printed"] = one["claims"] = one["gaps"] = ordered_json::array();
    for (const std::size_t g : groups) {
      const FigureCell& cell = series.cells[g];
      auto value = cell.value ? results.value(*cell.value) : std::nullopt;
      if (value) *value *= cell.times;
      if (!cell.value) one["gaps"].push_back(one["values"].size());
      one["values"].push_back(number_or_null(value));
      one["printed"].push_back(number_or_null(cell.printed));
      one["claims"].push_back(cell.claim == nullptr ? ordered_json(nullptr) : ordered_json(cell.claim->id));
      counted.all += cell.value ? 1 : 0;
      counted.marked += cell.printed ? 1 : 0;
    }
    json["series"].push_back(std::move(one));
  }
  return json;
}

const char* name_of(Figure::Kind kind) {
  switch (kind) {
    case Figure::Kind::kLines:
      return "lines";
    case Figure::Kind::kStacked:
      return "stacked";
    case Figure::Kind::kBars:
      break;
  }
  return "bars";
}

}  // namespace

void Figure::each_value(const std::function<void(Value&)>& visit) {
  for (FigurePanel& panel : panels) {
    for (FigureSeries& one : panel.series) {
      for (FigureCell& cell : one.cells) {
        if (cell.value) visit(*cell.value);
      }
    }
  }
}

ordered_json figures_json(const Experiment& experiment, const Results& results, const std::string& base) {
  ordered_json list = ordered_json::array();
  for (const Figure& figure : experiment.figures) {
    ordered_json panels = ordered_json::array();
    Counted counted;
    for (const FigurePanel& panel : figure.panels) {
      if (!panel.program.empty() && program_of(experiment, panel.program) == nullptr) continue;
      ordered_json one = panel_json(figure, panel, experiment, results, counted);
      if (!one.at("groups").empty()) panels.push_back(std::move(one));
    }
    if (panels.empty()) continue;
    list.push_back({{"title", figure.title},
                    {"paper", experiment.paper},
                    {"place", figure.place},
                    {"about", figure.about},
                    {"file", "figures/" + base + "-" + figure.slug},
                    {"kind", name_of(figure.kind)},
                    {"axis", figure.axis},
                    {"x_axis", figure.x_axis},
                    {"scale", figure.logarithmic ? "log" : "linear"},
                    {"ratio", figure.ratio},
                    {"kept", figure.kept},
                    {"printed", counted.marked},
                    {"of", counted.all},
                    {"panels", std::move(panels)}});
  }
  return list;
}

}  // namespace weft::study
