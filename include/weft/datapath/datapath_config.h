// Configuration of the datapath: the key `datapath`. Lanes, units and latencies that every kind has are keys
// of `sm`.
#ifndef WEFT_DATAPATH_DATAPATH_CONFIG_H
#define WEFT_DATAPATH_DATAPATH_CONFIG_H

#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"
#include "weft/warp_formation/lane_permutation.h"

namespace weft::datapath {

// Which cycles an issue saves where threads of its warp are missing. kAuto: what the kind is made for.
enum class Compaction : std::uint8_t { kAuto, kNone, kBcc, kScc };
// Whose threads count for it.
enum class Guard : std::uint8_t { kExecuting, kIssueMask };
// Of lanes that run warps in time: when a result may be used, and what a lane's instruction register is for.
enum class Forwarding : std::uint8_t { kPlace, kWarp };
enum class InstructionRegister : std::uint8_t { kLane, kUnit };
// For how long a warp keeps registers, and of how many places: of all until its block goes, of all until it
// exits, of its threads until it exits.
enum class Registers : std::uint8_t { kBlock, kWarp, kThread };
// Which lane a warp is bound to: that of its hardware warp slot, that whose turn it is, or that which has the
// fewest. kAuto: kSlot where registers are a block's, else kTurns.
enum class Binding : std::uint8_t { kAuto, kSlot, kTurns, kFewest };

struct Config {
  std::string kind = "spatial";  // a registered name
  Compaction compaction = Compaction::kAuto;
  std::uint64_t swizzle_latency = 1;
  Guard guard = Guard::kExecuting;
  warp_formation::LanePermutation lane_permutation = warp_formation::LanePermutation::kIdentity;
  Registers registers = Registers::kBlock;
  // temporal
  std::uint64_t lane_width = 1;
  Forwarding forwarding = Forwarding::kPlace;
  InstructionRegister instruction_register = InstructionRegister::kUnit;
  bool locked = true;
  Binding binding = Binding::kAuto;

  bool has_registers_per_unit() const { return instruction_register == InstructionRegister::kUnit; }
  Binding binding_in_use() const {
    if (binding != Binding::kAuto) return binding;
    return registers == Registers::kBlock ? Binding::kSlot : Binding::kTurns;
  }
  // By itself; what has to go with other keys is the GPU's to check.
  void check(const std::string& where) const;
  void describe(config::Visitor& v);
};

}  // namespace weft::datapath

#endif
