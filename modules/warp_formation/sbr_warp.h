// A warp under stack-based reconvergence: what it waits for, its stack, and how an instruction's outcomes
// move it. Shared by the schemes with a stack per warp: sbr, dwr (its sub-warps) and lwm (its large warps).
#ifndef WEFT_WARP_FORMATION_SBR_WARP_H
#define WEFT_WARP_FORMATION_SBR_WARP_H

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "warp_formation/powers.h"
#include "warp_formation/sbr_options.h"
#include "warp_formation/warp_place.h"
#include "weft/common/popcount.h"
#include "weft/warp_formation/reconvergence_stack.h"
#include "weft/warp_formation/table_accesses.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

// Sorts the paths of a branch so that the one to run first comes last (it goes on top of the stack).
inline void order_paths(std::vector<ReconvergenceStack::Path>& paths, ptx::Pc branch, SbrOrder order) {
  const auto fallthrough = [branch](const auto& path) { return path.pc == branch + 1; };
  std::sort(paths.begin(), paths.end(), [&](const auto& a, const auto& b) {
    switch (order) {
      case SbrOrder::kTakenFirst:
        if (fallthrough(a) != fallthrough(b)) return fallthrough(a);
        break;
      case SbrOrder::kGs2Lane:
        return a.mask.highest() > b.mask.highest();
      case SbrOrder::kMinorityFirst:
        if (a.mask.count() != b.mask.count()) return a.mask.count() > b.mask.count();
        [[fallthrough]];
      case SbrOrder::kFallthroughFirst:
        if (fallthrough(a) != fallthrough(b)) return fallthrough(b);
        break;
    }
    return a.pc > b.pc;
  });
}

// The reconvergence stacks of `warps` warps. An entry: two PCs and a bit per thread; with likely-convergence
// points a third PC and the number of the entry to join, of the 2 x warp size that a stack may have.
inline storage::Array stack_array(std::uint64_t warps, std::uint64_t stack_entries, std::uint64_t warp_size,
                                  bool likely = false) {
  const std::uint64_t bits = 2 * kPcBits + warp_size + (likely ? kPcBits + bits_for(2 * warp_size) : 0);
  return storage::ram("stacks", warps * stack_entries, bits);
}

// How far the threads of a scheme's warps are apart at the moment. Waveforms ask for it in every cycle, so
// the warps are counted again only after changed().
class Divergence {
 public:
  // A stack may have another depth than before, or a warp has started or ended.
  void changed() { counted_ = false; }

  // Warps outlive the group.
  template <class Warps>
  void bind(statistics::Group& group, const Warps& warps) {
    group.gauge("parted_warps", units::kWarps, "warps whose threads are on more than one path",
                [this, &warps] {
                  count(warps);
                  return parted_;
                });
    group.gauge("stack_entries", units::kEntries, "entries on the stacks of all warps", [this, &warps] {
      count(warps);
      return entries_;
    });
  }

 private:
  template <class Warps>
  void count(const Warps& warps) {
    if (counted_) return;
    counted_ = true;
    parted_ = entries_ = 0;
    for (const auto& warp : warps) {
      if (!warp.live) continue;
      parted_ += warp.stack.depth() > 1 ? 1 : 0;
      entries_ += warp.stack.depth();
    }
  }

  bool counted_ = false;
  std::uint64_t parted_ = 0, entries_ = 0;
};

// What schemes with a stack per warp count.
struct StackStatistics {
  std::uint64_t divergent_branches = 0, uniform_branches = 0, barriers_in_divergence = 0, deepest_stack = 0;
  std::uint64_t path_switches = 0, lone_departures = 0;
  TableAccesses stacks;

  // A stack has so many entries now. The top entry is beside the scheduler; those below it are read when it
  // goes, and written when paths part: each new one, and the one that now waits for them.
  void moved(std::size_t before, std::size_t now) {
    if (now > before) stacks.writes += now - before + 1;
    if (now < before) ++stacks.reads;
  }
  // Of `warps` stacks, as deep as the deepest was.
  void bind_stacks(statistics::Group& group, std::uint64_t warps, std::uint64_t entry_bits) {
    stacks.bind(
        group, "stacks", [this, warps] { return static_cast<double>(warps * deepest_stack); },
        [entry_bits] { return static_cast<double>(entry_bits); });
  }

  void bind(statistics::Group& group) {
    group.counter("divergent_branches", units::kBranches, "branches after which threads of a warp diverge",
                  divergent_branches);
    group.counter("uniform_branches", units::kBranches, "branches after which a warp stays together",
                  uniform_branches);
    group.counter("bar_in_divergence", statistics::Unit("barriers"),
                  "arrivals at a block barrier of a warp whose threads have diverged (undefined in CUDA)",
                  barriers_in_divergence);
    group.maximum("deepest_stack", units::kEntries, "most entries that a reconvergence stack held",
                  deepest_stack);
    group.counter(
        "path_switches", statistics::Unit("switches"),
        "times that a warp changed to another path because the running path came to a block barrier",
        path_switches);
    group.counter(
        "lone_departures", statistics::Unit("departures"),
        "times that threads left a reconvergence point without others, which waited at block barriers",
        lone_departures);
  }
};

inline constexpr unsigned kBlockBarriers = 16;

// What a scheduler reads of each candidate, up to the stack, is in one line of the host's caches: warps of
// large machines are not in the nearest one.
struct alignas(64) SbrWarp : WarpPlace {
  explicit SbrWarp(unsigned size) : stack(size) { paths.reserve(4); }
  bool live = false;
  bool in_flight = false, in_memory = false;
  bool at_barrier = false;       // no path runs: some of its threads are at block barriers
  bool at_sync = false;          // no path runs: some of its threads are at warp-level primitives
  bool arrived = false;          // the instruction just deposited left threads at block barriers
  bool syncs = false;            // `syncing` is not empty
  bool parted = false;           // threads have gone on without others, which wait
  std::uint16_t barriers = 0;    // at which threads of it wait
  std::uint32_t unresolved = 0;  // threads of the issue in flight
  std::uint32_t group_count = 0;
  ReconvergenceStack stack;
  WarpGroups groups{};  // the top entry's threads; of dwr, those of all sub-warps that issue together
  WarpMask exiting;
  WarpMask syncing;                                    // wait at warp-level primitives or block barriers
  std::array<WarpMask, kBlockBarriers> at_barriers{};  // ... the latter, by barrier
  std::vector<ReconvergenceStack::Path> paths;         // where the threads of the issue go, so far

  // Warp `warp_number` of the block begins, all of its threads at PC 0.
  void start(const Block& block, unsigned warp_number, unsigned size, unsigned lanes) {
    live = true;
    in_flight = in_memory = at_barrier = at_sync = arrived = syncs = parted = false;
    barriers = 0;
    syncing = {};
    at_barriers = {};
    exiting = {};
    stack.start(0, take_place(block, warp_number, size, lanes));
  }

  // Rebuilds `groups` from the top of the stack.
  void show_top(unsigned size, unsigned lanes) {
    group_count = groups_of(stack.top().mask, size, lanes, groups);
  }

  // What became of some of the threads in flight.
  void deposit(const Outcome& outcome) {
    ReconvergenceStack::Path path{outcome.next_pc, outcome.depth, {}};
    for (const auto& group : outcome.groups) {
      add_to(path.mask, group);
      unresolved -= count_of(group.mask);
    }
    switch (outcome.kind) {
      case Outcome::Kind::kExit:
        exiting |= path.mask;
        return;
      case Outcome::Kind::kBarrier:
        arrived = true;
        barriers |= static_cast<std::uint16_t>(1u << outcome.argument);
        at_barriers[outcome.argument] |= path.mask;
        syncing |= path.mask;
        syncs = true;
        break;
      case Outcome::Kind::kWarpSync:
        syncing |= path.mask;
        syncs = true;
        break;
      case Outcome::Kind::kGo:
        break;
    }
    for (auto& known : paths) {
      if (known.pc == path.pc && known.depth == path.depth) {
        known.mask |= path.mask;
        return;
      }
    }
    paths.push_back(path);
  }

  // All threads of the instruction have been deposited: the stack moves. `likely` is the likely-convergence
  // point of a branch. False: none of the warp is left.
  bool settle(const ptx::Program& program, const StackRules& rules, StackStatistics& statistics,
              ptx::Pc likely = ptx::kNoPc) {
    const ptx::Pc pc = stack.top().pc;
    const ptx::Instruction& instruction = program.code[pc];
    const std::size_t depth = stack.depth();
    if (!exiting.empty()) {
      stack.exit(exiting);
      exiting = {};
      if (stack.empty()) {
        paths.clear();
        live = false;
        return false;
      }
    }
    if (paths.empty()) return statistics.moved(depth, stack.depth()), true;
    if (paths.size() > 1) order_paths(paths, pc, rules.order);
    if (instruction.is_branch())
      ++(paths.size() > 1 ? statistics.divergent_branches : statistics.uniform_branches);
    // A return has no reconvergence point of its own: threads that go back to different callers meet where
    // the entry did.
    const StackEntry& top = stack.top();
    const bool returns = instruction.op == ptx::Opcode::kReturn;
    stack.advance(paths.data(), static_cast<unsigned>(paths.size()),
                  returns ? top.rpc : reconvergence_point(instruction, rules.reconvergence),
                  returns ? top.rpc_depth : top.depth, likely);
    statistics.deepest_stack = std::max<std::uint64_t>(statistics.deepest_stack, stack.depth());
    statistics.moved(depth, stack.depth());
    paths.clear();
    return true;
  }

  // Block barrier `barrier` has opened. True: threads of the warp waited there.
  bool open_barrier(unsigned barrier) {
    if ((barriers >> barrier & 1) == 0) return false;
    barriers &= static_cast<std::uint16_t>(~(1u << barrier));
    syncing.remove(at_barriers[barrier]);
    at_barriers[barrier] = {};
    syncs = !syncing.empty();
    return true;
  }

  // Threads that wait, below the top of the stack and for nobody but those above, at an instruction that ends
  // them.
  WarpMask ending(const ptx::Program& program) const {
    WarpMask seen, ends;
    const auto& entries = stack.entries();
    for (std::size_t e = entries.size(); e-- > 0;) {
      WarpMask fresh = entries[e].mask;
      fresh.remove(seen);
      seen |= entries[e].mask;
      // An entry without a PC only has threads of those above it, which end there.
      if (e + 1 == entries.size() || entries[e].pc == ptx::kNoPc) continue;
      const ptx::Instruction& next = program.code[entries[e].pc];
      if (next.is_exit() && next.guard < 0) ends |= fresh;
    }
    return syncs ? ends.remove(syncing) : ends;
  }

  // WarpFormation::held_back. The warp has threads of the chunk.
  std::uint32_t held_back(unsigned chunk, const std::uint32_t* standing) const {
    if (!syncs || stack.depth() == 1) return 0;
    WarpMask own = syncing;
    for (unsigned w = 0; w < chunks; ++w) own.words[w] &= standing[first_chunk + w] >> shift;
    return stack.held_back(own).words[chunk - first_chunk] << shift;
  }

  // Threads that a warp-level primitive releases.
  void release(Groups threads, unsigned size) {
    syncing.remove(own_of(threads, size));
    syncs = !syncing.empty();
  }

  // Puts a path on top that can run; false: none can. With `may_part`, threads that are not at a primitive
  // part from those of their path that are: its guard left them out, or they were at the point of
  // reconvergence already. The others follow by the lowest PC, and join them where they meet.
  bool choose_path(bool may_part = false) {
    if (parted && stack.depth() == 1) parted = false;
    if (!syncs && !parted) return true;
    const auto can_run = [this](const WarpMask& mask) { return !syncs || !mask.intersects(syncing); };
    if (parted ? stack.bring_up_lowest(can_run) : stack.bring_up(can_run)) return true;
    if (!may_part || !stack.part(syncing)) return false;
    parted = true;
    return stack.bring_up_lowest(can_run);
  }

  // No path can run: threads that wait at a point of reconvergence go on without the others until one can;
  // then those that only stand where others of their path wait.
  bool choose_path_without_others() {
    while (stack.go_on_without()) {
      if (choose_path()) return true;
    }
    return choose_path(true);
  }

  // Puts a path on top that can run; false: there is none, or none needs to.
  //
  // Those that wait at a block barrier wait for all of the block, so threads that only the stack holds back
  // (on a path that does not run, or at a point of reconvergence) run meanwhile. Not if they all stand at
  // their exit: a barrier counts these as gone.
  bool choose(const ptx::Program& program, StackStatistics& statistics) {
    if (barriers == 0) return choose_path(true);
    if (!parted && !stack.top().mask.intersects(syncing)) return true;
    if (parted && choose_path()) return true;
    if (!holds_others(program)) return false;
    parted = true;  // from here on by the lowest PC, so that paths meet again
    if (choose_path()) return true;
    do {
      if (!choose_path(true)) continue;
      ++statistics.lone_departures;
      return true;
    } while (stack.go_on_without());
    return false;
  }

  void count(Census& census) const { count(census, in_flight); }
  // The same for a warp of which only others know whether its instruction is in flight.
  void count(Census& census, bool flies) const {
    const auto& entries = stack.entries();
    if (entries.size() == 1 && !syncs && exiting.empty()) {  // most warps, most of the time
      (flies ? census.issued : at_barrier ? census.barrier : census.ready) += entries[0].mask.count();
      return;
    }
    WarpMask seen;
    for (std::size_t e = entries.size(); e-- > 0;) {
      WarpMask fresh = entries[e].mask;
      fresh.remove(seen);
      seen |= entries[e].mask;
      fresh.remove(exiting);  // gone, though the others of their instruction are still under way
      unsigned threads = fresh.count();
      if (syncs && threads != 0) {
        WarpMask waiting = fresh;
        const unsigned waiting_threads = (waiting &= syncing).count();
        const unsigned held = (waiting &= at_block_barriers()).count();
        census.barrier += held;
        census.warp_sync += waiting_threads - held;
        threads -= waiting_threads;
      }
      if (threads == 0) continue;
      if (e + 1 == entries.size()) {
        (flies        ? census.issued
         : at_barrier ? census.barrier
         : at_sync    ? census.warp_sync
                      : census.ready) += threads;
      } else if (entries[e + 1].level > entries[e].level || entries[e].likely) {
        census.reconvergence += threads;  // the entry that waits for those above it, or beside it
      } else {
        census.inactive_path += threads;
      }
    }
  }

  // One line, and one per entry of the stack.
  void describe(std::ostream& out, unsigned context, unsigned size, const ptx::Program& program) const {
    out << "warp " << context << " (block slot " << slot << ", threads " << number * size << " to "
        << number * size + size - 1 << "): " << state() << "\n";
    describe_stack(out, size, program);
  }
  void describe_stack(std::ostream& out, unsigned size, const ptx::Program& program) const {
    const auto& entries = stack.entries();
    for (std::size_t e = entries.size(); e-- > 0;) {
      out << "    " << (e + 1 == entries.size() ? "runs" : "waits") << " at pc " << entries[e].pc << " ("
          << program.place(entries[e].pc) << "), " << entries[e].mask.count() << " threads, mask";
      for (unsigned w = (size + 31) / 32; w-- > 0;)
        out << " " << std::hex << entries[e].mask.words[w] << std::dec;
      if (entries[e].likely) out << ", a likely-convergence point";
      if (entries[e].rpc != ptx::kNoPc) out << ", reconverges at pc " << entries[e].rpc;
      if (syncs && entries[e].mask.intersects(syncing))
        out << ", has threads at a barrier or a warp-level primitive";
      out << "\n";
    }
  }

 private:
  WarpMask at_block_barriers() const {
    WarpMask all;
    for (std::uint32_t rest = barriers; rest != 0; rest &= rest - 1)
      all |= at_barriers[static_cast<unsigned>(__builtin_ctz(rest))];
    return all;
  }
  // Some wait at block barriers: whether others wait for nothing but these. Once threads have parted, those
  // that stand at their exit must run it, since nothing else may happen that lets a barrier count them.
  bool holds_others(const ptx::Program& program) const {
    WarpMask others;
    for (const auto& entry : stack.entries()) others |= entry.mask;
    if (others.remove(syncing).empty()) return false;
    return parted || !others.remove(ending(program)).empty();
  }

  std::string state() const {
    if (!at_barrier && at_sync) return "waits for other threads of its warp";
    if (!at_barrier)
      return in_memory ? "waits for memory" : in_flight ? "instruction in flight" : "can be issued";
    std::string text = "waits at barrier";
    for (unsigned b = 0, seen = 0; b < 16; ++b) {
      if ((barriers >> b & 1) != 0) text += (seen++ == 0 ? " " : ", ") + std::to_string(b);
    }
    return text;
  }
};

}  // namespace weft::warp_formation

#endif
