// The executor's side of an AccessObserver: shows it every access before it happens, and remembers the
// threads that it keeps from theirs. Without an observer it costs a test of a pointer.
#ifndef WEFT_EXECUTE_WATCH_H
#define WEFT_EXECUTE_WATCH_H

#include <array>
#include <cstdint>

#include "execute/access.h"
#include "execute/access_observer.h"
#include "execute/address_spaces.h"
#include "execute/faults.h"
#include "execute/operands.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::execute {

class Watch {
 public:
  Watch(unsigned sm, const Operands& operands, AddressSpaces& spaces, Faults& faults)
      : sm_(sm), operands_(operands), spaces_(spaces), faults_(faults) {}

  // nullptr: nobody watches. Stays over launches and resets.
  void set(AccessObserver* observer) { observer_ = observer; }
  bool on() const { return observer_ != nullptr; }
  void start_kernel(const Kernel& kernel) { state_ = {&kernel, {}}; }
  void start_block(const ResidentBlock& block) const {
    if (on()) observer_->block_started(sm_, block);
  }
  void reset() { state_ = State(); }

  // A memory instruction begins: nobody is refused.
  void begin() {
    if (on()) state_.refused = {};
  }
  // Threads of group g of the instruction that were kept from their access.
  std::uint32_t refused(unsigned g) const { return on() ? state_.refused[g] : 0; }

  // Threads of the access that may go on. Precondition: on().
  std::uint32_t permitted(const Access& access);
  // The same for an element that is not the instruction's own: `bytes` bytes of the image. One lane.
  bool texel_permitted(const Access& access, ObservedAccess::Kind kind, unsigned bytes);
  // Whether the observer lets the launch go on; if not, it leaves the fault.
  bool goes_on() { return !on() || observer_->stop_reason().empty() || stop(); }

  // What the observer is told of besides. Precondition: on().
  void shuffle_from_outside(ObservedShuffle& shuffle) const {
    shuffle.kernel = state_.kernel;
    shuffle.sm = sm_;
    observer_->shuffle_from_outside(shuffle);
  }
  void allocates(ptx::Pc pc) const {
    if (on()) observer_->allocates(*state_.kernel, pc);
  }
  void result_written(const AddressSpaces::Thread& thread, std::uint64_t offset, std::uint64_t bytes) const {
    if (on()) observer_->result_written(sm_, thread.block, thread.chunk, thread.lane, offset, bytes);
  }

 private:
  std::uint32_t ask(const Access& access, ObservedAccess::Kind kind, std::uint32_t bytes,
                    const std::uint8_t* memory);
  bool stop();

  struct State {
    const Kernel* kernel = nullptr;
    std::array<std::uint32_t, warp_formation::kMaxGroups> refused{};  // by group of the instruction
  };
  const unsigned sm_;
  const Operands& operands_;
  AddressSpaces& spaces_;
  Faults& faults_;
  AccessObserver* observer_ = nullptr;
  State state_;
};

}  // namespace weft::execute

#endif
