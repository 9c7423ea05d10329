#include "study/plan/plan_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/config_document.h"
#include "study/plan/candidates.h"
#include "study/plan/place.h"
#include "study/plan/plan_form.h"
#include "study/plan/screening_design.h"
#include "study/plan/variant.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

// What a value of an axis changes of a run.
using Change = std::function<void(Run&)>;
struct Axis {
  std::string name;
  std::vector<std::pair<std::string, Change>> values;
};

Change set(std::vector<std::string> overrides) {
  return [overrides = std::move(overrides)](Run& run) {
    run.overrides.insert(run.overrides.end(), overrides.begin(), overrides.end());
  };
}

// A number or a text, as it stands behind "path=".
std::string plain(const Place& place) {
  const nlohmann::json& value = place.value();
  if (value.is_string()) return place.text();
  if (value.is_number() || value.is_boolean()) return value.dump();
  place.refuse("a number, a text, true or false");
}

std::string whole_number(const Place& place) {
  if (!place.value().is_number_unsigned()) place.refuse("a whole number of at least 0");
  return place.value().dump();
}

Change program_of(const std::string& name, const Place& place, const std::string& folder) {
  place.keys(plan_form()["program of a sweep"]);
  if (place.has("ptx") == place.has("cuda")) throw InputError(place.where(), "needs either 'ptx' or 'cuda'");
  const bool cuda = place.has("cuda");
  const Place named = place.at(cuda ? "cuda" : "ptx");
  std::filesystem::path file = named.text();
  if (file.is_relative()) file = std::filesystem::path(folder) / file;
  const Words arguments = place.has("arguments") ? place.at("arguments").texts(true) : Words();
  return [name, cuda, arguments, path = file.lexically_normal().string(), key = named.pointer()](Run& run) {
    run.kind = cuda ? Run::Kind::kCuda : Run::Kind::kPtx;
    run.program = name;
    run.file = path;
    run.key = key;
    run.arguments = arguments;
  };
}

// Axes with a meaning of their own; others are paths of the configuration.
Change change_of(const std::string& axis, const Place& place) {
  if (axis == "seed") {
    return [seed = whole_number(place)](Run& run) {
      if (run.kind == Run::Kind::kWorkload) run.size += ",seed=" + seed;
    };
  }
  const std::string text = plain(place);
  if (axis == "workload") return [text](Run& run) { run.program = text; };
  if (axis == "size") return [text](Run& run) { run.size = text; };
  if (axis == "config") return [text](Run& run) { run.config = text; };
  if (axis == "scheme") return set(variant(place.where(), text).overrides);
  return set({axis + "=" + text});
}

// The order in which axes take effect: a seed is part of a size, and paths are of a machine.
int rank_of(const std::string& axis) {
  static const std::array<const char*, 4> kFirst{"config", "workload", "program", "size"};
  const auto found = std::find(kFirst.begin(), kFirst.end(), axis);
  return static_cast<int>(found - kFirst.begin());
}

std::vector<std::string> settings_of(const Place& place) {
  for (const Place& item : place.items(true)) {
    const std::string text = item.text();
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) item.refuse("\"path=value\"");
  }
  return place.texts(true);
}

Axis read_axis(const Place& place, const std::string& folder) {
  place.keys(plan_form()["axis"]);
  Axis axis{place.at("name").text(), {}};
  const Place values = place.at("values");
  std::set<std::string> names;
  const auto add = [&](const Place& item, const std::string& name, Change change) {
    if (!names.insert(name).second) throw InputError(item.where(), "duplicate '" + name + "'");
    axis.values.emplace_back(name, std::move(change));
  };
  if (values.value().is_object()) {
    for (const auto& [name, item] : values.members())
      add(item, name, axis.name == "program" ? program_of(name, item, folder) : set(settings_of(item)));
  } else {
    if (axis.name == "program")
      values.refuse("an object: names, each with \"ptx\" or \"cuda\", and \"arguments\"");
    for (const Place& item : values.items()) add(item, plain(item), change_of(axis.name, item));
  }
  return axis;
}

void read_limits(const Place& place, Plan& plan, Run& base) {
  if (!place.has("limits")) return;
  const Place limits = place.at("limits");
  limits.keys(plan_form()["limits"]);
  const auto number = [&](const char* key) {
    if (!limits.has(key)) return 0.0;
    const double value = limits.at(key).number();
    if (!(value > 0) || value > 1e15) limits.at(key).refuse("a number above 0, up to 1e15");
    return value;
  };
  plan.most_seconds = number("seconds");
  plan.most_bytes = static_cast<std::uint64_t>(number("mebibytes") * 1024 * 1024);
  base.core_cycles = static_cast<std::uint64_t>(number("core_cycles"));
}

// Every combination of the axes that are no factors, the last one changing fastest; for each, every row of
// the design.
void add_all(const std::vector<Axis>& axes, const Run& base, const std::string& where, Plan& plan) {
  PlanBuilder builder(plan);
  std::vector<std::size_t> effects(axes.size()), free;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    effects[i] = i;
    if (std::find(plan.factors.begin(), plan.factors.end(), i) == plan.factors.end()) free.push_back(i);
  }
  std::stable_sort(effects.begin(), effects.end(), [&](std::size_t a, std::size_t b) {
    return rank_of(axes[a].name) < rank_of(axes[b].name);
  });
  const std::size_t rows = plan.factors.empty() ? 1 : plan.design.size();
  std::vector<std::size_t> at(axes.size(), 0);
  for (;;) {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t f = 0; f < plan.factors.size(); ++f) at[plan.factors[f]] = plan.design[row][f] ? 1 : 0;
      Run run = base;
      std::vector<std::string> values;
      for (std::size_t i = 0; i < axes.size(); ++i) values.push_back(axes[i].values[at[i]].first);
      for (const std::size_t i : effects) axes[i].values[at[i]].second(run);
      builder.add(std::move(values), std::move(run), where);
    }
    std::size_t i = free.size();
    while (i > 0 && ++at[free[i - 1]] == axes[free[i - 1]].values.size()) at[free[--i]] = 0;
    if (i == 0) return;
  }
}

std::size_t axis_named(const Place& place, const Plan& plan) {
  const std::string name = place.one_of(plan.axes);
  return static_cast<std::size_t>(std::find(plan.axes.begin(), plan.axes.end(), name) - plan.axes.begin());
}

void read_screening(const Place& place, const std::vector<Axis>& axes, Plan& plan) {
  if (!place.has("screening")) return;
  const Place screening = place.at("screening");
  screening.keys(plan_form()["screening"]);
  bool foldover = false;
  if (screening.has("foldover")) {
    const Place flag = screening.at("foldover");
    if (!flag.value().is_boolean()) flag.refuse("true or false");
    foldover = flag.value().get<bool>();
  }
  for (const Place& item : screening.at("factors").items()) {
    const std::size_t axis = axis_named(item, plan);
    const std::string& name = plan.axes[axis];
    if (axes[axis].values.size() != 2)
      throw InputError(item.where(), "'" + name + "' has " + std::to_string(axes[axis].values.size()) +
                                         " values; allowed: an axis with two");
    if (std::find(plan.factors.begin(), plan.factors.end(), axis) != plan.factors.end())
      throw InputError(item.where(), "duplicate '" + name + "'");
    plan.factors.push_back(axis);
  }
  if (plan.factors.size() > kMostFactors)
    screening.at("factors").refuse("at most " + std::to_string(kMostFactors));
  plan.design = screening_design(plan.factors.size(), foldover);
}

void read_halving(const Place& place, const std::vector<Axis>& axes, Plan& plan) {
  if (!place.has("halving")) return;
  const Place key = place.at("halving");
  if (!plan.factors.empty()) {
    throw InputError(key.where(), "is not allowed with \"screening\", since a rung needs all combinations");
  }
  key.keys(plan_form()["halving"]);
  Halving halving;
  halving.where = key.where();
  halving.rungs = axis_named(key.at("rungs"), plan);
  if (axes[halving.rungs].values.size() < 2)
    key.at("rungs").refuse("an axis of two values or more, the cheapest first");
  halving.metric = key.at("metric").text();
  if (key.has("goal")) halving.most = key.at("goal").one_of({"least", "most"}) == "most";
  if (key.has("keep_one_in")) {
    const Place number = key.at("keep_one_in");
    if (!number.value().is_number_unsigned() || number.value() < 2 || number.value() > kMostPoints)
      number.refuse("a whole number from 2 to " + std::to_string(kMostPoints));
    halving.keep_one_in = number.value().get<std::size_t>();
  }
  if (key.has("cumulative")) {
    const Place flag = key.at("cumulative");
    if (!flag.value().is_boolean()) flag.refuse("true or false");
    halving.cumulative = flag.value().get<bool>();
  }
  if (key.has("mean_over")) {
    for (const Place& item : key.at("mean_over").items(true)) {
      const std::size_t axis = axis_named(item, plan);
      if (axis == halving.rungs)
        throw InputError(item.where(),
                         "'" + plan.axes[axis] + "' is the axis of the rungs; allowed: another");
      if (std::find(halving.mean_over.begin(), halving.mean_over.end(), axis) != halving.mean_over.end())
        throw InputError(item.where(), "duplicate '" + plan.axes[axis] + "'");
      halving.mean_over.push_back(axis);
    }
  } else {
    for (const std::size_t axis : work_axes(plan)) {
      if (axis != halving.rungs) halving.mean_over.push_back(axis);
    }
  }
  std::size_t candidates = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool meant =
        std::find(halving.mean_over.begin(), halving.mean_over.end(), i) == halving.mean_over.end();
    if (i != halving.rungs && meant) candidates *= axes[i].values.size();
  }
  if (candidates < 2) {
    throw InputError(key.where(),
                     "has fewer than two candidates; allowed: at least two combinations of the axes that are "
                     "neither \"rungs\" nor in \"mean_over\"");
  }
  plan.halving = std::move(halving);
}

void check_axes(const std::vector<Axis>& axes, const Plan& plan, const Place& place) {
  std::set<std::string> names;
  double points = plan.factors.empty() ? 1 : static_cast<double>(plan.design.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!names.insert(axes[i].name).second)
      throw InputError(place.at("axes").where(), "duplicate '" + axes[i].name + "'");
    if (std::find(plan.factors.begin(), plan.factors.end(), i) == plan.factors.end())
      points *= static_cast<double>(axes[i].values.size());
  }
  if (points > kMostPoints) {
    throw InputError(place.at("axes").where(),
                     "have too many combinations; allowed: up to " + std::to_string(kMostPoints));
  }
  if (names.count("workload") + names.count("program") != 1)
    throw InputError(place.at("axes").where(), "need either \"workload\" or \"program\"");
}

}  // namespace

Plan plan_of_file(const std::string& file) {
  const nlohmann::json document = config::read_file(file);
  const Place place(document, file);
  place.keys(plan_form()["sweep"]);
  const std::filesystem::path path(file);
  Plan plan;
  plan.name = path.stem().string();
  plan.title = place.text_of("title", plan.name);
  Run base;
  base.config = place.text_of("config", kDefaultConfig);
  base.size = "default";
  if (place.has("set")) base.overrides = settings_of(place.at("set"));
  read_limits(place, plan, base);
  std::vector<Axis> axes;
  for (const Place& item : place.at("axes").items()) {
    axes.push_back(read_axis(item, path.parent_path().string()));
    plan.axes.push_back(axes.back().name);
  }
  read_screening(place, axes, plan);
  check_axes(axes, plan, place);
  read_halving(place, axes, plan);
  add_all(axes, base, file, plan);
  return plan;
}

bool names_file(const std::string& name) {
  return name.find('/') != std::string::npos ||
         (name.size() > 5 && name.compare(name.size() - 5, 5, ".json") == 0);
}

}  // namespace weft::study
