// The warp-formation contract: which threads of a scheduler domain run together, and what a branch does to
// them.
//
// A scheme is a plain class that derives from WarpFormation; the SM hosts one instance per scheduler domain
// and owns everything else: operand readiness, lanes, memory, block barriers. The calls of one cycle come in
// this order:
//
//   resolved, barrier_released, warp_sync_released   what completed
//   advance                                          tables move
//   pick, issued, memory_issued                      once or more per scheduler
//   pick_beside, issued, memory_issued               after an issue, where the scheme issues several at once
//
// `pick` comes only in cycles in which it can make a difference: after an issue or one of the other calls
// above, when operands or instructions for a context have arrived, while a context waits for a unit, and when
// `next_event` said so. `advance` comes in every cycle in which the SM is awake.
//
// A thread's position never changes while its block is resident. Positions come in chunks of 32 (the width of
// one vector operation of the simulator, not of the machine), so a set of threads is a list of (chunk, mask).
//
// A scheme names threads in the places of its warp: a row and a lane of its tables, `Geometry::lanes` lanes
// to a row, where a thread's lane is its position modulo those (HARP 2). It says how many rows its warp has.
// What that means in cycles and lanes of the machine is the datapath's business (modules/datapath).
//
// To add a scheme: one file that ends in WEFT_REGISTER_SCHEME(...) (scheme.h), one line in CMakeLists.txt.
#ifndef WEFT_WARP_FORMATION_H
#define WEFT_WARP_FORMATION_H

#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "weft/common/archive.h"
#include "weft/common/popcount.h"
#include "weft/common/statistics.h"
#include "weft/common/storage.h"
#include "weft/ptx/program.h"
#include "weft/warp_formation/contexts.h"
#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

using Cycle = std::uint64_t;
inline constexpr Cycle kNoEvent = UINT64_MAX;
inline constexpr unsigned kChunk = 32;
inline constexpr unsigned kMaxWarpSize = 256;
inline constexpr unsigned kMaxGroups = 32;  // groups of one issue

// Where the threads that part at a branch meet again, or kNoPc.
inline ptx::Pc reconvergence_point(const ptx::Instruction& branch, Reconvergence rule) {
  return rule == Reconvergence::kPlain ? branch.plain_reconvergence : branch.reconvergence;
}

// Up to 32 threads: those positions of one chunk whose bit is set.
struct ThreadGroup {
  std::uint32_t mask = 0;
  std::uint16_t chunk = 0;
  std::uint8_t row = 0;  // of the warp, in which the threads have their lanes ...
  bool spread = false;   // ... or the first of several: position p lies in row + (p mod 32) / lanes
};

struct Groups {
  const ThreadGroup* data = nullptr;
  std::uint32_t count = 0;
  const ThreadGroup* begin() const { return data; }
  const ThreadGroup* end() const { return data + count; }
};

using IssueId = std::uint16_t;

// What a scheme offers to a scheduler. `groups` points into the scheme and is valid until the next call of
// it.
struct Issue {
  ptx::Pc pc = ptx::kNoPc;
  std::uint16_t depth = 0;    // call depth
  std::uint16_t context = 0;  // which front-end buffer holds the instruction: 0 .. contexts()-1
  std::uint16_t slot = 0;     // block slot; all threads of an issue belong to one block
  std::uint8_t rows = 1;      // of the warp, with or without threads
  // Bit i: the buffer of context + i gives up the instruction as well, if it holds it (warps issued as one).
  std::uint64_t partners = 0;
  // More threads of the same instruction follow from the same buffer, which therefore keeps it.
  bool more_follow = false;
  Groups groups;
};

// The SM as a scheme sees it: read only.
class SmView {
 public:
  virtual ~SmView() = default;
  // Could this be issued now by `scheduler`? kNone: yes.
  virtual Stall ready(unsigned scheduler, const Issue& issue) const = 0;
  // As `ready`, for an offer that would begin in this cycle beside all that the scheduler has issued in it:
  // on a unit that is free, or on a unit of these, in lanes that they leave free in each beat.
  virtual Stall ready_beside(unsigned scheduler, const Issue& issue) const {
    static_cast<void>(scheduler);
    static_cast<void>(issue);
    return Stall::kUnitBusy;
  }
  // Threads of a group of an offer for which `ready` said kMemory or kDependence: those whose operands have
  // not been written.
  virtual std::uint32_t waiting_threads(const Issue& issue, const ThreadGroup& group) const {
    static_cast<void>(issue);
    static_cast<void>(group);
    return 0;
  }

  // Contexts for which `ready` last said kMemory or kDependence, and whose operands have not been written
  // since. As long as such a context still offers the same threads at the same PC, asking again is a waste of
  // time.
  const ContextSet& waiting_for_memory() const { return waiting_for_memory_; }
  const ContextSet& waiting_for_arithmetic() const { return waiting_for_arithmetic_; }
  // Contexts whose instruction buffer does not hold the instruction that their table entry names.
  const ContextSet& waiting_for_fetch() const { return waiting_for_fetch_; }
  // Contexts for which `ready` said kUnitBusy because of the special-function units, or kMemoryBusy, and
  // whose unit has been taken ever since.
  const ContextSet& waiting_for_unit() const { return waiting_for_unit_; }
  const ContextSet& waiting_for_memory_unit() const { return waiting_for_memory_unit_; }

 protected:
  mutable ContextSet waiting_for_memory_, waiting_for_arithmetic_, waiting_for_unit_,
      waiting_for_memory_unit_;
  ContextSet waiting_for_fetch_;
};

// Next PC of each context, so that the front end can fetch ahead. Written by the scheme, read by the SM.
class ContextTable {
 public:
  explicit ContextTable(unsigned contexts) : pc_(contexts, ptx::kNoPc), changed_((contexts + 63) / 64, 0) {}
  void set(unsigned context, ptx::Pc pc) {
    pc_[context] = pc;
    changed_[context / 64] |= std::uint64_t{1} << (context % 64);
    written_ = true;
  }
  ptx::Pc pc(unsigned context) const { return pc_[context]; }
  unsigned size() const { return static_cast<unsigned>(pc_.size()); }
  // The SM issued what the context needed: what comes next is written when it is known.
  void issued(unsigned context) { changed_[context / 64] &= ~(std::uint64_t{1} << (context % 64)); }
  // Whether a context was written since the SM last asked.
  bool take_written() { return std::exchange(written_, false); }
  // Bit set of contexts written since the SM last cleared it.
  std::vector<std::uint64_t>& changed() { return changed_; }
  void archive(Archive& archive) {
    archive(pc_, changed_);
    written_ = true;
  }

 private:
  std::vector<ptx::Pc> pc_;
  std::vector<std::uint64_t> changed_;
  bool written_ = true;
};

// What became of threads of an issue.
struct Outcome {
  enum class Kind : std::uint8_t { kGo, kBarrier, kWarpSync, kExit };
  Kind kind = Kind::kGo;
  std::uint16_t depth = 0;       // call depth after the instruction
  ptx::Pc next_pc = ptx::kNoPc;  // where they go on (after the barrier, for kBarrier and kWarpSync)
  std::uint32_t argument = 0;    // kBarrier: barrier number; kWarpSync: mask of the original warp's threads
  Groups groups;
  bool whole = false;  // `groups` are exactly the threads of the issue (most instructions)
};

struct Outcomes {
  const Outcome* data = nullptr;
  std::uint32_t count = 0;
  const Outcome* begin() const { return data; }
  const Outcome* end() const { return data + count; }
};

// A block as it enters a domain. Thread i of the block sits at position 32 * first_chunk + i.
struct Block {
  std::uint16_t slot = 0;
  std::uint16_t first_chunk = 0;
  std::uint32_t threads = 0;
};

inline constexpr unsigned kOwnStates = 4;

// Threads of the domain by what they wait for; the sum is the number of live threads.
struct Census {
  std::uint64_t issued = 0;         // an instruction is in flight
  std::uint64_t ready = 0;          // could be offered, or wait on a dependence
  std::uint64_t barrier = 0;        // block barrier
  std::uint64_t reconvergence = 0;  // reached the reconvergence point before others
  std::uint64_t inactive_path = 0;  // on a path of the stack that does not run now
  std::uint64_t lookup = 0;         // held in a lookup table
  std::uint64_t queued = 0;         // queued for commit or compaction
  std::uint64_t warp_sync = 0;      // waiting for threads of the original warp
  // States that only this scheme has (Scheme::states): threads that it holds back for other threads.
  std::array<std::uint64_t, kOwnStates> own{};

  std::uint64_t held_by_scheme() const { return std::accumulate(own.begin(), own.end(), std::uint64_t{0}); }
  std::uint64_t total() const {
    return issued + ready + barrier + reconvergence + inactive_path + lookup + queued + warp_sync +
           held_by_scheme();
  }
  Census& operator+=(const Census& other) {
    issued += other.issued;
    ready += other.ready;
    barrier += other.barrier;
    reconvergence += other.reconvergence;
    inactive_path += other.inactive_path;
    lookup += other.lookup;
    queued += other.queued;
    warp_sync += other.warp_sync;
    for (unsigned i = 0; i < kOwnStates; ++i) own[i] += other.own[i];
    return *this;
  }
};

// The part of the machine that a domain has.
struct Geometry {
  std::uint32_t threads = 0;       // most resident threads
  std::uint32_t lanes = 32;        // of a row of a warp: the datapath's
  std::uint32_t schedulers = 1;    // schedulers that pick from this domain
  std::uint32_t max_issues = 256;  // ids are below this
  std::uint32_t slots = 8;         // block slots of the SM
  std::uint32_t chunks = 48;       // chunks of the SM
  bool barrel = false;             // at most one instruction of a thread in flight
  bool shared_port = false;        // a scheduler issues nothing else during the beats of an issue
};

class WarpFormation {
 public:
  virtual ~WarpFormation() = default;

  // Before the first launch and at each kernel. `program` outlives the kernel.
  virtual void attach(const ptx::Program& program, const SmView& sm) = 0;
  virtual bool can_launch(const Block& block) const = 0;
  virtual void launch(const Block& block) = 0;
  // The block's last thread has exited.
  virtual void retire(const Block& block) = 0;
  virtual void reset() = 0;

  virtual void advance(Cycle now) = 0;
  // Fills `issue` and returns kNone, or returns why there is nothing.
  virtual Stall pick(unsigned scheduler, Issue& issue) = 0;
  // Most instructions of a scheduler that begin in one cycle, each with an opcode of its own for its lanes.
  virtual unsigned issues_at_once() const { return 1; }
  // As `pick`, for an offer that begins in the same cycle as what the scheduler has just issued
  // (SmView::ready_beside). Asked after each issue of a cycle, until there is nothing or as many as may be.
  virtual Stall pick_beside(unsigned scheduler, Issue& issue) {
    static_cast<void>(scheduler);
    static_cast<void>(issue);
    return Stall::kEmpty;
  }
  // The SM took the issue just picked, under this id; the id is in use until every thread of it is resolved.
  virtual void issued(IssueId id, const Issue& issue) = 0;
  // Threads of it wait for memory: a long wait begins.
  virtual void memory_issued(IssueId id) = 0;
  // Next PCs are known. Parts of an issue may be resolved apart. There is no time here: stamp at the next
  // `advance`.
  virtual void resolved(IssueId id, Outcomes outcomes) = 0;
  // Threads of the slot that wait, for others of their warp, at an instruction that ends them: a block
  // barrier counts them as gone. (`if (i >= n) return;` before a barrier is legal; under a stack such threads
  // do not run their `ret` first.)
  virtual std::uint32_t waiting_to_exit(std::uint16_t slot) const {
    static_cast<void>(slot);
    return 0;
  }
  // The same threads, of one chunk, whether or not the others of their warp are at a barrier: neither a
  // barrier for a number of threads nor a warp-level primitive waits for them.
  virtual std::uint32_t ending(unsigned chunk) const {
    static_cast<void>(chunk);
    return 0;
  }
  // Threads of the chunk that wait at a reconvergence point for others of whom at least one is `standing`:
  // they cannot go on before that one does. `standing` has a word for each chunk of the SM: threads that wait
  // at warp-level primitives.
  virtual std::uint32_t held_back(unsigned chunk, const std::uint32_t* standing) const {
    static_cast<void>(chunk);
    static_cast<void>(standing);
    return 0;
  }
  virtual void barrier_released(std::uint16_t slot, unsigned barrier) = 0;
  // All threads of the original warp (the chunk) that a primitive named have come, or cannot come
  // (held_back); these, which arrived with kWarpSync, go on. They may have come from different PCs. A scheme
  // lets other threads of the same warp run while some wait.
  virtual void warp_sync_released(Groups threads) = 0;
  // Whether threads of a warp of 32 consecutive threads of the block that execute together do so as on a
  // machine that keeps warps: only then do shfl and vote without .sync mean anything.
  virtual bool keeps_warps() const { return false; }
  // Most threads of a warp, by which SIMD efficiency is measured; 0: as many as the beats of its issue have
  // lanes.
  virtual unsigned warp_width() const { return 0; }

  virtual Census census() const = 0;
  // The next cycle (after `now`) at which a table moves by itself, or kNoEvent.
  virtual Cycle next_event(Cycle now) const = 0;

  // Whether each of n schedulers picks every n-th context only (scheduler 0 context 0, n, 2n, ...), and what
  // a context offers changes only in calls about its own issue or about a block or released threads. The SM
  // then asks less: not a scheduler because of another's context, and not a context that is known to wait
  // for nothing but the way to the load-store unit.
  virtual bool keeps_contexts_apart() const { return false; }
  virtual ContextTable& contexts() = 0;
  // What the warp of a context runs next, for statistics of lanes that run warps of their own. kHeld: not
  // before something else has happened than what SmView::ready asks for. kNone: there is no warp, or the
  // scheme does not say.
  enum class Next : std::uint8_t { kNone, kHeld, kOffered };
  virtual Next next(unsigned context, Issue& issue) const {
    static_cast<void>(context);
    static_cast<void>(issue);
    return Next::kNone;
  }
  // Warps with at least one thread that could be offered, for waveforms.
  virtual unsigned ready_warps() const = 0;
  virtual void bind(statistics::Group& group) = 0;
  // The arrays of its tables, for `weft area`; each names the statistic that counts its bits, if there is
  // one. `stack_entries`: of each reconvergence stack, whose depth no table limits.
  virtual storage::Arrays arrays(std::uint64_t stack_entries) const {
    static_cast<void>(stack_entries);
    return {};
  }
  // One line per live warp or table entry, for the watchdog's report.
  virtual std::string dump() const = 0;

  // Between two launches, when no thread is left: what the scheme remembers for the next kernel beside its
  // statistics, to be written and read (weft/common/archive.h), so that a run can be continued from there.
  // False: it has not said, and such a run is refused.
  virtual bool can_be_kept() const { return false; }
  virtual void archive(Archive& archive) { static_cast<void>(archive); }
};

}  // namespace weft::warp_formation

#endif
