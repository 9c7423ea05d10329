// The tables of dynamic warp formation: a pool of warps, and the table (LUT) through which threads find the
// warp of their PC that they may join.
//
// An update takes the threads of a committed warp that go on at one place. The LUT leads to the newest warp
// there: threads whose home lane is free join it, the others make a new warp, to which the LUT leads from
// then on. Older warps stay in the pool but take no more threads. The algorithm is that of GPGPU-Sim's
// dwf.cc.
#ifndef WEFT_WARP_FORMATION_DWF_POOL_H
#define WEFT_WARP_FORMATION_DWF_POOL_H

#include <array>
#include <cstdint>
#include <vector>

#include "warp_formation/dwf_order.h"
#include "warp_formation/warp_lut.h"
#include "weft/warp_formation/lane_packing.h"
#include "weft/warp_formation/table_accesses.h"

namespace weft::warp_formation {

class DwfPool {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint16_t kNoContext = UINT16_MAX;

  struct Warp {
    Warp(unsigned rows, const LanePermuter& home) : packed(rows, home) {}
    PackedWarp packed;
    Place place;
    WarpRank rank;
    WarpLut::Entry* entry = nullptr;     // of the LUT that was last written for it
    std::uint16_t context = kNoContext;  // front-end buffer that holds its instruction
    std::uint16_t hint = kNoContext;     // buffer that may hold it
    std::uint8_t barrier = 0;            // number of the barrier at which it waits
    Cycle since = kNoEvent;              // when it entered the pool; kNoEvent: not stamped yet
    std::uint32_t next = kNone, previous = kNone;
  };
  // Warps in order of their creation.
  struct List {
    std::uint32_t first = kNone, last = kNone;
    bool empty() const { return first == kNone; }
  };
  struct Counters {
    std::uint64_t lut_aliased = 0, lut_realmiss = 0, warp_fragmentation = 0, warp_merge_conflict = 0;
    std::uint64_t merged_threads = 0, port_conflicts = 0;
    TableAccesses pool, lut;
  };

  DwfPool(const DwfOptions& options, std::uint64_t warp_size, const Geometry& geometry);

  void attach(const ptx::Program& program);
  void clear();
  // When it has no warps. The issue order starts anew with the kernel.
  void archive(Archive& archive) { archive(at_rest(live_), at_rest(threads_), free_, lut_, created_); }
  // The block's threads have passed no reconvergence point.
  void start(const Block& block);

  // Threads of `path` go on at `place`. False, and nothing done: the port of the LUT entry is taken in this
  // cycle. New warps are at the end of `waiting`; `hint` is theirs.
  bool update(const Place& place, const Piece* pieces, std::size_t count, unsigned path, std::uint16_t hint);
  // Threads that wait at a barrier: a warp that the LUT and the issue order do not know.
  void park(const Place& place, Groups groups, std::uint8_t barrier, std::uint16_t hint);
  // The barrier opens: its warps enter the issue order before all others. Returns their threads.
  unsigned release(std::uint16_t slot, unsigned barrier);
  // The warp is issued: it leaves the pool.
  void take(std::uint32_t warp);
  void next_cycle() { lut_.next_cycle(); }

  // Warps that wait for a context; at barriers, by block slot.
  List waiting;
  void unlist(List& list, std::uint32_t warp);
  const List& parked(std::uint16_t slot) const { return parked_[slot]; }

  Warp& warp(std::uint32_t w) { return warps_[w]; }
  const Warp& warp(std::uint32_t w) const { return warps_[w]; }
  IssueOrder& order() { return order_; }
  const IssueOrder& order() const { return order_; }
  unsigned size() const { return live_; }  // warps that may be issued
  unsigned threads() const { return threads_; }
  Counters& counters() { return counters_; }

  // Bits of the tables, for storage reports: pool, LUT, and the heap where the heuristic has one.
  std::uint64_t pool_bits() const;
  std::uint64_t lut_bits() const;
  std::uint64_t heap_bits() const;
  std::uint64_t heap_node_bits() const;
  std::uint64_t heap_lut_entry_bits() const;
  storage::Arrays arrays() const;

 private:
  std::uint32_t allocate(const Place& place, std::uint16_t hint);
  void append(List& list, std::uint32_t warp);
  void enter(std::uint32_t warp, WarpLut::Entry* entry);
  void join(std::uint32_t warp, unsigned threads);
  std::uint32_t most_passed(const Piece* pieces, std::size_t count, unsigned path) const;

  const DwfOptions options_;
  const std::uint64_t warp_size_;
  const Geometry geometry_;
  const unsigned lanes_, rows_;
  std::vector<Warp> warps_;
  std::vector<std::uint32_t> free_;
  std::vector<List> parked_;
  WarpLut lut_;
  IssueOrder order_;
  std::vector<std::uint16_t> present_;  // warps of a PC and slot, to tell real misses: [pc x slots + slot]
  std::vector<bool> reconvergence_;     // by PC: some branch reconverges there
  std::vector<std::uint32_t> passed_;   // by position: reconvergence points that the thread has passed
  std::vector<Piece> left_;             // threads that found no place
  std::uint64_t created_ = 0;
  unsigned live_ = 0, threads_ = 0;
  Counters counters_;
};

}  // namespace weft::warp_formation

#endif
