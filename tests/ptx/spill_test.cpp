// Registers that do not fit are kept in local memory: how many there are then, and what the loads and stores
// look like. That the results stay is tested by running them (tests/equivalence/spill_test.cpp).
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "ptx/ptx_text.h"

namespace weft::ptx::testing::spill_test {
namespace {

using ::testing::HasSubstr;

// `count` values that live at once.
std::string many_values(unsigned count, const std::string& prefix = "%f", const std::string& type = "f32") {
  std::ostringstream body;
  body << "ld.param.u64 %rd0, [a];\n";
  for (unsigned i = 0; i < count; ++i)
    body << "ld.global." << type << ' ' << prefix << i << ", [%rd0+" << 8 * i << "];\n";
  for (unsigned i = 0; i < count; ++i)
    body << "st.global." << type << " [%rd0+" << 8 * i << "], " << prefix << i << ";\n";
  body << "ret;";
  return body.str();
}

Program decode_limited(const std::string& text, std::uint32_t limit, bool spill = true) {
  return decode(parse(text, "k.ptx"), "k", {}, DecodeOptions{limit, spill});
}

// What lives across this goes to memory before anything in it.
std::string crowds() {
  std::string body;
  for (int i = 0; i < 4; ++i) {
    body += many_values(30);
    body.resize(body.rfind("ret;"));
  }
  return body;
}

std::vector<const Instruction*> spills(const Program& program, Opcode op) {
  std::vector<const Instruction*> found;
  for (const Instruction& i : program.code) {
    if (i.spill && i.op == op) found.push_back(&i);
  }
  return found;
}

TEST(Spill, AKernelDoesWithTheRegistersAllowed) {
  const std::string text = kernel_of(many_values(60));
  EXPECT_EQ(decode_limited(text, 255).registers_per_thread, 62u);
  EXPECT_EQ(decode_limited(text, 62).spill_loads, 0u);
  std::uint32_t fewer = 0;
  for (std::uint32_t limit = 61; limit >= kLeastRegisters; --limit) {
    const Program program = decode_limited(text, limit);
    EXPECT_LE(program.registers_per_thread, limit);
    EXPECT_GE(program.spill_loads, 62 - limit) << limit;
    EXPECT_EQ(program.spill_loads, spills(program, Opcode::kLd).size());
    EXPECT_EQ(program.spill_stores, spills(program, Opcode::kSt).size());
    EXPECT_GE(program.spill_bytes, 4 * (62 - limit)) << limit;
    EXPECT_GE(program.local_bytes, program.spill_bytes);
    EXPECT_GE(program.spill_loads, fewer) << "fewer registers cannot need fewer loads here";
    fewer = program.spill_loads;
  }
}

TEST(Spill, AWideValueIsOneAccessOfEightBytes) {
  const Program program = decode_limited(kernel_of(many_values(20, "%fd", "f64")), 20);
  EXPECT_LE(program.registers_per_thread, 20u);
  std::set<std::int64_t> places;
  for (const Instruction* store : spills(program, Opcode::kSt)) {
    EXPECT_EQ(store->space, Space::kLocal);
    EXPECT_EQ(store->unit, Unit::kMemory);
    EXPECT_EQ(bytes_of(store->type), 8u);
    EXPECT_EQ(store->offset % 8, 0);
    EXPECT_TRUE(places.insert(store->offset).second) << "two values in one place";
    EXPECT_LE(static_cast<std::uint64_t>(store->offset) + 8, program.local_bytes);
  }
  EXPECT_GE(places.size(), 11u);
}

TEST(Spill, UnderAGuardOnlyItsThreadsAreLoadedAndStored) {
  std::string body =
      "ld.param.u32 %r2, [n]; setp.eq.u32 %p1, %r2, 3; mov.u32 %r1, 7;\n@!%p1 add.u32 %r1, %r1, 5;\n";
  body += crowds() + "st.global.u32 [%rd0], %r1; ret;";
  const Program program = decode_limited(kernel_of(body), 16);
  const auto add = std::find_if(program.code.begin(), program.code.end(),
                                [](const Instruction& i) { return i.op == Opcode::kAdd && i.guard >= 0; });
  ASSERT_NE(add, program.code.end());
  const Instruction &before = add[-1], &after = add[1];
  for (const Instruction* access : {&before, &after}) {
    EXPECT_TRUE(access->spill);
    EXPECT_EQ(access->guard, add->guard);
    EXPECT_TRUE(access->guard_negated);
    EXPECT_EQ(access->ptx.line, add->ptx.line) << "they stand where the instruction does that they serve";
  }
  EXPECT_EQ(before.op, Opcode::kLd);
  EXPECT_EQ(after.op, Opcode::kSt);
  EXPECT_EQ(before.offset, after.offset);
}

// The guard is gone when the store comes, so the old value is loaded for all, and all is stored.
TEST(Spill, AnInstructionThatChangesItsOwnGuard) {
  std::string body =
      "ld.param.u32 %r2, [n]; setp.eq.u32 %p1, %r2, 3; mov.u32 %r1, 7;\n"
      "@%p1 shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;\n";
  body += crowds() + "st.global.u32 [%rd0], %r1; ret;";
  const Program program = decode_limited(kernel_of(body), 16);
  const auto shuffle = std::find_if(program.code.begin(), program.code.end(),
                                    [](const Instruction& i) { return i.op == Opcode::kShfl; });
  ASSERT_NE(shuffle, program.code.end());
  EXPECT_TRUE(shuffle[1].spill);
  EXPECT_EQ(shuffle[1].op, Opcode::kSt);
  EXPECT_EQ(shuffle[1].guard, -1);
  bool loaded = false;
  for (auto i = shuffle - 1; i->spill; --i) {
    EXPECT_EQ(i->guard, -1);
    loaded = loaded || (i->op == Opcode::kLd && i->offset == shuffle[1].offset);
  }
  EXPECT_TRUE(loaded);
}

TEST(Spill, ValuesInALoopStayInRegisters) {
  // %r1 is added to in a loop, the others wait for its end.
  std::string body = "ld.param.u64 %rd0, [a]; mov.u32 %r1, 0; mov.u32 %r2, 0;\n";
  for (int i = 0; i < 30; ++i)
    body += "ld.global.f32 %f" + std::to_string(i) + ", [%rd0+" + std::to_string(4 * i) + "];\n";
  body += "LOOP: add.u32 %r1, %r1, %r2; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 100; @%p1 bra LOOP;\n";
  for (int i = 0; i < 30; ++i)
    body += "st.global.f32 [%rd0+" + std::to_string(4 * i) + "], %f" + std::to_string(i) + ";\n";
  const Program program = decode_limited(kernel_of(body + "st.global.u32 [%rd0], %r1; ret;"), 16);
  EXPECT_GT(program.spill_loads, 0u);
  const auto loop = std::find_if(program.code.begin(), program.code.end(),
                                 [](const Instruction& i) { return i.is_branch(); });
  ASSERT_NE(loop, program.code.end());
  for (Pc pc = loop->target; pc <= static_cast<Pc>(loop - program.code.begin()); ++pc)
    EXPECT_FALSE(program.code[pc].spill) << pc;
}

TEST(Spill, DirectivesAsk) {
  const auto with = [](const std::string& directive) {
    std::string text = kernel_of(many_values(60));
    return text.insert(text.find('{'), directive + "\n");
  };
  EXPECT_EQ(decode_limited(with(".maxnreg 63"), 255).registers_per_thread, 62u);
  EXPECT_LE(decode_limited(with(".maxnreg 20"), 255).registers_per_thread, 20u);
  EXPECT_GT(decode_limited(with(".maxnreg 20"), 255).spill_loads, 0u);
  EXPECT_LE(decode_limited(with(".maxnreg 40"), 30).registers_per_thread, 30u);
  // Not below what every kernel may have; and not at all where the occupancy is given.
  const Program least = decode_limited(with(".maxnreg 4"), 255);
  EXPECT_GT(least.registers_per_thread, 8u);
  EXPECT_LE(least.registers_per_thread, kLeastRegisters);
  EXPECT_EQ(decode_limited(with(".maxnreg 20"), 255, false).registers_per_thread, 62u);
  EXPECT_EQ(decode_limited(with(".maxntid 256\n.minnctapersm 3"), 255).min_blocks, 3u);
  EXPECT_THAT(message_of([&] { parse(with(".maxnreg 0"), "k.ptx"); }),
              HasSubstr(".maxnreg takes one number"));
  EXPECT_THAT(message_of([&] { parse(with(".minnctapersm 1, 2"), "k.ptx"); }),
              HasSubstr(".minnctapersm takes one number"));
}

TEST(Spill, WhatStillDoesNotFitSaysHowFarItWent) {
  const std::string text = kernel_of(many_values(20, "%fd", "f64"));
  EXPECT_THAT(
      message_of([&] { decode_limited(text, 3); }),
      AllOf(HasSubstr("k.ptx:4:17: kernel 'k': the kernel needs at least 42 registers per thread, 39 more "
                      "than the 3 allowed, and 4 after spilling all registers that can be spilled"),
            HasSubstr("; allowed with --set sm.max_registers_per_thread=16")));
  EXPECT_THAT(message_of([&] { decode_limited(text, 32, false); }),
              AllOf(HasSubstr("at least 42 registers per thread, 10 more than the 32 allowed"),
                    HasSubstr("allowed with spilling: --set sm.registers_per_thread=0")));
}

// Ten thousand values at once, of which all but a few go to memory: the work grows with the text.
TEST(Spill, ManyValuesTakeAMoment) {
  constexpr unsigned kValues = 10'000;
  std::string body = ".reg .f32 %v<10000>;\nld.param.u64 %rd0, [a];\n";
  for (unsigned i = 0; i < kValues; ++i) body += "ld.global.f32 %v" + std::to_string(i) + ", [%rd0];\n";
  for (unsigned i = 0; i < kValues; ++i) body += "st.global.f32 [%rd0], %v" + std::to_string(i) + ";\n";
  const Program program = decode_limited(kernel_of(body + "ret;"), 63);
  EXPECT_LE(program.registers_per_thread, 63u);
  EXPECT_GT(program.spill_stores, kValues - 63);
}

TEST(Spill, TheListingSaysWhatWasSpilled) {
  const std::string text = describe(parse(kernel_of(many_values(30)), "k.ptx"), DecodeOptions{16, true});
  EXPECT_THAT(text, HasSubstr("  spilled: "));
  EXPECT_THAT(text, HasSubstr("  + ld (spill)\n"));
  EXPECT_THAT(text, HasSubstr("  + st (spill)\n"));
  EXPECT_THAT(describe(parse(kernel_of(many_values(30)), "k.ptx")), ::testing::Not(HasSubstr("spill")));
}

}  // namespace
}  // namespace weft::ptx::testing::spill_test
