#include "equivalence/matrix_kernels.h"

namespace weft::test {
namespace {

// %r1 = thread of the block, %r2 = of the grid, %r5 = bits that differ between threads, %r10 = what the
// thread came past, which is its result; %rd11 = table, %rd12 = sums.
const std::string kStart = R"(.visible .entry k(.param .u64 slots, .param .u64 table, .param .u64 sums) {
  .reg .pred %p<8>; .reg .b32 %r<64>; .reg .b64 %rd<32>;
  .shared .align 4 .b8 box[512];
  ld.param.u64 %rd1, [slots]; ld.param.u64 %rd11, [table]; ld.param.u64 %rd12, [sums];
  mov.u32 %r1, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r2, %r3, %r4, %r1;
  mul.wide.u32 %rd10, %r2, 32; add.u64 %rd10, %rd1, %rd10;
  mul.lo.u32 %r5, %r2, 0x9e3779b1; shr.u32 %r5, %r5, 12;
  mov.u32 %r10, 1;
)";
const std::string kEnd = "  st.global.u32 [%rd10], %r10;\n  ret;\n}\n";

// The thread came past here.
std::string past(unsigned place) {
  return "  mad.lo.u32 %r10, %r10, 31, " + std::to_string(place) + ";\n";
}
// Half of the threads go to `label`, by another bit of %r5 each.
std::string to(const std::string& label, unsigned bit) {
  return "  and.b32 %r6, %r5, " + std::to_string(1u << bit) + "; setp.ne.u32 %p1, %r6, 0;\n  @%p1 bra " +
         label + ";\n";
}
std::string go(const std::string& label) {
  return "  bra " + label + ";\n";
}
std::string at(const std::string& label) {
  return label + ":\n";
}
// The thread's number of turns (0 to 15), and what counts it down.
const std::string kTurns = "  and.b32 %r20, %r5, 15;\n";
std::string again(const std::string& label) {
  return "  setp.ne.u32 %p2, %r20, 0; sub.u32 %r20, %r20, 1;\n  @%p2 bra " + label + ";\n";
}
// A load whose address is the same for all threads, for its time only.
const std::string kLoad = "  ld.global.u32 %r11, [%rd11]; add.u32 %r10, %r10, %r11;\n";

const std::string kIfElse = to("C", 0) + past(1) + go("D") + at("C") + past(2) + at("D") + past(3);
const std::string kOneSidedIf = to("D", 0) + past(1) + at("D") + past(2);
const std::string kNestedIfs =
    to("D", 0) + past(1) + to("D", 1) + past(2) + to("D", 2) + past(3) + at("D") + past(4);
const std::string kLoop = kTurns + at("L") + past(1) + kLoad + again("L") + past(2);
const std::string kBreakAndContinue = kTurns + at("L") + past(1) + "  shr.u32 %r5, %r5, 1;\n" +
                                      to("NEXT", 0) + past(2) + to("OUT", 1) + past(3) + at("NEXT") +
                                      again("L") + past(4) + at("OUT") + past(5);
// Both arms of the first branch enter the shared block, one of them from within.
const std::string kTwoEntries = to("B", 0) + past(1) + to("SHARED", 1) + past(2) + go("END") + at("B") +
                                past(3) + to("END", 2) + at("SHARED") + past(4) + kLoad + at("END") + past(5);
// A loop that is entered at two places.
const std::string kTwoEntryLoop =
    kTurns + to("M", 0) + at("L") + past(1) + at("M") + past(2) + again("L") + past(3);
const std::string kSwitch =
    "  and.b32 %r7, %r5, 7;\nTARGETS: .branchtargets S0, S1, S2, S3, S3, S4, END, END;\n" +
    std::string("  brx.idx %r7, TARGETS;\n") + at("S0") + past(1) + go("END") + at("S1") + past(2) +
    at("S2") + past(3) + kLoad + go("END") + at("S3") + past(4) + go("END") + at("S4") + past(5) + at("END") +
    past(6);
const std::string kSelfLoop = kTurns + at("L") + again("L") + past(1);

const std::string kExitInArm = to("C", 0) + past(1) + to("QUIT", 1) + past(2) + go("D") + at("QUIT") +
                               "  st.global.u32 [%rd10+4], %r10;\n  exit;\n" + at("C") + past(3) + at("D") +
                               past(4) + kLoad + past(5);
const std::string kExitInLoop = kTurns + at("L") + past(1) + "  shr.u32 %r5, %r5, 1; and.b32 %r6, %r5, 7;\n" +
                                "  setp.eq.u32 %p1, %r6, 5; st.global.u32 [%rd10+4], %r10;\n  @%p1 exit;\n" +
                                kLoad + again("L") + past(2);
const std::string kWholeArmExits = to("C", 0) + past(1) + "  st.global.u32 [%rd10+4], %r10;\n  exit;\n" +
                                   at("C") + past(2) + kLoad + past(3);

// Neighbours exchange values through shared memory, so a barrier that lets go early shows.
const std::string kToBox =
    "  mov.u32 %r12, box; shl.b32 %r13, %r1, 2; add.u32 %r12, %r12, %r13; st.shared.u32 [%r12], %r10;\n";
const std::string kFromNeighbour =
    "  add.u32 %r13, %r1, 1; rem.u32 %r13, %r13, %r4; shl.b32 %r13, %r13, 2;\n"
    "  mov.u32 %r14, box; add.u32 %r14, %r14, %r13; ld.shared.u32 %r15, [%r14]; add.u32 %r10, %r10, %r15;\n";
const std::string kExchange = kToBox + "  bar.sync 0;\n" + kFromNeighbour + "  bar.sync 0;\n";
const std::string kBarrierAfterBranch = kIfElse + kExchange + past(4);
const std::string kBarrierInLoop =
    "  mov.u32 %r21, 5;\n" + at("TURN") + to("X", 1) + past(1) + kLoad + at("X") + kExchange +
    "  shr.u32 %r5, %r5, 1; sub.u32 %r21, %r21, 1; setp.ne.u32 %p3, %r21, 0;\n" + "  @%p3 bra TURN;\n" +
    past(2);
const std::string kExitBeforeBarrier =
    "  st.global.u32 [%rd10+4], %r10; and.b32 %r6, %r5, 1; setp.ne.u32 %p1, %r6, 0;\n  @%p1 exit;\n" +
    past(1) + "  bar.sync 0;\n" + past(2) + "  bar.sync 0;\n" + past(3);

// Threads leave in both arms, in a turn of a loop or before a barrier in a function, by `how`; or none does,
// which a program does not say.
std::string leave(const std::string& how, bool taken) {
  return "  and.b32 %r6, %r5, 8; setp.eq.u32 %p4, %r6, " + std::string(taken ? "8" : "16") +
         "; st.global.u32 [%rd10+4], %r10;\n  @%p4 " + how + ";\n";
}
std::string leaves_in_both_arms(const std::string& how, bool taken) {
  return kExchange + to("C", 0) + past(1) + leave(how, taken) + past(2) + go("D") + at("C") + to("E", 1) +
         past(3) + at("E") + leave(how, taken) + past(4) + at("D") + kExchange + past(5);
}
std::string leaves_in_loop(const std::string& how, bool taken) {
  return kExchange + "  mov.u32 %r21, 5;\n" + at("TURN") + to("X", 1) + past(1) + leave(how, taken) + kLoad +
         at("X") + kExchange +
         "  shr.u32 %r5, %r5, 1; sub.u32 %r21, %r21, 1; setp.ne.u32 %p3, %r21, 0;\n  @%p3 bra TURN;\n" +
         past(2);
}
const std::string kMeet = ".func meet() {\n  bar.sync 0;\n  ret;\n}\n";
std::string leaves_before_call(const std::string& how, bool taken) {
  return kExchange + to("C", 0) + past(1) + leave(how, taken) + past(2) + go("D") + at("C") + past(3) +
         at("D") + "  call meet;\n" + past(4) + kExchange + past(5);
}
// Only the first two warps have the barrier.
const std::string kBarrierOfSome = "  setp.ge.u32 %p4, %r1, 64;\n  @%p4 bra C;\n" + past(1) +
                                   "  bar.sync 1, 64;\n" + past(2) + at("C") + past(3) + kExchange + past(4);
// Where some leave the kernel in an arm that the others come out of to a barrier, the arms meet behind the
// barrier only: whoever waits there must be waited for by nobody. `leave` is that way out (label LEAVE for
// one behind all), and the box holds what a thread has come past.
std::string early_return(const std::string& leave) {
  return "  st.global.u32 [%rd10+4], %r10;\n" + kToBox + to("C", 0) + past(1) + leave + past(2) + go("D") +
         at("C") + past(3) + at("D") + kToBox + "  bar.sync 0;\n" + kFromNeighbour + past(4) +
         "  bar.sync 0;\n" + past(5);
}
const std::string kStay = "  setp.ne.u32 %p1, %r4, %r4;\n";  // nobody leaves
std::string some(unsigned bit) {
  return "  and.b32 %r6, %r5, " + std::to_string(1u << bit) + "; setp.ne.u32 %p1, %r6, 0;\n";
}
const std::string kLeaveByRet = "  @%p1 ret;\n", kLeaveByBranch = "  @%p1 bra LEAVE;\n";
const std::string kLeaveInBlock =
    "  @!%p1 bra STAY;\n" + past(6) + "  st.global.u32 [%rd10+8], %r10;\n  ret;\n" + at("STAY");
// Behind the kernel's end: a return of its own; or the end itself is the shared epilogue.
const std::string kReturn = "  st.global.u32 [%rd10], %r10;\n  ret;\n" + at("LEAVE") + "  ret;\n";
const std::string kEpilogue = at("LEAVE") + past(7);
const std::string kReturnInLoop =
    kTurns + "  st.global.u32 [%rd10+4], %r10;\n" + at("L") + past(1) + to("C", 4) + past(2) +
    "  setp.eq.u32 %p2, %r20, 0; sub.u32 %r20, %r20, 1;\n  @%p2 bra LEAVE;\n" + go("D") + at("C") + past(3) +
    "  setp.eq.u32 %p2, %r20, 0; sub.u32 %r20, %r20, 1;\n" + at("D") + "  bar.sync 0;\n" +
    "  shr.u32 %r5, %r5, 1;\n  @!%p2 bra L;\n";

// Takes the argument, returns from three places, with a branch of its own.
const std::string kFunction = R"(.func (.param .b32 r) f(.param .b32 a) {
  .reg .pred %p<4>; .reg .b32 %r<8>;
  ld.param.b32 %r1, [a]; and.b32 %r2, %r1, 3; mul.lo.u32 %r3, %r1, 5; st.param.b32 [r], %r3;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 ret;
  add.u32 %r3, %r3, 9; st.param.b32 [r], %r3;
  setp.eq.u32 %p1, %r2, 1;
  @%p1 bra OTHER;
  xor.b32 %r3, %r3, 85; st.param.b32 [r], %r3;
  ret;
OTHER:
  add.u32 %r3, %r3, 4; st.param.b32 [r], %r3;
  ret;
}
)";
// Calls itself, to a depth of its own for every thread.
const std::string kRecursion = R"(.func (.param .b32 r) g(.param .b32 a) {
  .reg .pred %p<4>; .reg .b32 %r<8>;
  ld.param.b32 %r1, [a]; and.b32 %r2, %r1, 7; st.param.b32 [r], %r1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 ret;
  sub.u32 %r3, %r1, 1;
  { .param .b32 x; .param .b32 y; st.param.b32 [x], %r3;
  call (y), g, (x);
  ld.param.b32 %r4, [y]; }
  mad.lo.u32 %r4, %r4, 3, %r1; st.param.b32 [r], %r4;
  ret;
}
)";
std::string call(const std::string& function) {
  return "  { .param .b32 x; .param .b32 y; add.u32 %r22, %r5, %r10; st.param.b32 [x], %r22;\n  call (y), " +
         function + ", (x);\n  ld.param.b32 %r23, [y]; add.u32 %r10, %r10, %r23; }\n";
}
const std::string kCallInBothArms =
    to("C", 0) + past(1) + call("f") + go("D") + at("C") + call("f") + past(2) + at("D") + past(3);
const std::string kDivergentReturn = call("g") + past(1) + to("D", 1) + call("g") + at("D") + past(2);

// Listings 2(a), 2(b) and 3 of DWR: parts of a block load, or wait, at different places. The first one is
// that of threads below %r9.
const std::string kFirstLoads = "  setp.ge.u32 %p4, %r1, %r9;\n  @%p4 bra L4;\n" + kLoad + at("L4");
const std::string kListing2a = "  mov.u32 %r21, 3;\n" + at("TURN") + kFirstLoads + kLoad +
                               "  sub.u32 %r21, %r21, 1; setp.ne.u32 %p3, %r21, 0;\n  @%p3 bra TURN;\n";
const std::string kListing2b = kFirstLoads + kExchange + past(1);
const std::string kListing3 = "  setp.ge.u32 %p4, %r1, 32;\n  @%p4 bra C;\n" + past(1) + "  bar.sync 0;\n" +
                              go("D") + at("C") + past(2) + "  bar.sync 0;\n" + at("D") + past(3);

// `count` loads in each arm, neighbours in different arms: none of them has a partner.
std::string loads_in_arms(unsigned count, unsigned turns) {
  std::string loads;
  for (unsigned i = 0; i < count; ++i) loads += kLoad;
  return "  mov.u32 %r21, " + std::to_string(turns) + ";\n" + at("TURN") +
         "  shr.u32 %r6, %r1, 3; and.b32 %r6, %r6, 1; setp.ne.u32 %p1, %r6, 0;\n  @%p1 bra C;\n" + loads +
         go("D") + at("C") + loads + past(1) + at("D") +
         "  sub.u32 %r21, %r21, 1; setp.ne.u32 %p3, %r21, 0;\n  @%p3 bra TURN;\n";
}

// 17 branches nested in one another, all with a reconvergence point of their own; thread t leaves at number t
// mod 17.
std::string nested(unsigned count) {
  std::string body = "  rem.u32 %r7, %r2, " + std::to_string(count) + ";\n";
  for (unsigned i = 0; i < count; ++i) {
    body += "  setp.eq.u32 %p1, %r7, " + std::to_string(i) + ";\n  @%p1 bra E" + std::to_string(i) + ";\n" +
            past(i);
  }
  for (unsigned i = count; i-- > 0;) body += at("E" + std::to_string(i)) + past(i + 20);
  return body;
}
// Paths meet threads of other rows, then part again.
const std::string kRegroupedTwice = to("A", 0) + past(1) + kLoad + to("B", 1) + past(2) + go("J") + at("B") +
                                    past(3) + kLoad + at("J") + past(4) + go("K") + at("A") + past(5) +
                                    to("C", 2) + past(6) + kLoad + at("C") + past(7) + at("K") + past(8);

MatrixKernel row(const std::string& name, const std::string& body, std::uint32_t threads = 128,
                 const std::string& functions = "") {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n" + functions + kStart + body + kEnd;
  return {name, {text, 3, threads}};
}

// Early returns before block barriers: at once, or by a branch to what all threads return with.
void add_early_returns(std::vector<MatrixKernel>& rows) {
  struct Way {
    const char *name, *how;
    std::string end;
  };
  const Way kWays[] = {{"early return, predicated", "ret", ""},
                       {"early return, shared", "bra LEAVE", kReturn},
                       {"early return, shared epilogue", "bra LEAVE", kEpilogue}};
  for (const bool taken : {true, false}) {
    for (const auto& [name, how, end] : kWays) {
      const auto add = [&, &name = name, &end = end](const char* where, const std::string& body) {
        rows.push_back(row(name + std::string(where) + (taken ? "" : ", nobody's"), body + end, 128, kMeet));
      };
      add(", from both arms", leaves_in_both_arms(how, taken));
      add(", from a loop with a barrier", leaves_in_loop(how, taken));
      add(", before a barrier in a function", leaves_before_call(how, taken));
    }
  }
}

std::string with_first(unsigned threads, const std::string& body) {
  return "  mov.u32 %r9, " + std::to_string(threads) + ";\n" + body;
}

}  // namespace

std::vector<MatrixKernel> matrix_kernels() {
  std::vector<MatrixKernel> rows = {
      row("if-else", kIfElse),
      row("one-sided if", kOneSidedIf),
      row("nested ifs that share a reconvergence point", kNestedIfs),
      row("loop with trips that depend on data", kLoop),
      row("loop with break and continue", kBreakAndContinue),
      row("merge of two entries", kTwoEntries),
      row("loop of two entries", kTwoEntryLoop),
      row("switch", kSwitch),
      row("block that branches to itself", kSelfLoop),
      row("exit in an arm", kExitInArm),
      row("exit in a loop", kExitInLoop),
      row("exit of a whole arm", kWholeArmExits),
      row("barrier after divergence", kBarrierAfterBranch),
      row("barrier in a loop", kBarrierInLoop),
      row("exit before a barrier", kExitBeforeBarrier),
      row("early return, nobody's", early_return(kStay + kLeaveByRet)),
      row("early return, predicated", early_return(some(1) + kLeaveByRet)),
      row("early return in a block", early_return(some(1) + kLeaveInBlock)),
      row("early return in a block, nobody's", early_return(kStay + kLeaveInBlock)),
      row("early return, shared", early_return(some(1) + kLeaveByBranch) + kReturn),
      row("early return, shared, nobody's", early_return(kStay + kLeaveByBranch) + kReturn),
      row("early return, shared epilogue", early_return(some(1) + kLeaveByBranch) + kEpilogue),
      row("early return, shared epilogue, nobody's", early_return(kStay + kLeaveByBranch) + kEpilogue),
      row("early return from a loop with a barrier", kReturnInLoop + kEpilogue),
      row("partial last warp", kBarrierInLoop, 84),
      row("block of one thread", kBarrierInLoop + kLoop, 1),
      row("the same function from both arms", kCallInBothArms, 128, kFunction),
      row("divergent return", kDivergentReturn, 128, kRecursion),
      row("listing 2(a), first part first", with_first(8, kListing2a)),
      row("listing 2(a), all but the last part", with_first(120, kListing2a)),
      row("listing 2(b), first part first", with_first(8, kListing2b)),
      row("listing 2(b), all but the last part", with_first(120, kListing2b)),
      row("listing 3", kListing3, 64),
      row("17 loads in sibling arms", loads_in_arms(17, 2)),
      row("36 loads that nobody shares", loads_in_arms(36, 2)),
      row("17 reconvergence points at once", nested(17)),
      row("barrier of some warps", kBarrierOfSome),
      row("regrouped twice", kRegroupedTwice)};
  add_early_returns(rows);
  return rows;
}

}  // namespace weft::test
