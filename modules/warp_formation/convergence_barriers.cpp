// Convergence barriers, as NVIDIA's GPUs have them since Volta: a PC for each thread, barriers that the
// compiler places (ptx/convergence.h), and threads that let others go on when these may have to come first.
#include "warp_formation/convergence_barriers.h"

#include <algorithm>
#include <ostream>

#include "warp_formation/convergence_options.h"
#include "warp_formation/path_scheme.h"

namespace weft::warp_formation {
namespace {

class ConvergenceRules : public PathRules {
 public:
  using Options = ConvergenceOptions;
  static constexpr const char* kTable = "thread_pcs";
  static constexpr const char* kMost = "most_paths";
  static constexpr const char* kMostMeaning = "most paths that threads of a warp were on at a time";
  static constexpr const char* kStorageMeaning = "PCs and states of all threads, and barriers of all warps";
  static constexpr bool kBlocks = true;
  static constexpr bool kByPlace = false;
  static constexpr bool kTakesSlots = true;

  struct Warp {
    WarpBarriers barriers;
    unsigned slots = 0;  // that its barriers took and that are not yet charged
  };

  ConvergenceRules(const Options& options, const CommonConfig& config, unsigned warps)
      : options_(options), warps_(warps), warp_size_(config.warp_size) {}

  void attach(const ptx::Program& program) {
    program_ = &program;
    // What no compiler placed for older targets is not there either (PTX of sm_60 on later machines).
    constexpr std::uint32_t kFirstThatYields = 70;
    const bool yields = program.target == 0 || program.target >= kFirstThatYields;
    yield_after_ = yields ? options_.yield_after : 0;
  }
  void reset() { statistics_ = {}; }

  void start(Warp& own, WarpPaths& paths) {
    own.barriers.clear();
    own.slots = 0;
    act(own, paths, 0, 0);
    paths.settle(kByPlace);
  }

  void exited(Warp& own, WarpPaths& paths, const WarpMask& threads) {
    for (std::size_t i = 0; i < own.barriers.size(); ++i) own.barriers.leave(i, threads);
    open(own, paths);
  }
  void waits(Warp& own, WarpPaths& paths, const WarpMask& /*threads*/) { open(own, paths); }

  bool turns(ptx::Pc from, ptx::Pc to) const {
    const std::uint8_t turn = program_->convergence.turns[from];
    const std::uint8_t way = to == from + 1 ? ptx::Turn::kFallThrough : ptx::Turn::kTaken;
    if ((turn & way) == 0) return false;
    return options_.yield_in == YieldingLoops::kAll || (turn & ptx::Turn::kPolls) != 0;
  }
  bool passes(ptx::Pc pc) const {
    const auto& first = program_->convergence.first;
    return first[pc] == first[pc + 1];
  }
  void before(Warp& own, WarpPaths& paths, unsigned path) {
    act(own, paths, path, program_->convergence.first[paths[path].pc]);
    open(own, paths);
  }

  // A path runs until it waits, exits, or yields; then the one that ran last before it.
  unsigned choose(Warp& own, WarpPaths& paths) {
    const auto comes_first = [this](const WarpPaths::Path& a, const WarpPaths::Path& b) {
      return a.ran != b.ran ? a.ran > b.ran : before(a, b);
    };
    unsigned first = paths.best(comes_first);
    if (first == WarpPaths::kNone && break_circle(own, paths)) first = paths.best(comes_first);
    if (first == WarpPaths::kNone || yield_after_ == 0 || paths[first].backward < yield_after_) return first;
    const WarpMask threads = paths[first].mask;
    if (leave_what_others_wait_at(own, paths, threads)) first = paths.path_of(threads);
    if (paths.ready() == 1) {
      paths.unhurried(first);
      return first;
    }
    ++statistics_.yields;
    return paths.give_way(first, comes_first);
  }

  WarpMask held_back(const Warp& own, const WarpPaths& paths, const WarpMask& standing) const {
    return own.barriers.held_by(standing, paths.at_barriers());
  }

  bool takes_slots() const { return options_.cost == BarrierCost::kIssueSlot; }
  unsigned take_slots(Warp& own) { return std::exchange(own.slots, 0); }

  // A PC, a depth and one of the states ready, blocked, yielded, exited for each thread.
  storage::Array table(std::uint64_t warps, std::uint64_t warp_size, std::uint64_t /*entries*/) const {
    return storage::ram(kTable, warps, warp_size * (kPcBits + kDepthBits + 2));
  }
  void add_arrays(storage::Arrays& arrays) const { add(arrays, barrier_array()); }

  void bind(statistics::Group& group) {
    static constexpr statistics::Unit kBarriers("barriers"), kThreads("threads");
    Statistics& s = statistics_;
    group.counter("joins", kBarriers, "times that threads joined a convergence barrier", s.joins);
    group.counter("leaves", kBarriers, "times that threads left one for a way that does not lead to it",
                  s.leaves);
    group.counter("waits", kBarriers, "times that threads came to the end of one", s.waits);
    group.counter("opened", kBarriers, "convergence barriers at which threads of several paths met",
                  s.opened);
    group.counter("spills", kBarriers, "joins beyond the registers that a warp has for barriers", s.spills);
    group.counter("yields", statistics::Unit("yields"),
                  "times that threads in a loop let others of their warp go first", s.yields);
    group.counter("yielded_threads", kThreads, "threads that left a barrier because others waited at it",
                  s.yielded_threads);
    group.counter("forced_openings", kBarriers,
                  "barriers that opened early because the paths of a warp waited for each other", s.forced);
    group.counter("barrier_slots", statistics::Unit("issue slots"), "issue slots that barriers took",
                  s.slots);
    group.maximum("most_barriers", kBarriers, "most convergence barriers of a warp at a time", s.most);
    s.table.bind(
        group, "convergence_barriers", [this] { return static_cast<double>(barrier_array().entries); },
        [this] { return static_cast<double>(barrier_array().bits); });
  }

  void describe(std::ostream& out, const Warp& own, unsigned words) const {
    const auto print = [&](const WarpMask& mask) {
      for (unsigned w = words; w-- > 0;) out << " " << std::hex << mask.words[w] << std::dec;
    };
    for (std::size_t i = 0; i < own.barriers.size(); ++i) {
      const auto& barrier = own.barriers[i];
      out << "    convergence barrier " << barrier.number << ": taken part in by";
      print(barrier.members);
      out << ", waited at by";
      print(barrier.waiting);
      out << "\n";
    }
  }

 private:
  using Action = ptx::BarrierAction;

  bool before(const WarpPaths::Path& a, const WarpPaths::Path& b) const {
    if (options_.order != PathOrder::kLowerPc) {
      const unsigned threads_a = a.mask.count(), threads_b = b.mask.count();
      if (threads_a != threads_b)
        return (threads_a < threads_b) == (options_.order == PathOrder::kFewerThreads);
    }
    return a.pc < b.pc;
  }
  bool is_placed(const Action& action) const {
    return options_.places == BarrierPlaces::kMerges || action.at_post_dominator;
  }

  // The path's threads do what is listed before their instruction, from action `next` on. It ends blocked or
  // passed.
  void act(Warp& own, WarpPaths& paths, unsigned path, std::uint32_t next) {
    const ptx::ConvergenceBarriers& all = program_->convergence;
    const ptx::Pc pc = paths[path].pc;
    const std::uint16_t depth = paths[path].depth;
    for (; next < all.first[pc + 1]; ++next) {
      const Action& action = all.actions[next];
      if (!is_placed(action)) continue;
      const WarpMask threads = paths[path].mask;
      std::size_t i = own.barriers.find(action.barrier, depth, threads);
      switch (action.kind) {
        case Action::Kind::kLeave:
          for (; i < own.barriers.size(); i = own.barriers.find(action.barrier, depth, threads)) {
            ++statistics_.leaves;
            write(own);
            own.barriers.leave(i, threads);
          }
          break;
        case Action::Kind::kJoinAtEntry:
          if (i < own.barriers.size()) break;
          [[fallthrough]];
        case Action::Kind::kJoin:
          for (; i < own.barriers.size(); i = own.barriers.find(action.barrier, depth, threads))
            own.barriers.leave(i, threads);
          own.barriers.join(action.barrier, depth, threads);
          count_join(own, threads);
          break;
        case Action::Kind::kWait:
          if (!wait(own, paths, path, i, action, depth)) return;
          break;
      }
    }
    paths.pass(path);
  }

  // The path's threads come to the end of a barrier, from `i` on. False: all of them wait.
  bool wait(Warp& own, WarpPaths& paths, unsigned path, std::size_t i, const Action& action,
            std::uint16_t depth) {
    for (; i < own.barriers.size(); i = own.barriers.find(action.barrier, depth, paths[path].mask)) {
      ++statistics_.waits;
      ++statistics_.table.reads;
      write(own);
      const auto& barrier = own.barriers[i];
      WarpMask rest = paths[path].mask;
      if (rest.remove(barrier.members).empty() && barrier.members == paths[path].mask) {
        own.barriers.remove(i);  // nobody has parted from them, or all others are gone
        continue;
      }
      WarpMask members = paths[path].mask;
      members &= barrier.members;
      own.barriers.wait(i, members);
      if (rest.empty()) {
        paths.block(path);
        return false;
      }
      paths.block(paths.split(path, members));
    }
    return true;
  }

  // Barriers at which nobody has to wait any longer open. Their threads do what else is listed there, which
  // may open others.
  void open(Warp& own, WarpPaths& paths) {
    const WarpMask away = paths.at_barriers();
    for (std::size_t i = 0; i < own.barriers.size();) {
      if (own.barriers.is_over(i)) {
        own.barriers.remove(i);
      } else if (own.barriers.opens(i, away)) {
        release(own, paths, i);
        i = 0;
      } else {
        ++i;
      }
    }
  }
  void release(Warp& own, WarpPaths& paths, std::size_t i) {
    const WarpBarriers::Barrier barrier = own.barriers.remove(i);
    ++statistics_.opened;
    const unsigned path = paths.gather(barrier.waiting);
    const ptx::ConvergenceBarriers& all = program_->convergence;
    std::uint32_t next = all.first[paths[path].pc];
    while (all.actions[next].barrier != barrier.number || all.actions[next].kind != Action::Kind::kWait)
      ++next;
    act(own, paths, path, next + 1);
  }

  // Others wait at barriers that the threads take part in: they leave these. False: nobody does.
  bool leave_what_others_wait_at(Warp& own, WarpPaths& paths, const WarpMask& threads) {
    bool any = false;
    for (std::size_t i = 0; i < own.barriers.size(); ++i) {
      const auto& barrier = own.barriers[i];
      if (barrier.waiting.empty() || !barrier.members.intersects(threads)) continue;
      WarpMask leaving = threads;
      statistics_.yielded_threads += (leaving &= barrier.members).count();
      ++statistics_.table.writes;
      own.barriers.leave(i, threads);
      any = true;
    }
    if (!any) return false;
    open(own, paths);
    paths.settle(kByPlace);
    return true;
  }

  // No path can run. Paths that wait for none at a block barrier or a warp-level primitive wait for each
  // other, at barriers whose regions overlap. The one of these barriers that was joined last opens.
  bool break_circle(Warp& own, WarpPaths& paths) {
    if (!paths.any(WarpPaths::State::kBlocked)) return false;
    const WarpMask held = own.barriers.held_by(paths.at_syncs(), paths.at_barriers());
    for (std::size_t i = own.barriers.size(); i-- > 0;) {
      WarpMask circle = own.barriers[i].waiting;
      if (circle.remove(held).empty()) continue;
      ++statistics_.forced;
      release(own, paths, i);
      open(own, paths);
      paths.settle(kByPlace);
      return true;
    }
    return false;
  }

  void count_join(Warp& own, const WarpMask& threads) {
    ++statistics_.joins;
    write(own);
    if (own.barriers.count_of_members(threads) > options_.registers) ++statistics_.spills;
    statistics_.most = std::max<std::uint64_t>(statistics_.most, own.barriers.size());
  }
  // A barrier's register is written, which is what its instruction does.
  void write(Warp& own) {
    ++statistics_.table.writes;
    if (!takes_slots()) return;
    ++own.slots;
    ++statistics_.slots;
  }
  // A bit for each thread of the warp.
  storage::Array barrier_array() const {
    return storage::ram("convergence_barriers", warps_ * options_.registers, warp_size_);
  }

  struct Statistics {
    std::uint64_t joins = 0, leaves = 0, waits = 0, opened = 0, spills = 0, yields = 0, yielded_threads = 0;
    std::uint64_t forced = 0, slots = 0, most = 0;
    TableAccesses table;
  };

  const Options options_;
  const std::uint64_t warps_, warp_size_;
  const ptx::Program* program_ = nullptr;
  std::uint64_t yield_after_ = 0;
  Statistics statistics_;
};

WEFT_REGISTER_SCHEME(scheme<PathScheme<ConvergenceRules>, ConvergenceOptions>(
    "convergence_barriers", "a PC for each thread; barriers that the compiler places, as since Volta"))

}  // namespace
}  // namespace weft::warp_formation
