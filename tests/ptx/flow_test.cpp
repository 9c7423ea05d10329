// Control-flow graphs with known reconvergence points. Every line of a kernel is one instruction, so that PCs
// are easy to count; `kNoPc` stands for the virtual exit.
#include <map>

#include "ptx/ptx_text.h"

namespace weft::ptx::testing::flow_test {
namespace {

using Points = std::map<Pc, Pc>;

// Of every guarded branch: where it reconverges.
Points reconvergence(const Program& p) {
  Points points;
  for (Pc pc = 0; pc < p.code.size(); ++pc) {
    if (p.code[pc].is_branch() && p.code[pc].guard >= 0) points[pc] = p.code[pc].reconvergence;
  }
  return points;
}

Points points_of(const std::string& body) {
  return reconvergence(decode_body(body));
}

const std::string kWork = "mov.u32 %r1, %r2;\n";

TEST(Flow, IfThen) {
  EXPECT_EQ(points_of("@%p1 bra J;\n" + kWork + "J: ret;"), (Points{{0, 2}}));
}

TEST(Flow, IfThenElse) {
  EXPECT_EQ(points_of("@%p1 bra E;\n" + kWork + "bra.uni J;\nE: " + kWork + "J: " + kWork + "ret;"),
            (Points{{0, 4}}));
}

TEST(Flow, NestedIf) {
  //  0: if p1 -> 6; 1; 2: if p2 -> 4; 3; 4: inner join; 5; 6: outer join
  EXPECT_EQ(points_of("@%p1 bra O;\n" + kWork + "@%p2 bra I;\n" + kWork + "I: " + kWork + kWork + "O: ret;"),
            (Points{{0, 6}, {2, 4}}));
}

TEST(Flow, LoopReconvergesAfterItsBackEdge) {
  EXPECT_EQ(points_of("L: " + kWork + "@%p1 bra L;\n" + kWork + "ret;"), (Points{{1, 2}}));
}

TEST(Flow, LoopWithBreak) {
  // 0 head: break if p1 -> 4; 1; 2: back if p2 -> 0; 3: after the loop; 4: join
  EXPECT_EQ(points_of("L: @%p1 bra B;\n" + kWork + "@%p2 bra L;\n" + kWork + "B: ret;"),
            (Points{{0, 4}, {2, 4}}));
}

TEST(Flow, LoopWithContinue) {
  // 0: continue if p1 -> 2; 1; 2: back if p2; 3
  EXPECT_EQ(points_of("L: @%p1 bra C;\n" + kWork + "C: @%p2 bra L;\nret;"), (Points{{0, 2}, {2, 3}}));
}

TEST(Flow, SwitchAsAChainOfBranches) {
  const Points points =
      points_of("@%p1 bra A;\n@%p2 bra B;\n@%p3 bra C;\nbra.uni J;\nA: " + kWork + "bra.uni J;\nB: " + kWork +
                "C: " + kWork + "J: ret;");  // case B falls through to C
  EXPECT_EQ(points, (Points{{0, 8}, {1, 8}, {2, 8}}));
}

TEST(Flow, SeveralExitsMeetOnlyAtTheVirtualOne) {
  EXPECT_EQ(points_of("@%p1 bra A;\nret;\nA: @%p2 bra B;\nexit;\nB: ret;"), (Points{{0, kNoPc}, {2, kNoPc}}));
}

TEST(Flow, OneSideExitsSoTheJoinIsTheExit) {
  EXPECT_EQ(points_of("@%p1 bra A;\nexit;\nA: " + kWork + "ret;"), (Points{{0, kNoPc}}));
}

TEST(Flow, Unstructured) {
  // The classic: two conditions sharing their else part. 0: p1 -> 3; 1; 2: p2 -> 5; 3: shared; 4: p3 -> 6; 5;
  // 6: join
  EXPECT_EQ(points_of("@%p1 bra S;\n" + kWork + "@%p2 bra T;\nS: " + kWork + "@%p3 bra J;\nT: " + kWork +
                      "J: ret;"),
            (Points{{0, 6}, {2, 6}, {4, 6}}));
}

TEST(Flow, IrreducibleLoop) {
  // Entered at A (1) or at B (2), which jump to each other; 0: p1 -> B; 1 A; 2 B: p2 -> A; 3
  EXPECT_EQ(points_of("@%p1 bra B;\nA: " + kWork + "B: @%p2 bra A;\nret;"), (Points{{0, 2}, {2, 3}}));
}

TEST(Flow, EndlessLoop) {
  // 0: p1 -> 2; 1; 2: join; 3: back. No exit is reachable, yet the branch inside reconverges.
  const Program p = decode_body("L: @%p1 bra J;\n" + kWork + "J: " + kWork + "bra L;");
  EXPECT_EQ(reconvergence(p), (Points{{0, 2}}));
  EXPECT_EQ(p.code.size(), 4u);
  EXPECT_EQ(p.blocks.back().successors, (std::vector<std::uint32_t>{0}));
}

TEST(Flow, EndlessLoopOnOneSide) {
  // 0: p1 -> 3; 1 and 2 spin; 3 leaves
  EXPECT_EQ(points_of("@%p1 bra X;\nL: " + kWork + "bra L;\nX: ret;"), (Points{{0, kNoPc}}));
}

TEST(Flow, SelfLoop) {
  EXPECT_EQ(points_of("L: @%p1 bra L;\nret;"), (Points{{0, 1}}));
}

TEST(Flow, GuardedExitEndsABlock) {
  const Program p = decode_body(kWork + "@%p1 exit;\n" + kWork + "@%p2 bra J;\n" + kWork + "J: ret;");
  ASSERT_EQ(p.blocks.size(), 4u);
  EXPECT_EQ(p.blocks[0].last, 1u);
  EXPECT_EQ(p.blocks[0].successors, (std::vector<std::uint32_t>{1, 4}));
  EXPECT_EQ(p.blocks[0].post_dominator, 4u);  // the virtual exit
  EXPECT_EQ(reconvergence(p), (Points{{3, 5}}));
}

TEST(Flow, GuardedExitInsideAnArmMovesTheJoin) {
  EXPECT_EQ(points_of("@%p1 bra J;\n@%p2 exit;\nJ: ret;"), (Points{{0, kNoPc}}));
}

TEST(Flow, BranchToTheNextInstruction) {
  const Program p = decode_body("@%p1 bra N;\nN: ret;");
  EXPECT_EQ(p.blocks[0].successors, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(reconvergence(p), (Points{{0, 1}}));
}

TEST(Flow, UnreachableCodeIsKeptAndHarmless) {
  const Program p = decode_body("bra J;\nD: @%p1 bra D;\nJ: ret;");
  EXPECT_EQ(p.blocks.size(), 3u);
  EXPECT_EQ(p.blocks[0].successors, (std::vector<std::uint32_t>{2}));
}

TEST(Flow, AGuardedLastInstructionFallsOntoAReturn) {
  const Program p = decode_body("L: " + kWork + "@%p1 bra L;");
  ASSERT_EQ(p.code.size(), 3u);
  EXPECT_EQ(p.code[2].op, Opcode::kRet);
  EXPECT_EQ(decode_body("").code.size(), 1u);
}

// Post-dominators by their definition, on random graphs: d post-dominates b if b cannot reach the exit
// without d.
TEST(Flow, PostDominatorsAgreeWithTheirDefinition) {
  std::uint64_t state = 1;
  const auto random = [&](std::uint64_t n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % n;
  };
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t lines = 2 + random(14);
    std::string body;
    for (std::uint64_t i = 0; i < lines; ++i) {
      body += "L" + std::to_string(i) + ": ";
      switch (random(4)) {
        case 0:
          body += kWork;
          break;
        case 1:
          body += "@%p1 bra L" + std::to_string(random(lines)) + ";\n";
          break;
        case 2:
          body += "bra L" + std::to_string(random(lines)) + ";\n";
          break;
        default:
          body += random(3) == 0 ? "@%p1 exit;\n" : "@!%p2 bra L" + std::to_string(random(lines)) + ";\n";
      }
    }
    const Program p = decode_body(body);
    const auto exit = static_cast<std::uint32_t>(p.blocks.size());
    const auto reaches_exit = [&](std::uint32_t from, std::uint32_t without) {
      std::vector<bool> seen(exit + 1, false);
      std::vector<std::uint32_t> work{from};
      while (!work.empty()) {
        const std::uint32_t b = work.back();
        work.pop_back();
        if (b == without || seen[b]) continue;
        seen[b] = true;
        if (b != exit) work.insert(work.end(), p.blocks[b].successors.begin(), p.blocks[b].successors.end());
      }
      return static_cast<bool>(seen[exit]);
    };
    bool all_leave = true;
    for (std::uint32_t b = 0; b < exit; ++b) all_leave &= reaches_exit(b, UINT32_MAX);
    if (!all_leave) continue;  // with endless loops the definition depends on where they are cut
    for (std::uint32_t b = 0; b < exit; ++b) {
      const std::uint32_t immediate = p.blocks[b].post_dominator;
      if (immediate != exit) {
        EXPECT_FALSE(reaches_exit(b, immediate)) << body;
      }
      // Every other strict post-dominator of b also post-dominates the immediate one.
      for (std::uint32_t d = 0; d < exit; ++d) {
        if (d == b || d == immediate || reaches_exit(b, d)) continue;
        EXPECT_TRUE(immediate != exit && !reaches_exit(immediate, d)) << body;
      }
    }
  }
}

}  // namespace
}  // namespace weft::ptx::testing::flow_test
