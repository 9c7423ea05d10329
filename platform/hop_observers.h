// What stands on the hops of a GPU: its own monitors and the observers of whoever made it.
#ifndef WEFT_PLATFORM_HOP_OBSERVERS_H
#define WEFT_PLATFORM_HOP_OBSERVERS_H

#include <memory>
#include <string>
#include <vector>

#include "bus/hop_monitor.h"
#include "weft/platform/hop_observer.h"

namespace weft {

class HopObservers {
 public:
  // `observations` outlive this.
  HopObservers(bool monitors, const std::vector<HopObservation>& observations)
      : monitors_all_(monitors), observations_(observations) {}

  // Binds a hop, with its observers in between.
  template <class Initiator, class Target>
  void join(Initiator& initiator, Target& target, const Hop& hop) {
    HopObserver* before = nullptr;
    const auto bind_to = [&](auto& next) {
      if (before == nullptr) {
        initiator.bind(next);
      } else {
        before->initiator_socket().bind(next);
      }
    };
    for (HopObserver* observer : make(hop)) {
      bind_to(observer->target_socket());
      before = observer;
    }
    bind_to(target);
  }

  bool any() const { return !observers_.empty(); }
  // Somebody looks at what transactions carry.
  bool see_data() const { return see_data_; }
  // A hop's target is replaced.
  bool replace() const { return replace_; }
  // When all hops are joined: throws InputError if an observation matches none of them.
  void check() const;
  void reset();
  // Of the monitors; `complete`: nothing may be under way.
  std::string violations(bool complete) const;

 private:
  std::vector<HopObserver*> make(const Hop& hop);
  HopObserver* add(const HopObservation& observation, const Hop& hop);

  const bool monitors_all_;
  const std::vector<HopObservation>& observations_;
  std::vector<std::unique_ptr<HopObserver>> observers_;
  std::vector<HopMonitor*> monitors_;  // of these
  bool see_data_ = false, replace_ = false;
  std::vector<std::string> hops_;  // all that were joined
};

}  // namespace weft

#endif
