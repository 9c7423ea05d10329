// Configuration of the schemes with warps of more than one size: dwr and lwm.
#include "common/config_origins.h"
#include "common/error.h"
#include "warp_formation/warp_formation_config.h"

namespace weft::warp_formation {
namespace {

bool power_of_two(std::uint64_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

void check_size(const std::string& where, std::uint64_t threads, unsigned least) {
  if (power_of_two(threads) && threads >= least) return;
  throw InputError(where, "found " + std::to_string(threads) + ", allowed are powers of two from " +
                              std::to_string(least) + " to 256");
}

}  // namespace

void Config::Dwr::describe(config::Visitor& v) {
  v.integer(
      "largest_warp", largest_warp, {1, 256}, "threads",
      "most threads that issue together: a power of two, 4 to 256; sub-warps are as wide as the SIMD group");
  config::choice(
      v, "lat_barrier", lat_barrier, {{"virtual", LatBarrier::kVirtual}, {"real", LatBarrier::kReal}},
      "the barrier before a large-warp-intensive instruction only takes time, or an issue slot too");
  v.integer("lat_latency", lat_latency, {0, 4096}, "cycles", "until that barrier has executed");
  v.integer("lat_timeout", lat_timeout, {0, 1u << 30}, "cycles",
            "sub-warps that wait longer at that barrier go on; less than watchdog.cycles; 0: never");
  config::choice(
      v, "lat_spaces", lat_spaces,
      {{"global_local", LatSpaces::kGlobalLocal}, {"global_local_param", LatSpaces::kGlobalLocalParam}},
      "state spaces whose loads and stores are large-warp-intensive");
  v.integer("ilt_entries", ilt_entries, {1, 4096}, "entries", "ignore-list table");
  v.integer("ilt_ways", ilt_ways, {1, 4096}, "ways", "associativity of that table");
  config::choice(v, "ilt_index", ilt_index,
                 {{"instruction", IltIndex::kInstruction}, {"byte_pc", IltIndex::kBytePc}},
                 "its set: the low bits of the instruction's number, or of its byte address as printed");
}

void Config::Dwr::check(const std::string& where) const {
  check_size(where + "/largest_warp", largest_warp, 4);
  if (ilt_entries % ilt_ways == 0 && power_of_two(ilt_entries / ilt_ways)) return;
  throw config::RuleError(where + "/ilt_entries", {where + "/ilt_ways"},
                          "found " + std::to_string(ilt_entries) + " entries of " + std::to_string(ilt_ways) +
                              " ways, allowed are entries = ways x a power of two");
}

void Config::Lwm::describe(config::Visitor& v) {
  v.integer("large_warp", large_warp, {1, 256}, "threads",
            "threads of a large warp: a power of two, 32 to 256");
  config::choice(v, "refetch", refetch, {{"last", LwmRefetch::kLast}, {"first", LwmRefetch::kFirst}},
                 "the next instruction issues when the last packed warp of this one is done, or the first");
  v.integer("group_threads", group_threads, {32, 65536}, "threads",
            "threads of a fetch group, if scheduling is two_level");
  v.integer("timeout_instructions", timeout_instructions, {0, 1u << 30}, "instructions",
            "a fetch group that issued this many packed warps gives way to the next; 0: never");
}

void Config::Lwm::check(const std::string& where) const {
  check_size(where + "/large_warp", large_warp, 32);
}

}  // namespace weft::warp_formation
