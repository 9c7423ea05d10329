#include "study/judge/experiment_measures.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "common/config_document.h"
#include "common/input_file.h"
#include "common/statistics_sample.h"
#include "measures/sources.h"
#include "study/judge/kernel_launches.h"
#include "study/run/result_run.h"
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

// The columns of `weft compare`, of a row.
ordered_json columns_of(const Row& row) {
  return json(Comparison{"", "", {row}}).at("runs").at(0);
}

std::vector<std::string> column_names() {
  std::vector<std::string> names{"speed"};
  const ordered_json columns = columns_of({});
  for (const auto& [name, value] : columns.items()) {
    if (value.is_null() && name != "speedup") names.push_back(name);
  }
  for (const measures::Definition& row : measures::rows()) {
    if (!columns.contains(row.name)) names.emplace_back(row.name);
  }
  return names;
}

std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps;
  std::istringstream in(path);
  for (std::string step; std::getline(in, step, '.');) steps.push_back(step);
  return steps;
}

constexpr const char* kLaunches = "launches.";

bool is_of_launches(const std::string& path) {
  return path.rfind(kLaunches, 0) == 0;
}

// Where the numbers of a program come from. `launches` is there if a measure or the program needs it.
struct Source {
  const ordered_json& stats;
  const std::optional<LaunchTable>& launches;
  const std::string& kernel;  // empty: the whole run
};

// Numbers that the path names.
std::vector<double> numbers_at(const std::string& path, const Source& source) {
  if (is_of_launches(path))
    return source.launches->numbers(path.substr(std::string(kLaunches).size()), source.kernel);
  const ordered_json& stats = source.stats;
  std::vector<const ordered_json*> found;
  if (path.front() == '/') {
    const ordered_json::json_pointer pointer(path);
    if (stats.contains(pointer)) found.push_back(&stats.at(pointer));
  } else if (stats.contains("statistics")) {
    found.push_back(&stats.at("statistics"));
    for (const std::string& step : steps_of(path)) {
      std::vector<const ordered_json*> below;
      for (const ordered_json* group : found) {
        const auto more = statistics::Sample(*group).find({statistics::Step(step)});
        below.insert(below.end(), more.begin(), more.end());
      }
      found = std::move(below);
    }
  }
  std::vector<double> numbers;
  for (const ordered_json* value : found) {
    if (value->is_number()) numbers.push_back(value->get<double>());
  }
  return numbers;
}

// None if a path names nothing in this run.
std::optional<double> sum_of(const std::vector<std::string>& paths, const Source& source) {
  double sum = 0;
  for (const std::string& path : paths) {
    const auto numbers = numbers_at(path, source);
    if (numbers.empty()) return {};
    for (const double number : numbers) sum += number;
  }
  return sum;
}

// Counts that launches.csv has, besides its derived values.
constexpr const char* kCounts[] = {"cycles", "thread_instructions", "executed_thread_instructions"};

// Whether launches.csv may have all counters of the row.
bool launches_may_have(const measures::Definition& row) {
  const auto has = [](const measures::Term& term) { return term.counter->of_launches; };
  return std::all_of(row.above.begin(), row.above.end(), has) &&
         std::all_of(row.below.begin(), row.below.end(), has);
}

std::vector<std::string> names_of_launches() {
  std::vector<std::string> names{"speed"};
  names.insert(names.end(), std::begin(kCounts), std::end(kCounts));
  for (const measures::Definition& row : measures::rows()) {
    if (launches_may_have(row)) names.emplace_back(row.name);
  }
  return names;
}

// What the launches of one kernel counted.
std::optional<double> column_of(const std::string& name, const Source& source) {
  const auto sum = [&](const char* column) { return source.launches->sum(column, source.kernel); };
  if (name == "speed") {
    const double cycles = sum("cycles").value_or(0);
    if (cycles == 0) return {};
    return 1 / cycles;
  }
  const measures::Definition* const row = measures::find(name);
  if (row == nullptr) return sum(name.c_str()).value_or(0);
  const measures::NumberOf of_machine = measures::numbers_of(source.stats);
  return measures::value_of(*row, [&](const measures::Counter& counter) {
    const bool machine = &counter == &measures::kLanes || &counter == &measures::kBeatsInACycle;
    return machine ? of_machine(counter) : sum(counter.column);
  });
}

std::optional<double> value_of(const Measure& measure, const ordered_json& columns, const Source& source) {
  if (!measure.largest.empty()) {
    const auto numbers = numbers_at(measure.largest, source);
    if (numbers.empty()) return {};
    return *std::max_element(numbers.begin(), numbers.end());
  }
  if (!measure.sum.empty()) {
    auto sum = sum_of(measure.sum, source);
    if (!sum) return {};
    *sum *= measure.factor;
    if (!measure.times.empty()) {
      const auto times = sum_of(measure.times, source);
      return times ? std::optional(*sum * *times) : std::nullopt;
    }
    if (measure.over.empty()) return sum;
    const auto over = sum_of(measure.over, source);
    if (!over || *over == 0) return {};
    return *sum / *over;
  }
  if (!measure.zeros.empty()) {
    double count = 0;
    for (const std::string& path : measure.zeros) {
      const auto sum = sum_of({path}, source);
      if (!sum) return {};
      count += *sum == 0 ? 1 : 0;
    }
    return count;
  }
  if (!source.kernel.empty()) return column_of(measure.name, source);
  if (measure.name == "speed") {
    const double cycles = columns.at("cycles").get<double>();
    if (cycles == 0) return {};
    return 1 / cycles;
  }
  if (!columns.contains(measure.name)) return measures::value_in(source.stats, measures::get(measure.name));
  const ordered_json& cell = columns.at(measure.name);
  if (!cell.is_number()) return {};
  return cell.get<double>();
}

// All paths of the measure.
std::vector<std::string> paths_of(const Measure& measure) {
  std::vector<std::string> paths = measure.sum;
  paths.insert(paths.end(), measure.over.begin(), measure.over.end());
  paths.insert(paths.end(), measure.times.begin(), measure.times.end());
  paths.insert(paths.end(), measure.zeros.begin(), measure.zeros.end());
  if (!measure.largest.empty()) paths.push_back(measure.largest);
  return paths;
}

// What bounded the run, as its summary says.
std::string bound_of(const ordered_json& stats) {
  const auto found = stats.find("bound_by");
  return found != stats.end() && found->is_object() ? found->at("text").get<std::string>() : "";
}

std::map<std::string, PricedEvent> events_of(const ordered_json& energy, const Source& source) {
  std::map<std::string, PricedEvent> events;
  for (const auto& [name, event] : energy.items()) {
    const double all = event.at("count").get<double>();
    const double count =
        source.kernel.empty() ? all : source.launches->sum("event_" + name, source.kernel).value_or(0);
    events[name] = {count, event.at("picojoules").get<double>()};
  }
  return events;
}

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
    measure.name = place.one_of(column_names());
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
  place.keys({"name", "heading"}, {"digits", "sum", "over", "times", "factor", "largest", "zeros"});
  measure.name = place.at("name").text();
  const auto names = column_names();
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
  const auto names = names_of_launches();
  if (paths.empty() ? std::find(names.begin(), names.end(), measure.name) != names.end()
                    : std::all_of(paths.begin(), paths.end(), is_of_launches)) {
    return;
  }
  throw InputError(place.where(),
                   "'" + measure.name +
                       "' exists for whole runs only, but a program has a 'kernel'; allowed: " +
                       joined(names) + ", and paths of launches.csv, such as launches.l1d_hits");
}

RunResult result_of(const Row& row, const std::string& folder, const std::vector<Measure>& measures,
                    const std::string& kernel) {
  RunResult result;
  result.row = row;
  result.folder = folder;
  if (!row.measures || row.exit_code != 0) return result;
  const ordered_json columns = columns_of(row);
  const nlohmann::json document = config::read_file(folder + "/stats.json");
  ordered_json stats = document;
  take_last_device(stats);
  const bool by_launch = std::any_of(measures.begin(), measures.end(), [](const Measure& measure) {
    const auto paths = paths_of(measure);
    return std::any_of(paths.begin(), paths.end(), is_of_launches);
  });
  std::optional<LaunchTable> launches;
  if (by_launch || !kernel.empty()) {
    const std::string file = folder + "/launches.csv";
    launches.emplace(read_regular_file(file), file);
  }
  if (!kernel.empty() && !launches->has(kernel)) {
    result.missing = "no launch of '" + kernel + "'; known: " + joined(launches->kernels());
    return result;
  }
  const Source source{stats, launches, kernel};
  for (const Measure& measure : measures) {
    if (const auto value = value_of(measure, columns, source)) result.values[measure.name] = *value;
  }
  if (stats.contains("energy")) result.events = events_of(stats.at("energy").at("events"), source);
  if (kernel.empty()) result.bound = bound_of(stats);
  return result;
}

}  // namespace weft::study
