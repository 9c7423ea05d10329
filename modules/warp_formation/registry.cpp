#include <map>
#include <stdexcept>

#include "common/config_origins.h"
#include "common/error.h"
#include "warp_formation/warp_formation.h"

namespace weft::warp_formation {
namespace {

// Built while static objects are initialised, constant afterwards.
std::map<std::string, Factory>& schemes() {
  static std::map<std::string, Factory> map;
  return map;
}

}  // namespace

bool register_scheme(const std::string& name, Factory factory) {
  if (!schemes().emplace(name, std::move(factory)).second) {
    throw std::logic_error("two warp-formation schemes are named " + name);
  }
  return true;
}

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const auto& [name, factory] : schemes()) names.push_back(name);
  return names;
}

std::unique_ptr<WarpFormation> create(const Config& config, const Geometry& geometry) {
  const auto found = schemes().find(config.scheme);
  if (found == schemes().end()) {
    std::string known;
    for (const auto& name : scheme_names()) known += (known.empty() ? "" : ", ") + name;
    throw InputError("/warp_formation/scheme", "unknown scheme \"" + config.scheme + "\"; known: " + known);
  }
  return found->second(config, geometry);
}

const char* name_of(Stall stall) {
  static constexpr const char* kNames[kStalls] = {"none",          "unit_busy", "memory_busy", "memory",
                                                  "dependence",    "control",   "fetch",       "barrier",
                                                  "reconvergence", "scheme",    "empty"};
  return kNames[static_cast<unsigned>(stall)];
}

void Config::TwoLevel::describe(config::Visitor& v) {
  v.integer("group_warps", group_warps, {1, 256}, "warps", "warps of one fetch group");
  v.integer(
      "timeout_instructions", timeout_instructions, {0, 1u << 30}, "instructions",
      "a group that issued this many gives way to the next; 0: only when all its warps wait for memory");
}

void Config::Sbr::describe(config::Visitor& v) {
  config::choice(v, "order", order,
                 {{"fallthrough_first", SbrOrder::kFallthroughFirst},
                  {"taken_first", SbrOrder::kTakenFirst},
                  {"gs2_lane", SbrOrder::kGs2Lane},
                  {"minority_first", SbrOrder::kMinorityFirst}},
                 "which path of a divergent branch runs first");
}

void Config::describe(config::Visitor& v) {
  v.text("scheme", scheme, "warp-formation scheme; `weft list schemes` names them");
  v.integer("warp_size", warp_size, {1, kMaxWarpSize}, "threads",
            "threads of a warp: a power of two, 4 to 256");
  config::choice(v, "scheduling", scheduling,
                 {{"loose_round_robin", Scheduling::kLooseRoundRobin},
                  {"greedy_then_oldest", Scheduling::kGreedyThenOldest},
                  {"two_level", Scheduling::kTwoLevel}},
                 "which ready warp is issued");
  config::choice(v, "reconvergence", reconvergence,
                 {{"barrier_aware", Reconvergence::kBarrierAware}, {"plain", Reconvergence::kPlain}},
                 "where the threads that part at a branch meet again; plain: at its immediate "
                 "post-dominator; barrier_aware: before it where it would keep threads from a block barrier");
  config::choice(v, "likely_convergence", likely_convergence,
                 {{"off", LikelyConvergence::kOff}, {"static", LikelyConvergence::kStatic}},
                 "points before the reconvergence point of a branch at which threads meet, of sbr and tbc; "
                 "static: chosen from the control-flow graph");
  config::group(v, "two_level", two_level, "two-level scheduling");
  config::group(v, "sbr", sbr, "stack-based reconvergence");
  config::group(v, "dwf", dwf, "dynamic warp formation");
  config::group(v, "tbc", tbc, "thread block compaction");
  config::group(v, "dwr", dwr, "dynamic warp resizing: tables per scheduler domain");
  config::group(v, "lwm", lwm, "large warps");
  config::group(v, "harp", harp, "HARP: tables per scheduler domain");
  config::group(v, "crown", crown, "CROWN: tables per scheduler domain");
}

void Config::check(const std::string& where) const {
  if (warp_size < 4 || (warp_size & (warp_size - 1)) != 0) {
    throw InputError(where + "/warp_size",
                     "found " + std::to_string(warp_size) + ", allowed are powers of two from 4 to 256");
  }
  if (likely_convergence != LikelyConvergence::kOff && scheme != "sbr" && scheme != "tbc") {
    throw config::RuleError(
        where + "/likely_convergence", {where + "/scheme"},
        "scheme " + scheme + " has no reconvergence stack with such points; allowed with sbr and tbc");
  }
  dwf.check(where + "/dwf");
  dwr.check(where + "/dwr");
  lwm.check(where + "/lwm");
  harp.check(where + "/harp");
  crown.check(where + "/crown");
  std::string known;
  for (const auto& name : scheme_names()) {
    if (name == scheme) return;
    known += (known.empty() ? "" : ", ") + name;
  }
  throw InputError(where + "/scheme", "unknown scheme \"" + scheme + "\"; known: " + known);
}

}  // namespace weft::warp_formation
