// Who watches packets on their way: from the doorbell through the queue to the interrupt and its handler.
//
// Calls come in the order of simulated time, and at their time. None may change the host side.
#ifndef WEFT_HOST_PACKET_OBSERVER_H
#define WEFT_HOST_PACKET_OBSERVER_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "weft/dispatch/launch.h"

namespace weft::host {

// A packet by its place in all that a queue has seen.
struct PacketPlace {
  unsigned queue = 0;
  std::uint64_t index = 0;
};

class PacketObserver {
 public:
  // Packets before `end` have been announced.
  virtual void rung(const PacketPlace& /*end*/) {}
  // The queue begins to read the packet, perhaps for another time; it has it.
  virtual void begun(const PacketPlace& /*packet*/) {}
  virtual void arrived(const PacketPlace& /*packet*/) {}
  // Its kernel goes to the SMs, or runs without timing; has ended, perhaps by a fault.
  virtual void launched(const PacketPlace& /*packet*/, const dispatch::Launch& /*launch*/) {}
  virtual void ended(const PacketPlace& /*packet*/) {}
  // The change of its completion signal is in memory.
  virtual void signalled(const PacketPlace& /*packet*/) {}
  // IRQ_STATUS shows it. `line`: an interrupt is enabled for it.
  virtual void raised(unsigned /*queue*/, bool /*line*/) {}
  // Software has read an IRQ_STATUS that shows it: this queue's, or that of all (kAllQueues).
  static constexpr unsigned kAllQueues = ~0u;
  virtual void status_read(unsigned /*queue*/) {}
  // The GPU has been reset.
  virtual void forgotten() {}

 protected:
  ~PacketObserver() = default;
};

// In the order in which they came.
class PacketObservers {
 public:
  void attach(PacketObserver& observer) { observers_.push_back(&observer); }
  void detach(const PacketObserver& observer) {
    observers_.erase(std::remove(observers_.begin(), observers_.end(), &observer), observers_.end());
  }
  //   observers.tell(&PacketObserver::begun, place);
  template <class... Parameters, class... Arguments>
  void tell(void (PacketObserver::*event)(Parameters...), const Arguments&... arguments) const {
    for (PacketObserver* observer : observers_) (observer->*event)(arguments...);
  }

 private:
  std::vector<PacketObserver*> observers_;
};

}  // namespace weft::host

#endif
