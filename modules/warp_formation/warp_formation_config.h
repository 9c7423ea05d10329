// Configuration of the warp-formation unit.
#ifndef WEFT_WARP_FORMATION_CONFIG_H
#define WEFT_WARP_FORMATION_CONFIG_H

#include <cstdint>
#include <string>

#include "common/config_visitor.h"

namespace weft::warp_formation {

enum class Scheduling : std::uint8_t { kLooseRoundRobin, kGreedyThenOldest, kTwoLevel };

// Which path of a divergent branch runs first (the top of the reconvergence stack).
enum class SbrOrder : std::uint8_t { kFallthroughFirst, kTakenFirst, kGs2Lane, kMinorityFirst };

// Where the threads that part at a branch meet again: at its immediate post-dominator, as in the papers'
// simulator, or, where that would keep threads from a block barrier, before it (ptx/meeting.h).
enum class Reconvergence : std::uint8_t { kBarrierAware, kPlain };

// Where threads of a divergent branch wait for each other before its reconvergence point
// (likely_convergence.h).
enum class LikelyConvergence : std::uint8_t { kOff, kStatic };

// Which warp of its pool dynamic warp formation issues next.
enum class DwfHeuristic : std::uint8_t {
  kMajority,      // of the PC with most threads, until none of it is left
  kMajorityHeap,  // the same with a heap of limited ports, whose updates stall the election
  kMinority,      // of the PC with fewest threads, until none of it is left
  kFifo,          // the oldest
  kPdomPriority,  // whose threads have passed the fewest reconvergence points
  kLowestPc
};

// HARP and CROWN: which warp leaves a lookup table first.
enum class LookupDepart : std::uint8_t { kSlot, kFifoInsert, kFifoRefresh };
// What happens when the Waiting-Lookup is full: the newcomer passes it by, or the oldest makes room.
enum class LookupOverflow : std::uint8_t { kBypass, kEvict };
// Whether the barrier entries that one divergence opens in several sets complete together.
enum class BarrierSpan : std::uint8_t { kLinked, kSplit };
// Which entries a diverging thread may enter: those of the same divergence, or any with an equal
// reconvergence point.
enum class BarrierJoin : std::uint8_t { kSameCommit, kAny };

// DWR: whether the barrier before a large-warp-intensive instruction takes an issue slot.
enum class LatBarrier : std::uint8_t { kVirtual, kReal };
// DWR: loads and stores of which state spaces have that barrier (addresses that are generic count as global).
enum class LatSpaces : std::uint8_t { kGlobalLocal, kGlobalLocalParam };
// DWR: the low bits of what choose the set of the ignore-list table.
enum class IltIndex : std::uint8_t { kInstruction, kBytePc };
// LWM: a large warp issues its next instruction when the last packed warp of this one is done, or the first.
enum class LwmRefetch : std::uint8_t { kLast, kFirst };

// Table sizes and policies of HARP and CROWN, per scheduler domain (first_level: per scheduler).
struct ReincarnationConfig {
  std::uint64_t first_level = 8, second_level = 512;
  std::uint64_t ready_lookup = 8, waiting_lookup = 8;
  std::uint64_t lookup_threshold = 2;
  LookupDepart lookup_depart = LookupDepart::kFifoInsert;
  LookupOverflow lookup_overflow = LookupOverflow::kBypass;
  std::uint64_t barrier_entries = 128, barrier_ways = 16, barrier_latency = 1;
  BarrierSpan barrier_span = BarrierSpan::kLinked;
  BarrierJoin barrier_join = BarrierJoin::kSameCommit;

  void describe(config::Visitor& v);
  void check(const std::string& where) const;
  static ReincarnationConfig crown();  // as CROWN prints them
};

struct Config {
  std::string scheme = "sbr";
  std::uint64_t warp_size = 32;
  Scheduling scheduling = Scheduling::kLooseRoundRobin;
  Reconvergence reconvergence = Reconvergence::kBarrierAware;
  LikelyConvergence likely_convergence = LikelyConvergence::kOff;  // sbr and tbc only
  struct TwoLevel {
    std::uint64_t group_warps = 8;
    std::uint64_t timeout_instructions = 0;
    void describe(config::Visitor& v);
  } two_level;
  struct Sbr {
    SbrOrder order = SbrOrder::kFallthroughFirst;
    void describe(config::Visitor& v);
  } sbr;
  struct Dwf {
    std::uint64_t lut_entries = 256, lut_ways = 2;
    DwfHeuristic heuristic = DwfHeuristic::kMajority;
    std::uint64_t commit_bandwidth = 1;
    std::uint64_t starvation_limit = 0;
    struct Heap {
      std::uint64_t nodes = 128, lut_entries = 32, lut_ways = 4, reads = 4, writes = 4;
      void describe(config::Visitor& v);
    } heap;
    void describe(config::Visitor& v);
    void check(const std::string& where) const;
  } dwf;
  struct Tbc {
    SbrOrder order = SbrOrder::kFallthroughFirst;
    void describe(config::Visitor& v);
  } tbc;
  struct Dwr {
    std::uint64_t largest_warp = 64;
    LatBarrier lat_barrier = LatBarrier::kVirtual;
    std::uint64_t lat_latency = 24, lat_timeout = 100'000;
    LatSpaces lat_spaces = LatSpaces::kGlobalLocal;
    std::uint64_t ilt_entries = 32, ilt_ways = 8;
    IltIndex ilt_index = IltIndex::kInstruction;
    void describe(config::Visitor& v);
    void check(const std::string& where) const;
  } dwr;
  struct Lwm {
    std::uint64_t large_warp = 128;
    LwmRefetch refetch = LwmRefetch::kLast;
    std::uint64_t group_threads = 256, timeout_instructions = 32768;
    void describe(config::Visitor& v);
    void check(const std::string& where) const;
  } lwm;
  ReincarnationConfig harp;
  ReincarnationConfig crown = ReincarnationConfig::crown();

  void describe(config::Visitor& v);
  // `where` is the JSON path of this object, with the file's name.
  void check(const std::string& where) const;
};

}  // namespace weft::warp_formation

#endif
