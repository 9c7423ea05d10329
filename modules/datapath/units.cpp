// The keys `datapath.units`, `datapath.address_queue` and `datapath.operands`.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/config_origins.h"
#include "weft/datapath/datapath_config.h"

namespace weft::datapath {
namespace {

using Unit = Units::Unit;

constexpr std::array<const char*, Units::kKinds> kKeys = {"int32", "fp32", "fp64", "sfu"};
constexpr std::array<const char*, Units::kKinds> kMeanings = {
    "integer units", "single-precision units", "double-precision units", "special-function units"};
constexpr std::array<const char*, static_cast<std::size_t>(ptx::Latency::kCount)> kRouteKeys = {
    "int_add",    "int_mul",    "int_div",    "float_add", "float_mul", "float_fma", "float_div",
    "double_add", "double_mul", "double_div", "sfu",       "move",      "warp"};

using Words = std::vector<std::pair<const char*, Unit>>;

Words routes_of_units() {
  return {{"int32", Unit::kInt32},
          {"fp32", Unit::kFp32},
          {"fp64", Unit::kFp64},
          {"sfu", Unit::kSfu},
          {"fp32_or_int32", Unit::kFp32OrInt32},
          {"load_store", Unit::kLoadStore},
          {"none", Unit::kNone}};
}
// ... or that of the operation's kind.
Words routes_of_units_or_kind() {
  Words words = routes_of_units();
  words.insert(words.begin(), {"kind", Unit::kByKind});
  return words;
}

bool is_half(ptx::Type type) {
  return type == ptx::Type::kF16 || type == ptx::Type::kF16x2 || type == ptx::Type::kBf16 ||
         type == ptx::Type::kBf16x2;
}

}  // namespace

bool is_other(const ptx::Instruction& in) {
  using ptx::Opcode;
  switch (in.op) {
    case Opcode::kMov:
    case Opcode::kCvta:
    case Opcode::kCvt:
    case Opcode::kSelp:
    case Opcode::kSetp:
    case Opcode::kSet:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kShf:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kCnot:
    case Opcode::kLop3:
    case Opcode::kNeg:
    case Opcode::kAbs:
    case Opcode::kCopysign:
    case Opcode::kTestp:
    case Opcode::kBfi:
    case Opcode::kBfe:
    case Opcode::kBfind:
    case Opcode::kBmsk:
    case Opcode::kBrev:
    case Opcode::kClz:
    case Opcode::kFns:
    case Opcode::kPopc:
    case Opcode::kPrmt:
    case Opcode::kIsspacep:
    case Opcode::kNop:
      return true;
    default:
      return false;
  }
}

OperationClass class_of(const ptx::Instruction& in) {
  using ptx::Opcode;
  switch (in.op) {
    case Opcode::kVote:
    case Opcode::kActivemask:
    case Opcode::kElect:
      return OperationClass::kVote;
    case Opcode::kPopc:
    case Opcode::kClz:
    case Opcode::kBfind:
      return OperationClass::kBitCount;
    case Opcode::kCvt:
      return ptx::is_float(in.type) != ptx::is_float(in.from) ? OperationClass::kConvert
                                                              : OperationClass::kNone;
    case Opcode::kMin:
    case Opcode::kMax:
      return in.type != ptx::Type::kF64 ? OperationClass::kMinMax : OperationClass::kNone;
    default:
      return OperationClass::kNone;
  }
}

Units::Units() {
  routes.fill(Unit::kInt32);
  const auto set = [this](ptx::Latency kind, Unit unit) { routes[static_cast<std::size_t>(kind)] = unit; };
  set(ptx::Latency::kFloatAdd, Unit::kFp32);
  set(ptx::Latency::kFloatMul, Unit::kFp32);
  set(ptx::Latency::kFloatFma, Unit::kFp32);
  set(ptx::Latency::kFloatDiv, Unit::kSfu);
  set(ptx::Latency::kDoubleAdd, Unit::kFp64);
  set(ptx::Latency::kDoubleMul, Unit::kFp64);
  set(ptx::Latency::kDoubleDiv, Unit::kFp64);
  set(ptx::Latency::kSfu, Unit::kSfu);
}

Unit Units::unit_of(const ptx::Instruction& in) const {
  if (in.unit == ptx::Unit::kMemory) return Unit::kLoadStore;
  if (in.is_control()) return control;
  const OperationClass own = class_of(in);
  if (own != OperationClass::kNone && classes[static_cast<std::size_t>(own)] != Unit::kByKind)
    return classes[static_cast<std::size_t>(own)];
  if (is_other(in)) {
    if (other != Unit::kByKind) return other;
  } else if (half != Unit::kByKind && is_half(in.type) && in.unit == ptx::Unit::kSp) {
    return half;
  }
  return routes[static_cast<std::size_t>(in.latency)];
}

std::uint64_t Units::single_lanes() const {
  const auto of = [this](Unit unit) {
    const Lanes& own = lanes[static_cast<std::size_t>(unit)];
    return own.count * own.width;
  };
  const bool either = routes[static_cast<std::size_t>(ptx::Latency::kFloatFma)] == Unit::kFp32OrInt32;
  return of(Unit::kFp32) + (either ? of(Unit::kInt32) : 0);
}

void Units::Lanes::describe(config::Visitor& v) {
  v.integer("count", count, {1, 64}, "units",
            "units of an SM, a divisor or a multiple of sm.schedulers: unit i serves scheduler i modulo the "
            "units, or a scheduler has several");
  v.integer("width", width, {1, 32}, "lanes", "lanes of a unit, a power of two");
}

void Units::describe(config::Visitor& v) {
  v.boolean(
      "enabled", enabled,
      "spatial: kinds of operations have units of their own, which take the place of sm.simd_groups and "
      "sm.sfu_groups");
  for (std::size_t k = 0; k < kKinds; ++k) config::group(v, kKeys[k], lanes[k], kMeanings[k]);
  v.begin("routes", "the units on which an operation executes, by the kinds of sm.latency and more");
  for (std::size_t i = 0; i < routes.size(); ++i)
    config::choice(v, kRouteKeys[i], routes[i], routes_of_units(), kRouteKeys[i]);
  config::choice(v, "half", half, routes_of_units_or_kind(),
                 "arithmetic on 16-bit floating-point numbers; kind: as other sizes");
  config::choice(v, "other", other, routes_of_units_or_kind(),
                 "logic, shifts, comparisons, selections, moves, conversions, signs; kind: as the kind of "
                 "sm.latency that they count as");
  for (std::size_t i = 0; i < classes.size(); ++i) {
    config::choice(v, kOperationClassKeys[i], classes[i], routes_of_units_or_kind(),
                   kOperationClassMeanings[i]);
  }
  config::choice(v, "control", control, routes_of_units(), "branches, calls, barriers, exits");
  v.end();
}

void Units::check(const std::string& where, std::uint64_t schedulers) const {
  if (!enabled) return;
  for (std::size_t k = 0; k < kKinds; ++k) {
    const Lanes& own = lanes[k];
    const std::string key = where + "/" + kKeys[k];
    if (own.count % schedulers != 0 && schedulers % own.count != 0) {
      throw config::RuleError(
          key + "/count", {where},
          "found " + std::to_string(own.count) +
              "; allowed: divisors and multiples of sm.schedulers = " + std::to_string(schedulers));
    }
    if ((own.width & (own.width - 1)) != 0) {
      throw InputError(key + "/width",
                       "found " + std::to_string(own.width) + "; allowed: powers of two up to 32");
    }
  }
}

void AddressQueue::describe(config::Visitor& v) {
  v.integer(
      "entries", entries, {0, 64}, "instructions",
      "spatial: memory instructions of a scheduler on their way to the part of the load-store unit that "
      "schedulers share; 0: they have no queue of their own");
  v.integer("address_interval", address_interval, {1, 64}, "cycles",
            "cycles between two instructions of a scheduler's address unit");
  v.integer("shared_interval", shared_interval, {1, 64}, "cycles",
            "cycles between two instructions that enter the shared part");
}

void Operands::describe(config::Visitor& v) {
  config::choice(
      v, "kind", kind, {{"none", Kind::kNone}, {"collectors", Kind::kCollectors}, {"slots", Kind::kSlots}},
      "spatial: how registers are read; none: without conflicts; collectors: an instruction waits in "
      "a collector for its operands; slots: it issues when its reads fit the next read_cycles");
  v.integer("collectors", collectors, {1, 64}, "collectors", "collectors: of a scheduler");
  v.integer("banks", banks, {1, 64}, "banks", "banks of registers of a scheduler, with one port each");
  v.integer("reads_per_cycle", reads_per_cycle, {1, 8}, "reads", "collectors: of a bank in a cycle");
  v.integer(
      "read_cycles", read_cycles, {1, 16}, "cycles",
      "slots: cycles in which all reads of an instruction are, one of each bank per cycle; they are part "
      "of sm.pipeline_depth");
  v.boolean(
      "register_cache", register_cache,
      "slots: an operand that the scheduler's last instruction read at the same place from the same bank, "
      "for the same warp, is not read again");
}

}  // namespace weft::datapath
