// The splits of one warp, of which several can be under way at a time, and the points at which they meet
// again.
//
//   splits.start(threads);
//   splits.issue(split);
//   splits.deposit(split, outcome, mask); ...          // its threads, in parts
//   if (splits.resolved(split)) splits.land(split, ...);
//   splits.choose();                                   // which of them may run now
//
// The points are a tree: paths that part at a branch run below its reconvergence point, and become one split
// below the next point outwards when the last of them has come there. Each split, and each point, has a line:
// of what lies below one point, only the highest line runs in which anything can. A scheme says by the lines
// that it gives to the paths of a branch which of them run at a time: all, two or one.
#ifndef WEFT_WARP_FORMATION_WARP_SPLITS_H
#define WEFT_WARP_FORMATION_WARP_SPLITS_H

#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

#include "weft/ptx/program.h"
#include "weft/warp_formation/reconvergence_stack.h"
#include "weft/warp_formation/thread_mask.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

class WarpSplits {
 public:
  using Index = std::uint16_t;
  static constexpr Index kNone = UINT16_MAX;
  static constexpr Index kWhole = 0;  // the point of the whole warp, at which nobody arrives

  enum class State : std::uint8_t {
    kFree,
    kReady,
    kInFlight,   // an instruction of it
    kLanded,     // threads of that instruction (`source`) that know where they go on
    kAtBarrier,  // a block barrier: `number`
    kAtSync,     // a warp-level primitive
  };
  struct Split {
    ptx::Pc pc = 0;
    std::uint16_t depth = 0;  // of calls
    State state = State::kFree;
    std::uint8_t number = 0;
    bool runs = false;     // as `choose` has decided; others are ready but not their turn
    bool beside = false;   // its guard let it pass where others of its path wait: it goes on with them
    bool changed = false;  // its PC or its threads, since the scheme last looked
    bool stalled = false;  // the scheme's: its threads wait for data that those of another split have
    bool awaits = false;   // the scheme's: it stands where others will come
    Index point = kWhole;
    Index context = kNone;  // the scheme's
    Index source = kNone;
    std::uint32_t line = 0;
    std::uint64_t wants = 0;  // the scheme's: since when it can run and has no context; 0: it has one
    WarpMask mask;

    bool is(State s) const { return state == s; }
    bool waits() const { return is(State::kAtBarrier) || is(State::kAtSync); }
    bool can_run() const { return is(State::kReady) || is(State::kInFlight); }
  };
  struct Point {
    ptx::Pc pc = ptx::kNoPc;
    std::uint16_t depth = 0;
    bool live = false;
    bool news = false;  // `arrived` has grown since the scheme last looked
    Index outer = kNone;
    std::uint32_t line = 0;       // of those that come from here, while they are below
    std::uint32_t line_then = 0;  // ... and when they have met
    std::uint64_t serial = 0;     // later ones lie further in
    std::uint64_t since = 0;      // cycle in which `arrived` last changed; the scheme's
    WarpMask pending;             // threads below that have not come
    WarpMask arrived;
  };
  // Which of the paths of a branch run at a time.
  enum class AtATime : std::uint8_t { kOne, kTwo, kAll };
  // A branch: where its paths meet, and how they run. kNoPc: they have no point of their own, and meet only
  // where the split's paths do.
  struct Parting {
    ptx::Pc meet = ptx::kNoPc;
    std::uint16_t depth = 0;
    AtATime at_a_time = AtATime::kAll;
  };

  explicit WarpSplits(unsigned warp_size);

  void start(const WarpMask& threads);
  // Splits that are not free; each has a number below `end`.
  unsigned count() const { return count_; }
  Index end() const { return end_; }
  const Split& operator[](Index split) const { return splits_[split]; }
  Split& operator[](Index split) { return splits_[split]; }
  Index points_end() const { return points_end_; }
  const Point& point(Index point) const { return points_[point]; }
  Point& point(Index point) { return points_[point]; }
  unsigned points() const { return live_points_; }  // beside that of the whole warp

  void issue(Index split) {
    splits_[split].state = State::kInFlight;
    splits_[split].beside = splits_[split].stalled = false;
  }
  // All threads of the instruction go on at one place, which is not where the split's paths meet.
  bool passes(Index split, ptx::Pc pc, std::uint16_t depth) const {
    const Point& point = points_[splits_[split].point];
    return pc != point.pc || depth != point.depth || pc == ptx::kNoPc;
  }
  void move(Index split, ptx::Pc pc, std::uint16_t depth) {
    Split& s = splits_[split];
    s.pc = pc;
    s.depth = depth;
    s.state = State::kReady;
  }
  // What became of some of the threads in flight.
  void deposit(Index split, const Outcome& outcome, const WarpMask& mask);
  bool resolved(Index split) const { return splits_[split].mask.empty(); }
  // Places that the threads go on to, all of which have been resolved.
  unsigned places(Index split, std::vector<ReconvergenceStack::Path>& places) const;
  // They go on there, or wait. With several places, these are in the order of the lines: the last one first.
  void land(Index split, const Parting& parting, const std::vector<ReconvergenceStack::Path>& places);
  // Of an instruction of which not all threads have been resolved: those that have go on as a split of their
  // own. kNone: none has, or they are where its paths meet.
  Index detach(Index split);

  // Other splits that run when this one does: those of its line.
  unsigned companions(Index split) const;
  // Whether threads of an instruction of it, of which others are under way, could go on.
  bool has_landed(Index split) const;

  // Decides which splits may run. False: none can.
  bool choose();
  // What has happened to points since the scheme last looked: made, somebody came, all were there.
  struct Traffic {
    unsigned made = 0, arrivals = 0, met = 0;
  };
  Traffic take_traffic() { return std::exchange(traffic_, {}); }
  // Contexts of splits that are no longer there; the scheme empties it.
  std::vector<Index>& dropped() { return dropped_; }
  bool any(State state) const;
  // A ready split at the same place below the same point; kNone: there is none. The split becomes part of it.
  Index mate(Index split) const;
  void join(Index split, Index mate);
  // Some threads of a ready split become one of their own, which is returned.
  Index divide(Index split, const WarpMask& threads);

  // Two splits at the same point meet at this place, before they go on together to where they would have.
  void meet_at(Index a, Index b, ptx::Pc pc);

  // True: threads of the warp waited there.
  bool open_barrier(unsigned barrier);
  bool release_syncs(const WarpMask& mask);

  // The innermost point at which threads wait; kNone: none.
  Index innermost_waiting() const;
  // Those who have arrived go on without the others.
  void depart(Index point);
  WarpMask arrived() const;
  // Threads at points whose instruction ends them.
  WarpMask ending(const ptx::Program& program) const;
  // Threads that wait at a point for some of `standing`.
  WarpMask held_by(const WarpMask& standing) const;
  void count(Census& census) const;
  void describe(std::ostream& out, unsigned size, const ptx::Program& program) const;

 private:
  Index add(const Split& split);
  void remove(Index split);
  Index add_point(const Point& point);
  void arrive_if_there(Index split);
  void gone(Index point, const WarpMask& threads, bool arrives);
  void complete(Index point);
  void place(Index split, const Parting& parting, const std::vector<ReconvergenceStack::Path>& places);
  void go_on(Index split);

  std::vector<Split> splits_;
  std::vector<Point> points_;
  std::vector<std::uint32_t> best_;  // by point; of `choose`
  std::vector<Index> dropped_;
  Traffic traffic_;
  unsigned count_ = 0, live_points_ = 0;
  Index end_ = 0, points_end_ = 1;
  std::uint32_t last_line_ = 0;
  std::uint64_t last_serial_ = 0;
};

}  // namespace weft::warp_formation

#endif
