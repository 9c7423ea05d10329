// Random straight-line programs: the interpreter, thread by thread, against the lane functions of
// modules/isa, 32 threads at a time. Every arithmetic instruction that isa executes is among them, with all
// its modifiers.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <sstream>
#include <string>

#include "interpreter/evaluate.h"
#include "interpreter/interpreter.h"
#include "interpreter/program_builder.h"
#include "isa/isa.h"

namespace weft::test::equivalence_test {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Special;
using ptx::Type;

using Random = std::mt19937_64;

constexpr unsigned kNarrow = 8;    // 32-bit registers: rows 0 to 7
constexpr unsigned kWide = 6;      // 64-bit registers: rows 8, 10 ... 18
constexpr unsigned kScratch = 20;  // rows 20:21 hold the thread's address
constexpr unsigned kRows = 22;
constexpr unsigned kPredicates = 4;
constexpr std::uint64_t kBase = 0x4000'0000, kStride = 128, kBytes = 64 * kStride;
constexpr std::uint64_t kOutput = 32 * kStride;  // stores go to the second half

// Values that make arithmetic interesting: f32 and f64 of all magnitudes, small and extreme integers.
std::uint32_t random_word(Random& random) {
  static const std::uint32_t corners[] = {0,          1,          0xffffffff, 0x80000000, 0x7fffffff,
                                          0x7fc00001, 0x7f800000, 0xff800000, 0x00000007, 0x807fffff,
                                          0x3f800000, 0x40490fdb, 0x0000ffff, 0x00008000, 0x4f000000,
                                          0xcf000001, 0x3fff0000, 0x7ff00000};
  switch (random() % 4) {
    case 0:
      return corners[random() % std::size(corners)];
    case 1:
      return static_cast<std::uint32_t>(random() % 100);
    case 2:
      return static_cast<std::uint32_t>((random() & 0x807fffff) | ((110 + random() % 40) << 23));
    default:
      return static_cast<std::uint32_t>(random());
  }
}

bool is_video(Opcode op) {
  return op >= Opcode::kVadd && op <= Opcode::kVset;
}

// Of the scalar video instructions, some of the ways to choose parts and what follows.
constexpr unsigned kScalarVideo = 7 * 7;
void set_scalar_video(Instruction& in, unsigned n) {
  using Part = ptx::VideoAccess::Part;
  const bool multiplies = in.op == Opcode::kVmad;
  in.vector = 1;
  in.accumulate = false;
  in.video = {};
  in.video.a = static_cast<Part>(n % 7);
  in.video.b = static_cast<Part>(n * 3 % 7);
  in.mode = n % 2 != 0 ? ptx::Mode::kWrap : ptx::Mode::kClamp;
  in.compare = static_cast<ptx::Compare>(n % 6);
  if (multiplies) {
    in.video.shift = static_cast<std::uint8_t>(n % 3 == 0 ? 0 : 8 * (n % 3) - 1);
    in.video.negate_product = n / 7 % 4 == 1;
    in.video.negate_sum = n / 7 % 4 == 2;
    in.video.plus_one = n / 7 % 4 == 3;
  } else if (n / 7 < 4) {
    in.video.second = static_cast<ptx::VideoAccess::Second>(n / 7);
  } else {
    in.video.d = static_cast<Part>(n % 7);
  }
}

// What find looks at beside type, rounding and flags: as many variants, and the n-th of them.
unsigned variants(const Instruction& in) {
  if (is_video(in.op)) return 2 * (4 + kScalarVideo);
  constexpr unsigned kComparisons = 18 * 4;
  switch (in.op) {
    case Opcode::kSetp:
    case Opcode::kSet:
      return kComparisons;
    case Opcode::kMul:
    case Opcode::kMad:
    case Opcode::kMadc:
    case Opcode::kMul24:
    case Opcode::kMad24:
    case Opcode::kDp2a:
      return 4 * 2;
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kAddc:
    case Opcode::kSubc:
      return 2;
    case Opcode::kPrmt:
    case Opcode::kShf:
    case Opcode::kBfind:
    case Opcode::kBmsk:
    case Opcode::kTestp:
      return static_cast<unsigned>(ptx::Mode::kSubnormal) + 1;
    default:
      return 1;
  }
}
void set_variant(Instruction& in, unsigned n) {
  in.compare = ptx::Compare::kEq;
  in.combine = ptx::Combine::kNone;
  in.width = ptx::Width::kDefault;
  in.mode = ptx::Mode::kNone;
  in.carry_out = false;
  if (is_video(in.op)) {
    in.second = n % 2 != 0 ? Type::kS32 : Type::kU32;
    if (in.op > Opcode::kVmax || n >= 8) return set_scalar_video(in, n / 2 % kScalarVideo);
    in.video = {};
    in.vector = n / 2 % 2 != 0 ? 4 : 2;
    in.accumulate = n / 4 != 0;
    return;
  }
  switch (variants(in)) {
    case 72:
      in.compare = static_cast<ptx::Compare>(n / 4);
      in.combine = static_cast<ptx::Combine>(n % 4);
      break;
    case 8:
      in.width = static_cast<ptx::Width>(n / 2);
      in.carry_out = n % 2 != 0;
      break;
    case 2:
      in.carry_out = n % 2 != 0;
      break;
    case 1:
      break;
    default:
      in.mode = static_cast<ptx::Mode>(n);
  }
}

bool has_two_types(Opcode op) {
  return op == Opcode::kCvt || op == Opcode::kSet || op == Opcode::kDp2a || op == Opcode::kDp4a ||
         is_video(op);
}

// Every instruction that isa executes, sorted by opcode: the fields that choose its function, no operands
// yet.
std::vector<std::vector<Instruction>> executable() {
  std::vector<std::vector<Instruction>> all;
  for (int op = 0; op <= static_cast<int>(Opcode::kNop); ++op) {
    std::vector<Instruction> of_this;
    Instruction in;
    in.op = static_cast<Opcode>(op);
    // What reaches across lanes has tests of its own: isa/warp_test.cpp.
    if (in.op >= Opcode::kShfl && in.op <= Opcode::kWarpBarrier) continue;
    // The interpreter has no hyperbolic tangent and no 16-bit exponential; tests/conformance measures them.
    if (in.op == Opcode::kTanh || in.op == Opcode::kIsspacep) continue;
    const bool two_types = has_two_types(in.op);
    const bool divides = in.op == Opcode::kDiv || in.op == Opcode::kRcp || in.op == Opcode::kSqrt;
    const bool approximate = in.op == Opcode::kRsqrt || in.op == Opcode::kEx2 || in.op == Opcode::kLg2 ||
                             in.op == Opcode::kSin || in.op == Opcode::kCos;
    for (int type = 0; type <= static_cast<int>(ptx::kLastType); ++type) {
      const bool is_float = type >= static_cast<int>(Type::kF16);
      const bool half = is_float && type < static_cast<int>(Type::kF32);
      if (half && in.op == Opcode::kEx2) continue;
      const bool plain = in.op >= Opcode::kPrmt;  // neither rounding nor flags but .ftz and .sat
      for (int from = two_types ? 0 : type; from <= (two_types ? static_cast<int>(ptx::kLastType) : type);
           ++from) {
        for (int rounding = 0; rounding <= static_cast<int>(ptx::Rounding::kRpi); ++rounding) {
          for (int flags = 0; flags < 32; ++flags) {
            in.type = static_cast<Type>(type);
            in.from = static_cast<Type>(from);
            in.rounding = static_cast<ptx::Rounding>(rounding);
            in.ftz = (flags & 1) != 0;
            in.sat = (flags & 2) != 0;
            in.approx = approximate || (divides && (flags & 4) != 0);
            in.full = in.op == Opcode::kDiv && in.type == Type::kF32 && !in.approx && (flags & 8) != 0;
            const bool small = in.op == Opcode::kCvt && (is_small(in.type) || is_small(in.from));
            in.relu = (in.op == Opcode::kFma || small) && (flags & 16) != 0;
            in.saturates_finite = in.op == Opcode::kCvt && (flags & 4) != 0;
            in.to_space = in.op == Opcode::kCvta && (flags & 16) != 0;
            if (plain && (rounding != 0 || flags > 3)) continue;
            for (unsigned variant = 0; variant < variants(in); ++variant) {
              set_variant(in, variant);
              if (is_float && (in.carry_out || in.width != ptx::Width::kDefault)) continue;
              if (isa::find(in, isa::InstructionSet::kBase) != nullptr) of_this.push_back(in);
            }
          }
        }
      }
    }
    if (!of_this.empty()) all.push_back(of_this);
  }
  return all;
}

bool has_carry(const Instruction& in) {
  return in.carry_out || in.op == Opcode::kAddc || in.op == Opcode::kSubc || in.op == Opcode::kMadc;
}

unsigned predicate_source(const Instruction& in, unsigned n) {
  if (in.op == Opcode::kSelp || in.op == Opcode::kSetp || in.op == Opcode::kSet || has_carry(in))
    return n == 2;
  return in.type == Type::kPred;
}

unsigned source_count(const Instruction& in) {
  if (in.op == Opcode::kCvt) return is_small(in.type) && in.from == Type::kF32 ? 2 : 1;
  if (has_carry(in)) return in.op == Opcode::kMad || in.op == Opcode::kMadc ? 4 : 3;
  switch (in.op) {
    case Opcode::kLop3:
    case Opcode::kBfi:
      return 4;
    case Opcode::kMad:
    case Opcode::kFma:
    case Opcode::kBfe:
    case Opcode::kSelp:
    case Opcode::kSetp:
    case Opcode::kSet:
    case Opcode::kPrmt:
    case Opcode::kShf:
    case Opcode::kFns:
    case Opcode::kSad:
    case Opcode::kMad24:
    case Opcode::kDp2a:
    case Opcode::kDp4a:
    case Opcode::kVadd:
    case Opcode::kVsub:
    case Opcode::kVavrg:
    case Opcode::kVabsdiff:
    case Opcode::kVmin:
    case Opcode::kVmax:
    case Opcode::kVshl:
    case Opcode::kVshr:
    case Opcode::kVmad:
    case Opcode::kVset:
      return 3;
    case Opcode::kMov:
    case Opcode::kNot:
    case Opcode::kCnot:
    case Opcode::kNeg:
    case Opcode::kAbs:
    case Opcode::kPopc:
    case Opcode::kClz:
    case Opcode::kBrev:
    case Opcode::kBfind:
    case Opcode::kTestp:
    case Opcode::kRcp:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kEx2:
    case Opcode::kLg2:
    case Opcode::kSin:
    case Opcode::kCos:
      return 1;
    default:
      return 2;
  }
}

Operand random_register(unsigned width, Random& random) {
  const auto pick = static_cast<unsigned>(random());
  return width == 64 ? row(kNarrow + 2 * (pick % kWide)) : row(pick % kNarrow);
}
Operand random_predicate(Random& random, bool negatable) {
  return predicate(random() % kPredicates, negatable && random() % 2 == 0);
}

class Generator {
 public:
  Generator(ProgramBuilder& builder, const std::vector<std::vector<Instruction>>& all, Random& random)
      : b_(builder), all_(all), random_(random) {}

  // Loads every register from the thread's row of memory, then random instructions.
  void write(unsigned length) {
    const auto tid = b_.special(Special::kTidX);
    Instruction& address = b_.add(Opcode::kMad, Type::kU32, {row(kScratch)},
                                  {tid, b_.constant(kStride), b_.constant(kBase, true)});
    address.width = ptx::Width::kWide;
    for (unsigned i = 0; i < kNarrow; ++i)
      b_.add(Opcode::kLd, Type::kB32, {row(i)}, {row(kScratch)}).offset = 4 * i;
    for (unsigned i = 0; i < kWide; ++i) {
      b_.add(Opcode::kLd, Type::kB64, {row(kNarrow + 2 * i)}, {row(kScratch)}).offset = 4 * kNarrow + 8 * i;
    }
    for (unsigned i = 0; i < length; ++i) {
      switch (random_() % 8) {
        case 0:
          access();
          break;
        default:
          arithmetic();
          break;
      }
      if (random_() % 4 == 0) {
        Instruction& last = b_.program().code.back();
        last.guard = static_cast<std::int16_t>(random_() % kPredicates);
        last.guard_negated = random_() % 2 == 0;
      }
    }
    b_.add(Opcode::kRet, Type::kNone);
  }

 private:
  void arithmetic() {
    const auto& of_opcode = all_[random_() % all_.size()];
    Instruction in = of_opcode[random_() % of_opcode.size()];
    for (unsigned n = 0; n < source_count(in); ++n) {
      if (predicate_source(in, n) != 0) {
        in.src[n] = random_predicate(random_, true);
      } else if (in.op == Opcode::kLop3 && n == 3) {
        in.src[n] = b_.constant(random_() % 256);
      } else if (random_() % 8 == 0) {
        const bool wide = source_width(in, n) == 64;
        const std::uint64_t value = std::uint64_t{random_word(random_)} << 32 | random_word(random_);
        in.src[n] = b_.constant(value, wide);
      } else {
        in.src[n] = random_register(source_width(in, n), random_);
      }
    }
    if (writes_predicates(in)) {
      in.dst[0] = random_predicate(random_, false);
      if (in.op == Opcode::kSetp && random_() % 2 == 0) {
        in.dst[1] = predicate((in.dst[0].index + 1) % kPredicates);
      }
    } else {
      in.dst[0] = random_register(result_width(in), random_);
      if (in.carry_out) in.dst[1] = random_predicate(random_, false);
    }
    b_.add(in);
  }

  // A load from anywhere in the thread's row, or a store into its part of the second half.
  void access() {
    static const Type types[] = {Type::kU8,  Type::kS8,  Type::kU16, Type::kS16, Type::kU32,
                                 Type::kS32, Type::kF32, Type::kU64, Type::kF64};
    Instruction in;
    in.type = in.from = types[random_() % std::size(types)];
    const bool is_double = in.type == Type::kU64 || in.type == Type::kF64;
    in.vector = static_cast<std::uint8_t>(1u << random_() % (is_double ? 2 : 3));
    in.space = random_() % 2 == 0 ? ptx::Space::kGlobal : ptx::Space::kGeneric;
    in.src[0] = row(kScratch);
    in.offset = static_cast<std::int64_t>(random_() % (kStride / 32) * 32);
    const unsigned width = is_double ? 64 : 32;
    const bool is_load = random_() % 2 == 0;
    in.op = is_load ? Opcode::kLd : Opcode::kSt;
    if (!is_load) in.offset += kOutput;
    for (unsigned e = 0; e < in.vector; ++e) {
      // Distinct destinations: the order of writing elements to one register is not defined.
      const Operand data = width == 64 ? row(kNarrow + 2 * (e % kWide)) : row(e);
      (is_load ? in.dst[e] : in.src[e + 1]) = is_load ? data : random_register(width, random_);
    }
    b_.add(in);
  }

  ProgramBuilder& b_;
  const std::vector<std::vector<Instruction>>& all_;
  Random& random_;
};

// Runs a straight-line program on 32 lanes with the functions of modules/isa.
class LaneMachine {
 public:
  LaneMachine(const ptx::Program& program, std::vector<std::uint8_t>& memory, isa::InstructionSet set)
      : program_(program), memory_(memory), set_(set), rows_(program.rows), predicates_(program.predicates) {
    for (unsigned i = 0; i < isa::kLanes; ++i) rows_[program.register_rows][i] = i;  // %tid.x
  }

  void run() {
    for (const Instruction& in : program_.code) {
      active_ = 0xffffffff;
      if (in.guard >= 0) {
        const std::uint32_t mask = predicates_[static_cast<std::size_t>(in.guard)];
        active_ = in.guard_negated ? ~mask : mask;
      }
      if (in.op == Opcode::kRet) return;
      if (in.op == Opcode::kLd || in.op == Opcode::kSt) {
        access(in);
      } else {
        compute(in);
      }
    }
  }

  // 32-bit register, or one half of a 64-bit register, of a lane.
  std::uint32_t row_of(unsigned index, unsigned lane, bool wide) const {
    if (!wide) return rows_[index][lane];
    const unsigned even = index & ~1u;
    return rows_[even].data()[2 * lane + index % 2];  // the pair is 32 lanes of 8 bytes
  }
  bool predicate_of(unsigned index, unsigned lane) const { return ((predicates_[index] >> lane) & 1) != 0; }

 private:
  const void* source(const Operand& operand) const {
    if (operand.kind == Operand::Kind::kConstant) return program_.constants[operand.index].lanes.data();
    return operand.kind == Operand::Kind::kRow ? rows_[operand.index].data() : nullptr;
  }
  std::uint32_t mask(const Operand& operand) const {
    if (operand.kind != Operand::Kind::kPredicate) return 0;
    return operand.negated ? ~predicates_[operand.index] : predicates_[operand.index];
  }
  void set_predicate(const Operand& operand, std::uint32_t value) {
    if (operand.kind != Operand::Kind::kPredicate) return;
    std::uint32_t& old = predicates_[operand.index];
    old = (old & ~active_) | (value & active_);
  }

  void compute(const Instruction& in) {
    isa::Lanes lanes;
    for (unsigned n = 0; n < 4; ++n) lanes.src[n] = source(in.src[n]);
    for (unsigned n = 0; n < 3; ++n) lanes.predicate[n] = mask(in.src[n]);
    if (in.dst[0].kind == Operand::Kind::kRow) lanes.dst = rows_[in.dst[0].index].data();
    lanes.active = active_;
    isa::find(in, set_)(lanes);
    set_predicate(in.dst[0], lanes.result[0]);
    set_predicate(in.dst[1], lanes.result[1]);
  }

  void access(const Instruction& in) {
    alignas(64) std::array<std::uint64_t, isa::kLanes> offset{};
    isa::addresses(source(in.src[0]), isa::address_kind(in), in.offset - static_cast<std::int64_t>(kBase),
                   offset.data());
    isa::MemoryLanes lanes;
    lanes.base = memory_.data();
    lanes.offset = offset.data();
    lanes.active = active_;
    for (unsigned e = 0; e < in.vector; ++e) {
      if (in.op == Opcode::kLd) lanes.dst[e] = rows_[in.dst[e].index].data();
      if (in.op == Opcode::kSt) lanes.src[e] = source(in.src[e + 1]);
    }
    isa::find_memory(in, set_)(lanes);
  }

  const ptx::Program& program_;
  std::vector<std::uint8_t>& memory_;
  isa::InstructionSet set_;
  std::vector<std::array<std::uint32_t, isa::kLanes>> rows_;
  std::vector<std::uint32_t> predicates_;
  std::uint32_t active_ = 0;
};

// The last instruction before ret: what a failed program of one instruction is about.
std::string last_of(const ptx::Program& program) {
  const Instruction& in = program.code[program.code.size() - 2];
  std::ostringstream text;
  text << "opcode " << int(in.op) << " type " << int(in.type) << " from " << int(in.from) << " rounding "
       << int(in.rounding) << " width " << int(in.width) << (in.ftz ? " ftz" : "") << (in.sat ? " sat" : "")
       << (in.approx ? " approx" : "") << (in.full ? " full" : "");
  return text.str();
}

void check(std::uint64_t seed, unsigned length, isa::InstructionSet set,
           const std::vector<std::vector<Instruction>>& all) {
  Random random(seed);
  ProgramBuilder builder(kRows, kPredicates);
  Generator(builder, all, random).write(length);
  std::vector<std::uint8_t> initial(kBytes);
  for (std::size_t i = 0; i < kBytes; i += 4) {
    const std::uint32_t value = random_word(random);
    std::memcpy(&initial[i], &value, 4);
  }
  std::vector<std::uint8_t> expected = initial, found = initial;
  Interpreter interpreter(expected, kBase);
  interpreter.run({&builder.program(), {1, 1, 1}, {isa::kLanes, 1, 1}, {}, 0});
  LaneMachine machine(builder.program(), found, set);
  machine.run();
  ASSERT_TRUE(found == expected) << "memory, seed " << seed << ", last " << last_of(builder.program());
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    const Interpreter::Registers& registers = interpreter.last_registers()[lane];
    for (unsigned r = 0; r < kScratch; ++r) {
      ASSERT_EQ(machine.row_of(r, lane, r >= kNarrow), registers.rows[r])
          << "seed " << seed << " lane " << lane << " row " << r << ", last " << last_of(builder.program());
    }
    for (unsigned p = 0; p < kPredicates; ++p) {
      ASSERT_EQ(machine.predicate_of(p, lane), registers.predicates[p])
          << "seed " << seed << " lane " << lane << " predicate " << p;
    }
  }
}

// One instruction after the loads, so that a difference names its instruction; then long programs.
TEST(Equivalence, SingleInstructions) {
  const auto all = executable();
  EXPECT_EQ(all.size(), 62u);  // opcodes
  for (std::uint64_t seed = 0; seed < 12'000; ++seed) {
    check(seed, 1, seed % 4 == 0 ? isa::InstructionSet::kBase : isa::best_instruction_set(), all);
    if (HasFatalFailure()) return;
  }
}

TEST(Equivalence, LongPrograms) {
  const auto all = executable();
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    check(1'000'000 + seed, 100, seed % 4 == 0 ? isa::InstructionSet::kBase : isa::best_instruction_set(),
          all);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace weft::test::equivalence_test
