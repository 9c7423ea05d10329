#include <map>
#include <stdexcept>
#include <utility>

#include "datapath/datapath.h"
#include "datapath/spatial.h"
#include "datapath/temporal.h"
#include "weft/common/error.h"

namespace weft::datapath {
namespace {

// Never destroyed: results are written while a program exits.
std::map<std::string, Factory>& kinds() {
  static auto* const map =
      new std::map<std::string, Factory>{{"spatial", make_spatial}, {"temporal", make_temporal}};
  return *map;
}

}  // namespace

bool register_datapath(const std::string& name, Factory factory) {
  if (!kinds().emplace(name, std::move(factory)).second)
    throw std::logic_error("two datapaths are named " + name);
  return true;
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  names.reserve(kinds().size());
  for (const auto& [name, factory] : kinds()) names.push_back(name);
  return names;
}

std::unique_ptr<Datapath> create(const Config& config, const Machine& machine) {
  const auto found = kinds().find(config.kind);
  if (found == kinds().end()) {
    std::string known;
    for (const auto& name : names()) known += (known.empty() ? "" : ", ") + name;
    throw InputError("/datapath/kind", "unknown datapath \"" + config.kind + "\"; known: " + known);
  }
  return found->second(config, machine);
}

void Config::describe(config::Visitor& v) {
  v.word("kind", kind, names(),
         "how lanes run threads; spatial: SIMD groups, whose lanes run the threads of a beat together; "
         "temporal: lanes that each run a warp in time");
  config::choice(v, "compaction", compaction,
                 {{"auto", Compaction::kAuto},
                  {"none", Compaction::kNone},
                  {"bcc", Compaction::kBcc},
                  {"scc", Compaction::kScc}},
                 "cycles that an issue saves; none: a cycle for every group of as many places of the warp as "
                 "there are lanes; bcc: aligned groups without a thread take none; scc: threads move to free "
                 "lanes, too; auto: none for spatial, bcc for temporal");
  v.integer("swizzle_latency", swizzle_latency, {0, 16}, "cycles", "scc: later results and addresses");
  config::choice(
      v, "guard", guard, {{"executing", Guard::kExecuting}, {"issue_mask", Guard::kIssueMask}},
      "threads that take a cycle where groups are left out: those whose guard holds, or all of the "
      "issue");
  v.integer("lane_width", lane_width, {1, 32}, "threads",
            "temporal: threads that a lane runs in a cycle; a divisor of sm.simd_width");
  config::choice(
      v, "forwarding", forwarding, {{"place", Forwarding::kPlace}, {"warp", Forwarding::kWarp}},
      "temporal: each thread's result may be used as its own place is done, or all after the last");
  config::choice(
      v, "instruction_register", instruction_register,
      {{"auto", InstructionRegister::kAuto},
       {"lane", InstructionRegister::kLane},
       {"unit", InstructionRegister::kUnit}},
      "temporal: a lane runs one instruction at a time, or one for each unit, where lanes share the "
      "others than their own; auto: lane, with forwarding warp unit");
  v.boolean("locked", locked,
            "temporal: a warp runs on the lane that has its registers; false: on any that is free, and "
            "registers are one pool");
  config::choice(
      v, "registers", registers, {{"block", Registers::kBlock}, {"thread", Registers::kThread}},
      "temporal: a warp's registers are for all its places, until its block goes; or for its threads "
      "alone, until it exits");
  config::choice(
      v, "binding", binding, {{"turns", Binding::kTurns}, {"fewest", Binding::kFewest}},
      "temporal: the lane of a warp is the next one in turn, or the first of those with the fewest "
      "warps; lanes whose registers are taken are passed over");
}

void Config::check(const std::string& where) const {
  const auto only = [&](bool asked, const char* key, const char* found, const char* allowed) {
    if (!asked || kind != "spatial") return;
    throw config::RuleError(where + "/" + key, {where + "/kind"},
                            std::string("found ") + found + ", allowed with kind spatial is " + allowed +
                                "; lanes that run warps in time are kind temporal");
  };
  only(!locked, "locked", "false", "true");
  only(registers == Registers::kThread, "registers", "thread", "block");
  only(binding == Binding::kFewest, "binding", "fewest", "turns");
  only(instruction_register == InstructionRegister::kLane, "instruction_register", "lane", "auto and unit");
  if (kind != "temporal") return;
  if (compaction == Compaction::kScc) {
    throw config::RuleError(where + "/compaction", {where + "/kind"},
                            "found scc, allowed with kind temporal are auto, none and bcc: its lanes have "
                            "nothing between them through which threads could move");
  }
  if (forwarding == Forwarding::kPlace && instruction_register == InstructionRegister::kUnit) {
    throw config::RuleError(where + "/forwarding", {where + "/instruction_register"},
                            "found place with instruction_register unit, allowed is warp: place by place, a "
                            "lane runs one instruction at a time");
  }
}

}  // namespace weft::datapath
