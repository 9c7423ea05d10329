// Finds blocks that will never end although their threads run: without timing everything is a function of
// memory, registers and where the threads are, so a block that comes back to a state it has been in repeats
// itself for ever.
//
// After each round of the block (a turn of every warp) its registers and paths are compared with those of an
// earlier round (Brent: Teleportation Tortoise, BIT 20, 1980: the earlier one is the last power of two). If
// they are the same, memory may still be on its way, so the period is run twice more with every store noted:
// if the second run writes nothing that the first one did not write, and leaves there what the first one
// left, all of the state is the same. A clock, system memory, the device runtime and surfaces are outside of
// that state: with them nothing is ever found, nor in loops that count.
//
// It costs nothing until a block has had many rounds, and then little: rounds that make progress differ from
// earlier ones in the first registers that are looked at.
#ifndef WEFT_FUNCTIONAL_SPIN_DETECTOR_H
#define WEFT_FUNCTIONAL_SPIN_DETECTOR_H

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "execute/executor.h"
#include "execute/register_file.h"
#include "execute/synchroniser.h"
#include "functional/warp_paths.h"

namespace weft::functional {

// The words of memory that a block has written, by the host's address.
class WriteLog {
 public:
  void clear() {
    words_.clear();
    overflowed_ = false;
  }
  // What the executor's last memory instruction has touched, if it was no load.
  void add(const execute::Executor& executor, const execute::Operation& operation,
           const execute::ResidentBlock& block);
  // Reads all words; false if there are too many.
  bool read_values();
  // Whether all words of `other` are among these, and have the values that were read.
  bool explains(const WriteLog& other) const;

 private:
  static constexpr std::size_t kMost = 1u << 18;
  static std::uint32_t value_at(std::uintptr_t word);
  std::unordered_map<std::uintptr_t, std::uint32_t> words_;
  bool overflowed_ = false;
};

class SpinDetector {
 public:
  // What a block consists of, besides memory.
  struct State {
    const std::vector<WarpPaths>& warps;
    const std::vector<std::uint8_t>& favour_last;
    const execute::Synchroniser& synchroniser;
    const execute::RegisterFile& registers;
    std::uint64_t outside_uses;  // execute::Executor::outside_uses
  };

  void start_block() {
    round_ = 0;
    next_attempt_ = kFirstRound;
    phase_ = Phase::kSeek;
    snapshot_round_ = 0;
  }
  // A round has ended. True: the block repeats itself for ever.
  bool round_ended(const State& state) { return ++round_ >= kFirstRound && look(state); }
  // Where stores have to be noted; nullptr: nowhere.
  WriteLog* log() {
    return phase_ == Phase::kCollect ? &first_ : phase_ == Phase::kConfirm ? &second_ : nullptr;
  }

 private:
  static constexpr std::uint64_t kFirstRound = 64;
  enum class Phase : std::uint8_t { kSeek, kCollect, kConfirm };
  struct Snapshot {
    std::vector<WarpPaths> warps;
    std::vector<std::uint8_t> favour_last;
    std::vector<std::uint32_t> live;
    execute::Synchroniser::Barriers barriers;
    std::vector<execute::Gathering> gatherings;
    execute::RegisterFile::Image registers;
    std::uint64_t outside_uses = 0;
  };

  bool look(const State& state);
  void take(const State& state);
  bool is_same(const State& state) const;
  void give_up();

  std::uint64_t round_ = 0, snapshot_round_ = 0, period_ = 0, until_ = 0, next_attempt_ = 0;
  Phase phase_ = Phase::kSeek;
  Snapshot snapshot_;
  WriteLog first_, second_;
};

}  // namespace weft::functional

#endif
