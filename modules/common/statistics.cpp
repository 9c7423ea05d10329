#include "weft/common/statistics.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace weft::statistics {
namespace {

std::uint64_t sum_of(const std::vector<const std::uint64_t*>& counters) {
  std::uint64_t sum = 0;
  for (const std::uint64_t* counter : counters) sum += *counter;
  return sum;
}

bool is_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
}

[[noreturn]] void fail(std::string_view statistic, const std::string& why) {
  throw std::logic_error("statistic \"" + std::string(statistic) + "\": " + why);
}

// "sm" and "3" make "sm3", "l2" and "3" make "l2_3".
std::string instance(std::string_view kind, const std::string& number) {
  const bool digit = !kind.empty() && std::isdigit(static_cast<unsigned char>(kind.back())) != 0;
  return std::string(kind) + (digit ? "_" : "") + number;
}

bool matches(const Group& group, const Step& step) {
  return group.kind() == step.name && (!step.index || group.index() == step.index);
}

nlohmann::ordered_json json_of(const Entry& entry) {
  switch (entry.kind) {
    case Entry::Kind::kCounter:
      return *entry.counter;
    case Entry::Kind::kHistogram:
      return *entry.histogram;
    default:
      return entry.value();
  }
}

}  // namespace

std::string name_of(std::string_view kind, std::optional<unsigned> index) {
  return index ? instance(kind, std::to_string(*index)) : std::string(kind);
}

std::string pattern_of(std::string_view kind) {
  return instance(kind, "*");
}

double Entry::value() const {
  switch (kind) {
    case Kind::kCounter:
      return static_cast<double>(*counter);
    case Kind::kHistogram: {
      std::uint64_t sum = 0;
      for (const std::uint64_t bin : *histogram) sum += bin;
      return static_cast<double>(sum);
    }
    case Kind::kRatio: {
      const std::uint64_t whole = sum_of(ratio.divisor);
      if (whole == 0) return ratio.of_nothing;
      return static_cast<double>(sum_of(ratio.dividend)) / (static_cast<double>(whole) * ratio.scale);
    }
    case Kind::kDerived:
      return derived();
    case Kind::kGauge:
      return static_cast<double>(gauge());
  }
  return 0;
}

void Group::counter(Text name, Unit unit, Text description, std::uint64_t& value) {
  add(name, Entry::Kind::kCounter, Quantity::kSum, unit, description).counter = &value;
}

void Group::maximum(Text name, Unit unit, Text description, std::uint64_t& value) {
  add(name, Entry::Kind::kCounter, Quantity::kMaximum, unit, description).counter = &value;
}

void Group::histogram(Text name, Unit unit, Text description, std::vector<std::uint64_t>& bins) {
  add(name, Entry::Kind::kHistogram, Quantity::kSum, unit, description).histogram = &bins;
}

void Group::ratio(Text name, Unit unit, Text description, Ratio ratio) {
  if (ratio.dividend.empty() || ratio.divisor.empty()) fail(name.view(), "a ratio without counters");
  add(name, Entry::Kind::kRatio, Quantity::kRatio, unit, description).ratio = std::move(ratio);
}

void Group::derived(Text name, Quantity quantity, Unit unit, Text description,
                    std::function<double()> value) {
  if (!value) fail(name.view(), "no function");
  add(name, Entry::Kind::kDerived, quantity, unit, description).derived = std::move(value);
}

void Group::gauge(Text name, Unit unit, Text description, std::function<std::uint64_t()> value) {
  if (!value) fail(name.view(), "no function");
  add(name, Entry::Kind::kGauge, Quantity::kLevel, unit, description).gauge = std::move(value);
}

void Group::check_free(std::string_view name) const {
  const auto taken = [&](const char* by) { fail(std::string(name) + "\" of \"" + name_, by); };
  if (!is_name(name)) taken("not a name; allowed: letters, digits, - and _");
  for (const Node& node : nodes_) {
    if (node.entry != nullptr && node.entry->name == name) taken("duplicate name: it is already an entry");
    if (node.group != nullptr && node.group->name_ == name) taken("duplicate name: it is already a group");
  }
}

std::string_view Group::kept(Text text) {
  return text.lives_on() ? text.view() : texts_.emplace_back(text.view());
}

Entry& Group::add(Text name, Entry::Kind kind, Quantity quantity, Unit unit, Text description) {
  check_free(name.view());
  Entry& entry = entries_.emplace_back();
  entry.name = kept(name);
  entry.kind = kind;
  entry.quantity = quantity;
  entry.unit = unit;
  entry.description = kept(description);
  nodes_.push_back({nullptr, &entry});
  return entry;
}

Group& Group::child(std::string_view kind, std::optional<unsigned> index) {
  for (Group& group : groups_) {
    if (group.kind_ == kind && group.index_ == index) return group;
  }
  std::string name = name_of(kind, index);
  check_free(name);
  Group& group = groups_.emplace_back();
  group.kind_ = kind;
  group.index_ = index;
  group.name_ = std::move(name);
  nodes_.push_back({&group, nullptr});
  return group;
}

void Group::reset() {
  for (Entry& entry : entries_) {
    if (entry.counter != nullptr) *entry.counter = 0;
    if (entry.histogram != nullptr) std::fill(entry.histogram->begin(), entry.histogram->end(), 0);
  }
  for (Group& group : groups_) group.reset();
}

void Group::archive(Archive& archive) {
  for (Entry& entry : entries_) {
    if (entry.counter == nullptr && entry.histogram == nullptr) continue;
    archive.mark(std::string(entry.name));
    if (entry.counter != nullptr) archive(*entry.counter);
    if (entry.histogram != nullptr) archive(*entry.histogram);
  }
  for (Group& group : groups_) {
    archive.mark(group.name_);
    group.archive(archive);
  }
}

bool Group::has_samples() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) {
    return node.group != nullptr ? node.group->has_samples() : node.entry->kind != Entry::Kind::kGauge;
  });
}

// Names are known to differ, so nobody searches for them. A value comes to its place at once: an object that
// grows copies all that it has, to every depth, because its names are constants.
nlohmann::ordered_json Group::sample() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  auto& members = json.get_ref<nlohmann::ordered_json::object_t&>();
  members.reserve(nodes_.size());
  for (const Node& node : nodes_) {
    if (node.group != nullptr) {
      if (node.group->has_samples()) members.emplace_back(node.group->name_, node.group->sample());
    } else if (node.entry->kind != Entry::Kind::kGauge) {
      members.emplace_back(std::string(node.entry->name), json_of(*node.entry));
    }
  }
  return json;
}

// take(group) for the groups that the steps name, in order.
template <class Take>
void Group::each_named(const Group& group, const Step* step, const Step* end, Take&& take) {
  if (step == end) return take(group);
  for (const Group& child : group.groups_) {
    if (matches(child, *step)) each_named(child, step + 1, end, take);
  }
}

std::vector<const Group*> Group::groups(Path path) const {
  std::vector<const Group*> found;
  each_named(*this, path.begin(), path.end(), [&found](const Group& group) { found.push_back(&group); });
  return found;
}

std::vector<const Entry*> Group::find(Path path) const {
  std::vector<const Entry*> found;
  if (path.size() == 0) return found;
  const Step& last = *(path.end() - 1);
  each_named(*this, path.begin(), path.end() - 1, [&](const Group& group) {
    for (const Entry& entry : group.entries_) {
      if (entry.name == last.name) found.push_back(&entry);
    }
  });
  return found;
}

Sum Group::sum(Path path) const {
  const auto wrong = [&path](const char* why) {
    std::string text;
    for (const Step& step : path) text += (text.empty() ? "" : "/") + name_of(step.name, step.index);
    throw std::logic_error("statistic " + text + ": " + why);
  };
  Sum sum;
  for (const Entry* entry : find(path)) {
    if (entry->kind != Entry::Kind::kCounter || entry->quantity != Quantity::kSum)
      wrong("its values cannot be summed");
    sum.counters_.push_back(entry->counter);
  }
  if (sum.empty()) wrong("not found");
  return sum;
}

void Group::each(const Visit& visit) const {
  std::vector<const Group*> way;
  each_below(way, visit);
}

void Group::each_below(std::vector<const Group*>& way, const Visit& visit) const {
  for (const Node& node : nodes_) {
    if (node.entry != nullptr) {
      visit(way, *node.entry);
      continue;
    }
    way.push_back(node.group);
    node.group->each_below(way, visit);
    way.pop_back();
  }
}

}  // namespace weft::statistics
