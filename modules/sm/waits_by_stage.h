// Where transactions were while requests of the load-store unit waited for them: on the way to the L2, in the
// L2, in the memory behind it, on the way back.
//
// A request that waits for a response (for an MSHR or a way) waits for the one after which it goes on. Why
// the crossbar takes nothing, the unit cannot see: it may be full up to the responses. Such a wait is divided
// as the transaction that comes back next has spent its time, which is a guess.
#ifndef WEFT_SM_WAITS_BY_STAGE_H
#define WEFT_SM_WAITS_BY_STAGE_H

#include <cstdint>

#include "bus/clock_domain.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"

namespace weft::sm {

// The cycles at which a transaction had come to: the crossbar, the L2 (or memory), memory, back from memory,
// the response network.
struct Stages {
  Cycle issued = 0, delivered = 0, fetched = 0, filled = 0, answered = 0;
  void archive(Archive& archive) {
    auto& [issued_, delivered_, fetched_, filled_, answered_] = *this;
    archive(issued_, delivered_, fetched_, filled_, answered_);
  }
};

class WaitsByStage {
 public:
  // A request has waited for a response, from `since` to now.
  void for_response(Cycle since, Cycle now);
  // One has waited so long for the queue to the crossbar: divided when the next response comes.
  void for_queue(Cycle cycles) { undivided_ += cycles; }
  bool waits_for_division() const { return undivided_ != 0; }
  void came_back(Cycle now, const Stages& stages);

  void reset() {  // not what was counted
    undivided_ = 0;
    last_at_ = kNever;
  }
  void bind(statistics::Group& group);
  void archive(Archive& archive) { archive(undivided_, last_at_, last_); }

 private:
  Cycle undivided_ = 0;
  Cycle last_at_ = kNever;  // the response that came last ...
  Stages last_;             // ... and its stages
  std::uint64_t crossbar_request_ = 0, l2_ = 0, dram_ = 0, crossbar_response_ = 0;
};

}  // namespace weft::sm

#endif
