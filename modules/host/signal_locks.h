// Who changes which completion signal: from a queue's read to the end of its write no other queue touches it.
#ifndef WEFT_HOST_SIGNAL_LOCKS_H
#define WEFT_HOST_SIGNAL_LOCKS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft::host {

class SignalWaiter {
 public:
  // The signal that it asked for is its own now.
  virtual void granted() = 0;

 protected:
  ~SignalWaiter() = default;
};

class SignalLocks {
 public:
  // True: the signal is the caller's until `give`. False: it is another one's, and `granted` follows. In the
  // order in which they ask.
  bool take(std::uint64_t address, SignalWaiter& who) {
    const bool is_free = first(address) == asked_.end();
    asked_.push_back({address, &who});
    return is_free;
  }
  void give(std::uint64_t address) {
    asked_.erase(first(address));
    const auto next = first(address);
    if (next != asked_.end()) next->who->granted();
  }
  void reset() { asked_.clear(); }

 private:
  struct Asked {
    std::uint64_t address;
    SignalWaiter* who;
  };
  std::vector<Asked>::iterator first(std::uint64_t address) {
    return std::find_if(asked_.begin(), asked_.end(),
                        [&](const Asked& other) { return other.address == address; });
  }

  std::vector<Asked> asked_;  // the first of an address has it, the others wait; few
};

}  // namespace weft::host

#endif
