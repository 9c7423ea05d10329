#include "common/statistics.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace weft::statistics {

void Registry::counter(std::string name, std::string unit, std::string description, std::uint64_t& value) {
  add({std::move(name), std::move(unit), std::move(description), &value, nullptr, {}});
}

void Registry::histogram(std::string name, std::string unit, std::string description,
                         std::vector<std::uint64_t>& bins) {
  add({std::move(name), std::move(unit), std::move(description), nullptr, &bins, {}});
}

void Registry::derived(std::string name, std::string unit, std::string description,
                       std::function<double()> value) {
  if (!value) throw std::logic_error("statistic " + name + ": no function");
  add({std::move(name), std::move(unit), std::move(description), nullptr, nullptr, std::move(value)});
}

void Registry::add(Entry entry) {
  const std::string& name = entry.name;
  const auto fail = [&](const std::string& why) {
    throw std::logic_error("statistic \"" + name + "\": " + why);
  };
  if (name.empty() || name.front() == '.' || name.back() == '.' || name.find("..") != std::string::npos) {
    fail("empty level in the name");
  }
  // A name is a value or a level, never both: the sample would lose one of them.
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    const auto [place, added] = places_.try_emplace(name.substr(0, dot), Place::kLevel);
    if (place->second == Place::kValue) fail(place->first + " is a value, not a level");
  }
  const auto [place, added] = places_.try_emplace(name, Place::kValue);
  if (!added) fail(place->second == Place::kValue ? "registered twice" : "is a level, not a value");
  entries_.push_back(std::move(entry));
}

void Registry::reset() {
  for (Entry& entry : entries_) {
    if (entry.counter != nullptr) *entry.counter = 0;
    if (entry.histogram != nullptr) std::fill(entry.histogram->begin(), entry.histogram->end(), 0);
  }
}

nlohmann::ordered_json Registry::sample() const {
  nlohmann::ordered_json root = nlohmann::ordered_json::object();
  for (const Entry& entry : entries_) {
    nlohmann::ordered_json* place = &root;
    std::size_t begin = 0;
    for (std::size_t dot = entry.name.find('.'); dot != std::string::npos;
         dot = entry.name.find('.', begin)) {
      place = &(*place)[entry.name.substr(begin, dot - begin)];
      begin = dot + 1;
    }
    nlohmann::ordered_json& value = (*place)[entry.name.substr(begin)];
    if (entry.counter != nullptr) {
      value = *entry.counter;
    } else if (entry.histogram != nullptr) {
      value = *entry.histogram;
    } else {
      value = entry.value();
    }
  }
  return root;
}

}  // namespace weft::statistics
