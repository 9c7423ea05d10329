// f16, bf16 and pairs of them: hand-made cases, then random operands against the interpreter.
#include <gtest/gtest.h>

#include <cstring>

#include "isa/harness.h"

namespace weft::isa::test::half_test {
namespace {

using ptx::Combine;
using ptx::Compare;

const std::vector<Type> kHalves = {Type::kF16, Type::kF16x2, Type::kBf16, Type::kBf16x2};
const Type kF16 = Type::kF16, kBf16 = Type::kBf16;

bool has_ftz(Type type) {
  return type == Type::kF16 || type == Type::kF16x2;
}

TEST(Half, Arithmetic) {
  for (const Type type : kHalves) {
    for (const Opcode op : {Opcode::kAdd, Opcode::kSub, Opcode::kMul, Opcode::kFma}) {
      std::vector<Type> types(op == Opcode::kFma ? 3 : 2, type);
      for (int flags = 0; flags < 8; ++flags) {
        Instruction in = make(op, type);
        in.rounding = Rounding::kRn;
        in.ftz = (flags & 1) != 0;
        in.sat = (flags & 2) != 0;
        in.relu = (flags & 4) != 0;
        const bool legal =
            !(in.relu && (in.sat || op != Opcode::kFma)) && (has_ftz(type) || !(in.ftz || in.sat));
        if (legal) {
          check_random(in, type, types, interpreted(in), 3 * kRandomOperands);
        } else {
          EXPECT_EQ(find(in), nullptr) << name(in);
        }
      }
    }
  }
  Instruction in = make(Opcode::kAdd, kF16);
  in.rounding = Rounding::kRz;
  EXPECT_EQ(find(in), nullptr);
}

TEST(Half, SignsAndOrder) {
  for (const Type type : kHalves) {
    for (const bool ftz : {false, true}) {
      if (ftz && !has_ftz(type)) continue;
      for (const Opcode op : {Opcode::kNeg, Opcode::kAbs, Opcode::kMin, Opcode::kMax}) {
        Instruction in = make(op, type);
        in.ftz = ftz;
        std::vector<Type> types(op == Opcode::kMin || op == Opcode::kMax ? 2 : 1, type);
        check_random(in, type, types, interpreted(in));
      }
    }
  }
  check_golden(make(Opcode::kMin, kF16), kF16, {kF16, kF16},
               {{{0x0000, 0x8000}, 0x8000}, {{0x7e00, 0x3c00}, 0x3c00}, {{0x7e00, 0xfc01}, 0x7fff}});
  check_golden(make(Opcode::kNeg, Type::kF16x2), Type::kF16x2, {Type::kF16x2}, {{{0x3c00bc00}, 0xbc003c00}});
}

TEST(Half, ArithmeticCorners) {
  const auto check = [](Opcode op, Type type, const std::vector<Golden>& cases) {
    check_golden(make(op, type), type, {type, type}, cases);
  };
  check(Opcode::kAdd, kF16,
        {{{0x3c00, 0x1000}, 0x3c00},  // 1 + 2^-11: a tie, to even
         {{0x3c01, 0x1000}, 0x3c02},
         {{0x7bff, 0x4c00}, 0x7c00},  // 65504 + 16 rounds to infinity
         {{0x7bff, 0x4bff}, 0x7bff},
         {{0x0001, 0x0001}, 0x0002},  // subnormal
         {{0x7c00, 0xfc00}, 0x7fff},
         {{0x7d00, 0x3c00}, 0x7fff},  // any NaN becomes the canonical one
         {{0x8000, 0x8000}, 0x8000}});
  check(Opcode::kMul, kF16, {{{0x0400, 0x3800}, 0x0200}, {{0x0001, 0x3800}, 0}, {{0x8001, 0x3801}, 0x8001}});
  check(Opcode::kAdd, kBf16,
        {{{0x3f80, 0x3b80}, 0x3f80}, {{0x3f81, 0x3b80}, 0x3f82}, {{0x7f7f, 0x7f7f}, 0x7f80}});

  // The product 1 + 2^-7 + 2^-8 - ... is a tie of bf16 that a tiny addend decides: a double cannot hold both.
  Instruction in = make(Opcode::kFma, kBf16);
  // 1.5 * 1.0078125 = 1.51171875 = 1.1000001|1 in binary.
  check_golden(in, kBf16, {kBf16, kBf16, kBf16},
               {{{0x3fc0, 0x3f81, 0x0000}, 0x3fc2},
                {{0x3fc0, 0x3f81, 0x8080}, 0x3fc1},
                {{0x3fc0, 0x3f81, 0x0080}, 0x3fc2},
                {{0x3fc0, 0x3f83, 0x0080}, 0x3fc5},  // 1.1000100|1, above the tie
                {{0x3fc0, 0x3f83, 0x0000}, 0x3fc4}});
  in = make(Opcode::kFma, kF16);
  in.relu = true;
  check_golden(in, kF16, {kF16, kF16, kF16}, {{{0xbc00, 0x3c00, 0}, 0}, {{0x7e00, 0, 0}, 0x7fff}});
}

TEST(Half, Comparisons) {
  for (const Type type : kHalves) {
    for (int compare = 0; compare <= static_cast<int>(Compare::kNan); ++compare) {
      Instruction in = make(Opcode::kSetp, type);
      in.compare = static_cast<Compare>(compare);
      if (in.compare >= Compare::kLo && in.compare <= Compare::kHs) continue;
      check_random(in, Type::kPred, {type, type}, interpreted(in));
      const bool two = type == Type::kF16x2 || type == Type::kBf16x2;
      in.op = Opcode::kSet;
      in.from = type;
      in.ftz = has_ftz(type);
      std::vector<Type> results = {Type::kU32, Type::kS32, type};
      if (!two) results.insert(results.end(), {Type::kU16, Type::kS16});
      for (const Type result : results) {
        in.type = result;
        in.combine = static_cast<Combine>(compare % 4);
        check_random(in, result, {type, type, Type::kPred}, interpreted(in));
      }
    }
  }
  for (const Type from : {Type::kS32, Type::kU64, Type::kF32, Type::kF64}) {
    for (const Type result : {kF16, kBf16}) {
      Instruction in = make(Opcode::kSet, result);
      in.from = from;
      in.compare = Compare::kGt;
      check_random(in, result, {from, from}, interpreted(in));
    }
  }
  Instruction in = make(Opcode::kSet, Type::kF16x2);
  in.compare = Compare::kGt;
  check_golden(in, Type::kF16x2, {Type::kF16x2, Type::kF16x2}, {{{0x40003c00, 0x3c003c00}, 0x3c000000}});
  in.type = Type::kF32;
  EXPECT_EQ(find(in), nullptr);
}

// Of a pair p is the lower half's result and q the upper one's.
TEST(Half, PairsSetTwoPredicates) {
  Instruction in = make(Opcode::kSetp, Type::kF16x2);
  in.compare = Compare::kLt;
  std::uint32_t a[kLanes] = {0x3c004000, 0x40003c00, 0x3c003c00, 0x40004000}, b[kLanes];
  for (std::uint32_t& word : b) word = 0x3e003e00;  // 1.5, 1.5
  for (const InstructionSet set : {InstructionSet::kBase, best_instruction_set()}) {
    Lanes lanes;
    lanes.src[0] = a;
    lanes.src[1] = b;
    lanes.active = 0xf;
    find(in, set)(lanes);
    EXPECT_EQ(lanes.result[0] & 0xf, 0b0110u);
    EXPECT_EQ(lanes.result[1] & 0xf, 0b0101u);
  }
}

const std::vector<Type> kIntegers = {Type::kU8,  Type::kS8,  Type::kU16, Type::kS16,
                                     Type::kU32, Type::kS32, Type::kU64, Type::kS64};

Instruction cvt(Type to, Type from, Rounding rounding = Rounding::kDefault, bool sat = false,
                bool ftz = false) {
  Instruction in = make(Opcode::kCvt, to);
  in.from = from;
  in.rounding = rounding;
  in.sat = sat;
  in.ftz = ftz;
  return in;
}

TEST(Half, Conversions) {
  const auto check = [](const Instruction& in) { check_random(in, in.type, {in.from}, interpreted(in)); };
  for (const Type half : {kF16, kBf16}) {
    for (const Rounding rounding : {Rounding::kRn, Rounding::kRz, Rounding::kRm, Rounding::kRp}) {
      for (const Type from : kIntegers) check(cvt(half, from, rounding));
      for (const bool sat : {false, true}) {
        check(cvt(half, Type::kF32, rounding, sat));
        check(cvt(half, Type::kF32, rounding, sat, true));
        check(cvt(half, Type::kF64, rounding, sat));
        check(cvt(half, half == kF16 ? kBf16 : kF16, rounding, sat));
      }
    }
    for (const Rounding rounding : {Rounding::kRni, Rounding::kRzi, Rounding::kRmi, Rounding::kRpi}) {
      for (const Type to : kIntegers) check(cvt(to, half, rounding));
      check(cvt(half, half, rounding));
    }
    for (const bool sat : {false, true}) {
      check(cvt(Type::kF32, half, Rounding::kDefault, sat));
      check(cvt(Type::kF64, half, Rounding::kDefault, sat));
    }
    EXPECT_EQ(find(cvt(half, Type::kF32)), nullptr);
  }
  check_golden(cvt(kF16, Type::kF32, Rounding::kRn), kF16, {Type::kF32},
               {{{0x477fefff}, 0x7bff}, {{0x477ff000}, 0x7c00}, {{0x33000000}, 0}, {{0x33000001}, 1}});
  check_golden(cvt(kF16, Type::kF32, Rounding::kRz), kF16, {Type::kF32},
               {{{0x477fffff}, 0x7bff}, {{0x7f800000}, 0x7c00}});
  check_golden(cvt(kF16, Type::kF64, Rounding::kRp), kF16, {Type::kF64},
               {{{1}, 1}, {{0x8000000000000001}, 0x8000}});
  check_golden(cvt(kBf16, Type::kU64, Rounding::kRn), kBf16, {Type::kU64},
               {{{0x0080800000000000}, 0x5b00}, {{0x0080800000000001}, 0x5b01}});
}

// Every f16 is exact as f32, and comes back.
TEST(Half, EveryValueSurvives) {
  for (const Type half : {kF16, kBf16}) {
    std::vector<Bits> all(65536);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = {i, 0, 0, 0};
    const std::vector<std::uint64_t> wide = evaluate(cvt(Type::kF32, half), Type::kF32, {half}, all);
    std::vector<Bits> back(65536);
    for (std::size_t i = 0; i < all.size(); ++i) back[i] = {wide.at(i), 0, 0, 0};
    const auto narrow = evaluate(cvt(half, Type::kF32, Rounding::kRz), half, {Type::kF32}, back);
    const std::uint64_t infinity = half == kF16 ? 0x7c00 : 0x7f80;
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(narrow.at(i), (i & 0x7fff) > infinity ? 0x7fff : i);
    }
  }
}

TEST(Half, AtomicAddition) {
  for (const Type type : kHalves) {
    Instruction in = make(Opcode::kAtom, type);
    in.atomic = ptx::Atomic::kAdd;
    const std::size_t bytes = bits_of(type) / 8;
    Instruction sum = make(Opcode::kAdd, type);
    const Oracle oracle = interpreted(sum);
    Random random(7);
    for (const InstructionSet set : {InstructionSet::kBase, best_instruction_set()}) {
      for (int round = 0; round < 320; ++round) {
        alignas(8) std::uint8_t memory[4 * kLanes] = {};
        std::uint64_t offset[kLanes], old[kLanes];
        std::uint32_t added[kLanes], result[kLanes];
        for (unsigned i = 0; i < kLanes; ++i) {
          offset[i] = bytes * i;
          old[i] = random_operand(type, random);
          added[i] = static_cast<std::uint32_t>(random_operand(type, random));
          std::memcpy(memory + offset[i], &old[i], bytes);
        }
        MemoryLanes lanes;
        lanes.base = memory;
        lanes.offset = offset;
        lanes.active = 0xffffffff;
        lanes.src[0] = added;
        lanes.dst[0] = result;
        find_memory(in, set)(lanes);
        for (unsigned i = 0; i < kLanes; ++i) {
          std::uint64_t found = 0;
          std::memcpy(&found, memory + offset[i], bytes);
          ASSERT_EQ(found, oracle({old[i], added[i], 0, 0}));
          ASSERT_EQ(result[i], old[i]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::isa::test::half_test
