// The paths of one warp of 32 threads: which threads are where.
//
// Paths do not form a stack. The deepest call runs first, in it the lowest PC, and paths that meet at one PC
// become one: compilers lay code out so that this is at the immediate post-dominator or before it. Nothing is
// ever blocked by the order of a stack, so threads that wait for a sibling (a lock, a barrier in a branch)
// get what they wait for; `favour_last` makes sure that a path that spins does not keep the others away.
#ifndef WEFT_FUNCTIONAL_WARP_PATHS_H
#define WEFT_FUNCTIONAL_WARP_PATHS_H

#include <algorithm>
#include <array>
#include <cstdint>

#include "weft/ptx/program.h"

namespace weft::functional {

struct Path {
  enum class State : std::uint8_t { kRunnable, kBarrier, kWarpSync };
  ptx::Pc pc = 0;  // of the next instruction
  std::uint32_t mask = 0;
  std::uint16_t depth = 0;  // call depth
  State state = State::kRunnable;
  std::uint8_t barrier = 0;  // kBarrier: at which
};

inline bool operator==(const Path& a, const Path& b) {
  return a.pc == b.pc && a.mask == b.mask && a.depth == b.depth && a.state == b.state &&
         a.barrier == b.barrier;
}

class WarpPaths {
 public:
  // In the same order, which is a part of what happens next.
  bool operator==(const WarpPaths& other) const {
    return count_ == other.count_ &&
           std::equal(paths_.begin(), paths_.begin() + count_, other.paths_.begin());
  }
  void start(std::uint32_t mask) {
    count_ = 0;
    if (mask != 0) add({0, mask, 0, Path::State::kRunnable, 0});
  }
  bool empty() const { return count_ == 0; }
  unsigned count() const { return count_; }
  const Path& operator[](unsigned i) const { return paths_[i]; }

  void add(const Path& path) {
    if (path.mask != 0) paths_[count_++] = path;
  }

  // Takes out the path that runs next; paths at the same place go with it. False: none can run. `limit` is
  // the PC at which it has to come back, because another path waits there or would go first. `favour_last`:
  // the shallowest call and the highest PC instead.
  bool take(Path& chosen, ptx::Pc& limit, bool favour_last) {
    limit = ptx::kNoPc;
    if (count_ == 1 && paths_[0].state == Path::State::kRunnable) {
      chosen = paths_[0];
      count_ = 0;
      return true;
    }
    unsigned best = count_;
    for (unsigned i = 0; i < count_; ++i) {
      if (paths_[i].state != Path::State::kRunnable) continue;
      if (best == count_ || before(paths_[i], paths_[best]) != favour_last) best = i;
    }
    if (best == count_) return false;
    chosen = paths_[best];
    chosen.mask = 0;
    unsigned kept = 0;
    for (unsigned i = 0; i < count_; ++i) {
      const Path& path = paths_[i];
      if (path.state == Path::State::kRunnable && path.pc == chosen.pc && path.depth == chosen.depth) {
        chosen.mask |= path.mask;
        continue;
      }
      // A path that runs out of its turn meets nobody on the way.
      if (path.state == Path::State::kRunnable && path.depth == chosen.depth && !favour_last &&
          path.pc < limit) {
        limit = path.pc;
      }
      paths_[kept++] = path;
    }
    count_ = kept;
    return true;
  }

  // Paths at a barrier can go on. Returns whether there were any.
  bool release(unsigned barrier) {
    bool any = false;
    for (unsigned i = 0; i < count_; ++i) {
      if (paths_[i].state != Path::State::kBarrier || paths_[i].barrier != barrier) continue;
      paths_[i].state = Path::State::kRunnable;
      any = true;
    }
    return any;
  }
  // Threads that wait at a warp-level primitive can go on.
  void release_threads(std::uint32_t threads) {
    for (unsigned i = 0; i < count_; ++i) {
      if (paths_[i].state != Path::State::kWarpSync || (paths_[i].mask & threads) == 0) continue;
      paths_[i].state = Path::State::kRunnable;
    }
  }

 private:
  static bool before(const Path& a, const Path& b) {
    return a.depth != b.depth ? a.depth > b.depth : a.pc < b.pc;
  }

  std::array<Path, 32> paths_{};  // threads of different paths are different
  unsigned count_ = 0;
};

}  // namespace weft::functional

#endif
