// Where convergence barriers are placed. Every line of a kernel is one instruction, so that PCs are easy to
// count. Loops that poll were compared with the machine code of ptxas 13.0 for sm_90 and sm_100: it has YIELD
// in those loops that are named here, and in no others.
#include "ptx/convergence.h"

#include <gmock/gmock.h>

#include "ptx/ptx_text.h"

namespace weft::ptx::testing::convergence_test {
namespace {

using ::testing::ElementsAre;

// "4: wait 0*" for an action; the star marks barriers at a post-dominator.
std::vector<std::string> actions_of(const Program& p) {
  static const char* const kNames[] = {"leave", "wait", "join", "join at entry"};
  std::vector<std::string> texts;
  const ConvergenceBarriers& barriers = p.convergence;
  EXPECT_EQ(barriers.first.size(), p.code.size() + 1);
  EXPECT_EQ(barriers.turns.size(), p.code.size());
  for (Pc pc = 0; pc < p.code.size(); ++pc) {
    for (std::uint32_t a = barriers.first[pc]; a < barriers.first[pc + 1]; ++a) {
      const BarrierAction& action = barriers.actions[a];
      texts.push_back(std::to_string(pc) + ": " + kNames[static_cast<int>(action.kind)] + " " +
                      std::to_string(action.barrier) + (action.at_post_dominator ? "*" : ""));
    }
  }
  return texts;
}

const std::string kWork = "mov.u32 %r1, %r2;\n";

TEST(Convergence, ArmsMeetAtTheJoin) {
  EXPECT_THAT(
      actions_of(decode_body("@%p1 bra E;\n" + kWork + "bra J;\nE: " + kWork + "J: " + kWork + "ret;")),
      ElementsAre("0: join 0*", "4: wait 0*"));
  EXPECT_THAT(actions_of(decode_body("@%p1 bra J;\n" + kWork + "J: " + kWork + "ret;")),
              ElementsAre("0: join 0*", "2: wait 0*"));
}

TEST(Convergence, NobodyWaitsWhereThreadsCannotPart) {
  EXPECT_THAT(actions_of(decode_body("@%p1 bra.uni J;\n" + kWork + "J: " + kWork + "ret;")), ElementsAre());
  EXPECT_THAT(actions_of(decode_body("@%p1 bra E;\n" + kWork + "ret;\nE: " + kWork + "ret;")), ElementsAre());
  EXPECT_THAT(actions_of(decode_body("@%p1 exit;\n" + kWork + "ret;")), ElementsAre());
}

// if (a && b) X: both branches meet behind X, where they wait once.
TEST(Convergence, NestedBranchesThatMeetAtOnePlaceHaveOneBarrier) {
  EXPECT_THAT(actions_of(decode_body("@!%p1 bra J;\n@!%p2 bra J;\n" + kWork + "J: " + kWork + "ret;")),
              ElementsAre("0: join 0*", "3: wait 0*"));
}

// if (a || b) X else Y: X is entered by two ways, and is no post-dominator. Threads that go to Y leave its
// barrier.
TEST(Convergence, AMergeBeforeThePostDominatorHasABarrier) {
  EXPECT_THAT(actions_of(decode_body("@%p1 bra X;\n@!%p2 bra Y;\nX: " + kWork + "bra J;\nY: " + kWork +
                                     "J: " + kWork + "ret;")),
              ElementsAre("0: join 0", "0: join 1*", "2: wait 0", "4: leave 0", "5: wait 1*"));
}

TEST(Convergence, ThreadsThatLeaveALoopWaitBehindIt) {
  const Program p = decode_body(kWork + "L: " + kWork + "@%p1 bra L;\n" + kWork + "ret;");
  EXPECT_THAT(actions_of(p), ElementsAre("0: join 0*", "3: wait 0*"));
  EXPECT_THAT(p.convergence.turns, ElementsAre(0, 0, Turn::kTaken, 0, 0));
}

TEST(Convergence, ALoopAtTheEntryIsJoinedOnce) {
  EXPECT_THAT(actions_of(decode_body("L: " + kWork + "@%p1 bra L;\n" + kWork + "ret;")),
              ElementsAre("0: join at entry 0*", "2: wait 0*"));
}

// while (...) { if (a) continue; work }: those that go on meet at the next turn.
TEST(Convergence, TurnsOfALoopBeginTogether) {
  const Program p = decode_body(kWork + "L: @%p1 bra L;\n" + kWork + "@%p2 bra L;\n" + kWork + "ret;");
  EXPECT_THAT(actions_of(p), ElementsAre("0: join 1*", "1: wait 0", "1: join 0", "4: leave 0", "4: wait 1*"));
  EXPECT_THAT(p.convergence.turns, ElementsAre(0, Turn::kTaken, 0, Turn::kTaken, 0, 0));
}

// A break out of both of two nested loops.
TEST(Convergence, ABreakLeavesTheInnerLoopsBarrier) {
  const Program p =
      decode_body(kWork + "O: " + kWork + "I: @%p1 bra D;\n@%p2 bra I;\n@%p3 bra O;\nD: " + kWork + "ret;");
  EXPECT_THAT(actions_of(p), ElementsAre("0: join 1*", "1: join 0", "4: wait 0", "5: leave 0", "5: wait 1*"));
}

TEST(Convergence, ThreadsThatCallThroughARegisterMeetBehindTheCall) {
  const std::string text = module_of(
      ".visible .func f() { ret; }\n"
      ".visible .entry k(.param .u64 a) { .reg .b64 %rd<9>;\n mov.u64 %rd1, f;\n"
      "P: .callprototype _ ();\n call %rd1, P;\n ret; }\n");
  const Module module = parse(text, "k.ptx");
  Symbols symbols;
  add_functions(module, 0, symbols);
  const Program p = decode(module, "k", symbols);
  Pc call = 0;
  while (p.code[call].op != Opcode::kCall) ++call;
  EXPECT_THAT(actions_of(p),
              ElementsAre(std::to_string(call) + ": join 0*", std::to_string(call + 1) + ": wait 0*"));
}

TEST(Convergence, ATargetIsANumber) {
  EXPECT_EQ(decode_body("ret;").target, 70u);
}

// Whether the loop of a body that ends in `@%p1 bra L;` polls.
bool polls(const std::string& body) {
  const Program p = decode_body(body + "\nret;");
  bool found = false;
  for (const std::uint8_t turn : p.convergence.turns) found = found || (turn & Turn::kPolls) != 0;
  return found;
}

TEST(Convergence, ALoopPollsIfABranchInItDependsOnAnotherThread) {
  const std::string compare = "setp.ne.u32 %p1, %r3, 0; @%p1 bra L;";
  for (const char* load : {"ld.volatile.global.u32 %r3, [%rd1];", "ld.volatile.shared.u32 %r3, [%r4];",
                           "ld.relaxed.gpu.global.u32 %r3, [%rd1];", "ld.acquire.gpu.global.u32 %r3, [%rd1];",
                           "atom.global.cas.b32 %r3, [%rd1], 0, 1;", "atom.shared.exch.b32 %r3, [%r4], 1;"})
    EXPECT_TRUE(polls("L: " + std::string(load) + compare)) << load;
  for (const char* load :
       {"ld.global.u32 %r3, [%rd1];", "ld.shared.u32 %r3, [%r4];", "ld.global.nc.u32 %r3, [%rd1];"})
    EXPECT_FALSE(polls("L: " + std::string(load) + compare)) << load;
}

TEST(Convergence, ALoopPollsThroughArithmeticAndBranches) {
  // What was read decides later, or by another load, or by a branch inside the loop.
  EXPECT_TRUE(
      polls("L: ld.volatile.global.u32 %r3, [%rd1]; and.b32 %r4, %r3, 7; add.u32 %r5, %r5, %r4;"
            "setp.lt.u32 %p1, %r5, %r6; @%p1 bra L;"));
  EXPECT_TRUE(
      polls("L: ld.volatile.global.u64 %rd2, [%rd1]; ld.global.u32 %r4, [%rd2];"
            "setp.ne.u32 %p1, %r4, 0; @%p1 bra L;"));
  EXPECT_TRUE(
      polls("mov.u32 %r7, 0;\nL: atom.global.exch.b32 %r3, [%rd1], 1; setp.ne.u32 %p2, %r3, 0;"
            "@%p2 bra S; mov.u32 %r7, 1;\nS: setp.eq.u32 %p1, %r7, 0; @%p1 bra L;"));
  // Through the thread's own memory, as code without optimisation has it.
  EXPECT_TRUE(
      polls(".local .b32 x;\nL: ld.volatile.global.u32 %r3, [%rd1]; st.local.u32 [x], %r3;"
            "ld.local.u32 %r4, [x]; setp.ne.u32 %p1, %r4, 0; @%p1 bra L;"));
}

TEST(Convergence, ALoopThatCountsDoesNotPoll) {
  const std::string count = "add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %r9; @%p1 bra L;";
  EXPECT_FALSE(polls("L: red.global.add.u32 [%rd1], %r7;" + count));
  EXPECT_FALSE(polls("L: atom.global.add.u32 %r3, [%rd1], %r7; add.u32 %r8, %r8, %r3;" + count));
  EXPECT_FALSE(polls("L: ld.volatile.global.u32 %r3, [%rd1]; add.u32 %r8, %r8, %r3;" + count));
}

TEST(Convergence, TheInnermostLoopThatHoldsThePollAndTheBranchPolls) {
  const std::string inner = "I: add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, %r9; @%p2 bra I;";
  const Program outer =
      decode_body("O: mov.u32 %r7, 0;\n" + inner +
                  "ld.volatile.global.u32 %r3, [%rd1]; setp.ne.u32 %p1, %r3, 0; @%p1 bra O;\nret;");
  std::vector<int> turns;
  for (const std::uint8_t turn : outer.convergence.turns) {
    if (turn != 0) turns.push_back(turn);
  }
  EXPECT_THAT(turns, ElementsAre(Turn::kTaken, Turn::kTaken | Turn::kPolls));
}

}  // namespace
}  // namespace weft::ptx::testing::convergence_test
