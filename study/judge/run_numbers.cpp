#include "study/judge/run_numbers.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/config_document.h"
#include "common/input_file.h"
#include "measures/sources.h"
#include "platform/energy_machine.h"
#include "study/judge/comparison.h"
#include "study/judge/experiment_measures.h"
#include "study/judge/kernel_launches.h"
#include "study/run/renames.h"
#include "study/run/result_run.h"
#include "study/session/energy_results.h"
#include "weft/platform/gpu_config.h"

namespace weft::study {

using nlohmann::ordered_json;

namespace {

constexpr const char *kLaunches = "launches.", *kLargest = "largest ", *kCompare = "compare.",
                     *kValue = "value ";

bool begins(const std::string& text, const std::string& beginning) {
  return text.rfind(beginning, 0) == 0;
}
std::string behind(const std::string& text, const std::string& beginning) {
  return text.substr(beginning.size());
}

// The columns of `weft compare`, of a row.
ordered_json columns_of(const Row& row) {
  return json(Comparison{"", "", {row}}).at("runs").at(0);
}

// Counts that both stats.json and launches.csv have, besides derived values.
constexpr const char* kCounts[] = {"cycles", "thread_instructions", "executed_thread_instructions"};

bool is_count(const std::string& name) {
  return std::any_of(std::begin(kCounts), std::end(kCounts), [&](const char* one) { return name == one; });
}

std::string key_of_count(const std::string& name, Extent extent) {
  return (extent == Extent::kKernel ? kLaunches : "/") + name;
}

// What is the machine's is the same for all launches.
std::string key_of(const measures::Counter& counter, Extent extent) {
  const bool machine = &counter == &measures::kLanes || &counter == &measures::kBeatsInACycle;
  if (machine || (counter.is_of_run() && extent == Extent::kRun)) return "/" + std::string(counter.column);
  return extent == Extent::kKernel ? kLaunches + std::string(counter.column) : counter.path;
}

template <class Visit>
void each_counter(const measures::Definition& row, Visit&& visit) {
  for (const measures::Terms* terms : {&row.above, &row.below, &row.times}) {
    for (const measures::Term& term : *terms) visit(*term.counter);
  }
}

void add_keys_of(const measures::Definition& row, Extent extent, std::set<std::string>& keys) {
  each_counter(row, [&](const measures::Counter& counter) { keys.insert(key_of(counter, extent)); });
  // stats.json has values of which it does not have all counters.
  if (extent == Extent::kRun) keys.insert(kValue + std::string(row.name));
}

std::optional<double> number(const std::string& key, const Numbers& numbers) {
  const auto found = numbers.find(key);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

// Of its counters.
std::optional<double> counted_value(const measures::Definition& row, Extent extent, const Numbers& numbers) {
  return measures::value_of(
      row, [&](const measures::Counter& counter) { return number(key_of(counter, extent), numbers); });
}

std::optional<double> value_of_row(const measures::Definition& row, Extent extent, const Numbers& numbers) {
  const auto counted = counted_value(row, extent, numbers);
  return counted ? counted : number(kValue + std::string(row.name), numbers);
}

std::optional<double> sum_of(const std::vector<std::string>& paths, const Numbers& numbers) {
  double sum = 0;
  for (const std::string& path : paths) {
    const auto found = number(path, numbers);
    if (!found) return {};
    sum += *found;
  }
  return sum;
}

std::optional<double> value_of_paths(const Measure& measure, const Numbers& numbers) {
  if (!measure.largest.empty()) return number(kLargest + measure.largest, numbers);
  if (!measure.zeros.empty()) {
    double count = 0;
    for (const std::string& path : measure.zeros) {
      const auto found = number(path, numbers);
      if (!found) return {};
      count += *found == 0 ? 1 : 0;
    }
    return count;
  }
  auto sum = sum_of(measure.sum, numbers);
  if (!sum) return {};
  *sum *= measure.factor;
  if (!measure.times.empty()) {
    const auto times = sum_of(measure.times, numbers);
    return times ? std::optional(*sum * *times) : std::nullopt;
  }
  if (measure.over.empty()) return sum;
  const auto over = sum_of(measure.over, numbers);
  if (!over || *over == 0) return {};
  return *sum / *over;
}

// Whether launches.csv may have all counters of the row.
bool launches_may_have(const measures::Definition& row) {
  const auto has = [](const measures::Term& term) { return term.counter->of_launches; };
  return std::all_of(row.above.begin(), row.above.end(), has) &&
         std::all_of(row.below.begin(), row.below.end(), has);
}

// The results of a run, asked by key.
class RunFiles {
 public:
  RunFiles(const std::string& folder, const Wanted& wanted) : kernel_(wanted.kernel) {
    const nlohmann::json document = config::read_file(folder + "/stats.json");
    stats_ = document;
    take_last_device(stats_);
    rename_results(stats_);
    const auto wants = [&](const char* beginning) {
      return std::any_of(wanted.keys.begin(), wanted.keys.end(),
                         [&](const std::string& key) { return begins(key, beginning); });
    };
    if (wants(kCompare)) columns_ = columns_of({"", "", 0, "", Measures::of(stats_)});
    const bool by_launch = wants(kLaunches);
    if (!by_launch && kernel_.empty()) return;
    const std::string file = folder + "/launches.csv";
    launches_.emplace(read_regular_file(file), file);
  }

  const ordered_json& stats() const { return stats_; }
  // Why the launches of the kernel cannot be told; empty: they can.
  std::string missing() const {
    if (kernel_.empty() || launches_->has(kernel_)) return "";
    return "no launch of '" + kernel_ + "'; known: " + joined(launches_->kernels());
  }

  std::optional<double> number(const std::string& key) const {
    if (begins(key, kLargest)) {
      const auto all = numbers_at(behind(key, kLargest));
      return all.empty() ? std::nullopt : std::optional(*std::max_element(all.begin(), all.end()));
    }
    if (begins(key, kCompare)) {
      const ordered_json& cell = columns_.at(behind(key, kCompare));
      return cell.is_number() ? std::optional(cell.get<double>()) : std::nullopt;
    }
    if (begins(key, kValue)) return number("/" + behind(key, kValue));
    if (key == kBeats) return measures::numbers_of(stats_)(measures::kBeatsInACycle);
    const auto all = numbers_at(key);
    if (all.empty()) return {};
    return std::accumulate(all.begin(), all.end(), 0.0);
  }

  double count_of(const std::string& event, double in_the_run) const {
    if (kernel_.empty()) return in_the_run;
    return launches_->sum("event_" + event, kernel_).value_or(0);
  }

 private:
  inline static const std::string kBeats = key_of(measures::kBeatsInACycle, Extent::kRun);

  // Numbers that the path names.
  std::vector<double> numbers_at(const std::string& path) const {
    if (is_of_launches(path)) return launches_->numbers(behind(path, kLaunches), kernel_);
    std::vector<const ordered_json*> found;
    if (path.front() == '/') {
      const ordered_json::json_pointer pointer(path);
      if (stats_.contains(pointer)) found.push_back(&stats_.at(pointer));
    } else if (stats_.contains("statistics")) {
      found = measures::entries_in(stats_.at("statistics"), path);
    }
    std::vector<double> numbers;
    for (const ordered_json* value : found) {
      if (value->is_number()) numbers.push_back(value->get<double>());
    }
    return numbers;
  }

  const std::string& kernel_;
  ordered_json stats_;
  ordered_json columns_;                 // of `weft compare`, if a key needs them
  std::optional<LaunchTable> launches_;  // if a key or the kernel needs it
};

// What bounded the run, as its summary says.
std::string bound_of(const ordered_json& stats) {
  const auto found = stats.find("bound_by");
  return found != stats.end() && found->is_object() ? found->at("text").get<std::string>() : "";
}

// By the run's configuration with `setting`.
std::map<std::string, double> prices_with(const std::string& folder, const ordered_json& stats,
                                          const std::string& setting) {
  std::map<std::string, double> prices;
  const GpuConfig config = load_config(folder + "/config.json", {setting});
  const auto energy = energy_of(stats.at("statistics"), config, technology_of(config.energy));
  if (!energy.has_value()) return prices;
  for (const auto& part : energy->parts) prices[part.name] = part.price.picojoules;
  return prices;
}

}  // namespace

std::string key_of_today(const std::string& key) {
  return begins(key, kLargest) ? kLargest + renamed_path(behind(key, kLargest)) : renamed_path(key);
}

bool is_of_launches(const std::string& path) {
  return begins(path, kLaunches);
}

std::vector<std::string> paths_of(const Measure& measure) {
  std::vector<std::string> paths = measure.sum;
  paths.insert(paths.end(), measure.over.begin(), measure.over.end());
  paths.insert(paths.end(), measure.times.begin(), measure.times.end());
  paths.insert(paths.end(), measure.zeros.begin(), measure.zeros.end());
  if (!measure.largest.empty()) paths.push_back(measure.largest);
  return paths;
}

std::vector<std::string> measure_names() {
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

std::vector<std::string> measure_names_of_launches() {
  std::vector<std::string> names{"speed"};
  names.insert(names.end(), std::begin(kCounts), std::end(kCounts));
  for (const measures::Definition& row : measures::rows()) {
    if (launches_may_have(row)) names.emplace_back(row.name);
  }
  return names;
}

void add_keys(const Measure& measure, Extent extent, std::set<std::string>& keys) {
  if (!measure.largest.empty()) keys.insert(kLargest + measure.largest);
  for (const auto* paths : {&measure.sum, &measure.over, &measure.times, &measure.zeros})
    keys.insert(paths->begin(), paths->end());
  if (!paths_of(measure).empty()) return;
  if (const measures::Definition* const row = measures::find(measure.name)) {
    add_keys_of(*row, extent, keys);
  } else if (measure.name == "speed") {
    keys.insert(key_of_count("cycles", extent));
  } else if (is_count(measure.name)) {
    keys.insert(key_of_count(measure.name, extent));
  } else {
    keys.insert(kCompare + measure.name);
  }
}

void add_keys_of_rows(Extent extent, std::set<std::string>& keys) {
  for (const measures::Definition& row : measures::rows()) {
    if (extent == Extent::kRun || launches_may_have(row)) add_keys_of(row, extent, keys);
  }
  for (const char* const name : kCounts) keys.insert(key_of_count(name, extent));
}

std::optional<double> value_of(const Measure& measure, Extent extent, const Numbers& numbers) {
  if (!paths_of(measure).empty()) return value_of_paths(measure, numbers);
  if (const measures::Definition* const row = measures::find(measure.name))
    return value_of_row(*row, extent, numbers);
  if (measure.name == "speed") {
    const double cycles = number(key_of_count("cycles", extent), numbers).value_or(0);
    if (cycles == 0) return {};
    return 1 / cycles;
  }
  if (is_count(measure.name)) return number(key_of_count(measure.name, extent), numbers);
  return number(kCompare + measure.name, numbers);
}

RunReading read_run(const std::string& folder, const Wanted& wanted) {
  RunReading found;
  const RunFiles files(folder, wanted);
  found.missing = files.missing();
  if (!found.missing.empty()) return found;
  for (const std::string& key : wanted.keys) {
    if (const auto value = files.number(key)) found.numbers[key] = *value;
  }
  const Extent extent = wanted.kernel.empty() ? Extent::kRun : Extent::kKernel;
  // A value whose counters are there is not kept beside them.
  for (const measures::Definition& row : measures::rows()) {
    if (counted_value(row, extent, found.numbers)) found.numbers.erase(kValue + std::string(row.name));
  }
  if (extent == Extent::kRun) found.bound = bound_of(files.stats());
  if (!wanted.events || !files.stats().contains("energy")) return found;
  for (const auto& [name, event] : files.stats().at("energy").at("events").items()) {
    found.events[name] = {files.count_of(name, event.at("count").get<double>()),
                          event.at("picojoules").get<double>()};
  }
  for (const std::string& setting : wanted.prices)
    found.prices[setting] = prices_with(folder, files.stats(), setting);
  return found;
}

}  // namespace weft::study
