#include "study/judge/results_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "common/config_document.h"
#include "study/plan/place.h"
#include "study/run/renames.h"
#include "weft/common/error.h"
#include "weft/platform/gpu_config.h"

namespace weft::study {

using Json = nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr int kFormat = 1;
constexpr const char *kEvent = "event ", *kVerified = "verified";

// Texts that runs share, each with its place.
class Shared {
 public:
  std::size_t place_of(const std::string& text) {
    const auto [found, fresh] = places_.try_emplace(text, list_.size());
    if (fresh) list_.push_back(text);
    return found->second;
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<std::string> list_;
};

bool is_whole(double value) {
  constexpr double kMost = 9007199254740992;  // 2^53: above it not every whole number is a double
  return value >= 0 && value < kMost && value == static_cast<double>(static_cast<std::uint64_t>(value));
}

Json number_json(double value) {
  return is_whole(value) ? Json(static_cast<std::uint64_t>(value)) : Json(value);
}

Numbers numbers_with_events(const RunReading& reading) {
  Numbers numbers = reading.numbers;
  for (const auto& [name, event] : reading.events) numbers[kEvent + name] = event.count;
  return numbers;
}

std::string prices_text(const RunReading& reading) {
  Json prices = Json::object();
  for (const auto& [name, event] : reading.events) prices[""][name] = event.picojoules;
  for (const auto& [setting, events] : reading.prices) prices[setting] = events;
  return prices.dump();
}

// What is written: each element of a list on a line of its own, so that two files can be compared.
void write_list(std::ostream& out, const char* name, const std::vector<std::string>& lines) {
  out << ",\n " << Json(name).dump() << ": [";
  const char* before = "\n  ";
  for (const std::string& line : lines) {
    out << before << line;
    before = ",\n  ";
  }
  out << (lines.empty() ? "]" : "\n ]");
}

std::vector<std::string> quoted(const std::vector<std::string>& texts) {
  std::vector<std::string> list;
  list.reserve(texts.size());
  for (const std::string& text : texts) list.push_back(Json(text).dump());
  return list;
}

// The effective configuration that a build with these keys has today, JSON. A key that it lacks has its
// default.
std::string today(const Json& document, const std::string& where) {
  Json renamed = document;
  rename_keys(renamed);
  return effective_config(load_config_document(renamed, where)).dump();
}

std::size_t place(const Place& run, const char* key, std::size_t size) {
  if (!run.has(key)) return 0;
  const double number = run.at(key).number();
  if (!is_whole(number) || number >= static_cast<double>(size))
    run.at(key).refuse("a place in the list of this name, below " + std::to_string(size));
  return static_cast<std::size_t>(number);
}

void read_prices(const Place& prices, RunReading& reading) {
  if (prices.value().empty()) return;
  for (const auto& [setting, events] : prices.members()) {
    for (const auto& [event, picojoules] : events.members()) {
      double& price = setting.empty() ? reading.events[event].picojoules : reading.prices[setting][event];
      price = picojoules.number();
    }
  }
}

// The lists of the file, to which runs refer.
struct Lists {
  std::vector<std::string> counters, changed_counters, builds;
  std::vector<Place> works, prices;
  std::vector<std::shared_ptr<const std::string>> machines;

  explicit Lists(const Place& root)
      : builds(root.at("builds").texts(true)),
        works(root.at("work").items(true)),
        prices(root.at("prices").items(true)) {
    for (const std::string& key : root.at("counters").texts(true)) counters.push_back(key_of_today(key));
    for (const std::string& key : root.at("changed_counters").texts(true))
      changed_counters.push_back(key_of_today(key));
    for (const Place& change : root.at("machines").items(true)) {
      try {
        machines.push_back(std::make_shared<const std::string>(
            today(root.at("config").value().patch(change.value()), change.where())));
      } catch (const Json::exception& error) {
        throw InputError(change.where(), std::string("not a change of 'config' (RFC 6902): ") + error.what());
      }
    }
  }

  RunResult result_of(const Place& run) const {
    run.keys({"program", "variant"}, {"change", "result", "exit_code", "work", "machine", "build", "prices",
                                      "bound", "missing", "numbers"});
    RunResult result;
    result.exit_code = run.has("exit_code") ? static_cast<int>(run.at("exit_code").number()) : 0;
    result.result = run.text_of("result", kVerified);
    if (!works.empty()) result.work = works[place(run, "work", works.size())].value().dump();
    if (!run.has("numbers")) return result;
    if (machines.empty() || builds.empty() || prices.empty())
      throw InputError(run.where(), "has numbers, but 'machines', 'builds' or 'prices' is empty");
    result.machine = machines[place(run, "machine", machines.size())];
    result.build = builds[place(run, "build", builds.size())];
    result.reading.bound = run.text_of("bound");
    result.reading.missing = run.text_of("missing");
    const bool changed = run.has("change");
    read_numbers(run.at("numbers"), changed ? "changed_counters" : "counters",
                 changed ? changed_counters : counters, result.reading);
    read_prices(prices[place(run, "prices", prices.size())], result.reading);
    return result;
  }

 private:
  static void read_numbers(const Place& list, const char* name, const std::vector<std::string>& keys,
                           RunReading& reading) {
    const auto numbers = list.items(true);
    if (numbers.size() != keys.size())
      list.refuse(std::to_string(keys.size()) + " numbers, one for each of '" + name + "'");
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i].value().is_null()) continue;
      const double number = numbers[i].number();
      if (keys[i].rfind(kEvent, 0) == 0) {
        reading.events[keys[i].substr(std::string(kEvent).size())].count = number;
      } else {
        reading.numbers[keys[i]] = number;
      }
    }
  }
};

// "BFS sbr", and how many more.
class Examples {
 public:
  void add(const ExperimentPlan& plan, const ExperimentPlan::Entry& entry) {
    if (count_++ != 0) return;
    first_ = entry.program->abbr + " " + entry.variant->label;
    if (entry.change != 0) first_ += " " + plan.name_of(entry.change);
  }
  // "3 runs (the first: BFS SBR)"
  std::string text() const {
    return fmt::format("{} run{} (the first: {})", count_, count_ == 1 ? "" : "s", first_);
  }
  bool empty() const { return count_ == 0; }

 private:
  std::size_t count_ = 0;
  std::string first_;
};

}  // namespace

std::string data_text(const ExperimentPlan& plan, const RunTable& table, const std::string& command) {
  struct Keys {
    std::set<std::string> wanted, counted;

    std::vector<std::string> not_counted() const {
      std::vector<std::string> list;
      std::set_difference(wanted.begin(), wanted.end(), counted.begin(), counted.end(),
                          std::back_inserter(list));
      return list;
    }
  };
  Keys keys, changed;
  for (const auto& entry : plan.entries()) {
    Keys& of_run = entry.change == 0 ? keys : changed;
    of_run.wanted.merge(plan.wanted(entry).keys);
    for (const auto& [key, value] : numbers_with_events(table[entry.change][entry.place].reading))
      of_run.counted.insert(key);
  }
  Shared machines, works, builds, prices;
  Json base;
  std::vector<std::string> runs;
  for (const auto& entry : plan.entries()) {
    const RunResult& result = table[entry.change][entry.place];
    Json run = Json::object();
    const auto shared = [&](const char* name, Shared& list, const std::string& text) {
      if (const std::size_t at = list.place_of(text); at != 0) run[name] = at;
    };
    if (result.result != kVerified) run["result"] = result.result;
    if (result.exit_code != 0) run["exit_code"] = result.exit_code;
    shared("work", works, Json::parse(result.work).dump());
    if (result.machine != nullptr) {
      const Json machine = Json::parse(*result.machine);
      if (base.is_null()) base = machine;
      shared("machine", machines, Json::diff(base, machine).dump());
      shared("build", builds, Json(result.build).dump());
      shared("prices", prices, prices_text(result.reading));
      if (entry.change == 0 && !result.reading.bound.empty()) run["bound"] = result.reading.bound;
      if (!result.reading.missing.empty()) run["missing"] = result.reading.missing;
      const Numbers numbers = numbers_with_events(result.reading);
      for (const std::string& key : (entry.change == 0 ? keys : changed).counted) {
        const auto found = numbers.find(key);
        run["numbers"].push_back(found == numbers.end() ? Json() : number_json(found->second));
      }
    }
    ordered_json line{{"program", entry.program->abbr}, {"variant", entry.variant->name}};
    if (entry.change != 0) line["change"] = plan.name_of(entry.change);
    for (const auto& [key, value] : run.items()) line[key] = value;
    runs.push_back(line.dump());
  }
  std::ostringstream out;
  out << "{\n \"format\": " << kFormat << ",\n \"experiment\": " << Json(plan.experiment().name).dump()
      << ",\n \"command\": " << Json(command).dump() << ",\n \"config\": " << base.dump();
  write_list(out, "machines", machines.list());
  write_list(out, "work", works.list());
  write_list(out, "builds", builds.list());
  write_list(out, "prices", prices.list());
  write_list(out, "counters", quoted({keys.counted.begin(), keys.counted.end()}));
  write_list(out, "not_counted", quoted(keys.not_counted()));
  write_list(out, "changed_counters", quoted({changed.counted.begin(), changed.counted.end()}));
  write_list(out, "changed_not_counted", quoted(changed.not_counted()));
  write_list(out, "runs", runs);
  out << "\n}\n";
  return out.str();
}

std::string data_file(const std::string& folder, const std::string& named) {
  return folder + "/data/" + named + ".json";
}

std::vector<Sensitivity> settings_in(const ResultsData& data, std::vector<Sensitivity> sensitivities) {
  const std::set<std::string> changes = data.changes();
  const auto gone = [&](const Sensitivity::Setting& setting) { return changes.count(setting.name) == 0; };
  for (Sensitivity& one : sensitivities)
    one.settings.erase(std::remove_if(one.settings.begin(), one.settings.end(), gone), one.settings.end());
  const auto empty = [](const Sensitivity& one) { return one.settings.empty(); };
  sensitivities.erase(std::remove_if(sensitivities.begin(), sensitivities.end(), empty), sensitivities.end());
  return sensitivities;
}

ResultsData::ResultsData(const std::string& file) : file_(file) {
  const Json document = config::read_file(file);
  const Place root(document, file);
  root.keys({"format", "experiment", "command", "config", "machines", "work", "builds", "prices", "counters",
             "not_counted", "changed_counters", "changed_not_counted", "runs"});
  if (root.at("format").number() != kFormat) root.at("format").refuse(std::to_string(kFormat));
  experiment_ = root.at("experiment").text();
  command_ = root.at("command").text();
  const Lists lists(root);
  keys_.insert(lists.counters.begin(), lists.counters.end());
  for (const std::string& key : root.at("not_counted").texts(true)) keys_.insert(key_of_today(key));
  changed_keys_.insert(lists.changed_counters.begin(), lists.changed_counters.end());
  for (const std::string& key : root.at("changed_not_counted").texts(true))
    changed_keys_.insert(key_of_today(key));
  for (const Place& run : root.at("runs").items()) {
    const Name name{renamed_setting(run.text_of("change")), run.at("program").text(),
                    run.at("variant").text()};
    if (!runs_.emplace(name, lists.result_of(run)).second)
      throw InputError(run.where(), "a duplicate of an earlier run");
  }
}

std::set<std::string> ResultsData::changes() const {
  std::set<std::string> names;
  for (const auto& [name, run] : runs_) names.insert(std::get<0>(name));
  names.erase("");
  return names;
}

RunTable ResultsData::table(const ExperimentPlan& plan, std::vector<std::string>& missing) const {
  const Experiment& experiment = plan.experiment();
  if (experiment_ != experiment.name) {
    throw InputError(file_ + ": /experiment",
                     "found \"" + experiment_ + "\"; allowed: \"" + experiment.name + "\"");
  }
  RunTable table = plan.empty_table();
  std::set<std::string> lacking;  // counters
  Examples absent, older;
  for (const auto& entry : plan.entries()) {
    RunResult& result = table[entry.change][entry.place];
    const auto found = runs_.find({plan.name_of(entry.change), entry.program->abbr, entry.variant->name});
    if (found == runs_.end()) {
      absent.add(plan, entry);
      result.exit_code = static_cast<int>(ExitCode::kBadInput);
      result.result = "not in the data";
      continue;
    }
    result = found->second;
    const bool same_machine = result.machine == nullptr || *result.machine == *entry.run->effective;
    if (result.work != Json::parse(entry.run->work).dump() || !same_machine) older.add(plan, entry);
    if (result.machine == nullptr) continue;
    set_values(experiment.measures, entry.extent(), result);
    for (const std::string& key : plan.keys(entry)) {
      if ((entry.change == 0 ? keys_ : changed_keys_).count(key) == 0) lacking.insert(key);
    }
  }
  const auto add = [&](const std::string& text) { missing.push_back(file_ + " " + text); };
  if (!absent.empty()) add("lacks " + absent.text());
  if (!older.empty())
    add("has " + older.text() + " of another machine or program than the experiment has now");
  if (!lacking.empty()) {
    add("lacks counters, for which all runs are needed: " +
        joined(std::vector<std::string>(lacking.begin(), lacking.end())));
  }
  return table;
}

}  // namespace weft::study
