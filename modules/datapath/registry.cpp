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
    throw std::logic_error("duplicate datapath name " + name);
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
                 "cycles that an issue saves; none: each group of a warp's places, as wide as the lanes, "
                 "takes a cycle; bcc: aligned groups without a thread take no cycle; scc: threads also move "
                 "to free lanes; auto: none for spatial, bcc for temporal");
  v.integer("swizzle_latency", swizzle_latency, {0, 16}, "cycles", "scc: delay of results and addresses");
  config::choice(v, "guard", guard, {{"executing", Guard::kExecuting}, {"issue_mask", Guard::kIssueMask}},
                 "threads whose groups take a cycle: those whose guard holds, or all threads of the issue");
  v.integer("lane_width", lane_width, {1, 32}, "threads",
            "temporal: threads that a lane runs in a cycle; a divisor of sm.simd_width");
  config::choice(v, "forwarding", forwarding, {{"place", Forwarding::kPlace}, {"warp", Forwarding::kWarp}},
                 "temporal: the result of each thread can be used when its own place is done, or when the "
                 "last place is done");
  config::choice(v, "instruction_register", instruction_register,
                 {{"lane", InstructionRegister::kLane},
                  {"auto", InstructionRegister::kUnit},
                  {"unit", InstructionRegister::kUnit}},
                 "temporal: a lane runs one instruction at a time, or an arithmetic and a memory instruction "
                 "at once, while the special-function units run one for all lanes; auto, which "
                 "configurations of 0.1.0 have: unit");
  v.boolean("locked", locked,
            "temporal: a warp runs on the lane that has its registers; false: it runs on any free lane, and "
            "all lanes share one pool of registers");
  config::choice(
      v, "registers", registers,
      {{"block", Registers::kBlock}, {"warp", Registers::kWarp}, {"thread", Registers::kThread}},
      "block: a warp has registers for all its places until its block ends; warp: until the warp exits; "
      "thread: temporal, for its threads only, until the warp exits");
  config::choice(
      v, "binding", binding,
      {{"auto", Binding::kAuto},
       {"slot", Binding::kSlot},
       {"turns", Binding::kTurns},
       {"fewest", Binding::kFewest}},
      "temporal: the lane of a warp; slot: its hardware warp slot modulo the lanes; turns: the next "
      "lane in turn; fewest: the first lane with the fewest warps; turns and fewest skip lanes "
      "without free registers; auto: slot with registers block, else turns");
}

void Config::check(const std::string& where) const {
  const auto only = [&](bool asked, const char* key, const char* found, const char* allowed) {
    if (!asked || kind != "spatial") return;
    throw config::RuleError(where + "/" + key, {where + "/kind"},
                            std::string("found ") + found + "; allowed with kind spatial: " + allowed +
                                "; lanes that run warps in time have kind temporal");
  };
  only(!locked, "locked", "false", "true");
  only(registers == Registers::kThread, "registers", "thread", "block and warp");
  only(binding == Binding::kFewest, "binding", "fewest", "auto, slot and turns");
  only(instruction_register == InstructionRegister::kLane, "instruction_register", "lane", "unit and auto");
  if (kind != "temporal") return;
  if (compaction == Compaction::kScc) {
    throw config::RuleError(where + "/compaction", {where + "/kind"},
                            "found scc; allowed with kind temporal: auto, none and bcc, because threads "
                            "cannot move between its lanes");
  }
  if (binding == Binding::kSlot && registers == Registers::kThread) {
    throw config::RuleError(where + "/binding", {where + "/registers"},
                            "found slot with registers thread; allowed: auto, turns and fewest, because "
                            "partial warps share the room of a full one on any lane");
  }
}

}  // namespace weft::datapath
