// Collects what becomes of the threads of one issue until all of them are known.
#ifndef WEFT_WARP_FORMATION_COMMIT_RECORD_H
#define WEFT_WARP_FORMATION_COMMIT_RECORD_H

#include <cstdint>
#include <vector>

#include "warp_formation/warp_lut.h"
#include "weft/common/popcount.h"
#include "weft/warp_formation/lane_packing.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

inline unsigned count_threads(Groups groups) {
  unsigned threads = 0;
  for (const auto& group : groups) threads += count_of(group.mask);
  return threads;
}

class CommitRecord {
 public:
  // Room for a warp whose threads all go different ways, so that nothing is allocated later.
  void start(std::uint16_t context, const Issue& issue, std::uint64_t warp_size) {
    context_ = context;
    pc_ = issue.pc;
    slot_ = issue.slot;
    unresolved_ = threads_ = count_threads(issue.groups);
    next_ = 0;
    going_ = 0;
    in_memory_ = false;
    paths_.clear();
    pieces_.clear();
    if (pieces_.capacity() >= warp_size) return;
    pieces_.reserve(warp_size);
    paths_.reserve(warp_size);
  }

  // Threads that go on: at the outcome's PC and depth.
  void go(const Outcome& outcome) {
    const Place place{outcome.next_pc, outcome.depth, slot_};
    std::uint16_t path = 0;
    while (path < paths_.size() && !(paths_[path] == place)) ++path;
    if (path == paths_.size()) paths_.push_back(place);
    for (const auto& group : outcome.groups) {
      going_ += count_of(group.mask);
      add({group.mask, group.chunk, path});
    }
  }
  void resolve(unsigned threads) { unresolved_ -= threads; }

  bool complete() const { return unresolved_ == 0; }
  unsigned threads() const { return threads_; }  // of the issue
  unsigned going() const { return going_; }      // of them, those that go on
  const std::vector<Place>& paths() const { return paths_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::uint16_t context() const { return context_; }
  std::uint16_t slot() const { return slot_; }
  ptx::Pc pc() const { return pc_; }
  bool in_memory() const { return in_memory_; }
  void wait_for_memory() { in_memory_ = true; }

  // The paths that have not been dealt with yet.
  bool exhausted() const { return next_ == paths_.size(); }
  std::uint16_t next() const { return next_; }
  void advance() { ++next_; }

 private:
  void add(const Piece& piece) {
    for (auto& known : pieces_) {
      if (known.chunk == piece.chunk && known.path == piece.path) {
        known.mask |= piece.mask;
        return;
      }
    }
    pieces_.push_back(piece);
  }

  std::uint16_t context_ = 0, slot_ = 0, next_ = 0;
  ptx::Pc pc_ = ptx::kNoPc;
  unsigned unresolved_ = 0, threads_ = 0, going_ = 0;
  bool in_memory_ = false;
  std::vector<Place> paths_;
  std::vector<Piece> pieces_;
};

}  // namespace weft::warp_formation

#endif
