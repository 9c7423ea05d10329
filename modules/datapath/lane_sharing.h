// A unit that lanes share, of so many thread operations per cycle (the special-function units of a core):
// lanes with an instruction for it take turns, each with the threads of the group that it has come to; its
// next group follows when all of them have begun.
//
// How long an instruction takes depends on those that come while it runs. What is said of one holds until
// the next one starts; only later cycles can follow from that.
#ifndef WEFT_DATAPATH_LANE_SHARING_H
#define WEFT_DATAPATH_LANE_SHARING_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "weft/warp_formation/warp_formation.h"

namespace weft::datapath {

class LaneSharing {
 public:
  using Cycle = warp_formation::Cycle;
  LaneSharing(unsigned lanes, unsigned operations_per_cycle)
      : width_(operations_per_cycle), work_(lanes), at_(lanes), trial_(lanes) {
    for (Work& work : work_) {
      work.operations.reserve(warp_formation::kMaxWarpSize);
      work.begun.reserve(warp_formation::kMaxWarpSize);
    }
  }

  void reset() {
    std::fill(at_.begin(), at_.end(), Position());
    for (Work& work : work_) work.operations.clear();
    turn_ = 0;
    done_until_ = 0;
  }

  // An instruction comes to a lane that has none: the operations of each of its groups, in order, to be
  // filled in before it starts.
  std::vector<std::uint32_t>& come(Cycle now, unsigned lane) {
    // What the lanes have done until now depends on what they had.
    advance(at_, done_until_, now, turn_);
    done_until_ = now;
    return work_[lane].operations;
  }
  // ... starts; so far as is known now, when each group's last operation begins is in begun().
  void start(Cycle now, unsigned lane) {
    at_[lane] = {true, 0, work_[lane].operations[0]};
    work_[lane].begun.assign(work_[lane].operations.size(), now);
    trial_ = at_;
    unsigned turn = turn_;
    advance(trial_, now, UINT64_MAX, turn);
  }
  const std::vector<Cycle>& begun(unsigned lane) const { return work_[lane].begun; }

 private:
  struct Work {
    std::vector<std::uint32_t> operations;
    std::vector<Cycle> begun;
  };
  struct Position {
    bool active = false;
    std::uint32_t group = 0, left = 0;  // operations of the group that have not begun
  };

  // Runs the cycles from `from` on, before `until` or as long as there is work.
  void advance(std::vector<Position>& at, Cycle from, Cycle until, unsigned& turn) {
    const auto lanes = static_cast<unsigned>(at.size());
    unsigned active = 0;
    for (const Position& position : at) active += position.active ? 1 : 0;
    for (Cycle now = from; now < until && active != 0; ++now) {
      unsigned room = width_;
      const unsigned first = turn;
      for (unsigned i = 0; i < lanes && room != 0; ++i) {
        const unsigned lane = (first + i) % lanes;
        Position& position = at[lane];
        if (!position.active) continue;
        const unsigned begins = std::min(room, position.left);
        room -= begins;
        position.left -= begins;
        turn = (lane + 1) % lanes;
        if (position.left != 0) continue;
        work_[lane].begun[position.group] = now;
        if (++position.group == work_[lane].operations.size()) {
          position.active = false;
          --active;
        } else {
          position.left = work_[lane].operations[position.group];
        }
      }
    }
  }

  const unsigned width_;
  std::vector<Work> work_;
  std::vector<Position> at_, trial_;
  unsigned turn_ = 0;
  Cycle done_until_ = 0;
};

}  // namespace weft::datapath

#endif
