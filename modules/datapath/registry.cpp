// The kinds of datapath among the parts that are known, and the keys of `datapath`.
#include <string>
#include <vector>

#include "common/config_origins.h"
#include "datapath/datapath.h"
#include "weft/common/error.h"

namespace weft::datapath {

std::unique_ptr<Datapath> create(const Config& config, const Machine& machine) {
  std::string known;
  for (const auto& part : parts_of(Datapath::kKind)) {
    if (part->name == config.kind)
      return static_cast<const PartOf<Datapath>&>(*part).make(nullptr, {config, machine});
    known += (known.empty() ? "" : ", ") + part->name;
  }
  throw InputError("/datapath/kind", "unknown datapath \"" + config.kind + "\"; known: " + known);
}

void Config::describe(config::Visitor& v) {
  std::vector<std::string> names;
  std::string meaning = "how lanes run threads";
  for (const auto& part : parts_of(Datapath::kKind)) {
    names.push_back(part->name);
    meaning += "; " + part->name + ": " + part->meaning;
  }
  v.word("kind", kind, names, meaning.c_str());
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
  using Permutation = warp_formation::LanePermutation;
  config::choice(v, "lane_permutation", lane_permutation,
                 {{"identity", Permutation::kIdentity},
                  {"mirror_odd", Permutation::kMirrorOdd},
                  {"mirror_half", Permutation::kMirrorHalf},
                  {"xor", Permutation::kXor},
                  {"xor_reverse", Permutation::kXorReverse},
                  {"balanced", Permutation::kBalanced}},
                 "spatial: on which lane of its row a thread runs. With w, the number of its 32 threads on "
                 "the SM: identity: at its position; mirror_odd, mirror_half: the other way round for every "
                 "other w, or for the upper half of them; xor: position ^ w; xor_reverse: position ^ w with "
                 "its bits reversed; balanced: position ^ w / 2, inverted for every other w");
  config::group(v, "units", units, "units of their own for kinds of operations");
  config::group(v, "address_queue", address_queue, "queues of memory instructions, one for each scheduler");
  config::group(v, "operands", operands, "conflicts of banks of registers");
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
  if (kind != "spatial" && (units.enabled || address_queue.entries != 0)) {
    const bool on_units = units.enabled;
    throw config::RuleError(
        where + (on_units ? "/units/enabled" : "/address_queue/entries"), {where + "/kind"},
        "found " + (on_units ? "true" : std::to_string(address_queue.entries)) + " with kind " + kind +
            "; allowed: " + (on_units ? "false" : "0") + ", because only kind spatial has them");
  }
  if (kind != "spatial" && operands.kind != Operands::Kind::kNone) {
    throw config::RuleError(where + "/operands/kind", {where + "/kind"},
                            "found conflicts of banks with kind " + kind + "; allowed: none");
  }
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
