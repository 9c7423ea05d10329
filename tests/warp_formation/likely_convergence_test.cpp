// Likely-convergence points: which the control-flow graph gives, and what the stacks of sbr and tbc make of
// them. Warps of 4 threads on 4 lanes, so that masks can be read.
#include "weft/warp_formation/likely_convergence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <utility>

#include "warp_formation/driver.h"
#include "warp_formation/kernels.h"
#include "warp_formation/tbc_options.h"
#include "weft/common/error.h"

namespace weft::warp_formation::test::likely_convergence_test {
namespace {

using ::testing::ElementsAre;
using Threads = std::vector<unsigned>;
using Issued = std::tuple<Cycle, ptx::Pc, Threads>;
constexpr ptx::Pc kNone = ptx::kNoPc;

// if (a || b) X; else Y;
const std::string kEither = R"(
  @%p1 bra X;              // 0: a
  @%p2 bra X;              // 1: b
  add.u32 %r1, %r1, 1;     // 2: Y
  bra Z;                   // 3
X:
  add.u32 %r2, %r2, 1;     // 4: X
Z:
  ret;                     // 5)";

Config with_points(const std::string& scheme, LikelyConvergence likely = LikelyConvergence::kStatic) {
  Config config;
  config.scheme = scheme;
  config.warp_size = 4;
  config.own<SbrOptions>().likely_convergence = config.own<TbcOptions>().likely_convergence = likely;
  return config;
}

Geometry four_lanes(unsigned threads) {
  Geometry geometry;
  geometry.threads = threads;
  geometry.lanes = 4;
  geometry.slots = 2;
  geometry.chunks = 2;
  geometry.barrel = true;
  return geometry;
}

std::vector<Issued> issues_of_warps(const Driver& driver) {
  std::vector<Issued> list;
  for (const auto& record : driver.trace()) list.emplace_back(record.cycle, record.pc, record.threads);
  return list;
}

std::function<bool(unsigned, ptx::Pc, unsigned)> guards(unsigned at_0, unsigned at_1) {
  return [=](unsigned thread, ptx::Pc pc, unsigned) { return ((pc == 0 ? at_0 : at_1) >> thread & 1) != 0; };
}

TEST(LikelyPoints, AreWhereTheConditionsOfAnOrMeet) {
  const ptx::Program program = kernel(kEither);
  ASSERT_EQ(program.code[0].reconvergence, 5u);
  EXPECT_THAT(likely_convergence_points(program), ElementsAre(4u, kNone, kNone, kNone, kNone, kNone));
}

// A branch whose arms meet at the post-dominator only has none.
TEST(LikelyPoints, AreBeforeThePostDominatorOrNotThere) {
  for (const char* body : {"  @%p1 bra C;\n  bra D;\nC:\n  add.u32 %r1, %r1, 1;\nD:\n  ret;",
                           "  @%p1 bra D;\n  add.u32 %r1, %r1, 1;\nD:\n  ret;",
                           "A:\n  add.u32 %r1, %r1, 1;\n  @%p1 bra A;\n  ret;"}) {
    for (const ptx::Pc point : likely_convergence_points(kernel(body))) EXPECT_EQ(point, kNone) << body;
  }
}

// while (true) { if (p1) { if (p2) break; } else if (p2) break; }
const std::string kLoop = R"(
  mov.u32 %r1, 0;          // 0
HEAD:
  add.u32 %r1, %r1, 1;     // 1
  @%p1 bra ELSE;           // 2
  @%p2 bra OUT;            // 3
  bra HEAD;                // 4
ELSE:
  @!%p2 bra HEAD;          // 5
OUT:
  ret;                     // 6)";

// The way to it leads back, but to the branch itself.
TEST(LikelyPoints, OfTwoWaysRoundALoopIsItsHeader) {
  const ptx::Program program = kernel(kLoop);
  ASSERT_EQ(program.code[2].reconvergence, 6u);
  EXPECT_THAT(likely_convergence_points(program), ElementsAre(kNone, kNone, 1u, kNone, kNone, kNone, kNone));
}

// Where a thread may leave for good, the post-dominator is the exit.
TEST(LikelyPoints, AreFoundBehindAnExit) {
  const ptx::Program program = kernel("  @%p1 bra X;\n  @%p2 exit;\nX:\n  add.u32 %r1, %r1, 1;\n  ret;");
  ASSERT_EQ(program.code[0].reconvergence, kNone);
  EXPECT_EQ(likely_convergence_points(program)[0], 2u);
}

// With a block barrier ahead the reconvergence point lies before the post-dominator, and so do they.
TEST(LikelyPoints, AreBeforeThePointInForce) {
  const ptx::Program program = kernel(R"(
  @%p1 bra X;              // 0
  @%p2 bra X;              // 1
  add.u32 %r1, %r1, 1;     // 2
  bra J;                   // 3
X:
  @%p3 exit;               // 4
J:
  bar.sync 0;              // 5
  ret;                     // 6)");
  ASSERT_EQ(program.code[1].reconvergence, 5u);
  EXPECT_THAT(likely_convergence_points(program), ElementsAre(4u, kNone, kNone, kNone, kNone, kNone, kNone));
  EXPECT_EQ(likely_convergence_points(program, Reconvergence::kPlain)[1], 5u);
}

// The product of the likelihoods with which two ways out of `branch` come to `block`, path by path.
class PathOracle {
 public:
  explicit PathOracle(const ptx::Program& program) : blocks_(program.blocks) {}
  double likelihood(std::uint32_t branch, std::uint32_t block) const {
    std::vector<double> shares;
    for (const std::uint32_t way : blocks_[branch].successors)
      shares.push_back(reach(way, block, blocks_[branch].post_dominator));
    std::sort(shares.rbegin(), shares.rend());
    return shares.size() < 2 ? 0 : shares[0] * shares[1];
  }

 private:
  double reach(std::uint32_t from, std::uint32_t to, std::uint32_t end) const {
    if (from == end || from >= blocks_.size()) return 0;
    if (from == to) return 1;
    double sum = 0;
    for (const std::uint32_t s : blocks_[from].successors) sum += reach(s, to, end);
    return sum / static_cast<double>(blocks_[from].successors.size());
  }
  const std::vector<ptx::BasicBlock>& blocks_;
};

// In graphs without loops every path can be followed to its end.
TEST(LikelyPoints, AreTheLikeliestOnRandomGraphs) {
  unsigned found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const unsigned blocks = 3 + random() % 8;
    std::string body;
    for (unsigned b = 0; b < blocks; ++b) {
      body += "L" + std::to_string(b) + ":\n  add.u32 %r1, %r1, 1;\n";
      const unsigned ahead = b + 1 + random() % (blocks - b);
      body += (random() % 4 == 0 ? "  bra L" : "  @%p1 bra L") + std::to_string(ahead) + ";\n";
    }
    const ptx::Program program = kernel(body + "L" + std::to_string(blocks) + ":\n  ret;");
    const auto points = likely_convergence_points(program);
    const PathOracle oracle(program);
    for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
      if (!program.code[program.blocks[b].last].is_branch()) continue;
      double greatest = 0, chosen = 0;
      for (std::uint32_t x = 0; x < program.blocks.size(); ++x) {
        const double likelihood = oracle.likelihood(b, x);
        greatest = std::max(greatest, likelihood);
        if (program.blocks[x].first == points[program.blocks[b].last]) chosen = likelihood;
      }
      EXPECT_EQ(chosen, greatest) << "seed " << seed << " block " << b;
      found += greatest > 0;
    }
  }
  EXPECT_GT(found, 200u);
}

// Thread 0 goes to X at a, threads 1 and 2 at b, thread 3 to Y. Under the post-dominators alone X runs twice.
TEST(SbrLikelyPoints, LetTheArmOfAnOrRunOnce) {
  const ptx::Program program = kernel(kEither);
  Driver without(program, with_points("sbr", LikelyConvergence::kOff), four_lanes(4));
  without.holds = guards(0b0001, 0b0110);
  without.launch(4);
  without.run(100);
  EXPECT_THAT(
      issues_of_warps(without),
      ElementsAre(Issued{1, 0, {0, 1, 2, 3}}, Issued{2, 1, {1, 2, 3}}, Issued{3, 2, {3}}, Issued{4, 3, {3}},
                  Issued{5, 4, {1, 2}}, Issued{6, 4, {0}}, Issued{7, 5, {0, 1, 2, 3}}));
  EXPECT_EQ(without.statistic("deepest_stack"), 4);
  EXPECT_EQ(without.statistic("storage_bits"), 4 * (32 + 32 + 4));
  EXPECT_EQ(without.statistic("likely_points"), 0);

  Driver with(program, with_points("sbr"), four_lanes(4));
  with.holds = guards(0b0001, 0b0110);
  with.launch(4);
  with.run(100);
  EXPECT_THAT(issues_of_warps(with),
              ElementsAre(Issued{1, 0, {0, 1, 2, 3}}, Issued{2, 1, {1, 2, 3}}, Issued{3, 2, {3}},
                          Issued{4, 3, {3}}, Issued{5, 4, {0, 1, 2}}, Issued{6, 5, {0, 1, 2, 3}}));
  // The reconvergence point, the likely one and a path; 8 entries are numbered by 3 bits.
  EXPECT_EQ(with.statistic("deepest_stack"), 3);
  EXPECT_EQ(with.statistic("storage_bits"), 3 * (32 + 32 + 4 + 32 + 3));
  EXPECT_EQ(with.statistic("likely_points"), 1);
  EXPECT_EQ(with.statistic("likely_joins"), 2);
}

// Nobody may come: the entry is empty then and costs no issue.
TEST(SbrLikelyPoints, CostNothingWhereNobodyComes) {
  const ptx::Program program = kernel(kEither);
  for (const auto likely : {LikelyConvergence::kOff, LikelyConvergence::kStatic}) {
    Driver driver(program, with_points("sbr", likely), four_lanes(4));
    driver.holds = guards(0b0001, 0);
    driver.launch(4);
    driver.run(100);
    EXPECT_EQ(driver.trace().size(), 6u);
  }
}

// Thread 3 exits at PC 1; 0 and 1, which came past it, wait at PC 2 for thread 2.
TEST(SbrLikelyPoints, GatherThoseThatAnExitLeaves) {
  const ptx::Program program = kernel("  @%p1 bra X;\n  @%p2 exit;\nX:\n  add.u32 %r1, %r1, 1;\n  ret;");
  Driver driver(program, with_points("sbr"), four_lanes(4));
  driver.holds = guards(0b0011, 0b1000);
  driver.launch(4);
  driver.run(100);
  EXPECT_THAT(issues_of_warps(driver), ElementsAre(Issued{1, 0, {0, 1, 2, 3}}, Issued{2, 1, {2, 3}},
                                                   Issued{3, 2, {0, 1, 2}}, Issued{4, 3, {0, 1, 2}}));
}

// Even and odd threads take different ways, the others at the next turn, 17 turns each. They meet at the
// header every time, and the stack does not grow; under the post-dominators alone each pair goes round by
// itself.
TEST(SbrLikelyPoints, KeepALoopTogether) {
  const ptx::Program program = kernel(kLoop);
  const auto run = [&](LikelyConvergence likely) {
    Driver driver(program, with_points("sbr", likely), four_lanes(4));
    driver.holds = [](unsigned thread, ptx::Pc pc, unsigned visit) {
      if (pc == 2) return (visit + thread) % 2 != 0;
      const unsigned turn = 2 * visit + (thread + (pc == 5)) % 2;
      return (turn == 16) == (pc == 3);
    };
    driver.launch(4);
    driver.run(1000);
    std::vector<std::size_t> header;
    for (const auto& record : driver.trace()) {
      if (record.pc == 1) header.push_back(record.threads.size());
    }
    EXPECT_EQ(driver.statistic("deepest_stack"), likely == LikelyConvergence::kOff ? 3 : 4);
    return header;
  };
  EXPECT_EQ(run(LikelyConvergence::kStatic), std::vector<std::size_t>(17, 4));
  std::vector<std::size_t> apart(33, 2);
  apart[0] = 4;
  EXPECT_EQ(run(LikelyConvergence::kOff), apart);
}

// As above for a block of two warps: threads 0 and 5 go to X at a, 2 and 7 at b. What meets at X fills a
// warp.
TEST(TbcLikelyPoints, LetTheArmOfAnOrRunOnce) {
  const ptx::Program program = kernel(kEither);
  Driver without(program, with_points("tbc", LikelyConvergence::kOff), four_lanes(8));
  without.holds = guards(0b00100001, 0b10000100);
  without.launch(8);
  without.run(100);
  EXPECT_THAT(issues_of_warps(without),
              ElementsAre(Issued{1, 0, {0, 1, 2, 3}}, Issued{2, 0, {4, 5, 6, 7}}, Issued{3, 1, {1, 2, 3, 4}},
                          Issued{4, 1, {6, 7}}, Issued{5, 2, {1, 3, 4, 6}}, Issued{6, 3, {1, 3, 4, 6}},
                          Issued{7, 4, {2, 7}}, Issued{8, 4, {0, 5}}, Issued{9, 5, {0, 1, 2, 3}},
                          Issued{10, 5, {4, 5, 6, 7}}));

  Driver with(program, with_points("tbc"), four_lanes(8));
  with.holds = guards(0b00100001, 0b10000100);
  with.launch(8);
  with.run(100);
  EXPECT_THAT(
      issues_of_warps(with),
      ElementsAre(Issued{1, 0, {0, 1, 2, 3}}, Issued{2, 0, {4, 5, 6, 7}}, Issued{3, 1, {1, 2, 3, 4}},
                  Issued{4, 1, {6, 7}}, Issued{5, 2, {1, 3, 4, 6}}, Issued{6, 3, {1, 3, 4, 6}},
                  Issued{7, 4, {0, 2, 5, 7}}, Issued{8, 5, {0, 1, 2, 3}}, Issued{9, 5, {4, 5, 6, 7}}));
  EXPECT_EQ(with.statistic("deepest_stack"), 3);
  EXPECT_EQ(with.statistic("likely_points"), 1);
  EXPECT_EQ(with.statistic("likely_joins"), 2);
  // Two slots of three entries (two PCs, 8 threads, 0 to 2 warps, a PC, one of 16 entries); two warps (PC,
  // and for each of 4 places a valid bit and a thread of 8 without its lane).
  EXPECT_EQ(with.statistic("storage_bits"), 2 * 3 * (64 + 8 + 2 + 32 + 4) + 2 * (32 + 4 * 2));
}

// Threads come to X by running, not by the branch itself, and the warps of the block one after the other.
TEST(TbcLikelyPoints, AreJoinedByWarpsThatWalkThere) {
  const ptx::Program program = kernel(R"(
  @%p1 bra X;              // 0
  add.u32 %r1, %r1, 1;     // 1
  @%p2 bra Z;              // 2
X:
  add.u32 %r2, %r2, 1;     // 3
  add.u32 %r2, %r2, 1;     // 4
Z:
  ret;                     // 5)");
  ASSERT_EQ(likely_convergence_points(program)[0], 3u);
  Driver driver(program, with_points("tbc"), four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned) {
    return pc == 0 ? thread == 0 || thread == 5 : thread == 1 || thread == 4;
  };
  driver.launch(8);
  driver.run(100);
  std::vector<Threads> at_x;
  for (const auto& record : driver.trace()) {
    if (record.pc == 3) at_x.push_back(record.threads);
  }
  // Lanes 0, 1: 0 and 5; lanes 2, 3: 2 and 6, 3 and 7.
  EXPECT_THAT(at_x, ElementsAre(Threads{0, 2, 3, 5}, Threads{6, 7}));
}

TEST(LikelyPoints, AreRefusedUnderASchemeWithoutThem) {
  Config config = with_points("dwf");
  EXPECT_THROW(config.check("/warp_formation"), InputError);
  for (const char* scheme : {"sbr", "tbc", "harp", "crown"}) {
    config.scheme = scheme;
    EXPECT_NO_THROW(config.check("/warp_formation")) << scheme;
  }
}

}  // namespace
}  // namespace weft::warp_formation::test::likely_convergence_test
