// When operands are there, where lanes run the threads of a warp one group after the other: the thread at
// place i of its producer has its result so many cycles after the one at place 0, and reads an operand as
// many cycles after its instruction starts as its own place says. So when an instruction may start depends on
// the places of both. A unit wider than a lane takes several places at once.
//
// Noted is the last instruction that wrote a register, and the one before where it wrote for other threads.
#ifndef WEFT_DATAPATH_PLACE_FORWARDING_H
#define WEFT_DATAPATH_PLACE_FORWARDING_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "weft/common/popcount.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::datapath {

class PlaceForwarding {
 public:
  using Cycle = warp_formation::Cycle;
  // The groups of one chunk that take a cycle, by the bit of their first thread.
  struct Groups {
    std::uint32_t bits;
    std::uint32_t first;  // place of the lowest

    std::uint32_t place(std::uint32_t bit) const { return first + count_of(bits & (bit - 1)); }
  };
  // When the group at place p has its turn, counted from that of place 0: p / together x step, rounded down.
  struct Turns {
    std::uint32_t step = 1;
    std::uint8_t together = 1;

    Cycle of(std::uint32_t place) const {
      return together == 1 ? Cycle{step} * place : Cycle{step} * (place / together);
    }
  };
  // Results of one chunk: of the group at place p they are there `turns.of(p)` after `base`.
  struct Results {
    Cycle base = 0;
    Turns turns{};
    std::uint32_t threads = 0;  // that have results
    Groups groups{};
    Cycle started = 0;  // by which the instruction is known
  };
  // Who reads: the group at place p `turns.of(p)` after its instruction starts.
  struct Reader {
    std::uint32_t threads = 0;
    Groups groups{};
    Turns turns{};
    std::uint32_t places = 1;
  };

  explicit PlaceForwarding(unsigned lane_width) : width_(lane_width) {
    for (unsigned p = 0; p < warp_formation::kChunk; p += lane_width) firsts_ |= 1u << p;
  }

  // Groups of the lane's width with a thread of `mask`, by the bit of their first place.
  std::uint32_t fold(std::uint32_t mask) const {
    for (unsigned shift = width_ / 2; shift != 0; shift /= 2) mask |= mask >> shift;
    return mask & firsts_;
  }
  std::uint32_t every_group() const { return firsts_; }

  void reset() {
    std::fill(entries_.begin(), entries_.end(), Entry());
    std::fill(until_.begin(), until_.end(), 0);
    std::fill(latest_.begin(), latest_.end(), 0);
  }
  // Room for registers of so many chunks, by their scoreboard keys.
  void hold(unsigned chunks, unsigned keys) {
    if (keys > keys_) {
      keys_ = keys;
      entries_.assign(latest_.size() * keys, Entry());
      until_.assign(entries_.size(), 0);
    }
    if (chunks <= latest_.size()) return;
    latest_.resize(chunks, 0);
    entries_.resize(std::size_t{chunks} * keys_);
    until_.resize(entries_.size(), 0);
  }

  // An instruction writes.
  void note(Cycle now, unsigned chunk, const std::uint16_t* keys, unsigned count, const Results& results);
  // Its results, noted already, are there at another time: `base` and `turns` count, and `last`, the last
  // thread's.
  void move(unsigned chunk, const std::uint16_t* keys, unsigned count, const Results& results, Cycle last);
  // The first cycle, `now` or later, at which the operand is there for each thread as it reads.
  Cycle start(Cycle now, unsigned chunk, std::uint16_t key, const Reader& reader) const {
    const std::size_t place = std::size_t{chunk} * keys_ + key;
    if (until_[place] <= now) return now;
    const Entry& entry = entries_[place];
    return std::max({now, start(entry.last, reader), start(entry.before, reader)});
  }
  // Whether anything may be missing.
  bool waits(Cycle now, unsigned chunk) const { return chunk < latest_.size() && latest_[chunk] > now; }

 private:
  // Small, so that what is known of a register is one cache line.
  struct Noted {
    Cycle base = 0;
    std::uint32_t step = 0, threads = 0, bits = 0;
    // Of the instructions that it stands for, modulo 2^32: when the newest and the oldest started.
    std::uint32_t newest = 0, oldest = 0;
    std::uint8_t first = 0, together = 1;
    bool several = false;  // as late as the latest of them

    Noted() = default;
    explicit Noted(const Results& results)
        : base(results.base),
          step(results.turns.step),
          threads(results.threads),
          bits(results.groups.bits),
          newest(static_cast<std::uint32_t>(results.started)),
          oldest(newest),
          first(static_cast<std::uint8_t>(results.groups.first)),
          together(results.turns.together) {}

    Groups groups() const { return {bits, first}; }
    Turns turns() const { return {step, together}; }
    // The last thread's.
    Cycle last() const { return base + turns().of(first + std::max(1u, count_of(bits)) - 1); }
    bool stands_for(Cycle started) const {
      return static_cast<std::uint32_t>(started) - oldest <= newest - oldest;
    }
  };
  struct alignas(64) Entry {
    Noted last, before;
  };
  static_assert(sizeof(Entry) == 64, "an entry is one cache line");

  Cycle start(const Noted& noted, const Reader& reader) const;

  const unsigned width_;
  std::uint32_t firsts_ = 0;
  unsigned keys_ = 0;
  std::vector<Entry> entries_;  // [chunk][key]
  // By chunk and key: no result is later. Most operands are there, so that an entry, which is large, is
  // seldom looked at.
  std::vector<Cycle> until_;
  std::vector<Cycle> latest_;  // by chunk: the last result of all
};

}  // namespace weft::datapath

#endif
