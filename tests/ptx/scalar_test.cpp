// Scalarization: which instructions and registers a warp has once, and that what others of the warp may still
// need is not overwritten. Each test names the way in which threads stand apart.
#include <set>

#include "ptx/ptx_text.h"

namespace weft::ptx::testing::scalar_test {
namespace {

// A kernel whose body's lines have numbers from 1 on.
class Decoded {
 public:
  explicit Decoded(const std::string& body, Scalarization kind = Scalarization::kFull,
                   std::uint32_t max_registers = 255)
      : Decoded(kernel_of(body), kind, max_registers, 5) {}
  static Decoded module(const std::string& symbols) {
    return Decoded(module_of(symbols), Scalarization::kFull, 255, 3);
  }

  const Program& program() const { return program_; }
  // The first instruction of a line.
  const Instruction& at(unsigned line) const { return program_.code[pc_of(line)]; }
  bool scalar(unsigned line) const { return at(line).scalar; }
  const std::string& why(unsigned line) const { return why_[pc_of(line)]; }
  std::uint16_t row(unsigned line) const { return at(line).dst[0].index; }

 private:
  Decoded(const std::string& text, Scalarization kind, std::uint32_t max_registers, unsigned lines_before)
      : lines_before_(lines_before) {
    const Module module = parse(text, "k.ptx");
    DecodeOptions options;
    options.scalarization = kind;
    options.max_registers = max_registers;
    Symbols symbols;
    add_functions(module, 0, symbols);
    program_ = decode({{&module, &symbols}}, "k", options, &why_);
  }
  std::size_t pc_of(unsigned line) const {
    for (std::size_t pc = 0; pc < program_.code.size(); ++pc) {
      if (program_.code[pc].ptx.line == line + lines_before_ && !program_.code[pc].spill) return pc;
    }
    ADD_FAILURE() << "nothing in line " << line;
    return 0;
  }

  unsigned lines_before_;
  Program program_;
  std::vector<std::string> why_;
};

TEST(Scalar, WhatEveryThreadReadsAlikeIsScalar) {
  const Decoded d(
      "ld.param.u64 %rd1, [a];\n"
      "mov.u32 %r1, %ctaid.x;\n"
      "mul.wide.u32 %rd2, %r1, 4;\n"
      "add.s64 %rd3, %rd1, %rd2;\n"
      "ld.global.u32 %r2, [%rd3];\n"
      "mov.u32 %r3, %tid.x;\n"
      "add.s32 %r4, %r2, %r3;\n"
      "st.global.u32 [%rd3], %r2;\n"
      "st.global.u32 [%rd3+4], %r4;\n"
      "setp.eq.u32 %p1, %r2, 0;\n"
      "@%p1 bra END;\n"
      "st.global.u32 [%rd3+8], %r1;\n"
      "END: ret;");
  for (const unsigned line : {1u, 2u, 3u, 4u, 5u, 8u, 10u, 11u, 12u}) EXPECT_TRUE(d.scalar(line)) << line;
  for (const unsigned line : {6u, 7u, 9u, 13u}) EXPECT_FALSE(d.scalar(line)) << line;
  EXPECT_EQ(d.why(6), "%tid.x differs by thread");
  EXPECT_EQ(d.why(7), "reads what 5 writes");
  EXPECT_EQ(d.program().scalar_predicates, 1);
  EXPECT_EQ(d.program().predicates, 1);
}

TEST(Scalar, WhatDiffersByThreadIsVector) {
  const Decoded d(
      "ld.param.u64 %rd1, [a];\n"
      "ld.volatile.global.u32 %r1, [%rd1];\n"
      "atom.global.add.u32 %r2, [%rd1], 1;\n"
      "red.global.add.u32 [%rd1], 1;\n"
      "mov.u32 %r3, %clock;\n"
      "mov.u32 %r4, %laneid;\n"
      "mov.u32 %r5, %warpid;\n"
      "activemask.b32 %r6;\n"
      "shfl.sync.idx.b32 %r7, 5, 0, 31, -1;\n"
      "vote.sync.all.pred %p1, %p2, -1;\n"
      "membar.gl;\n"
      "bar.sync 0;\n"
      "ret;");
  for (unsigned line = 2; line <= 13; ++line) EXPECT_FALSE(d.scalar(line)) << line;
  EXPECT_TRUE(d.scalar(1));
}

// A generic address of local memory is the same number in every thread, and another place.
TEST(Scalar, LocalMemoryIsTheThreadsOwn) {
  const Decoded d(
      ".local .b32 place;\n"
      "mov.u64 %rd1, place;\n"
      "cvta.local.u64 %rd2, %rd1;\n"
      "st.local.u32 [%rd1], 5;\n"
      "ld.u32 %r1, [%rd2];\n"
      "ret;");
  EXPECT_TRUE(d.scalar(2));
  for (const unsigned line : {3u, 4u, 5u}) EXPECT_FALSE(d.scalar(line)) << line;
}

TEST(Scalar, OffLeavesNoTrace) {
  const Decoded d("ld.param.u64 %rd1, [a];\nst.global.u32 [%rd1], 5;\nret;", Scalarization::kOff);
  EXPECT_FALSE(d.scalar(1));
  EXPECT_EQ(d.program().scalars_per_warp, 0u);
  EXPECT_EQ(d.program().unscalarized_registers, 0u);
  const Decoded with("ld.param.u64 %rd1, [a];\nst.global.u32 [%rd1], 5;\nret;");
  EXPECT_EQ(with.program().unscalarized_registers, d.program().registers_per_thread);
  EXPECT_EQ(with.program().registers_per_thread, 0u);
  EXPECT_EQ(with.program().scalars_per_warp, 2u);
}

// The two values of %r1 have nothing in common.
TEST(Scalar, WebsOfARegisterAreJudgedApart) {
  const Decoded d(
      "ld.param.u64 %rd1, [a];\n"
      "mov.u32 %r1, %tid.x;\n"
      "st.global.u32 [%rd1], %r1;\n"
      "mov.u32 %r1, 5;\n"
      "st.global.u32 [%rd1], %r1;\n"
      "ret;");
  EXPECT_FALSE(d.scalar(2));
  EXPECT_TRUE(d.scalar(4));
  EXPECT_TRUE(d.scalar(5));
  EXPECT_NE(d.row(2), d.row(4));
}

constexpr const char* kOneSideWrites =
    "ld.param.u64 %rd1, [a];\n"
    "mov.u32 %r1, 5;\n"
    "mov.u32 %r9, %tid.x;\n"
    "setp.eq.u32 %p1, %r9, 0;\n"
    "@%p1 bra OTHER;\n"
    "mov.u32 %r1, 7;\n"  // 6
    "st.global.u32 [%rd1], %r1;\n"
    "bra END;\n"
    "OTHER: st.global.u32 [%rd1+4], %r1;\n"
    "END: ret;";

// %r1 is dead where all meet, but the other side still needs what it was before: two webs, which a thread
// never has at once, have to have two rows.
TEST(Scalar, ARegisterIsResurrectedOnTheOtherSide) {
  const Decoded d(kOneSideWrites);
  EXPECT_TRUE(d.scalar(2));
  EXPECT_TRUE(d.scalar(6));  // under a partial mask
  EXPECT_TRUE(d.scalar(9));
  EXPECT_NE(d.row(2), d.row(6));
}

// Step 4 of the paper: each side has written its own.
TEST(Scalar, WhatEachSideWritesForAllIsVector) {
  const Decoded d(
      "ld.param.u64 %rd1, [a];\n"
      "mov.u32 %r9, %tid.x;\n"
      "setp.eq.u32 %p1, %r9, 0;\n"
      "@%p1 bra B;\n"
      "mov.u32 %r1, 1;\n"  // 5
      "bra END;\n"
      "B: mov.u32 %r1, 2;\n"  // 7
      "END: st.global.u32 [%rd1], %r1;\n"
      "ret;");
  EXPECT_FALSE(d.scalar(5));
  EXPECT_FALSE(d.scalar(7));
  EXPECT_EQ(d.why(7), "writes what threads may need that diverge after 3");
}

// The restricted rule has nothing scalar there.
TEST(Scalar, RestrictedLeavesOutWhereThreadsMayHaveParted) {
  const Decoded d(kOneSideWrites, Scalarization::kRestricted);
  EXPECT_TRUE(d.scalar(1));
  EXPECT_TRUE(d.scalar(2));
  for (const unsigned line : {6u, 7u, 8u, 9u}) EXPECT_FALSE(d.scalar(line)) << line;
  EXPECT_EQ(d.why(6), "threads may have diverged after 4");
}

// The same with predicates.
TEST(Scalar, APredicateIsResurrectedToo) {
  const Decoded d(
      "ld.param.u64 %rd1, [a];\n"
      "ld.param.u32 %r1, [n];\n"
      "setp.eq.u32 %p1, %r1, 3;\n"
      "mov.u32 %r9, %tid.x;\n"
      "setp.eq.u32 %p9, %r9, 0;\n"
      "@%p9 bra OTHER;\n"
      "setp.eq.u32 %p2, %r1, 4;\n"  // 7
      "selp.u32 %r2, 1, 2, %p2;\n"
      "st.global.u32 [%rd1], %r2;\n"
      "bra END;\n"
      "OTHER: selp.u32 %r3, 1, 2, %p1;\n"
      "st.global.u32 [%rd1+4], %r3;\n"
      "END: ret;");
  EXPECT_TRUE(d.scalar(3));
  EXPECT_TRUE(d.scalar(7));
  EXPECT_NE(d.row(3), d.row(7));
  EXPECT_EQ(d.program().scalar_predicates, 2);
}

// The old value again, as one web: OTHER is also reached with the new one. Dead at END, where all meet.
TEST(Scalar, TheOldValueThatTheOtherSideReadsKeepsARegisterVector) {
  const Decoded d(
      "ld.param.u64 %rd1, [a];\n"
      "ld.param.u32 %r8, [n];\n"
      "setp.eq.u32 %p2, %r8, 3;\n"
      "mov.u32 %r1, 5;\n"
      "mov.u32 %r9, %tid.x;\n"
      "setp.eq.u32 %p1, %r9, 0;\n"
      "@%p1 bra OTHER;\n"
      "mov.u32 %r1, 7;\n"  // 8
      "@%p2 bra OTHER;\n"
      "bra END;\n"
      "OTHER: st.global.u32 [%rd1+4], %r1;\n"
      "END: ret;");
  EXPECT_FALSE(d.scalar(4));
  EXPECT_FALSE(d.scalar(8));
  EXPECT_EQ(d.why(8), "writes what threads may need that diverge after 6");
}

// Threads leave the loop at different turns, with different counts.
TEST(Scalar, ValuesOfALoopThatThreadsLeaveApartAreVectorBehindIt) {
  const std::string loop =
      "ld.param.u64 %rd1, [a];\n"
      "mov.u32 %r9, %tid.x;\n"
      "mov.u32 %r1, 0;\n"
      "LOOP: add.u32 %r1, %r1, 1;\n"  // 4
      "st.global.u32 [%rd1], %r1;\n"
      "setp.lt.u32 %p1, %r1, %r9;\n"
      "@%p1 bra LOOP;\n";
  EXPECT_TRUE(Decoded(loop + "ret;").scalar(4));
  EXPECT_FALSE(Decoded(loop + "st.global.u32 [%rd1+4], %r1;\nret;").scalar(4));
  // With the same number of turns for all it does not matter.
  const Decoded together(
      "ld.param.u64 %rd1, [a];\n"
      "ld.param.u32 %r9, [n];\n"
      "mov.u32 %r1, 0;\n"
      "LOOP: add.u32 %r1, %r1, 1;\n"
      "setp.lt.u32 %p1, %r1, %r9;\n"
      "@%p1 bra LOOP;\n"
      "st.global.u32 [%rd1], %r1;\nret;");
  EXPECT_TRUE(together.scalar(4));
  EXPECT_TRUE(together.scalar(7));
}

TEST(Scalar, WhatAGuardLeavesAloneInSomeThreadsIsVector) {
  const Decoded d(
      "ld.param.u64 %rd1, [a];\n"
      "mov.u32 %r9, %tid.x;\n"
      "setp.eq.u32 %p1, %r9, 0;\n"
      "ld.param.u32 %r8, [n];\n"
      "setp.eq.u32 %p2, %r8, 0;\n"
      "mov.u32 %r1, 5;\n"
      "@%p1 mov.u32 %r1, 7;\n"
      "mov.u32 %r2, 5;\n"
      "@%p2 mov.u32 %r2, 7;\n"
      "st.global.u32 [%rd1], %r1;\n"
      "st.global.u32 [%rd1], %r2;\n"
      "ret;");
  EXPECT_FALSE(d.scalar(6));
  EXPECT_FALSE(d.scalar(7));
  EXPECT_TRUE(d.scalar(8));
  EXPECT_TRUE(d.scalar(9));
}

// X is before END, where all ways meet, and two ways lead to it: threads may wait there with their %r1 while
// others write theirs. It is dead at END.
TEST(Scalar, ALikelyPointIsAPlaceWhereThreadsWait) {
  const std::string begin =
      "ld.param.u64 %rd1, [a];\n"
      "mov.u32 %r9, %tid.x;\n"
      "setp.eq.u32 %p1, %r9, 0;\n"
      "setp.lt.u32 %p2, %r9, 9;\n"
      "@%p1 bra B;\n";
  const Decoded d(begin +
                  "mov.u32 %r1, 1;\n"  // 6
                  "@%p2 bra X;\n"
                  "bra END;\n"
                  "B: mov.u32 %r1, 2;\n"  // 9
                  "@!%p2 bra END;\n"
                  "X: st.global.u32 [%rd1], %r1;\n"
                  "END: ret;");
  EXPECT_FALSE(d.scalar(6));
  EXPECT_FALSE(d.scalar(9));
}

// A path that waits at a barrier stands aside while the other runs, so neither may have the other's rows.
std::string sides_with(const std::string& wait) {
  return "ld.param.u64 %rd1, [a];\n"
         "mov.u32 %r9, %tid.x;\n"
         "setp.eq.u32 %p1, %r9, 0;\n"
         "@%p1 bra B;\n"
         "mov.u32 %r1, 1;\n" +  // 5
         wait +
         "st.global.u32 [%rd1], %r1;\n"
         "bra END;\n"
         "B: mov.u32 %r2, 2;\n"  // 9
         "st.global.u32 [%rd1], %r2;\n"
         "END: ret;";
}
TEST(Scalar, PathsThatStandAsideHaveRowsOfTheirOwn) {
  for (const char* wait : {"bar.sync 0;\n", "bar.warp.sync 1;\n"}) {
    const Decoded d(sides_with(wait));
    EXPECT_TRUE(d.scalar(5)) << wait;
    EXPECT_TRUE(d.scalar(9)) << wait;
    EXPECT_NE(d.row(5), d.row(9)) << wait;
  }
  const Decoded d(sides_with("membar.gl;\n"));
  EXPECT_TRUE(d.scalar(5));
  EXPECT_EQ(d.row(5), d.row(9));
}

// Once a path has stood aside, threads go on by the lowest PC and may miss the point where they should meet:
// what they write behind it is theirs, and a later branch's sides run by turns.
TEST(Scalar, BehindABarrierOnOneSideThreadsMayStayApart) {
  const std::string begin =
      "ld.param.u64 %rd1, [a];\n"
      "mov.u32 %r9, %tid.x;\n"
      "setp.eq.u32 %p1, %r9, 0;\n"
      "setp.eq.u32 %p2, %r9, 1;\n"
      "mov.u32 %r1, 1;\n"  // 5
      "@%p1 bra A;\n";
  const std::string end =
      "A: mov.u32 %r1, 2;\n"  // 8
      "st.global.u32 [%rd1], %r1;\n"
      "@%p2 bra B;\n"
      "mov.u32 %r2, 3;\n"  // 11
      "st.global.u32 [%rd1], %r2;\n"
      "st.global.u32 [%rd1+4], %r2;\n"
      "bra END;\n"
      "B: mov.u32 %r3, 4;\n"  // 15
      "st.global.u32 [%rd1], %r3;\n"
      "END: ret;";
  const Decoded with(begin + "bar.sync 0;\n" + end);
  EXPECT_FALSE(with.scalar(8));
  EXPECT_FALSE(with.scalar(11));  // others may come to the same instruction later
  const Decoded without(begin + "membar.gl;\n" + end);
  EXPECT_TRUE(without.scalar(8));
  EXPECT_TRUE(without.scalar(11));
  EXPECT_TRUE(without.scalar(15));
  EXPECT_EQ(without.row(11), without.row(15));
}

// While others are apart, the sides of a branch run by turns, by the lowest PC.
TEST(Scalar, WhileOthersAreApartBothSidesKeepTheirRows) {
  const auto sides_behind = [](const std::string& wait) {
    const Decoded d(
        "ld.param.u64 %rd1, [a];\n"
        "mov.u32 %r9, %tid.x;\n"
        "setp.eq.u32 %p1, %r9, 0;\n"
        "setp.eq.u32 %p2, %r9, 1;\n"
        "@%p1 bra A;\n" +
        wait +
        "ret;\n"
        "A: @%p2 bra B;\n"
        "mov.u32 %r2, 3;\n"  // 9
        "st.global.u32 [%rd1], %r2;\n"
        "bra END;\n"
        "B: mov.u32 %r3, 4;\n"  // 12
        "st.global.u32 [%rd1], %r3;\n"
        "END: ret;");
    EXPECT_TRUE(d.scalar(9));
    EXPECT_TRUE(d.scalar(12));
    return d.row(9) == d.row(12) ? 1 : 2;
  };
  EXPECT_EQ(sides_behind("bar.sync 0;\n"), 2);
  EXPECT_EQ(sides_behind("membar.gl;\n"), 1);
}

// Threads of one path wait for different others, and go on at different times.
TEST(Scalar, AWaitWithAVectorGuardOrNumberPartsThreads) {
  const auto written_behind = [](const std::string& wait) {
    return Decoded(
               "ld.param.u64 %rd1, [a];\n"
               "mov.u32 %r9, %tid.x;\n"
               "setp.eq.u32 %p1, %r9, 0;\n" +
               wait +
               "mov.u32 %r1, 3;\n"  // 5
               "st.global.u32 [%rd1], %r1;\n"
               "ret;")
        .scalar(5);
  };
  EXPECT_TRUE(written_behind("bar.sync 0;\n"));
  EXPECT_FALSE(written_behind("bar.sync %r9;\n"));
  EXPECT_FALSE(written_behind("@%p1 bar.warp.sync 1;\n"));
  EXPECT_TRUE(written_behind("bar.warp.sync %r9;\n"));  // all of them are there
}

// Who has left reads nothing any more.
TEST(Scalar, ThreadsThatEndDoNotMatter) {
  const std::string rest =
      "mov.u32 %r1, 3;\n"  // 5
      "st.global.u32 [%rd1], %r1;\n"
      "bar.sync 0;\n"
      "mov.u32 %r1, 4;\n"  // 8
      "st.global.u32 [%rd1], %r1;\n"
      "END: ret;";
  const std::string begin =
      "ld.param.u64 %rd1, [a];\n"
      "mov.u32 %r9, %tid.x;\n"
      "setp.gt.u32 %p1, %r9, 100;\n";
  for (const char* leave : {"@%p1 exit;\n", "@%p1 bra END;\n"}) {
    const Decoded d(begin + leave + rest);
    EXPECT_TRUE(d.scalar(5)) << leave;
    EXPECT_TRUE(d.scalar(8)) << leave;
    EXPECT_FALSE(d.scalar(4));
  }
}

constexpr const char* kFunction =
    ".func (.reg .u32 r) f(.reg .u32 x) {\n"
    "add.u32 r, x, 1;\n"
    "WAIT"
    "ret;\n"
    "}\n"
    ".visible .entry k(.param .u64 a) {\n"
    ".reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
    "ld.param.u64 %rd1, [a];\n"
    "mov.u32 %r1, 5;\n"
    "mov.u32 %r2, 6;\n"
    "st.global.u32 [%rd1], %r2;\n"
    "call (%r3), f, (%r1);\n"
    "st.global.u32 [%rd1], %r1;\n"
    "st.global.u32 [%rd1], %r3;\n"
    "mov.u32 %r4, 7;\n"
    "st.global.u32 [%rd1], %r4;\n"
    "ret;\n"
    "}\n";

std::string function_with(const std::string& wait) {
  std::string text = kFunction;
  return text.replace(text.find("WAIT"), 4, wait);
}

TEST(Scalar, DeviceFunctionsAndWhatOutlivesACallAreVector) {
  const Decoded d = Decoded::module(function_with("\n"));
  EXPECT_FALSE(d.scalar(2));   // the function's sum
  EXPECT_TRUE(d.scalar(9));    // before the call
  EXPECT_TRUE(d.scalar(10));   // does not outlive it
  EXPECT_FALSE(d.scalar(13));  // was saved in the thread's frame
  EXPECT_FALSE(d.scalar(14));  // the result
  EXPECT_TRUE(d.scalar(15));
}

// Threads may come back from it at different times.
TEST(Scalar, ACallOfAFunctionThatWaitsPartsThreads) {
  EXPECT_FALSE(Decoded::module(function_with("bar.sync 0;\n")).scalar(15));
}

// Scalar registers are not spilled: local memory is the thread's own.
TEST(Scalar, WhatDoesNotFitIsVectorAndSpilled) {
  std::string body = "ld.param.u64 %rd1, [a];\n";
  for (unsigned i = 0; i < 40; ++i)
    body += "ld.global.u32 %r" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) + "];\n";
  body += "mov.u32 %r50, %tid.x;\n";
  for (unsigned i = 0; i < 40; ++i) body += "add.u32 %r50, %r50, %r" + std::to_string(i) + ";\n";
  body += "st.global.u32 [%rd1], %r50;\nret;";
  const Decoded d(body, Scalarization::kFull, 20);
  EXPECT_LE(d.program().scalars_per_warp, 20u);
  EXPECT_GE(d.program().scalars_per_warp, 15u);
  EXPECT_LE(d.program().registers_per_thread, 20u);
  EXPECT_GT(d.program().spill_loads, 0u);
  for (const Instruction& i : d.program().code) EXPECT_FALSE(i.spill && i.scalar);
  EXPECT_EQ(Decoded(body).program().spill_loads, 0u);
}

// Who writes what, whatever the kernel: rows and predicates of a warp are written by scalar instructions
// only, and these read nothing else.
void expect_files_apart(const Program& p) {
  std::set<std::uint16_t> scalar, vector;
  for (const Instruction& i : p.code) {
    for (std::uint8_t k = 0; k < i.write_count; ++k) (i.scalar ? scalar : vector).insert(i.writes[k]);
  }
  for (const std::uint16_t key : scalar) EXPECT_EQ(vector.count(key), 0u) << key;
  for (const Instruction& i : p.code) {
    if (!i.scalar) continue;
    for (std::uint8_t k = 0; k < i.read_count; ++k) EXPECT_EQ(vector.count(i.reads[k]), 0u);
  }
}

TEST(Scalar, FilesAreApart) {
  for (const Scalarization kind : {Scalarization::kRestricted, Scalarization::kFull}) {
    expect_files_apart(Decoded(kOneSideWrites, kind).program());
    for (const char* wait : {"bar.sync 0;\n", "membar.gl;\n"})
      expect_files_apart(Decoded(sides_with(wait), kind).program());
  }
  expect_files_apart(Decoded::module(function_with("\n")).program());
}

}  // namespace
}  // namespace weft::ptx::testing::scalar_test
