// add, sub, mad with carries, against numbers twice as wide as any operand.
#include <gtest/gtest.h>

#include <cstring>

#include "interpreter/evaluate.h"
#include "isa/harness.h"

namespace weft::isa::test::carry_test {
namespace {

using ptx::Width;

struct Outcome {
  std::vector<std::uint64_t> values;
  std::vector<bool> carries;
};

// Operand 2 is the carry in, operand 3 the addend.
Outcome run(const Instruction& in, const std::vector<Bits>& operands, InstructionSet set) {
  Outcome outcome;
  const LaneFunction function = find(in, set);
  EXPECT_NE(function, nullptr) << name(in);
  if (function == nullptr) return outcome;
  const unsigned bytes = bits_of(in.type) / 8;
  for (std::size_t first = 0; first + kLanes <= operands.size(); first += kLanes) {
    alignas(64) std::uint8_t source[4][8 * kLanes] = {}, result[8 * kLanes];
    Lanes lanes;
    for (unsigned i = 0; i < kLanes; ++i) {
      for (const unsigned n : {0u, 1u, 3u})
        std::memcpy(source[n] + bytes * i, &operands[first + i][n], bytes);
      lanes.predicate[2] |= static_cast<std::uint32_t>(operands[first + i][2]) << i;
    }
    for (const unsigned n : {0u, 1u, 3u}) lanes.src[n] = source[n];
    lanes.dst = result;
    lanes.active = 0xffffffff;
    function(lanes);
    for (unsigned i = 0; i < kLanes; ++i) {
      std::uint64_t value = 0;
      std::memcpy(&value, result + bytes * i, bytes);
      outcome.values.push_back(value);
      outcome.carries.push_back(((lanes.result[1] >> i) & 1) != 0);
    }
  }
  return outcome;
}

void check(const Instruction& in) {
  Random random(17);
  std::vector<Bits> operands(10'016);  // whole sets of lanes
  for (Bits& each : operands) {
    for (std::uint64_t& x : each) x = random_operand(in.type, random);
    each[2] = random() % 2;
  }
  for (const InstructionSet set : {InstructionSet::kBase, best_instruction_set()}) {
    const Outcome outcome = run(in, operands, set);
    ASSERT_EQ(outcome.values.size(), operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Bits& x = operands[i];
      const weft::test::Result expected = weft::test::evaluate_carry(in, {x[0], x[1], x[2], x[3], 0});
      ASSERT_EQ(outcome.values[i], expected.value) << name(in);
      ASSERT_EQ(outcome.carries[i], expected.q) << name(in);
    }
  }
}

TEST(Carry, AgreesWithExactNumbers) {
  for (const Type type : {Type::kU32, Type::kS32, Type::kU64, Type::kS64}) {
    for (const Opcode op : {Opcode::kAdd, Opcode::kAddc, Opcode::kSub, Opcode::kSubc}) {
      Instruction in = make(op, type);
      in.carry_out = true;
      check(in);
    }
    for (const Width width : {Width::kLo, Width::kHi}) {
      for (const Opcode op : {Opcode::kMad, Opcode::kMadc}) {
        Instruction in = make(op, type);
        in.width = width;
        in.carry_out = true;
        check(in);
      }
    }
    EXPECT_NE(find(make(Opcode::kAddc, type)), nullptr);  // reads without writing
    Instruction wide = make(Opcode::kMadc, type);
    wide.width = Width::kWide;
    EXPECT_EQ(find(wide), nullptr);
  }
}

TEST(Carry, Corners) {
  struct Case {
    Opcode op;
    Width width;
    Type type;
    std::uint64_t a, b, carry, c, value;
    bool out;
  };
  const std::uint64_t ones = ~0ull;
  const Case cases[] = {
      {Opcode::kAdd, Width::kDefault, Type::kU32, 0xffffffff, 1, 1, 0, 0, true},  // a carry in is not read
      {Opcode::kAddc, Width::kDefault, Type::kU32, 0xffffffff, 0xffffffff, 1, 0, 0xffffffff, true},
      {Opcode::kAddc, Width::kDefault, Type::kU32, 0xffffffff, 0, 1, 0, 0, true},
      {Opcode::kAddc, Width::kDefault, Type::kS32, 0x7fffffff, 0, 1, 0, 0x80000000, false},
      // The carry of a + ~b + 1 or of a + ~b + carry: set if nothing is borrowed.
      {Opcode::kSub, Width::kDefault, Type::kU32, 0, 1, 0, 0, 0xffffffff, false},
      {Opcode::kSub, Width::kDefault, Type::kU32, 5, 7, 1, 0, 0xfffffffe, false},
      {Opcode::kSub, Width::kDefault, Type::kU32, 7, 5, 0, 0, 2, true},
      {Opcode::kSub, Width::kDefault, Type::kU64, 5, 5, 0, 0, 0, true},
      {Opcode::kSubc, Width::kDefault, Type::kU32, 5, 5, 0, 0, 0xffffffff, false},
      {Opcode::kSubc, Width::kDefault, Type::kU32, 5, 5, 1, 0, 0, true},
      {Opcode::kSubc, Width::kDefault, Type::kU64, 0, ones, 0, 0, 0, false},
      {Opcode::kSubc, Width::kDefault, Type::kU64, 0, 0, 0, 0, ones, false},
      {Opcode::kSubc, Width::kDefault, Type::kU64, 7, 5, 0, 0, 1, true},
      {Opcode::kSubc, Width::kDefault, Type::kS64, 7, 5, 1, 0, 2, true},
      {Opcode::kMadc, Width::kHi, Type::kU32, 0xffffffff, 0xffffffff, 1, 1, 0, true},
      {Opcode::kMadc, Width::kHi, Type::kS32, 0xffffffff, 1, 1, 0, 0, true},  // high half of -1 is all ones
      {Opcode::kMadc, Width::kHi, Type::kU32, 0xffffffff, 1, 1, 0, 1, false},
      {Opcode::kMadc, Width::kHi, Type::kU64, ones, ones, 0, 1, ones, false},
      {Opcode::kMad, Width::kLo, Type::kU64, ones, ones, 0, ones, 0, true},
  };
  for (const Case& c : cases) {
    Instruction in = make(c.op, c.type);
    in.width = c.width;
    in.carry_out = true;
    const Outcome outcome =
        run(in, std::vector<Bits>(kLanes, {c.a, c.b, c.carry, c.c}), best_instruction_set());
    ASSERT_EQ(outcome.values.size(), kLanes);
    EXPECT_EQ(outcome.values[5], c.value) << name(in);
    EXPECT_EQ(outcome.carries[5], c.out) << name(in);
  }
}

}  // namespace
}  // namespace weft::isa::test::carry_test
