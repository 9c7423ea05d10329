// Configuration of the datapath: the key `datapath`. Lanes, units and latencies that every kind has are keys
// of `sm`.
#ifndef WEFT_DATAPATH_DATAPATH_CONFIG_H
#define WEFT_DATAPATH_DATAPATH_CONFIG_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"
#include "weft/ptx/program.h"
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

// Whether an operation computes nothing: logic, shifts, comparisons, selections, moves, conversions, signs.
bool is_other(const ptx::Instruction& in);

// Operations that may have a latency and a route apart from others of their kind.
enum class OperationClass : std::uint8_t {
  kVote,      // vote, activemask, elect
  kBitCount,  // popc, clz, bfind
  kConvert,   // cvt between an integer and a floating-point number
  kMinMax,    // min, max, without double precision
  kNone,
};
inline constexpr std::size_t kOperationClasses = 4;
inline constexpr std::array<const char*, kOperationClasses> kOperationClassKeys = {"vote", "bit_count",
                                                                                   "convert", "min_max"};
inline constexpr std::array<const char*, kOperationClasses> kOperationClassMeanings = {
    "vote, activemask, elect", "popc, clz, bfind", "conversions between integers and floating-point numbers",
    "min, max, without double precision"};
OperationClass class_of(const ptx::Instruction& in);

// Units of their own for kinds of operations, instead of SIMD groups and special-function units that do all.
struct Units {
  // Where an operation executes.
  enum class Unit : std::uint8_t {
    kInt32,
    kFp32,
    kFp64,
    kSfu,          // so far the kinds that have lanes
    kFp32OrInt32,  // the first of the two that is free
    kLoadStore,    // the way to the load-store unit
    kNone,         // it takes an issue slot only
    kByKind,       // as its kind of operation
  };
  static constexpr std::size_t kKinds = 4;
  struct Lanes {
    std::uint64_t count = 4, width = 16;  // units of an SM; lanes of a unit
    void describe(config::Visitor& v);
  };

  bool enabled = false;
  std::array<Lanes, kKinds> lanes{{{4, 16}, {4, 16}, {4, 16}, {4, 4}}};  // by Unit
  std::array<Unit, static_cast<std::size_t>(ptx::Latency::kCount)> routes;
  Unit half = Unit::kFp32, other = Unit::kByKind, control = Unit::kNone;
  std::array<Unit, kOperationClasses> classes{Unit::kByKind, Unit::kByKind, Unit::kByKind, Unit::kByKind};

  Units();
  Unit unit_of(const ptx::Instruction& in) const;
  // Threads whose single-precision operations can begin in a cycle.
  std::uint64_t single_lanes() const;
  void describe(config::Visitor& v);
  void check(const std::string& where, std::uint64_t schedulers) const;
};

// Memory instructions wait behind the address unit of their scheduler, then for the part of the load-store
// unit that all schedulers share.
struct AddressQueue {
  std::uint64_t entries = 0;  // of each scheduler; 0: schedulers hand instructions to the shared part
  std::uint64_t address_interval = 4, shared_interval = 2;
  void describe(config::Visitor& v);
};

// How an instruction reads its registers from banks, each with one port a bank row wide.
struct Operands {
  enum class Kind : std::uint8_t {
    kNone,        // banks always have what an instruction needs
    kCollectors,  // an instruction waits in a collector until its operands have come
    kSlots,       // an instruction issues when all of its reads fit a few fixed cycles
  };
  Kind kind = Kind::kNone;
  std::uint64_t collectors = 2, banks = 2;  // of each scheduler
  std::uint64_t reads_per_cycle = 2;        // kCollectors: of a bank
  std::uint64_t read_cycles = 3;            // kSlots
  bool register_cache = true;               // kSlots: an operand of each place and bank is kept
  void describe(config::Visitor& v);
};

struct Config {
  std::string kind = "spatial";  // a registered name
  Compaction compaction = Compaction::kAuto;
  std::uint64_t swizzle_latency = 1;
  Guard guard = Guard::kExecuting;
  warp_formation::LanePermutation lane_permutation = warp_formation::LanePermutation::kIdentity;
  Registers registers = Registers::kBlock;
  Units units{};
  AddressQueue address_queue{};
  Operands operands{};
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
