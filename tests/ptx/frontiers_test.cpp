// Priorities of blocks and thread frontiers. Every line of a kernel is one instruction, so that blocks are
// easy to count.
#include "ptx/frontiers.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "ptx/ptx_text.h"

namespace weft::ptx::testing::frontiers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kWork = "mov.u32 %r1, %r2;\n";

// The blocks in the order in which they run.
std::vector<std::uint32_t> order_of(const Program& p) {
  std::vector<std::uint32_t> order(p.blocks.size(), UINT32_MAX);
  for (std::uint32_t b = 0; b < p.blocks.size(); ++b) order.at(p.blocks[b].rank) = b;
  return order;
}

// if (a || b) X; else Y;   Threads that a sends to X wait there while others run b and Y, so that X is in the
// frontier of both.
TEST(Frontiers, OfAShortCircuit) {
  const Program p = decode_body("@%p1 bra X;\n@%p2 bra X;\nbra J;\nX: " + kWork + "J: ret;");
  ASSERT_EQ(p.blocks.size(), 5u);
  EXPECT_THAT(order_of(p), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(thread_frontier(p.blocks, 0), IsEmpty());
  EXPECT_THAT(thread_frontier(p.blocks, 1), ElementsAre(3));
  EXPECT_THAT(thread_frontier(p.blocks, 2), ElementsAre(3));
  EXPECT_THAT(thread_frontier(p.blocks, 3), ElementsAre(4));
  EXPECT_THAT(thread_frontier(p.blocks, 4), IsEmpty());
}

// if (c) A; else B; J: while A runs, threads may wait at B.
TEST(ConservativeTargets, OfTwoArms) {
  const Program p = decode_body("@%p1 bra B;\n" + kWork + "bra J;\nB: " + kWork + "J: ret;");
  ASSERT_THAT(order_of(p), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(conservative_targets(p.blocks), ElementsAre(1, 2, 3, kNoRank));
}

// Threads that left in an earlier turn may wait behind the loop, at either place. From its end the way back
// goes first.
TEST(ConservativeTargets, OfALoopWithABreak) {
  const Program p = decode_body("L: @%p1 bra O;\n@%p2 bra Q;\n" + kWork + "bra L;\nO: " + kWork + "Q: ret;");
  // 0: head, 1: break, 2: work, 3: O, 4: Q
  ASSERT_THAT(order_of(p), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(conservative_targets(p.blocks), ElementsAre(1, 2, 0, 4, kNoRank));
}

// The short arm comes last in the code, and has the same priority as the end of the long one.
TEST(Frontiers, TheLongerWayToTheExitGoesFirst) {
  const Program p = decode_body("@%p1 bra S;\n@%p2 bra T;\n" + kWork + "T: bra J;\nS: " + kWork + "J: ret;");
  // 0: branch, 1: second branch, 2: work, 3: T, 4: S, 5: J
  EXPECT_THAT(order_of(p), ElementsAre(0, 1, 2, 3, 4, 5));
  const Program q =
      decode_body("@%p1 bra L;\n" + kWork + "bra J;\nL: @%p2 bra T;\n" + kWork + "T: " + kWork + "J: ret;");
  // 0: branch, 1: the short arm, 2: L, 3: work, 4: T, 5: J
  EXPECT_THAT(order_of(q), ElementsAre(0, 2, 3, 1, 4, 5));
}

// The way round the loop's body is longer than the body, which runs first nevertheless.
TEST(Frontiers, ALoopComesBeforeWhatFollowsIt) {
  const Program p = decode_body("L: @%p1 bra O;\n" + kWork + "bra L;\nO: @%p2 bra Z;\n" + kWork + "Z: ret;");
  // 0: head, 1: body, 2: O, 3: work, 4: Z
  EXPECT_THAT(order_of(p), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(thread_frontier(p.blocks, 0), ElementsAre(2)) << "of an earlier turn";
  EXPECT_THAT(thread_frontier(p.blocks, 1), ElementsAre(2));
  EXPECT_THAT(thread_frontier(p.blocks, 2), IsEmpty());
  EXPECT_THAT(thread_frontier(p.blocks, 3), ElementsAre(4));
}

TEST(Frontiers, AnInnerLoopComesBeforeTheRestOfTheOuterOne) {
  const Program p =
      decode_body("L: " + kWork + "M: @%p1 bra N;\n" + kWork + "bra M;\nN: @%p2 bra L;\n" + "ret;");
  // 0: L, 1: M, 2: body of M, 3: N, 4: return
  EXPECT_THAT(order_of(p), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(thread_frontier(p.blocks, 2), ElementsAre(3, 4));
}

TEST(Frontiers, RanksOfFunctionsFollowThoseOfTheKernel) {
  const std::string text = module_of(
      ".func f() {\n .reg .pred %p<2>;\n setp.eq.u32 %p1, 1, 2;\n @%p1 bra A;\nA: ret;\n}\n"
      ".visible .entry k() {\n .reg .pred %p<2>;\n setp.eq.u32 %p1, 1, 2;\n @%p1 bra A;\n call f;\nA: "
      "ret;\n}\n");
  const Program p = decode(parse(text, "k.ptx"), "k", {});
  ASSERT_EQ(p.functions.size(), 1u);
  std::vector<std::uint32_t> ranks;
  for (const BasicBlock& block : p.blocks) ranks.push_back(block.rank);
  std::uint32_t kernel = 0;
  while (p.blocks[kernel].first != p.functions[0].first) ++kernel;
  EXPECT_LT(*std::max_element(ranks.begin(), ranks.begin() + kernel),
            *std::min_element(ranks.begin() + kernel, ranks.end()));
  std::sort(ranks.begin(), ranks.end());
  for (std::uint32_t i = 0; i < ranks.size(); ++i) EXPECT_EQ(ranks[i], i);
}

// Any jumps, or only such that go forward.
Program random_program(std::uint64_t seed, bool loops) {
  std::mt19937_64 random(seed);
  const unsigned blocks = 2 + random() % 11;
  std::string body;
  for (unsigned b = 0; b < blocks; ++b) {
    const unsigned from = loops ? 0 : b + 1;
    const std::string target = std::to_string(from + random() % (blocks - from + 1));
    body += "L" + std::to_string(b) + ": " + kWork;
    switch (random() % 5) {
      case 0:
        body += "bra L" + target + ";\n";
        break;
      case 1:
        break;
      case 2:
        body += random() % 3 == 0 ? "@%p1 exit;\n" : "";
        break;
      default:
        body += "@%p1 bra L" + target + ";\n";
        break;
    }
  }
  return decode_body(body + "L" + std::to_string(blocks) + ": ret;");
}

// Whether `from` leads to `to`, by at least one edge and not through `without`.
bool leads(const Program& p, std::uint32_t from, std::uint32_t to, std::uint32_t without = UINT32_MAX) {
  std::vector<bool> seen(p.blocks.size() + 1, false);
  std::vector<std::uint32_t> work{from};
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (const std::uint32_t s : p.blocks[b].successors) {
      if (s == to) return true;
      if (s == p.blocks.size() || s == without || seen[s]) continue;
      seen[s] = true;
      work.push_back(s);
    }
  }
  return false;
}

// Edges descend unless they lead back: a block comes before those to which it leads without a way back, and
// before those that it dominates.
TEST(Frontiers, PrioritiesDescend) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Program p = random_program(seed, true);
    std::vector<std::uint32_t> sorted = order_of(p);
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t b = 0; b < sorted.size(); ++b) ASSERT_EQ(sorted[b], b);
    for (std::uint32_t a = 0; a < p.blocks.size(); ++a) {
      for (std::uint32_t b = 0; b < p.blocks.size(); ++b) {
        if (a == b) continue;
        const bool reached = b == 0 || leads(p, 0, b);
        const bool dominates = reached && b != 0 && (a == 0 || !leads(p, 0, b, a));
        if ((leads(p, a, b) && !leads(p, b, a)) || dominates) {
          EXPECT_LT(p.blocks[a].rank, p.blocks[b].rank) << a << " before " << b;
        }
      }
    }
  }
}

TEST(Frontiers, WithoutLoopsThePriorityIsTheLongestPath) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Program p = random_program(seed, false);
    std::vector<std::uint32_t> longest(p.blocks.size() + 1, 0);
    for (auto b = static_cast<std::uint32_t>(p.blocks.size()); b-- > 0;) {
      for (const std::uint32_t s : p.blocks[b].successors) longest[b] = std::max(longest[b], longest[s] + 1);
    }
    const std::vector<std::uint32_t> order = order_of(p);
    for (std::size_t i = 1; i < order.size(); ++i) {
      EXPECT_TRUE(longest[order[i - 1]] > longest[order[i]] ||
                  (longest[order[i - 1]] == longest[order[i]] && order[i - 1] < order[i]))
          << order[i - 1] << " before " << order[i];
    }
  }
}

// No thread is passed over: what comes first is no later than any successor, and any block of the frontier.
TEST(ConservativeTargets, PassNoThread) {
  unsigned waits = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Program p = random_program(seed, true);
    const std::vector<std::uint32_t> targets = conservative_targets(p.blocks);
    for (std::uint32_t b = 0; b < p.blocks.size(); ++b) {
      const std::uint32_t first = targets.at(p.blocks[b].rank);
      EXPECT_TRUE(first == kNoRank || first < p.blocks.size());
      for (const std::uint32_t w : thread_frontier(p.blocks, b)) {
        EXPECT_LE(first, p.blocks[w].rank) << "of block " << b << ": block " << w;
        ++waits;
      }
      for (const std::uint32_t s : p.blocks[b].successors) {
        if (s == p.blocks.size()) continue;
        EXPECT_LE(first, p.blocks[s].rank) << "of block " << b << ": block " << s;
      }
    }
  }
  EXPECT_GT(waits, 300u);
}

// More loops within loops than are searched: they still come before what follows them.
TEST(Frontiers, ManyLoopsWithinLoops) {
  constexpr unsigned kLoops = 8000;
  std::string body;
  for (unsigned i = 0; i < kLoops; ++i) body += "L" + std::to_string(i) + ": " + kWork;
  for (unsigned i = kLoops; i-- > 0;) body += "@%p1 bra L" + std::to_string(i) + ";\n";
  const Program p = decode_body(body + kWork + "ret;");
  EXPECT_EQ(p.blocks.front().rank, 0u);
  EXPECT_EQ(p.blocks.back().rank, p.blocks.size() - 1);
}

}  // namespace
}  // namespace weft::ptx::testing::frontiers_test
