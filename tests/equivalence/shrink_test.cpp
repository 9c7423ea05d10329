// The campaign finds what a GPU does wrong, and says it with a small kernel: here the GPU gets another
// program than the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "equivalence/campaign.h"

namespace weft::test::shrink_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// `text` with every `what` made `other`.
std::string replaced(std::string text, const std::string& what, const std::string& other) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += other.size())
    text.replace(at, what.size(), other);
  return text;
}

unsigned count(const std::string& text, const std::string& what) {
  unsigned n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

unsigned lines(const std::string& text) {
  return count(text, "\n");
}

// What the kernel without any statement has, with a return and a brace.
unsigned lines_of_the_empty_kernel() {
  Choices choices(Draws{});
  return lines(random_kernel(choices).text);
}

struct Found {
  std::uint64_t seed = 0;
  Failure failure;
};

// The first kernel that fails.
Found first_failure(Campaign& campaign) {
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    if (const Failure failure = campaign.run(seed)) return {seed, failure};
  }
  return {};
}

struct Mutation {
  const char *name, *from, *to;
  const char* needed;   // what the smallest kernel must have
  unsigned statements;  // lines of PTX more than in the empty kernel, at most
  const char* failure;  // what the report says
};

const Mutation kMutations[] = {
    {"WrongInstruction", "  max.u32 %r", "  min.u32 %r", "  max.u32 %r", 2, "the interpreter's"},
    {"WrongAtomic", ".global.add.u32", ".global.max.u32", ".global.add.u32", 4, "sum "},
    {"WrongBranch", "setp.ge.s32 %p3,", "setp.gt.s32 %p3,", "setp.ge.s32 %p3", 6, "thread instructions"},
    {"MissingExit", "@%p2 exit;", "", "@%p2 exit;", 5, "thread"},
    {"WrongCall", "call (v), f0,", "call (v), f1,", "call (v), f0,", 55, "thread"},
    {"Hang", "bar.sync 0;", "bar.sync 0, 1024;", "bar.sync 0;", 2, "deadlock"},
};

void PrintTo(const Mutation& mutation, std::ostream* out) {
  *out << mutation.name;
}

class Shrinking : public ::testing::TestWithParam<Mutation> {};

TEST_P(Shrinking, ComesDownToWhatIsWrong) {
  const Mutation& mutation = GetParam();
  Campaign campaign({"gtx480", "dwf", "scoreboard", 16, 0, 0, true},
                    [&](const std::string& text) { return replaced(text, mutation.from, mutation.to); });
  const auto [seed, failure] = first_failure(campaign);
  ASSERT_TRUE(failure) << "no kernel has a \"" << mutation.from << "\"";
  const std::string& smallest = failure.smallest.text;
  EXPECT_EQ(count(smallest, mutation.needed), 1u);
  EXPECT_LE(lines(smallest), lines_of_the_empty_kernel() + mutation.statements) << smallest;
  EXPECT_EQ(failure.smallest.blocks, 1u);
  EXPECT_THAT(failure.report,
              AllOf(HasSubstr("kernel of seed " + std::to_string(seed) + ","), HasSubstr("scheme dwf"),
                    HasSubstr("config gtx480"), HasSubstr("dependence scoreboard"), HasSubstr("warps of 16"),
                    HasSubstr("WEFT_CAMPAIGN_SEED=" + std::to_string(seed) + " WEFT_CAMPAIGN_KERNELS=1 "),
                    HasSubstr("--gtest_filter='*/dwf_gtx480_16_scoreboard'"), HasSubstr(smallest)));
  EXPECT_THAT(failure.report.substr(failure.report.find("\nafter ")), HasSubstr(mutation.failure));
  // The seed repeats it, up to the numbers of the warps that hang: nothing of the kernels between is left.
  EXPECT_EQ(campaign.run(seed).what, failure.what);
}

INSTANTIATE_TEST_SUITE_P(Mutations, Shrinking, ::testing::ValuesIn(kMutations),
                         [](const auto& info) { return info.param.name; });

TEST(RandomKernels, DrawsGiveTheSameKernelAgain) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Choices choices(seed);
    const RandomKernel kernel = random_kernel(choices);
    Choices again(choices.draws());
    const RandomKernel copy = random_kernel(again);
    ASSERT_EQ(kernel.text, copy.text) << "seed " << seed;
    ASSERT_EQ(kernel.blocks, copy.blocks);
    ASSERT_EQ(kernel.threads, copy.threads);
    ASSERT_EQ(choices.draws(), again.draws());
  }
}

TEST(RandomKernels, ShrinksAreSmaller) {
  Choices choices(7);
  random_kernel(choices);
  const Draws draws = choices.draws();
  auto shrinks = shrinks_of(draws, [](Choices& c) { random_kernel(c); });
  unsigned shorter = 0, lower = 0;
  while (const auto next = shrinks.next()) {
    const Draws& smaller = *next;
    ASSERT_LE(smaller.size(), draws.size());
    shorter += smaller.size() < draws.size();
    lower += smaller.size() == draws.size();
    ASSERT_TRUE(smaller.size() < draws.size() || smaller < draws);
  }
  EXPECT_GT(shorter, 10u);
  EXPECT_GT(lower, draws.size() / 2);
}

// The share of 500 kernels that have what a scheme may stumble over.
TEST(RandomKernels, HaveAllKindsOfControlFlow) {
  struct Feature {
    const char* what;
    double share;  // at least
  };
  const Feature kFeatures[] = {
      {"@%p1 bra", 0.6},      {"@%p3 bra", 0.3},    {"brx.idx", 0.2},     {"@%p5 bra", 0.3},
      {"@%p2 exit", 0.1},     {"@%p2 ret", 0.1},    {"bra LEAVE", 0.03},  {"@%p7 bra", 0.1},
      {"bra EPILOGUE", 0.03}, {"call meet", 0.05},  {"@%p1 exit", 0.1},   {"bar.sync 0", 0.2},
      {"bar.red", 0.1},       {"bar.arrive", 0.02}, {"call (v), f", 0.2}, {"@%p1 call", 0.02},
      {"call (v), %rd", 0.1}, {"quits, (", 0.02},   {"atom.global", 0.2}, {"@%p1 ld", 0.05},
      {"shfl.sync", 0.1},     {"vote.sync", 0.2},   {"st.shared", 1.0},   {"ld.local", 0.1},
  };
  constexpr unsigned kKernels = 500;
  std::vector<unsigned> found(std::size(kFeatures));
  for (std::uint64_t seed = 1; seed <= kKernels; ++seed) {
    const std::string text = random_kernel(seed);
    for (std::size_t i = 0; i < found.size(); ++i)
      found[i] += text.find(kFeatures[i].what) != std::string::npos;
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_GE(found[i], kKernels * kFeatures[i].share) << kFeatures[i].what;
  }
}

}  // namespace
}  // namespace weft::test::shrink_test
