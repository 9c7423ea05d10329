// Instruction fetch: an instruction buffer per context, filled through the instruction cache, one fetch per
// cycle.
//
// A context is the front end's slot for one warp of a scheduler domain. The scheme says which PC each context
// needs next; a buffer that holds other instructions is flushed and fetched anew (a taken branch costs a
// refill).
#ifndef WEFT_SM_FRONT_END_H
#define WEFT_SM_FRONT_END_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cache/mshr_table.h"
#include "cache/tag_array.h"
#include "common/clock_domain.h"
#include "common/statistics.h"
#include "sm/sm_config.h"
#include "warp_formation/warp_formation.h"

namespace weft::sm {

class FrontEnd {
 public:
  // `contexts` over all domains of the SM.
  FrontEnd(const Config& config, unsigned contexts);

  // Keeps `waiting` up to date for contexts first .. first + count - 1: those whose buffer does not hold what
  // they need.
  void report_to(warp_formation::ContextSet& waiting, unsigned first, unsigned count);
  void start_kernel(std::uint32_t instructions, std::uint64_t code_offset);
  void reset();

  // The scheme's contexts begin at `first`; takes over which of them changed their PC.
  void follow(warp_formation::ContextTable& table, unsigned first);
  bool holds(unsigned context, ptx::Pc pc) const {
    const Buffer& b = buffers_[context];
    return b.count != 0 && b.first == pc;
  }
  // The instruction at the front of the buffer was issued.
  void consume(unsigned context);

  // Puts instructions that arrive at `now` into their buffers. Call before issue.
  void arrive(Cycle now);
  // Fetches for one context. `now` decides when instructions arrive. Returns the line that must be fetched
  // from memory in `miss_line` (kNoLine: none). Call once per cycle.
  static constexpr std::uint64_t kNoLine = UINT64_MAX;
  std::uint64_t step(Cycle now, bool can_miss);
  // The line's bytes arrived: byte offset in device memory of its start.
  void fill(Cycle now, std::uint64_t line_address);
  // The next cycle with work, or kNever (waiting for memory or for the scheme).
  Cycle next_event(Cycle now) const;
  std::uint64_t line_bytes() const { return config_.l1i.line_bytes; }

  void bind(statistics::Registry& registry, const std::string& prefix);

 private:
  struct Buffer {
    ptx::Pc wanted = ptx::kNoPc;  // what the scheme needs next
    ptx::Pc first = 0;            // the oldest instruction held
    std::uint8_t count = 0;
    bool fetching = false;  // a fetch is on its way
    ptx::Pc fetch_pc = 0;   // ... of instructions from here
    std::uint8_t fetch_count = 0;
    bool missing = false;  // ... and waits for memory
    Cycle arrival = 0;
    warp_formation::ContextSet* waiting = nullptr;
    std::uint16_t number = 0;  // in that set
  };

  void consider(unsigned context);  // does it need a fetch?

  const Config& config_;
  std::vector<Buffer> buffers_;
  std::vector<std::uint64_t> needs_;     // contexts to fetch for
  std::vector<std::uint64_t> arriving_;  // contexts with a hit on its way
  bool untouched_ = true;                // as after a reset: nothing was wanted since
  Cycle next_arrival_ = kNever;
  unsigned last_ = 0;
  bool blocked_ = false;  // the chosen fetch misses and cannot be sent
  cache::TagArray tags_;
  cache::MshrTable mshrs_;
  std::uint32_t instructions_ = 0;
  std::uint64_t code_offset_ = 0;
  std::uint64_t fetches_ = 0, flushes_ = 0;
  // Fetches of what was fetched for some warp at most so many fetches ago, from the smallest of these spans
  // on [CROWN slide 76].
  static constexpr std::array<std::uint64_t, 3> kSpans = {16, 32, 64};
  std::array<std::uint64_t, kSpans.size()> redundant_{};
  std::vector<std::uint64_t> last_fetch_;  // by PC: number of the last fetch from there, 0: none
  std::uint64_t fetch_number_ = 0;
};

}  // namespace weft::sm

#endif
