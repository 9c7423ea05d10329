// The keys of dwr.
#ifndef WEFT_WARP_FORMATION_DWR_OPTIONS_H
#define WEFT_WARP_FORMATION_DWR_OPTIONS_H

#include <cstdint>
#include <string>

#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

// Whether the barrier before a large-warp-intensive instruction takes an issue slot.
enum class LatBarrier : std::uint8_t { kVirtual, kReal };
// Loads and stores of which state spaces have that barrier (addresses that are generic count as global).
enum class LatSpaces : std::uint8_t { kGlobalLocal, kGlobalLocalParam };
// The low bits of what choose the set of the ignore-list table.
enum class IltIndex : std::uint8_t { kInstruction, kBytePc };
// What puts a PC into that table: a partner that comes to another LAT barrier, or one at a block barrier too.
enum class IltInsert : std::uint8_t { kLat, kLatOrBarrier };
// Whether a sub-warp waits for the barrier's cycles before an instruction that is in that table.
enum class IgnoredLat : std::uint8_t { kCharged, kFree };
// Who says which instructions have the barrier: the compiler, or a table of PCs that fills as they execute.
enum class LatDetection : std::uint8_t { kStatic, kDynamic };
// Which sub-warps are partners: neighbours of one block, or those whose numbers in the scheduler domain are
// neighbours, whatever block they belong to.
enum class Partnership : std::uint8_t { kBlock, kId };

struct DwrOptions final : OptionsOf<DwrOptions> {
  std::uint64_t smallest_warp = 0, largest_warp = 64;  // 0: as wide as the SIMD group
  LatBarrier lat_barrier = LatBarrier::kVirtual;
  std::uint64_t lat_latency = 24, lat_timeout = 100'000;
  LatSpaces lat_spaces = LatSpaces::kGlobalLocal;
  IgnoredLat ignored_lat = IgnoredLat::kCharged;
  LatDetection lats = LatDetection::kStatic;
  std::uint64_t lat_table_entries = 64, lat_table_ways = 8;
  std::uint64_t ilt_entries = 32, ilt_ways = 8;
  IltIndex ilt_index = IltIndex::kInstruction;
  IltInsert ilt_insert = IltInsert::kLat;
  bool release_on_ignored = true, ilt_survives_launch = false;
  Partnership partners = Partnership::kBlock;

  void describe(config::Visitor& v) override;
  void check(const std::string& where) const override;
  Hold longest_hold() const override { return {"lat_timeout", lat_timeout}; }
  void randomise(Random& random) override;
};

}  // namespace weft::warp_formation

#endif
