// The keys of harp and crown: one structure, two sets of defaults.
#ifndef WEFT_WARP_FORMATION_REINCARNATING_OPTIONS_H
#define WEFT_WARP_FORMATION_REINCARNATING_OPTIONS_H

#include <cstdint>
#include <string>

#include "weft/warp_formation/likely_option.h"
#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

// Which warp leaves a lookup table first.
enum class LookupDepart : std::uint8_t { kSlot, kFifoInsert, kFifoRefresh };
// Which ready warp goes before the others: the oldest; or one that is behind, so that threads keep one pace
// and meet in the lookup tables (HARP 7.4 says that several such schedulers were tried, not which).
enum class WarpPriority : std::uint8_t { kOldest, kLowestPc, kLaggard };
// What happens when the Waiting-Lookup is full: the newcomer passes it by, or the oldest makes room.
enum class LookupOverflow : std::uint8_t { kBypass, kEvict };
// Whether the barrier entries that one divergence opens in several sets complete together.
enum class BarrierSpan : std::uint8_t { kLinked, kSplit };
// Which entries a diverging thread may enter: those of the same divergence, or any with an equal
// reconvergence point.
enum class BarrierJoin : std::uint8_t { kSameCommit, kAny };
// What the barriers' table is made of: an array per lane and one of reconvergence points, each with ports of
// its own, or one array. It costs area and time of access, in which the model does not differ; what a lack of
// banks and ports costs in cycles is said by `barrier_banks` and `barrier_ports`.
enum class BarrierLayout : std::uint8_t { kLanes, kWhole };
// Whether the first cycle of something is the one of write-back, or comes after it.
enum class CommitStep : std::uint8_t { kWriteBack, kOwnCycle };

// Table sizes and policies, per scheduler domain (first_level: per scheduler).
struct ReincarnationTables {
  std::uint64_t first_level = 8, second_level = 512;
  std::uint64_t ready_lookup = 8, waiting_lookup = 8;
  std::uint64_t lookup_threshold = 2;
  LookupDepart lookup_depart = LookupDepart::kFifoInsert;
  LookupOverflow lookup_overflow = LookupOverflow::kBypass;
  std::uint64_t barrier_entries = 128, barrier_ways = 16, barrier_latency = 1;
  std::uint64_t barrier_banks = 0, barrier_ports = 1;  // 0 banks: one per lane
  BarrierSpan barrier_span = BarrierSpan::kLinked;
  BarrierJoin barrier_join = BarrierJoin::kSameCommit;
  BarrierLayout barrier_layout = BarrierLayout::kLanes;
  CommitStep barrier_search = CommitStep::kWriteBack;
  CommitStep waiting_departure = CommitStep::kWriteBack;
  WarpPriority priority = WarpPriority::kOldest;

  void describe(config::Visitor& v);
  void check(const std::string& where) const;
  void randomise(Random& random);
};

template <class Own>
class ReincarnationOptionsOf : public LikelyOptionsOf<Own>, public ReincarnationTables {
 public:
  void describe(config::Visitor& v) final { ReincarnationTables::describe(v); }
  void check(const std::string& where) const final { ReincarnationTables::check(where); }
  void randomise(Random& random) final {
    ReincarnationTables::randomise(random);
    this->randomise_likely(random);
  }

 private:
  ReincarnationOptionsOf() = default;
  friend Own;
};

struct HarpOptions final : ReincarnationOptionsOf<HarpOptions> {};
struct CrownOptions final : ReincarnationOptionsOf<CrownOptions> {
  CrownOptions();
};

}  // namespace weft::warp_formation

#endif
