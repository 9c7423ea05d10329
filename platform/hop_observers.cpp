#include "platform/hop_observers.h"

#include <fnmatch.h>

#include <algorithm>

#include "weft/common/error.h"

namespace weft {
namespace {

bool matches(const std::string& pattern, const std::string& hop) {
  return fnmatch(pattern.c_str(), hop.c_str(), 0) == 0;
}

// The GPU's own observer.
struct Monitor final : HopObserver {
  HopMonitor checks;
  explicit Monitor(const Hop& hop) : checks(hop.name.c_str()) { checks.set_memory_bytes(hop.memory_bytes); }
  tlm::tlm_base_target_socket<32>& target_socket() override { return checks.target; }
  tlm::tlm_base_initiator_socket<32>& initiator_socket() override { return checks.initiator; }
  void reset() override { checks.reset(); }
};

}  // namespace

std::vector<HopObserver*> HopObservers::make(const Hop& hop) {
  std::vector<HopObserver*> made;
  if (monitors_all_) {
    auto monitor = std::make_unique<Monitor>(hop);
    monitors_.push_back(&monitor->checks);
    see_data_ = true;
    made.push_back(monitor.get());
    observers_.push_back(std::move(monitor));
  }
  hops_.push_back(hop.name);
  for (const HopObservation& observation : observations_) {
    if (observation.replaces) continue;
    if (HopObserver* const observer = add(observation, hop)) made.push_back(observer);
  }
  // Behind all others, which see what it does.
  bool replaced = false;
  for (const HopObservation& observation : observations_) {
    if (!observation.replaces) continue;
    HopObserver* const observer = add(observation, hop);
    if (observer == nullptr) continue;
    if (replaced) throw InputError(hop.name, "two modules replace its target; allowed: one");
    replaced = replace_ = true;
    made.push_back(observer);
  }
  return made;
}

// nullptr: not on this hop.
HopObserver* HopObservers::add(const HopObservation& observation, const Hop& hop) {
  if (!matches(observation.hops, hop.name)) return nullptr;
  std::unique_ptr<HopObserver> observer = observation.make(hop);
  if (observer == nullptr) return nullptr;
  see_data_ = see_data_ || observation.data;
  observers_.push_back(std::move(observer));
  return observers_.back().get();
}

void HopObservers::check() const {
  for (const HopObservation& observation : observations_) {
    const auto matching = [&](const std::string& hop) { return matches(observation.hops, hop); };
    if (std::any_of(hops_.begin(), hops_.end(), matching)) continue;
    std::string known;
    for (const std::string& hop : hops_) known += (known.empty() ? "" : " ") + hop;
    throw InputError("", "no hop of this GPU matches '" + observation.hops + "'; its hops are " + known);
  }
}

void HopObservers::reset() {
  for (const auto& observer : observers_) observer->reset();
}

std::string HopObservers::violations(bool complete) const {
  std::string text;
  for (HopMonitor* monitor : monitors_) {
    if (complete) monitor->check_complete();
    const std::string report = monitor->report();
    if (!report.empty()) text.append(monitor->name()).append(":\n").append(report);
  }
  return text;
}

}  // namespace weft
