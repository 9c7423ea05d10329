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

#include "bus/clock_domain.h"
#include "sm/first_level.h"
#include "sm/instruction_buffers.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/machine/sm_config.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

class FrontEnd final : public InstructionBuffers {
 public:
  // `contexts` over all domains of the SM.
  FrontEnd(const machine::SmConfig& config, unsigned contexts);

  // Keeps `waiting` up to date for as many contexts from `first` on as there are marks: those whose buffer
  // does not hold what they need. Sets a context's mark in `changed` when it has got that.
  void report_to(warp_formation::ContextSet& waiting, std::uint32_t& changed, unsigned first,
                 const std::vector<std::uint32_t>& marks);
  // `kernel`: its name. Code is that of an earlier launch if it has the same name, place and length.
  void start_kernel(std::uint32_t instructions, std::uint64_t code_offset, const std::string& kernel);
  void reset();
  // Between two launches.
  void archive(Archive& archive) { archive(buffers_, state_, cache_); }

  // The scheme's contexts begin at `first`; takes over which of them changed their PC.
  void follow(warp_formation::ContextTable& table, unsigned first) {
    if (!table.take_written()) return;
    auto& changed = table.changed();
    for (std::size_t w = 0; w < changed.size(); ++w) {
      if (changed[w] != 0) follow(table, first, static_cast<unsigned>(w));
    }
  }
  void consume(unsigned context) override;

  // Puts instructions that arrive at `now` into their buffers. Call before issue.
  void arrive(Cycle now);
  // Fetches for one context. `now` decides when instructions arrive. Returns the line that must be fetched
  // from memory in `miss_line` (kNoLine: none). Call once per cycle.
  std::uint64_t step(Cycle now, bool can_miss) {
    state_.blocked = false;
    return wants() ? fetch(now, can_miss) : kNoLine;
  }
  // The line's bytes arrived: byte offset in device memory of its start.
  void fill(Cycle now, std::uint64_t line_address);
  // The next cycle with work, or kNever (waiting for memory or for the scheme).
  Cycle next_event(Cycle now) const;
  std::uint64_t line_bytes() const { return config_.l1i.tags.line_bytes; }

  void bind(statistics::Group& group);

 private:
  // Where a context is reported while it waits.
  struct Report {
    warp_formation::ContextSet* waiting = nullptr;
    std::uint32_t* changed = nullptr;
    std::uint32_t mark = 0;
    std::uint16_t number = 0;  // in that set
  };
  // Instructions whose lines the cache may hold.
  struct Code {
    std::string kernel;
    std::uint64_t offset = 0;
    std::uint32_t instructions = 0;
    std::uint64_t end() const { return offset + std::uint64_t{instructions} * ptx::kInstructionBytes; }
    void archive(Archive& archive) {
      auto& [kernel_, offset_, instructions_] = *this;
      archive(kernel_, offset_, instructions_);
    }
  };
  struct State {
    explicit State(unsigned contexts) : needs((contexts + 63) / 64, 0), arriving((contexts + 63) / 64, 0) {}
    std::vector<std::uint64_t> needs;     // contexts to fetch for
    std::vector<std::uint64_t> arriving;  // contexts with a hit on its way
    bool untouched = true;                // nothing was wanted yet
    Cycle next_arrival = kNever;
    unsigned last = 0;
    bool blocked = false;  // the chosen fetch misses and cannot be sent
    std::uint32_t instructions = 0;
    std::uint64_t code_offset = 0;
    std::vector<std::uint64_t> last_fetch;  // by PC: number of the last fetch from there, 0: none
    std::uint64_t fetch_number = 0;
    std::vector<Code> codes;  // if the cache is kept: of the launches since it was empty
    void archive(Archive& archive) {
      auto& [needs_, arriving_, untouched_, next_arrival_, last_, blocked_, instructions_, code_offset_,
             last_fetch_, fetch_number_, codes_] = *this;
      archive(needs_, arriving_, untouched_, next_arrival_, last_, blocked_, instructions_, code_offset_,
              last_fetch_, fetch_number_, codes_);
    }
  };

  void follow(warp_formation::ContextTable& table, unsigned first, unsigned word);
  void consider(unsigned context);  // does it need a fetch?
  // A context needs a fetch.
  bool wants() const {
    for (const std::uint64_t word : state_.needs) {
      if (word != 0) return true;
    }
    return false;
  }
  std::uint64_t fetch(Cycle now, bool can_miss);
  unsigned next_to_fetch() const;
  void empty_buffers();
  void keep_lines_of(const Code& code);

  const machine::SmConfig& config_;
  std::vector<Report> reports_;  // by context
  State state_;
  FirstLevel cache_;
  std::uint64_t fetches_ = 0, flushes_ = 0;
  // Fetches of what was fetched for some warp at most so many fetches ago, from the smallest of these spans
  // on [CROWN slide 76].
  static constexpr std::array<std::uint64_t, 3> kSpans = {16, 32, 64};
  std::array<std::uint64_t, kSpans.size()> redundant_{};
};

}  // namespace weft::sm

#endif
