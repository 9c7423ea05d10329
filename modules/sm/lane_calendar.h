// What lanes that each run a warp of their own share in the load-store unit, cycle by cycle: the banks of
// shared memory, its atomic unit, and the texture unit.
//
//   calendar.begin(now);                        // an instruction is taken
//   auto taken = calendar.shared(work, false);  // ... and its threads' words get their cycles
//   taken.last;                                 // the cycle of the last one
//
// A group of an instruction's threads presents its addresses from the cycle on after the one in which they
// are known. A lane presents no more words in a cycle than it is wide, and goes on with the next threads when
// all words of a cycle have had their bank. A bank serves one word in a cycle, for all who ask for it. Who is
// issued first comes first.
#ifndef WEFT_SM_LANE_CALENDAR_H
#define WEFT_SM_LANE_CALENDAR_H

#include <array>
#include <cstdint>
#include <vector>

#include "datapath/datapath.h"
#include "execute/access_record.h"
#include "weft/common/popcount.h"
#include "weft/machine/sm_config.h"

namespace weft::sm {

using datapath::Cycle;

// A memory instruction on its lane.
struct LaneWork {
  unsigned lane = 0;
  const datapath::Part* parts = nullptr;  // in the order of their cycles
  unsigned part_count = 0;
  const execute::LaneAccess* accesses = nullptr;
  unsigned count = 0;
};

class LaneCalendar {
 public:
  // Lanes of `width` places each: one, too, whose places share the banks. None: nothing is asked of it.
  LaneCalendar(const machine::SmConfig& config, unsigned lanes, unsigned width);

  void reset();
  void begin(Cycle now) { now_ = now; }

  struct Taken {
    Cycle last = 0;               // in which it takes something; 0: there was nothing to take
    std::uint32_t conflicts = 0;  // cycles that it lost to other words in its banks
    std::uint32_t cycles = 0;     // in which nobody had taken anything yet
  };
  // The shared accesses among those of the instruction. A thread's atomic takes its banks for itself, and
  // threads of an SM do them one after the other.
  Taken shared(const LaneWork& work, bool atomic);
  // Addresses for all threads of the instruction, each of which takes the texture unit `passes` times.
  Taken textures(const LaneWork& work, unsigned passes);

 private:
  static constexpr std::uint32_t kExclusive = UINT32_MAX;  // a word that is nobody else's
  static constexpr Cycle kNoPage = UINT64_MAX;
  static constexpr unsigned kCycles = 64;  // of a page, so that they are the bits of a mask
  static constexpr unsigned kMaxBanks = 64;
  struct Page {
    Cycle number = kNoPage;                         // its first cycle / kCycles
    std::uint64_t busy = 0, atomic = 0;             // cycles: a bank is taken, an atomic begins
    std::array<std::uint64_t, kMaxBanks> taken{};   // by bank: cycles
    std::array<std::uint32_t, kCycles> textures{};  // by cycle: threads' addresses made
    // How many cycles are so for the first time.
    unsigned add_busy(std::uint64_t cycles) {
      const std::uint64_t fresh = cycles & ~busy;
      busy |= cycles;
      return fresh == 0 ? 0 : count_of(fresh);
    }
  };

  Taken deliver_words(const LaneWork& work);
  const datapath::Part* deliver_to_free(const execute::LaneAccess& access, const datapath::Part* part,
                                        const datapath::Part* end, Cycle number, Page& page,
                                        std::uint32_t* words, Cycle& next, Taken& taken) const;
  // Threads of one access at one time, from cycle `from` on: the cycle of their last word.
  Cycle present(const execute::LaneAccess& access, std::uint32_t threads, Cycle from, bool atomic,
                Taken& taken);
  Cycle deliver(std::uint32_t word, Cycle from, Taken& taken);
  Cycle keep(std::uint32_t word, Cycle from, bool begins, Taken& taken);
  static Cycle first_free(std::uint64_t taken, Cycle from);
  Cycle take(std::size_t number, std::uint32_t bank, Cycle cycle, std::uint32_t word, Taken& taken);
  std::size_t page_of(Cycle cycle);
  std::size_t begin_page(Cycle number);
  void resize(std::size_t size);
  std::uint32_t* words_of(std::size_t page, std::uint32_t bank) {
    return words_.data() + (page * banks_ + bank) * kCycles;
  }
  static std::uint64_t bit_of(Cycle cycle) { return std::uint64_t{1} << cycle % kCycles; }

  const std::uint32_t banks_;
  const unsigned word_shift_, width_, texture_rate_;
  std::vector<Cycle> next_;           // by lane: it presents nothing before
  std::vector<Page> pages_;           // of the next cycles, by number modulo how many there are
  std::vector<std::uint32_t> words_;  // by page, bank and cycle: which word is served
  Cycle now_ = 0;
};

}  // namespace weft::sm

#endif
