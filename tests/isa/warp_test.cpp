// Warp-level primitives on one warp: hand-made cases, then random operands and participants in both
// instruction-set versions against the interpreter's rules.
#include "interpreter/warp.h"

#include <gtest/gtest.h>

#include <cstring>

#include "isa/harness.h"

namespace weft::isa::test::warp_test {
namespace {

using ptx::Atomic;
using ptx::Mode;
using weft::test::evaluate_warp;
using weft::test::Participant;

using Words = std::array<std::uint32_t, kLanes>;

struct Result {
  Words d{};
  std::uint32_t first = 0, second = 0;  // predicate results of the lanes that take part
};

struct Operands {
  alignas(64) std::array<std::uint64_t, kLanes> a{};
  alignas(64) Words b{}, c{};
  std::uint32_t predicate = 0;
};

Instruction primitive(Opcode op, Type type, Mode mode = Mode::kNone, Atomic atomic = Atomic::kNone) {
  Instruction in;
  in.op = op;
  in.type = type;
  in.mode = mode;
  in.atomic = atomic;
  return in;
}

constexpr std::uint32_t kUntouched = 0xdeadbeef;

Result run(const Instruction& in, const Operands& operands, std::uint32_t active,
           InstructionSet set = best_instruction_set()) {
  Result result;
  result.d.fill(kUntouched);
  const LaneFunction function = find(in, set);
  if (function == nullptr) {
    ADD_FAILURE() << "no function";
    return result;
  }
  alignas(64) Words narrow;
  for (unsigned i = 0; i < kLanes; ++i) narrow[i] = static_cast<std::uint32_t>(operands.a[i]);
  Lanes lanes;
  lanes.dst = result.d.data();
  lanes.src[0] = in.type == Type::kB64 ? static_cast<const void*>(operands.a.data()) : narrow.data();
  lanes.src[1] = operands.b.data();
  lanes.src[2] = operands.c.data();
  lanes.predicate[0] = operands.predicate;
  lanes.active = active;
  function(lanes);
  result.first = lanes.result[0] & active;
  result.second = lanes.result[1] & active;
  return result;
}

Operands lane_numbers(std::uint32_t b, std::uint32_t c) {
  Operands operands;
  for (unsigned i = 0; i < kLanes; ++i) operands.a[i] = 100 + i;
  operands.b.fill(b);
  operands.c.fill(c);
  return operands;
}

// __shfl_down_sync(mask, v, 3, 8): segments of 8 lanes, c = (32 - 8) << 8 | 31.
TEST(Shuffle, DownInSegmentsOfEight) {
  const Result r = run(primitive(Opcode::kShfl, Type::kB32, Mode::kDown), lane_numbers(3, 0x181f), ~0u);
  for (unsigned i = 0; i < kLanes; ++i) EXPECT_EQ(r.d[i], i % 8 < 5 ? 103 + i : 100 + i) << i;
  EXPECT_EQ(r.second, 0x1f1f1f1fu);
}

// __shfl_up_sync(mask, v, 2, 16): c = (32 - 16) << 8, and lanes 0, 1 of each segment keep their own.
TEST(Shuffle, UpInSegmentsOfSixteen) {
  const Result r = run(primitive(Opcode::kShfl, Type::kB32, Mode::kUp), lane_numbers(2, 0x1000), ~0u);
  for (unsigned i = 0; i < kLanes; ++i) EXPECT_EQ(r.d[i], i % 16 < 2 ? 100 + i : 98 + i) << i;
  EXPECT_EQ(r.second, 0xfffcfffcu);
}

TEST(Shuffle, ButterflyAndIndex) {
  const Result bfly = run(primitive(Opcode::kShfl, Type::kB32, Mode::kBfly), lane_numbers(5, 31), ~0u);
  const Result idx = run(primitive(Opcode::kShfl, Type::kB32, Mode::kIdx), lane_numbers(6, 0x181f), ~0u);
  for (unsigned i = 0; i < kLanes; ++i) {
    EXPECT_EQ(bfly.d[i], 100 + (i ^ 5)) << i;
    EXPECT_EQ(idx.d[i], 100 + i / 8 * 8 + 6) << i;
  }
  EXPECT_EQ(bfly.second, ~0u);
}

// A source that does not take part gives 0; lanes that do not take part keep theirs.
TEST(Shuffle, SourceThatDoesNotTakePart) {
  const Result r = run(primitive(Opcode::kShfl, Type::kB32, Mode::kDown), lane_numbers(1, 31), 0x0000000b);
  EXPECT_EQ(r.d[0], 101u);
  EXPECT_EQ(r.d[1], 0u);  // lane 2 is absent
  EXPECT_EQ(r.d[2], kUntouched);
  EXPECT_EQ(r.d[3], 0u);
  const Result last = run(primitive(Opcode::kShfl, Type::kB32, Mode::kDown), lane_numbers(1, 31), 1u << 31);
  EXPECT_EQ(last.d[31], 131u) << "beyond the segment the own value stays";
}

// Which lane a thread reads, as it is told elsewhere, is what the kernels do: values are lane numbers.
TEST(Shuffle, SourceInWords) {
  for (const Mode mode : {Mode::kUp, Mode::kDown, Mode::kBfly, Mode::kIdx}) {
    for (unsigned b = 0; b < 32; ++b) {
      for (const unsigned c : {0u, 31u, 7u, 0x181fu, 0x1c00u, 0x1803u, 0x1f1fu, 0x0a15u}) {
        const Result r = run(primitive(Opcode::kShfl, Type::kB32, mode), lane_numbers(b, c), ~0u);
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          const ShuffleSource source = shuffle_source(mode, lane, b, c);
          ASSERT_EQ(source.inside, (r.second >> lane & 1) != 0) << lane << " " << b << " " << c;
          ASSERT_EQ(source.inside ? source.lane : lane, r.d[lane] - 100) << lane << " " << b << " " << c;
        }
      }
    }
  }
}

TEST(Vote, CountsThoseThatTakePart) {
  Operands operands;
  operands.predicate = 0x000000f5;
  EXPECT_EQ(run(primitive(Opcode::kVote, Type::kB32, Mode::kBallot), operands, 0x0000003f).d[4], 0x35u);
  const auto vote = [&](Mode mode, std::uint32_t active) {
    return run(primitive(Opcode::kVote, Type::kPred, mode), operands, active).first == active;
  };
  EXPECT_TRUE(vote(Mode::kAll, 0x000000f0));
  EXPECT_FALSE(vote(Mode::kAll, 0x000000f2));
  EXPECT_TRUE(vote(Mode::kAny, 0x00000012));
  EXPECT_FALSE(vote(Mode::kAny, 0x0000ff02));
  EXPECT_TRUE(vote(Mode::kUni, 0x0000ff0a));
  EXPECT_TRUE(vote(Mode::kUni, 0x000000f0));
  EXPECT_FALSE(vote(Mode::kUni, 0x000000f8));
}

TEST(Match, AnyAndAll) {
  Operands operands;
  for (unsigned i = 0; i < kLanes; ++i) operands.a[i] = (i % 3) | std::uint64_t{i / 16} << 40;
  const Result narrow = run(primitive(Opcode::kMatch, Type::kB32, Mode::kAny), operands, ~0u);
  EXPECT_EQ(narrow.d[0], 0x49249249u);
  const Result wide = run(primitive(Opcode::kMatch, Type::kB64, Mode::kAny), operands, ~0u);
  EXPECT_EQ(wide.d[0], 0x00009249u);
  EXPECT_EQ(wide.d[18], 0x49240000u);
  const Result all = run(primitive(Opcode::kMatch, Type::kB32, Mode::kAll), operands, 0x00000049);
  EXPECT_EQ(all.d[3], 0x49u);
  EXPECT_EQ(all.second, 0x49u);
  const Result some = run(primitive(Opcode::kMatch, Type::kB32, Mode::kAll), operands, 0x00000041 | 2);
  EXPECT_EQ(some.d[0], 0u);
  EXPECT_EQ(some.second, 0u);
}

TEST(Redux, SumsAndExtremes) {
  Operands operands;
  for (unsigned i = 0; i < kLanes; ++i) operands.a[i] = static_cast<std::uint32_t>(-static_cast<int>(i));
  const auto redux = [&](Atomic op, Type type, std::uint32_t active) {
    return run(primitive(Opcode::kRedux, type, Mode::kNone, op), operands, active).d[2];
  };
  EXPECT_EQ(redux(Atomic::kAdd, Type::kU32, ~0u), static_cast<std::uint32_t>(-496));
  EXPECT_EQ(redux(Atomic::kMin, Type::kS32, ~0u), static_cast<std::uint32_t>(-31));
  EXPECT_EQ(redux(Atomic::kMin, Type::kU32, ~0u), 0u);
  EXPECT_EQ(redux(Atomic::kMax, Type::kS32, 0xfffffffe), static_cast<std::uint32_t>(-1));
  EXPECT_EQ(redux(Atomic::kMax, Type::kU32, 0x0000000c), static_cast<std::uint32_t>(-2));
}

TEST(Elect, LowestOfThoseThatTakePart) {
  const Result r = run(primitive(Opcode::kElect, Type::kB32), {}, 0x00f00050);
  EXPECT_EQ(r.d[6], 4u);
  EXPECT_EQ(r.second, 0x10u);
  EXPECT_EQ(run(primitive(Opcode::kActivemask, Type::kB32), {}, 0x00f00050).d[22], 0x00f00050u);
}

std::vector<Instruction> all_primitives() {
  std::vector<Instruction> list;
  for (const Mode mode : {Mode::kUp, Mode::kDown, Mode::kBfly, Mode::kIdx})
    list.push_back(primitive(Opcode::kShfl, Type::kB32, mode));
  for (const Mode mode : {Mode::kAll, Mode::kAny, Mode::kUni})
    list.push_back(primitive(Opcode::kVote, Type::kPred, mode));
  list.push_back(primitive(Opcode::kVote, Type::kB32, Mode::kBallot));
  for (const Type type : {Type::kB32, Type::kB64}) {
    for (const Mode mode : {Mode::kAny, Mode::kAll}) list.push_back(primitive(Opcode::kMatch, type, mode));
  }
  for (const Type type : {Type::kU32, Type::kS32}) {
    for (const Atomic op : {Atomic::kAdd, Atomic::kMin, Atomic::kMax})
      list.push_back(primitive(Opcode::kRedux, type, Mode::kNone, op));
  }
  for (const Atomic op : {Atomic::kAnd, Atomic::kOr, Atomic::kXor})
    list.push_back(primitive(Opcode::kRedux, Type::kB32, Mode::kNone, op));
  list.push_back(primitive(Opcode::kElect, Type::kB32));
  return list;
}

TEST(WarpPrimitives, RandomOperandsAgainstTheInterpreter) {
  Random random(12);
  for (const Instruction& in : all_primitives()) {
    for (unsigned round = 0; round < 625; ++round) {
      Operands operands;
      const std::uint64_t spread = random() % 3 == 0 ? ~0ull : random() % 4;
      for (unsigned i = 0; i < kLanes; ++i) {
        operands.a[i] = random() & spread;
        if (in.type != Type::kB64) operands.a[i] &= 0xffffffff;
        operands.b[i] = static_cast<std::uint32_t>(random());
        operands.c[i] = static_cast<std::uint32_t>(random());
      }
      operands.predicate = static_cast<std::uint32_t>(random() % 4 == 0 ? ~0ull : random());
      std::uint32_t active = static_cast<std::uint32_t>(random() % 2 == 0 ? ~0ull : random());
      if (active == 0) active = 1;
      std::map<unsigned, Participant> members;
      for (unsigned i = 0; i < kLanes; ++i) {
        if ((active >> i & 1) == 0) continue;
        members[i] = {in.op == Opcode::kVote ? operands.predicate >> i & 1 : operands.a[i], operands.b[i],
                      operands.c[i]};
      }
      const auto expected = evaluate_warp(in, members);
      for (const InstructionSet set : {InstructionSet::kBase, best_instruction_set()}) {
        const Result got = run(in, operands, active, set);
        for (unsigned i = 0; i < kLanes; ++i) {
          if (members.count(i) == 0) {
            ASSERT_EQ(got.d[i], kUntouched) << name(in);
            continue;
          }
          const bool row = in.type != Type::kPred;
          if (row) {
            ASSERT_EQ(got.d[i], expected.at(i).d) << name(in) << " lane " << i << " of " << active;
          }
          const std::uint32_t predicates = row ? got.second : got.first;
          const bool has = !row || in.op == Opcode::kShfl || in.op == Opcode::kElect ||
                           (in.op == Opcode::kMatch && in.mode == Mode::kAll);
          if (has) {
            ASSERT_EQ(predicates >> i & 1, expected.at(i).p ? 1u : 0u) << name(in) << " lane " << i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::isa::test::warp_test
