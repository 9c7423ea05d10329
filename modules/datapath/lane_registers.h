// The register file of lanes that run warps by themselves: a slice for each lane, the warps that are bound to
// it, and how long each of them keeps its registers. Without slices, one pool for all lanes.
//
// A warp is bound to a lane as its block comes: to that of its hardware warp slot, modulo the lanes; or the
// lanes take turns; or the first of those with the fewest warps gets it. Where slots do not decide, a lane
// whose slice has no room for all of the warp is passed over (first fit). A lane holds its share of the SM's
// warps at most (ST-SIMT 3.1: a pool of warps for every lane). Registers are kept until the block
// goes, for whole warps; or until the warp exits, for its threads alone (TSIMT+), where partial warps share
// the room of one; or for whole warps until they exit.
#ifndef WEFT_DATAPATH_LANE_REGISTERS_H
#define WEFT_DATAPATH_LANE_REGISTERS_H

#include <cstdint>
#include <vector>

#include "datapath/datapath.h"

namespace weft::datapath {

class LaneRegisters {
 public:
  // `sliced`: a slice for each lane; else one pool.
  LaneRegisters(const Config& config, const Machine& machine, unsigned lanes, bool sliced);

  void reset();
  RegisterFit fit(const BlockRegisters& block) const;
  bool can_hold(unsigned slot, const BlockRegisters& block) const;
  void hold(const Block& block, const BlockRegisters& registers);
  void release(const Block& block);
  // Else blocks do as they go.
  bool gives_back_at_exit() const { return kept_ != Registers::kBlock; }
  // These threads of the chunk have exited, of one warp or of several. True: registers have become free.
  bool exited(unsigned chunk, std::uint32_t threads);

  // By the threads of one chunk, of a resident warp. Any lane may be told of a warp that is not there.
  unsigned lane_of(unsigned chunk, std::uint32_t threads) const {
    const std::size_t place = place_of(chunk, threads);
    return place < lane_at_.size() ? lane_at_[place] : 0;
  }
  // Without slices: the warp runs on another lane from now on.
  void move(unsigned chunk, std::uint32_t threads, unsigned lane);
  unsigned warps_of(unsigned lane) const { return live_[lane]; }
  unsigned warp_size() const { return warp_size_; }

 private:
  // What is taken, slice by slice.
  struct Slices {
    std::vector<std::uint64_t> used;
    std::vector<std::uint64_t> partial;  // ... of it, by partial warps
    std::vector<unsigned> warps;         // that hold registers
    unsigned next = 0;                   // whose turn it is

    void clear();
    void take(unsigned lane, std::uint64_t registers, bool is_partial);
    void give_back(unsigned lane, std::uint64_t registers, bool is_partial);
  };
  struct Warp {
    std::uint64_t registers = 0;
    std::uint32_t threads = 0;  // that have not exited
    std::uint8_t lane = 0;      // in which its registers are
    bool partial = false, holds = false;
  };
  static constexpr unsigned kNone = UINT32_MAX;

  bool warp_exited(unsigned chunk, std::uint32_t threads);
  std::uint64_t warp_registers(const BlockRegisters& block, std::uint64_t threads) const;
  std::uint64_t slice() const { return machine_.registers / slices_; }
  // The lane that gets a warp, or kNone.
  unsigned place(Slices& slices, std::uint64_t registers, std::uint64_t full) const;
  bool place_block(Slices& slices, unsigned slot, const BlockRegisters& block) const;
  // A block comes to the slot: slots have numbers for as many warps as a block has.
  void begin_block(Slices& slices, unsigned slot, const BlockRegisters& block) const;
  std::uint64_t needed(const BlockRegisters& block) const;
  void give_back(Warp& warp);
  // Of a warp's threads in one chunk, among all that a chunk can have.
  std::size_t place_of(unsigned chunk, std::uint32_t threads) const {
    if (warp_size_ >= warp_formation::kChunk || threads == 0) return std::size_t{chunk} * per_chunk_;
    return std::size_t{chunk} * per_chunk_ + static_cast<unsigned>(__builtin_ctz(threads)) / warp_size_;
  }

  const Machine machine_;
  const unsigned lanes_;
  const bool sliced_;
  const Registers kept_;
  const Binding binding_;  // not kAuto
  const unsigned slices_;
  const unsigned warps_at_once_;  // of a slice
  Slices slices_taken_;
  mutable Slices trial_;
  unsigned warp_size_ = warp_formation::kChunk, per_chunk_ = 1;
  std::vector<std::uint8_t> lane_at_;    // by place_of: the lane that runs the warp
  std::vector<std::uint32_t> first_at_;  // ... and the warp's first place, by which `warps_` knows it
  std::vector<Warp> warps_;
  std::vector<unsigned> live_;  // by lane: warps that have not exited
};

}  // namespace weft::datapath

#endif
