// The paths of one warp under schemes without a reconvergence stack: groups of its threads, each at a place
// (PC and call depth) of its own. One path runs at a time.
//
//   paths.start(threads);
//   paths.issue(paths.best(before));                 // this path runs
//   paths.deposit(outcome, mask, backward); ...      // its threads, all at once or in parts
//   if (paths.resolved()) { paths.land(); ...; paths.settle(by_place); }
//
// Threads that go on wait in a state of their own until `settle`, so that a scheme can stop them first.
// `settle` joins ready paths that are at one place, if the scheme wants that. Nothing is allocated after
// construction.
#ifndef WEFT_WARP_FORMATION_WARP_PATHS_H
#define WEFT_WARP_FORMATION_WARP_PATHS_H

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "weft/warp_formation/thread_mask.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

class WarpPaths {
 public:
  enum class State : std::uint8_t {
    kReady,
    kInFlight,   // an instruction of it
    kLanded,     // threads of that instruction that know where they go on
    kReleased,   // by a block barrier or a warp-level primitive
    kFreed,      // by the scheme, which had blocked it
    kAtBarrier,  // a block barrier: `number`
    kAtSync,     // a warp-level primitive
    kBlocked,    // by the scheme
  };
  struct Path {
    ptx::Pc pc = 0;
    std::uint16_t depth = 0;  // of calls
    State state = State::kReady;
    std::uint8_t number = 0;
    bool favoured = false;       // runs before others, whatever its place
    std::uint32_t backward = 0;  // branches backward that it has taken since it last gave way
    std::uint64_t ran = 0;       // when it last ran, in instructions of the warp
    WarpMask mask;

    bool is(State s) const { return state == s; }
    bool together_with(const Path& other) const {
      return pc == other.pc && depth == other.depth && state == other.state && number == other.number;
    }
  };
  static constexpr unsigned kNone = UINT32_MAX;

  // A path in flight whose threads have all been resolved stays until `land`.
  explicit WarpPaths(unsigned warp_size) : paths_(warp_size + 1) {}

  // The warp begins: all of its threads at PC 0.
  void start(const WarpMask& threads) {
    count_ = 0;
    running_ = kNone;
    clock_ = 0;
    last_ = {};
    exited_ = arrived_ = {};
    append({})->mask = threads;
  }

  unsigned count() const { return count_; }
  const Path& operator[](unsigned path) const { return paths_[path]; }
  bool in_flight() const { return running_ != kNone; }
  bool any(State state) const {
    return std::any_of(paths_.begin(), paths_.begin() + count_, [&](const Path& p) { return p.is(state); });
  }
  unsigned ready() const {
    return static_cast<unsigned>(std::count_if(paths_.begin(), paths_.begin() + count_,
                                               [](const Path& p) { return p.is(State::kReady); }));
  }
  // The first path with some of these threads; kNone.
  unsigned path_of(const WarpMask& threads) const {
    for (unsigned i = 0; i < count_; ++i) {
      if (paths_[i].mask.intersects(threads)) return i;
    }
    return kNone;
  }
  // Whether the path has threads of the last instruction.
  bool just_ran(unsigned path) const { return paths_[path].ran == clock_; }

  // The ready path that comes before all others, favoured ones first; kNone: none is ready.
  template <class Before>
  unsigned best(Before&& before) const {
    unsigned first = kNone;
    for (unsigned i = 0; i < count_; ++i) {
      const Path& path = paths_[i];
      if (!path.is(State::kReady)) continue;
      if (first == kNone ||
          (path.favoured != paths_[first].favoured ? path.favoured : before(path, paths_[first])))
        first = i;
    }
    return first;
  }

  // The last instruction that was issued.
  struct Last {
    ptx::Pc pc = ptx::kNoPc;  // kNoPc: there is none
    std::uint16_t depth = 0;
    bool alone = true;  // the warp had no other path
  };
  const Last& last() const { return last_; }

  // An instruction of the path is in flight.
  void issue(unsigned path) {
    running_ = path;
    last_ = {paths_[path].pc, paths_[path].depth, count_ == 1};
    paths_[path].state = State::kInFlight;
    paths_[path].ran = ++clock_;
    pieces_ = 0;
    parted_ = false;
    exited_ = arrived_ = {};
  }

  // All threads of the instruction go on together; `backward`: by a branch to the begin of a loop.
  void move(ptx::Pc pc, std::uint16_t depth, bool backward) {
    Path& path = paths_[running_];
    if (backward) ++path.backward;
    path.pc = pc;
    path.depth = depth;
    path.state = State::kLanded;
    pieces_ = 1;
    running_ = kNone;
  }
  // ... and the warp has no other path.
  void move_alone(ptx::Pc pc, std::uint16_t depth) {
    Path& path = paths_[running_];
    path.pc = pc;
    path.depth = depth;
    path.state = State::kReady;
    running_ = kNone;
  }

  // What became of some of the threads in flight.
  void deposit(const Outcome& outcome, const WarpMask& mask, bool backward) {
    Path& from = paths_[running_];
    from.mask.remove(mask);
    if (outcome.kind == Outcome::Kind::kExit) {
      exited_ |= mask;
      return;
    }
    Path path = from;
    path.pc = outcome.next_pc;
    path.depth = outcome.depth;
    path.mask = mask;
    if (backward) ++path.backward;
    if (pieces_ != 0 && (path.pc != first_pc_ || path.depth != first_depth_)) parted_ = true;
    first_pc_ = path.pc;
    first_depth_ = path.depth;
    if (outcome.kind == Outcome::Kind::kGo) {
      path.state = State::kLanded;
    } else {
      path.state = outcome.kind == Outcome::Kind::kBarrier ? State::kAtBarrier : State::kAtSync;
      path.favoured = false;
      path.backward = 0;
      if (path.is(State::kAtBarrier)) {
        path.number = static_cast<std::uint8_t>(outcome.argument);
        arrived_ |= mask;
      }
    }
    for (unsigned i = 0; i < count_; ++i) {
      if (paths_[i].together_with(path)) return join(paths_[i], path);
    }
    append(path);
    ++pieces_;
  }
  // Whether all threads in flight have been deposited.
  bool resolved() const { return paths_[running_].mask.empty(); }
  // They have: the path that they came from is gone.
  void land() {
    remove(running_);
    running_ = kNone;
  }
  // Of the last instruction: the paths that its threads went on, whether to places apart; those that exited,
  // and those that wait at a block barrier.
  unsigned pieces() const { return pieces_; }
  bool parted() const { return parted_; }
  const WarpMask& exited() const { return exited_; }
  const WarpMask& arrived() const { return arrived_; }

  // The scheme keeps a path from going on, which has landed or been released.
  void block(unsigned path) {
    paths_[path].state = State::kBlocked;
    paths_[path].number = 0;
    paths_[path].favoured = false;
    paths_[path].backward = 0;
  }
  // The path goes on, though it has landed only now or was released: what kept it was looked at.
  void pass(unsigned path) { paths_[path].state = State::kFreed; }
  // The blocked threads of `mask`, which are at one place, become one path that goes on; returns its number.
  unsigned gather(const WarpMask& mask) {
    unsigned gathered = kNone;
    for (unsigned i = 0; i < count_;) {
      if (!paths_[i].is(State::kBlocked) || !paths_[i].mask.intersects(mask)) {
        ++i;
      } else if (gathered == kNone) {
        gathered = i++;
        paths_[gathered].state = State::kFreed;
        paths_[gathered].number = 0;
      } else {
        join(paths_[gathered], paths_[i]);
        remove(i);
      }
    }
    return gathered;
  }
  // Threads that wait at block barriers; at warp-level primitives.
  WarpMask at_barriers() const { return threads_in(State::kAtBarrier); }
  WarpMask at_syncs() const { return threads_in(State::kAtSync); }
  // The threads of `mask` leave a path for one of their own at the same place, whose number this returns.
  // They are neither all nor none of it.
  unsigned split(unsigned path, const WarpMask& mask) {
    Path part = paths_[path];
    part.mask &= mask;
    paths_[path].mask.remove(mask);
    append(part);
    return count_ - 1;
  }

  // A block barrier has opened. True: threads of the warp waited there.
  bool open_barrier(unsigned barrier) {
    bool any = false;
    for (unsigned i = 0; i < count_; ++i) {
      Path& path = paths_[i];
      if (!path.is(State::kAtBarrier) || path.number != barrier) continue;
      arrived_.remove(path.mask);
      path.state = State::kReleased;
      path.number = 0;
      any = true;
    }
    return any;
  }
  // Those of `mask` that wait at a warp-level primitive go on.
  void release_syncs(const WarpMask& mask) { release(State::kAtSync, mask, State::kReleased); }

  // What has landed, was released or freed is ready. It joins the ready path at its place, if paths meet
  // `by_place`; otherwise only what was released there at the same time. Returns how often paths became one.
  unsigned settle(bool by_place) {
    unsigned joins = 0;
    if (!by_place) joins = join_released();
    for (unsigned i = 0; i < count_;) {
      Path& path = paths_[i];
      const bool goes = path.is(State::kLanded) || path.is(State::kReleased) || path.is(State::kFreed);
      if (!goes) {
        ++i;
        continue;
      }
      path.state = State::kReady;
      const unsigned other = by_place ? other_at(i) : count_;
      if (other == count_) {
        ++i;
        continue;
      }
      join(paths_[other], path);
      remove(i);
      ++joins;
    }
    return joins;
  }

  // The path no longer runs before others; of the other ready ones that which has not run for longest does.
  template <class Before>
  unsigned give_way(unsigned path, Before&& before) {
    paths_[path].favoured = false;
    paths_[path].backward = 0;
    unsigned next = kNone;
    for (unsigned i = 0; i < count_; ++i) {
      const Path& other = paths_[i];
      if (i == path || !other.is(State::kReady)) continue;
      if (next == kNone ||
          (other.ran != paths_[next].ran ? other.ran < paths_[next].ran : before(other, paths_[next])))
        next = i;
    }
    if (next == kNone) return path;
    paths_[next].favoured = true;
    paths_[next].backward = 0;
    return next;
  }
  // The path is the only one that is ready, so that nobody waits while it turns.
  void unhurried(unsigned path) {
    paths_[path].backward = 0;
    paths_[path].favoured = false;
  }

  // `offered`: the path that runs next, if no instruction is in flight.
  void count(Census& census, unsigned offered) const {
    for (unsigned i = 0; i < count_; ++i) {
      const unsigned threads = paths_[i].mask.count();
      switch (paths_[i].state) {
        case State::kInFlight:
        case State::kLanded:
          census.issued += threads;
          break;
        case State::kReady:
        case State::kReleased:
        case State::kFreed:
          (i == offered ? census.ready : census.inactive_path) += threads;
          break;
        case State::kAtBarrier:
          census.barrier += threads;
          break;
        case State::kAtSync:
          census.warp_sync += threads;
          break;
        case State::kBlocked:
          census.reconvergence += threads;
          break;
      }
    }
  }

  // A line for each path.
  void describe(std::ostream& out, unsigned size, const ptx::Program& program) const {
    for (unsigned i = 0; i < count_; ++i) {
      const Path& path = paths_[i];
      out << "    " << name_of(path) << " at pc " << path.pc << " (" << program.place(path.pc) << ")";
      if (path.depth != 0) out << ", call depth " << path.depth;
      out << ", " << path.mask.count() << " threads, mask";
      for (unsigned w = (size + kChunk - 1) / kChunk; w-- > 0;)
        out << " " << std::hex << path.mask.words[w] << std::dec;
      out << "\n";
    }
  }

 private:
  static std::string name_of(const Path& path) {
    switch (path.state) {
      case State::kInFlight:
        return "runs";
      case State::kAtBarrier:
        return "waits at barrier " + std::to_string(path.number);
      case State::kAtSync:
        return "waits at a warp-level primitive";
      case State::kBlocked:
        return "waits for other threads";
      default:
        return "ready";
    }
  }

  WarpMask threads_in(State state) const {
    WarpMask threads;
    for (unsigned i = 0; i < count_; ++i) {
      if (paths_[i].is(state)) threads |= paths_[i].mask;
    }
    return threads;
  }
  // A path like this one; count_: there is none.
  unsigned other_at(unsigned path) const {
    unsigned other = 0;
    while (other < count_ && (other == path || !paths_[other].together_with(paths_[path]))) ++other;
    return other;
  }
  unsigned join_released() {
    unsigned joins = 0;
    for (unsigned i = 0; i < count_;) {
      const unsigned other = paths_[i].is(State::kReleased) ? other_at(i) : count_;
      if (other == count_) {
        ++i;
        continue;
      }
      join(paths_[other], paths_[i]);
      remove(i);
      ++joins;
    }
    return joins;
  }

  Path* append(const Path& path) { return &(paths_[count_++] = path); }
  void remove(unsigned path) {
    if (path != --count_) paths_[path] = paths_[count_];
  }
  static void join(Path& path, const Path& other) {
    path.mask |= other.mask;
    path.favoured &= other.favoured;
    path.backward = std::max(path.backward, other.backward);
    path.ran = std::max(path.ran, other.ran);
  }
  void release(State from, const WarpMask& mask, State to) {
    const unsigned before = count_;
    for (unsigned i = 0; i < before; ++i) {
      if (!paths_[i].is(from) || !paths_[i].mask.intersects(mask)) continue;
      WarpMask rest = paths_[i].mask;
      const unsigned goes = rest.remove(mask).empty() ? i : split(i, mask);
      paths_[goes].state = to;
      paths_[goes].number = 0;
    }
  }

  std::vector<Path> paths_;
  unsigned count_ = 0;
  unsigned running_ = kNone;  // the path in flight
  std::uint64_t clock_ = 0;   // instructions
  Last last_;
  unsigned pieces_ = 0;
  bool parted_ = false;
  ptx::Pc first_pc_ = 0;  // of a piece
  std::uint16_t first_depth_ = 0;
  WarpMask exited_, arrived_;
};

}  // namespace weft::warp_formation

#endif
