// The interpreter on small kernels whose results are known.
#include "interpreter/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "default_addresses.h"
#include "interpreter/program_builder.h"

namespace weft::test::interpreter_test {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Space;
using ptx::Special;
using ptx::Type;
using ptx::Width;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kBase = 0x7'0000'0000;

class InterpreterTest : public testing::Test {
 protected:
  std::vector<std::uint8_t> memory_ = std::vector<std::uint8_t>(65536);
  Interpreter interpreter_{memory_, kBase};

  std::uint32_t word(std::size_t index) const {
    std::uint32_t value;
    std::memcpy(&value, &memory_[4 * index], 4);
    return value;
  }
  void set_word(std::size_t index, std::uint32_t value) { std::memcpy(&memory_[4 * index], &value, 4); }

  std::string fault_of(const Launch& launch) {
    try {
      interpreter_.run(launch);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "no fault";
  }

  // row 0 = global thread number, rows 2:3 = kBase + 4 * that.
  static void thread_address(ProgramBuilder& b) {
    const auto tid = b.special(Special::kTidX), ntid = b.special(Special::kNtidX);
    const auto block = b.special(Special::kCtaidX);
    b.add(Opcode::kMad, Type::kU32, {row(0)}, {block, ntid, tid}).width = Width::kLo;
    b.add(Opcode::kMad, Type::kU32, {row(2)}, {row(0), b.constant(4), b.constant(kBase, true)}).width =
        Width::kWide;
  }
};

TEST_F(InterpreterTest, VectorAdd) {
  ProgramBuilder b(8, 0);
  thread_address(b);
  b.add(Opcode::kLd, Type::kF32, {row(4)}, {row(2)}).space = Space::kGlobal;
  b.add(Opcode::kLd, Type::kF32, {row(5)}, {row(2)}).offset = 4096;
  b.add(Opcode::kAdd, Type::kF32, {row(6)}, {row(4), row(5)});
  Instruction& store = b.add(Opcode::kSt, Type::kF32, {}, {row(2), row(6)});
  store.space = Space::kGlobal;
  store.offset = 8192;
  b.add(Opcode::kRet, Type::kNone);
  for (unsigned i = 0; i < 300; ++i) {
    const float x = 0.5f * static_cast<float>(i), y = 100.0f;
    std::memcpy(&memory_[4 * i], &x, 4);
    std::memcpy(&memory_[4096 + 4 * i], &y, 4);
  }
  interpreter_.run({&b.program(), {3, 1, 1}, {100, 1, 1}, {}, 0});
  for (unsigned i = 0; i < 300; ++i) {
    float sum;
    std::memcpy(&sum, &memory_[8192 + 4 * i], 4);
    ASSERT_EQ(sum, 0.5f * static_cast<float>(i) + 100.0f);
  }
  EXPECT_EQ(interpreter_.thread_instructions(), 300u * 7);
}

// Each thread adds 1 + 2 + ... + its number, by a loop.
TEST_F(InterpreterTest, LoopsAndGuards) {
  ProgramBuilder b(8, 1);
  thread_address(b);
  b.add(Opcode::kMov, Type::kU32, {row(4)}, {b.constant(0)});
  b.add(Opcode::kMov, Type::kU32, {row(5)}, {row(0)});
  const ptx::Pc loop = b.here();
  b.add(Opcode::kSetp, Type::kU32, {predicate(0)}, {row(5), b.constant(0)}).compare = ptx::Compare::kEq;
  Instruction& out = b.add(Opcode::kBra, Type::kNone);
  out.guard = 0;
  out.target = loop + 5;
  b.add(Opcode::kAdd, Type::kU32, {row(4)}, {row(4), row(5)});
  b.add(Opcode::kSub, Type::kU32, {row(5)}, {row(5), b.constant(1)});
  b.add(Opcode::kBra, Type::kNone).target = loop;
  b.add(Opcode::kSt, Type::kU32, {}, {row(2), row(4)});
  b.add(Opcode::kExit, Type::kNone);
  interpreter_.run({&b.program(), {2, 1, 1}, {16, 1, 1}, {}, 0});
  for (unsigned i = 0; i < 32; ++i) ASSERT_EQ(word(i), i * (i + 1) / 2);
}

// Threads write shared memory, meet, and read their neighbour's word; dynamic shared memory holds a second
// array.
TEST_F(InterpreterTest, BarrierAndSharedMemory) {
  ProgramBuilder b(10, 0);
  thread_address(b);
  const auto tid = b.special(Special::kTidX);
  b.program().shared_bytes = 64 * 4;
  b.add(Opcode::kShl, Type::kB32, {row(4)}, {tid, b.constant(2)});
  Instruction& put = b.add(Opcode::kSt, Type::kU32, {}, {row(4), tid});
  put.space = Space::kShared;
  put.wide_address = false;
  b.add(Opcode::kBar, Type::kNone, {}, {b.constant(0)});
  b.add(Opcode::kXor, Type::kB32, {row(5)}, {row(4), b.constant(63 * 4)});
  // Read through the generic window.
  b.add(Opcode::kCvt, Type::kU64, {row(6)}, {row(5)}).from = Type::kU32;
  b.add(Opcode::kCvta, Type::kU64, {row(6)}, {row(6), b.constant(kDefaultMap.shared_base, true)});
  b.add(Opcode::kLd, Type::kU32, {row(8)}, {row(6)}).space = Space::kGeneric;
  b.add(Opcode::kSt, Type::kU32, {}, {row(2), row(8)}).space = Space::kGlobal;
  Instruction& dynamic = b.add(Opcode::kSt, Type::kU32, {}, {row(4), tid});
  dynamic.space = Space::kShared;
  dynamic.wide_address = false;
  dynamic.offset = 256;
  b.add(Opcode::kRet, Type::kNone);
  interpreter_.run({&b.program(), {2, 1, 1}, {64, 1, 1}, {}, 256});
  for (unsigned i = 0; i < 128; ++i) ASSERT_EQ(word(i), 63 - i % 64);
  EXPECT_THAT(fault_of({&b.program(), {1, 1, 1}, {64, 1, 1}, {}, 0}),
              AllOf(HasSubstr("pc 10: "), HasSubstr("outside of memory"), HasSubstr("shared address 0x1")));
}

TEST_F(InterpreterTest, BarrierReductions) {
  ProgramBuilder b(10, 2);
  thread_address(b);
  b.add(Opcode::kSetp, Type::kU32, {predicate(0)}, {row(0), b.constant(5)}).compare = ptx::Compare::kLt;
  Instruction& count = b.add(Opcode::kBar, Type::kNone, {row(4)});
  count.barrier = ptx::BarrierKind::kRedPopc;
  count.src = {b.constant(1), {}, predicate(0, true)};
  Instruction& any = b.add(Opcode::kBar, Type::kNone, {predicate(1)});
  any.barrier = ptx::BarrierKind::kRedOr;
  any.src = {b.constant(1), {}, predicate(0)};
  Instruction& all = b.add(Opcode::kBar, Type::kNone, {predicate(0)});
  all.barrier = ptx::BarrierKind::kRedAnd;
  all.src = {b.constant(1), {}, predicate(0)};
  b.add(Opcode::kSelp, Type::kU32, {row(5)}, {b.constant(100), b.constant(0), predicate(1)});
  b.add(Opcode::kSelp, Type::kU32, {row(6)}, {b.constant(1000), b.constant(0), predicate(0)});
  b.add(Opcode::kAdd, Type::kU32, {row(4)}, {row(4), row(5)});
  b.add(Opcode::kAdd, Type::kU32, {row(4)}, {row(4), row(6)});
  b.add(Opcode::kSt, Type::kU32, {}, {row(2), row(4)});
  b.add(Opcode::kRet, Type::kNone);
  interpreter_.run({&b.program(), {1, 1, 1}, {40, 1, 1}, {}, 0});
  for (unsigned i = 0; i < 40; ++i) ASSERT_EQ(word(i), 135u);  // 35 not below 5; some are; not all
}

// A thread that exits no longer counts at a barrier; with a thread count the barrier waits for that many.
TEST_F(InterpreterTest, ExitedThreadsAndDeadlock) {
  ProgramBuilder b(4, 1);
  const auto tid = b.special(Special::kTidX);
  b.add(Opcode::kSetp, Type::kU32, {predicate(0)}, {tid, b.constant(1)}).compare = ptx::Compare::kEq;
  b.add(Opcode::kExit, Type::kNone).guard = 0;
  b.add(Opcode::kBar, Type::kNone, {}, {b.constant(2)});
  b.add(Opcode::kRet, Type::kNone);
  EXPECT_EQ(fault_of({&b.program(), {1, 1, 1}, {4, 1, 1}, {}, 0}), "no fault");
  b.program().code[2].src[1] = b.constant(64);  // there is one warp of 32
  EXPECT_EQ(fault_of({&b.program(), {1, 1, 1}, {4, 1, 1}, {}, 0}),
            "block (0,0,0) thread (0,0,0) pc 3: waits at barrier 2 for threads that never arrive");
}

// One thread spins until another, later one has written.
TEST_F(InterpreterTest, ThreadsTakeTurns) {
  ProgramBuilder b(8, 2);
  const auto tid = b.special(Special::kTidX);
  b.add(Opcode::kSetp, Type::kU32, {predicate(0)}, {tid, b.constant(0)}).compare = ptx::Compare::kEq;
  Instruction& to_writer = b.add(Opcode::kBra, Type::kNone);
  to_writer.guard = 0;
  to_writer.guard_negated = true;
  to_writer.target = 6;
  b.add(Opcode::kLd, Type::kU32, {row(2)}, {b.constant(kBase, true)});
  b.add(Opcode::kSetp, Type::kU32, {predicate(1)}, {row(2), b.constant(0)}).compare = ptx::Compare::kEq;
  Instruction& again = b.add(Opcode::kBra, Type::kNone);
  again.guard = 1;
  again.target = 2;
  b.add(Opcode::kRet, Type::kNone);
  Instruction& add = b.add(Opcode::kRed, Type::kU32, {}, {b.constant(kBase, true), b.constant(7)});
  add.atomic = ptx::Atomic::kAdd;
  b.add(Opcode::kRet, Type::kNone);
  EXPECT_EQ(fault_of({&b.program(), {1, 1, 1}, {2, 1, 1}, {}, 0}), "no fault");
  EXPECT_EQ(word(0), 7u);
  set_word(0, 0);
  interpreter_.set_step_limit(10'000);
  EXPECT_THAT(fault_of({&b.program(), {1, 1, 1}, {1, 1, 1}, {}, 0}), HasSubstr("step limit exceeded"));
}

TEST_F(InterpreterTest, ParametersLocalMemoryAndVectors) {
  ProgramBuilder b(16, 0);
  b.program().local_bytes = 32;
  Instruction& pointer = b.add(Opcode::kLd, Type::kU64, {row(0)});
  pointer.space = Space::kParam;
  pointer.offset = 8;
  Instruction& load = b.add(Opcode::kLd, Type::kU16, {row(2), row(3), row(4), row(5)}, {row(0)});
  load.vector = 4;
  Instruction& spill = b.add(Opcode::kSt, Type::kU32, {}, {{}, row(4), row(5)});
  spill.space = Space::kLocal;
  spill.vector = 2;
  spill.offset = 24;
  Instruction& reload =
      b.add(Opcode::kLd, Type::kS8, {row(6)}, {b.constant(kDefaultMap.local_base + 24, true)});
  reload.space = Space::kGeneric;
  b.add(Opcode::kSt, Type::kU32, {}, {row(0), row(6)}).offset = 8;
  b.add(Opcode::kRet, Type::kNone);
  std::vector<std::uint8_t> parameters(16);
  const std::uint64_t address = kBase + 64;
  std::memcpy(&parameters[8], &address, 8);
  const std::uint16_t data[4] = {1, 2, 0x1f3, 4};
  std::memcpy(&memory_[64], data, sizeof data);
  interpreter_.run({&b.program(), {1, 1, 1}, {1, 1, 1}, parameters, 0});
  EXPECT_EQ(word(18), 0xfffffff3u);
}

TEST_F(InterpreterTest, AtomicsReturnTheOldValue) {
  ProgramBuilder b(8, 0);
  thread_address(b);
  Instruction& atom =
      b.add(Opcode::kAtom, Type::kU32, {row(4)}, {b.constant(kBase + 4096, true), b.constant(9)});
  atom.atomic = ptx::Atomic::kInc;
  b.add(Opcode::kSt, Type::kU32, {}, {row(2), row(4)});
  b.add(Opcode::kRet, Type::kNone);
  interpreter_.run({&b.program(), {1, 1, 1}, {25, 1, 1}, {}, 0});
  for (unsigned i = 0; i < 25; ++i) ASSERT_EQ(word(i), i % 10);
  EXPECT_EQ(word(1024), 5u);
}

TEST_F(InterpreterTest, Faults) {
  ProgramBuilder b(4, 0);
  b.add(Opcode::kLd, Type::kU32, {row(2)}, {b.constant(kBase + 65536, true)});
  b.add(Opcode::kRet, Type::kNone);
  const Launch launch{&b.program(), {1, 1, 1}, {1, 1, 1}, {}, 0};
  EXPECT_EQ(
      fault_of(launch),
      "block (0,0,0) thread (0,0,0) pc 0: access outside of memory: 4 bytes at global address 0x700010000");
  b.program().code[0].offset = -2;
  EXPECT_THAT(fault_of(launch), HasSubstr("misaligned access"));
  b.program().code[0].op = Opcode::kNop;
  b.program().code.pop_back();
  EXPECT_THAT(fault_of(launch), HasSubstr("ran past the last instruction"));
  EXPECT_THAT(fault_of({&b.program(), {1, 0, 1}, {1, 1, 1}, {}, 0}), HasSubstr("at least one block"));
}

}  // namespace
}  // namespace weft::test::interpreter_test
