#include "study/judge/experiment_measures.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "measures/measures.h"
#include "study/judge/experiment_form.h"
#include "weft/common/error.h"

namespace weft::study {

using nlohmann::ordered_json;

namespace {

// Headings and digits of counts; those of derived values are in modules/measures.
struct Known {
  const char* name;
  const char* heading;
  int digits;
};
constexpr Known kKnown[] = {
    {"cycles", "core cycles", 0}, {"speed", "speed", 3}, {"thread_instructions", "thread instructions", 0}};

void check_path(const Place& place) {
  const std::string path = place.text();
  bool right = path.back() != '.' && path.find("..") == std::string::npos && path.front() != '.';
  if (path.front() == '/') {
    try {
      const ordered_json::json_pointer pointer(path);
    } catch (const ordered_json::exception&) {
      right = false;
    }
  }
  if (is_of_launches(path)) right = right && std::count(path.begin(), path.end(), '.') == 1;
  if (!right) {
    place.refuse(
        "a path with dots, a JSON pointer into stats.json, or launches. and a column of launches.csv");
  }
}

}  // namespace

Measure read_measure(const Place& place) {
  Measure measure;
  if (!place.value().is_object()) {
    measure.name = place.one_of(measure_names());
    measure.heading = measure.name;
    for (const Known& known : kKnown) {
      if (measure.name != known.name) continue;
      measure.heading = known.heading;
      measure.digits = known.digits;
    }
    if (const measures::Definition* const row = measures::find(measure.name)) {
      measure.heading = row->heading;
      measure.digits = row->digits;
    }
    return measure;
  }
  place.keys(experiment_form()["measure by path"]);
  measure.name = place.at("name").text();
  const auto names = measure_names();
  if (std::find(names.begin(), names.end(), measure.name) != names.end())
    place.at("name").refuse("a name that is not a column of weft compare or a derived value");
  measure.heading = place.at("heading").text();
  measure.digits = place.digits_of(measure.digits);
  if (place.has("sum") + place.has("largest") + place.has("zeros") != 1)
    throw InputError(place.where(), "needs exactly one of 'sum', 'largest' and 'zeros'");
  if (place.has("over") && !place.has("sum")) throw InputError(place.where(), "'over' needs 'sum'");
  if (place.has("times") && (!place.has("sum") || place.has("over")))
    throw InputError(place.where(), "'times' needs 'sum' and is not allowed with 'over'");
  if (place.has("factor")) {
    if (!place.has("sum")) throw InputError(place.where(), "'factor' needs 'sum'");
    measure.factor = place.at("factor").number();
  }
  for (const auto& [key, target] : {std::pair{"sum", &measure.sum}, std::pair{"over", &measure.over},
                                    std::pair{"times", &measure.times}, std::pair{"zeros", &measure.zeros}}) {
    if (!place.has(key)) continue;
    for (const Place& path : place.at(key).items()) check_path(path);
    *target = place.at(key).texts();
  }
  if (place.has("largest")) {
    check_path(place.at("largest"));
    measure.largest = place.at("largest").text();
  }
  return measure;
}

bool is_energy(const Measure& measure) {
  static const std::vector<std::string> kAll[] = {
      {"launches.energy_nj"}, {"/energy/joules"}, {"/energy/watts"}, {"/energy/edp"}, {"/energy/ed2p"}};
  return std::find(std::begin(kAll), std::end(kAll), measure.sum) != std::end(kAll);
}

void must_be_of_launches(const Place& place, const Measure& measure) {
  const auto paths = paths_of(measure);
  const auto names = measure_names_of_launches();
  if (paths.empty() ? std::find(names.begin(), names.end(), measure.name) != names.end()
                    : std::all_of(paths.begin(), paths.end(), is_of_launches)) {
    return;
  }
  throw InputError(place.where(),
                   "'" + measure.name +
                       "' exists for whole runs only, but a program has a 'kernel'; allowed: " +
                       joined(names) + ", and paths of launches.csv, such as launches.l1d_hits");
}

void set_values(const std::vector<Measure>& measures, Extent extent, RunResult& result) {
  result.values.clear();
  for (const Measure& measure : measures) {
    if (const auto value = value_of(measure, extent, result.reading.numbers))
      result.values[measure.name] = *value;
  }
}

}  // namespace weft::study
