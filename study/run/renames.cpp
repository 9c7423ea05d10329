#include "study/run/renames.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>

namespace weft::study {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps;
  std::istringstream in(path);
  for (std::string step; std::getline(in, step, '.');) steps.push_back(step);
  return steps;
}

std::string path_of(const std::vector<std::string>& steps) {
  std::string path;
  for (const std::string& step : steps) path += (path.empty() ? "" : ".") + step;
  return path;
}

// What an instance has behind its kind: "3" of "sm3" for "sm*", "" for "sm" and "*" for "sm*"; "" also of
// "l2" for "l2_*". None: the step is not of the kind.
bool is_of_kind(const std::string& step, const std::string& kind, std::string& instance) {
  instance.clear();
  if (kind.back() != '*') return step == kind;
  const std::string stem = kind.substr(0, kind.size() - 1);
  if (stem == step + "_") return true;
  if (step.rfind(stem, 0) != 0) return false;
  instance = step.substr(stem.size());
  return instance == "*" ||
         std::all_of(instance.begin(), instance.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// The step under its new name, as the instance that it was.
std::string of_instance(const std::string& kind, const std::string& instance) {
  if (kind.back() != '*') return kind;
  std::string stem = kind.substr(0, kind.size() - 1);
  if (instance.empty() && !stem.empty() && stem.back() == '_') stem.pop_back();
  return stem + instance;
}

// The same object, with one key under another name in the same place.
void rename_member(ordered_json& object, const std::string& from, const std::string& to) {
  ordered_json renamed = ordered_json::object();
  for (auto& [key, value] : object.items()) renamed[key == from ? to : key] = std::move(value);
  object = std::move(renamed);
}

void rename_below(ordered_json& group, const std::vector<std::string>& from,
                  const std::vector<std::string>& to, std::size_t at) {
  if (!group.is_object()) return;
  std::vector<std::string> names;
  for (const auto& [name, value] : group.items()) names.push_back(name);
  for (const std::string& name : names) {
    std::string instance;
    if (!is_of_kind(name, from[at], instance)) continue;
    if (at + 1 < from.size()) rename_below(group[name], from, to, at + 1);
    const std::string fresh = of_instance(to[at], instance);
    if (fresh != name && !group.contains(fresh)) rename_member(group, name, fresh);
  }
}

}  // namespace

const std::vector<Rename>& renamed_statistics() {
  static const std::vector<Rename> list{{"gddr5_*", "dram*"}};
  return list;
}

const std::vector<Rename>& renamed_keys() {
  static const std::vector<Rename> list{{"gddr5", "dram"}};
  return list;
}

std::string renamed_setting(const std::string& setting, const std::vector<Rename>& renames) {
  const std::size_t end = std::min(setting.find('='), setting.size());
  return renamed_path(setting.substr(0, end), renames) + setting.substr(end);
}

void rename_keys(json& config, const std::vector<Rename>& renames) {
  const auto pointer_of = [](const std::string& path) {
    json::json_pointer pointer;
    for (const std::string& step : steps_of(path)) pointer /= step;
    return pointer;
  };
  for (const Rename& rename : renames) {
    const auto from = pointer_of(rename.from), to = pointer_of(rename.to);
    if (!config.contains(from) || config.contains(to)) continue;
    const json value = config.at(from);
    config.at(from.parent_pointer()).erase(from.back());
    config[to] = value;
  }
}

void rename_statistics(ordered_json& statistics, const std::vector<Rename>& renames) {
  for (const Rename& rename : renames)
    rename_below(statistics, steps_of(rename.from), steps_of(rename.to), 0);
}

void rename_results(ordered_json& results) {
  const auto statistics = results.find("statistics");
  if (statistics != results.end() && !renamed_statistics().empty()) rename_statistics(*statistics);
}

std::string renamed_path(const std::string& path, const std::vector<Rename>& renames) {
  std::vector<std::string> steps = steps_of(path);
  for (const Rename& rename : renames) {
    const auto from = steps_of(rename.from), to = steps_of(rename.to);
    if (from.size() > steps.size() || to.size() != from.size()) continue;
    std::vector<std::string> fresh;
    for (std::size_t i = 0; i < from.size(); ++i) {
      std::string instance;
      if (!is_of_kind(steps[i], from[i], instance)) break;
      fresh.push_back(of_instance(to[i], instance));
    }
    if (fresh.size() == from.size()) std::copy(fresh.begin(), fresh.end(), steps.begin());
  }
  return path_of(steps);
}

}  // namespace weft::study
