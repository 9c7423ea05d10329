// The keys of dwr, their rules, and values for tests.
#include "warp_formation/dwr_options.h"

#include "common/config_origins.h"
#include "warp_formation/powers.h"

namespace weft::warp_formation {

void DwrOptions::describe(config::Visitor& v) {
  v.integer(
      "largest_warp", largest_warp, {1, 256}, "threads",
      "most threads that issue together: a power of two, 4 to 256; sub-warps are as wide as the SIMD group");
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
  if (ilt_entries % ilt_ways == 0 && power_of_two(ilt_entries / ilt_ways)) return;
  throw config::RuleError(where + "/ilt_entries", {where + "/ilt_ways"},
                          "found " + std::to_string(ilt_entries) + " entries of " + std::to_string(ilt_ways) +
                              " ways; allowed: entries = ways x a power of two");
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
}

}  // namespace weft::warp_formation
