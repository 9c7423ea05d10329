#include "platform/hop_observers.h"

#include <fnmatch.h>

namespace weft {
namespace {

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
  for (const HopObservation& observation : observations_) {
    if (fnmatch(observation.hops.c_str(), hop.name.c_str(), 0) != 0) continue;
    std::unique_ptr<HopObserver> observer = observation.make(hop);
    if (observer == nullptr) continue;
    made.push_back(observer.get());
    observers_.push_back(std::move(observer));
    see_data_ = see_data_ || observation.data;
  }
  return made;
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
