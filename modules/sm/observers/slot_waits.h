// What each warp slot waits for, for waveforms and timelines.
//
// An observer of an SM passes its events on. After a step, `state` says what the slot waits for then. A slot
// that no scheduler has looked at since keeps what was last known of it.
#ifndef WEFT_SM_OBSERVERS_SLOT_WAITS_H
#define WEFT_SM_OBSERVERS_SLOT_WAITS_H

#include <cstdint>
#include <vector>

#include "sm/sm.h"
#include "sm/sm_observer.h"

namespace weft::sm {

class SlotWaits {
 public:
  // Those of Stall, and:
  static constexpr std::uint8_t kNobody = 0;                       // no warp, or nothing is known
  static constexpr std::uint8_t kReady = warp_formation::kStalls;  // no reason to wait is known

  explicit SlotWaits(const Sm& sm);

  // Nothing is under way. `known`: nothing has been issued before; otherwise what the last issues wait for
  // is not.
  void start(bool known);

  void issued(const SmObserver::Issue& issue);
  void resolved(std::uint16_t id, warp_formation::Outcomes outcomes);
  void barrier_opened(std::uint16_t slot, unsigned barrier);
  void gathered(std::uint16_t slot, unsigned chunk);

  // Of slot `context` of the domain.
  std::uint8_t state(const Domain& domain, unsigned context) const;

 private:
  using Stall = warp_formation::Stall;
  struct Slot {
    // What its last issue waits for, whatever it offers; or kNone.
    Stall waits = Stall::kNone;
    std::uint16_t block = 0, first_chunk = 0, last_chunk = 0;  // of its last issue; `block`: the slot
    std::uint32_t barrier = 0;
    std::uint16_t unresolved_id = 0;
    bool known = true;
  };
  static constexpr unsigned kNoContext = ~0u;
  struct Flight {
    unsigned context = kNoContext;  // its issue was not seen
    std::uint32_t unresolved = 0;   // threads
  };

  const bool barrel_;
  std::vector<Slot> slots_;
  std::vector<Flight> flights_;  // by id
};

}  // namespace weft::sm

#endif
