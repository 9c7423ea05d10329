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
  ReincarnationConfig harp;
  ReincarnationConfig crown = ReincarnationConfig::crown();

  void describe(config::Visitor& v);
  // `where` is the JSON path of this object, with the file's name.
  void check(const std::string& where) const;
};

}  // namespace weft::warp_formation

#endif
