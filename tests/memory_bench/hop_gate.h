// One side of a hop's exclusion rule: closed from BEGIN_REQ to END_REQ, or from BEGIN_RESP to END_RESP.
//
// What ends in a transport callback may be used at the first edge after it, in whatever order modules are
// stepped.
#ifndef WEFT_TESTS_MEMORY_BENCH_HOP_GATE_H
#define WEFT_TESTS_MEMORY_BENCH_HOP_GATE_H

#include "bus/clock_domain.h"

namespace weft {

class HopGate {
 public:
  bool usable(Cycle now) const { return !closed_ && usable_from_ <= now; }
  bool closed() const { return closed_; }
  Cycle usable_from() const { return closed_ ? kNever : usable_from_; }
  void close() { closed_ = true; }
  void open(Cycle usable_from) {
    closed_ = false;
    usable_from_ = usable_from;
  }

 private:
  bool closed_ = false;
  Cycle usable_from_ = 0;
};

}  // namespace weft

#endif
