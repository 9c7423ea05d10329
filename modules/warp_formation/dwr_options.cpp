// The keys of dwr, their rules, and values for tests.
#include "warp_formation/dwr_options.h"

#include <algorithm>

#include "common/config_origins.h"
#include "warp_formation/powers.h"
#include "warp_formation/table_rule.h"

namespace weft::warp_formation {

void DwrOptions::describe(config::Visitor& v) {
  v.integer(
      "smallest_warp", smallest_warp, {0, 32}, "threads",
      "threads of a sub-warp: a power of two, 4 to 32; 0, or less than the SIMD width: as many as that");
  v.integer("largest_warp", largest_warp, {1, 256}, "threads",
            "most threads that issue together: a power of two, 4 to 256");
  config::choice(
      v, "lat_barrier", lat_barrier, {{"virtual", LatBarrier::kVirtual}, {"real", LatBarrier::kReal}},
      "the barrier before a large-warp-intensive instruction takes time only, or also an issue slot");
  v.integer("lat_latency", lat_latency, {0, 4096}, "cycles",
            "cycles until the barrier before a large-warp-intensive instruction has executed");
  v.integer("lat_timeout", lat_timeout, {0, 1u << 30}, "cycles",
            "sub-warps that wait longer at the barrier continue; less than watchdog.cycles; 0: never");
  config::choice(
      v, "lat_spaces", lat_spaces,
      {{"global_local", LatSpaces::kGlobalLocal}, {"global_local_param", LatSpaces::kGlobalLocalParam}},
      "state spaces whose loads and stores are large-warp-intensive");
  config::choice(v, "ignored_lat", ignored_lat,
                 {{"charged", IgnoredLat::kCharged}, {"free", IgnoredLat::kFree}},
                 "a sub-warp also waits for the barrier's cycles before an instruction that the ignore-list "
                 "table holds, or it does not");
  config::choice(v, "lats", lats, {{"static", LatDetection::kStatic}, {"dynamic", LatDetection::kDynamic}},
                 "the compiler puts the barrier before large-warp-intensive instructions, or a table learns "
                 "their PCs as they execute");
  v.integer("lat_table_entries", lat_table_entries, {1, 4096}, "entries",
            "table of the large-warp-intensive instructions that were detected (lats=dynamic)");
  v.integer("lat_table_ways", lat_table_ways, {1, 4096}, "ways",
            "associativity of the table of detected instructions");
  v.integer("ilt_entries", ilt_entries, {1, 4096}, "entries", "ignore-list table");
  v.integer("ilt_ways", ilt_ways, {1, 4096}, "ways", "associativity of the ignore-list table");
  config::choice(v, "ilt_index", ilt_index,
                 {{"instruction", IltIndex::kInstruction}, {"byte_pc", IltIndex::kBytePc}},
                 "set of the ignore-list table: the low bits of the instruction's number, or of its byte "
                 "address as printed");
  config::choice(v, "ilt_insert", ilt_insert,
                 {{"lat", IltInsert::kLat}, {"lat_or_barrier", IltInsert::kLatOrBarrier}},
                 "a PC is ignored after partners were at LATs of different PCs, or also after one was at "
                 "another barrier");
  v.boolean(
      "ilt_survives_launch", ilt_survives_launch,
      "the ignore-list table keeps its PCs from launch to launch; false: it is empty when a kernel starts");
  v.boolean("release_on_ignored", release_on_ignored,
            "a sub-warp that passes an ignored LAT releases its locked partners");
  config::choice(v, "partners", partners, {{"block", Partnership::kBlock}, {"id", Partnership::kId}},
                 "partners are neighbours within a block, or neighbours by number in the scheduler domain, "
                 "in any blocks");
}

void DwrOptions::check(const std::string& where) const {
  check_size(where + "/largest_warp", largest_warp, 4);
  if (smallest_warp != 0 && (!power_of_two(smallest_warp) || smallest_warp < 4)) {
    throw InputError(where + "/smallest_warp", "found " + std::to_string(smallest_warp) +
                                                   "; allowed: 0, and powers of two from 4 to 32");
  }
  if (smallest_warp > largest_warp) {
    throw config::RuleError(where + "/smallest_warp", {where + "/largest_warp"},
                            "found " + std::to_string(smallest_warp) + "; allowed: 0 to largest_warp, " +
                                std::to_string(largest_warp));
  }
  check_table(where, "ilt", ilt_entries, ilt_ways);
  check_table(where, "lat_table", lat_table_entries, lat_table_ways);
  if (lats == LatDetection::kDynamic && lat_barrier == LatBarrier::kReal) {
    throw config::RuleError(where + "/lats", {where + "/lat_barrier"},
                            "found \"dynamic\" with lat_barrier \"real\"; allowed: \"virtual\", because an "
                            "unchanged program has no barrier instruction that could take a slot");
  }
}

void DwrOptions::randomise(Random& random) {
  largest_warp = 4u << random() % 6;
  lat_barrier = static_cast<LatBarrier>(random() % 2);
  lat_latency = random() % 30;
  lat_timeout = random() % 2 * 40;
  ilt_ways = 1u << random() % 2;
  ilt_entries = ilt_ways << random() % 3;
  ilt_index = static_cast<IltIndex>(random() % 2);
  ilt_insert = static_cast<IltInsert>(random() % 2);
  ilt_survives_launch = random() % 2 != 0;
  release_on_ignored = random() % 2 != 0;
  partners = static_cast<Partnership>(random() % 2);
  ignored_lat = static_cast<IgnoredLat>(random() % 2);
  lats = static_cast<LatDetection>(lat_barrier == LatBarrier::kReal ? 0 : random() % 2);
  lat_table_ways = 1u << random() % 2;
  lat_table_entries = lat_table_ways << random() % 3;
  smallest_warp = random() % 2 * std::min<std::uint64_t>(largest_warp, 4u << random() % 4);
}

}  // namespace weft::warp_formation
