// Which kind of request a channel with a write drain serves: reads, or the writes that have gathered.
#ifndef WEFT_DRAM_WRITE_DRAIN_H
#define WEFT_DRAM_WRITE_DRAIN_H

#include <array>
#include <cstddef>
#include <cstdint>

#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/dram/dram_config.h"

namespace weft::dram {

// Kind 0 are the reads. Kind 1 are the writes, which wait to be drained. A request that must stay behind one
// of the other kind counts as that kind.
class WriteDrainControl {
 public:
  explicit WriteDrainControl(const WriteDrain& config) : config_(config) {}

  bool on() const { return config_.on(); }
  // No place for another write.
  bool full() const { return state_.writes == config_.queue; }
  std::size_t writes() const { return state_.writes; }
  // The kind that is served; 0 without a write drain.
  unsigned served() const { return state_.draining ? 1 : 0; }

  void came(bool write, unsigned kind) {
    if (write) ++state_.writes;
    ++state_.unbegun[kind];
  }
  void began(unsigned kind) { --state_.unbegun[kind]; }
  void finished(bool write) {
    if (write) --state_.writes;
  }
  // Turns to the other kind if the fill levels say so; true if it did.
  bool turn();

  void reset() { state_ = State(); }
  void archive(Archive& archive) { archive(state_); }
  void bind(statistics::Group& group);

 private:
  struct State {
    std::size_t writes = 0;                // in their places, served ones included
    std::array<std::size_t, 2> unbegun{};  // requests that have not opened their row, by kind
    bool draining = false;
    void archive(Archive& archive) {
      auto& [writes_, unbegun_, draining_] = *this;
      archive(at_rest(writes_), at_rest(unbegun_[0]), at_rest(unbegun_[1]), draining_);
    }
  };

  const WriteDrain config_;
  State state_;
  std::uint64_t drains_ = 0;
};

}  // namespace weft::dram

#endif
