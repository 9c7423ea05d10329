#include "dram/write_drain.h"

namespace weft::dram {

bool WriteDrainControl::turn() {
  const std::size_t reads = state_.unbegun[0], writes = state_.unbegun[1];
  const bool turns = state_.draining ? writes < config_.low && reads != 0
                                     : writes > config_.high || (reads == 0 && writes != 0);
  if (!turns) return false;
  state_.draining = !state_.draining;
  if (state_.draining) ++drains_;
  return true;
}

void WriteDrainControl::bind(statistics::Group& group) {
  group.counter("write_drains", statistics::Unit("groups"), "times that writes were served in a group",
                drains_);
}

}  // namespace weft::dram
