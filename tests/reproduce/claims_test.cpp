// Claims, their causes, and the rules of verdicts.
#include "study/judge/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <string>
#include <vector>

#include "folder.h"
#include "papers.h"
#include "study/judge/verdict.h"

namespace weft::study::reproduce_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Claims, OfAllPapersArePlausible) {
  std::map<std::string, int> count;
  for (const Claim& claim : papers().list) {
    ++count[claim.paper];
    std::string prefix = claim.paper;
    for (char& c : prefix) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    EXPECT_EQ(claim.id.rfind(prefix + ".", 0), 0u) << claim.id;
    if (claim.type == ClaimType::kShare) {
      EXPECT_GE(claim.number, 0) << claim.id;
      EXPECT_LE(claim.number, 1) << claim.id;
    }
  }
  EXPECT_EQ(count["DWR"], 63);
  EXPECT_EQ(count["CROWN"], 20);
  EXPECT_EQ(count["HARP"], 102);
  EXPECT_EQ(count["STSIMT"], 96);
  EXPECT_EQ(count["RELATED"], 13);
  // Numbers of the headline, as printed.
  EXPECT_EQ(papers().find("harp.speedup.sbr.mean")->number, 1.10);
  EXPECT_EQ(papers().find("crown.speedup.dwf.mean")->number, 1.12);
  EXPECT_EQ(papers().find("dwr.speedup.fixed64.max")->number, 2.28);
  EXPECT_EQ(papers().find("dwr.ignored_lats.mp")->number, 36);
  EXPECT_EQ(papers().find("stsimt.energy.stsimt4_scalar.edp")->number, 0.738);
}

TEST(Claims, MistakesAreNamedWithTheirPlace) {
  const auto of = [](const std::string& text) {
    const test::Folder folder;
    Claims claims;
    return message_of([&] { read_claims(folder.write("claims.json", text), "HARP", claims); });
  };
  const std::string good =
      R"({"id": "harp.a", "place": "7", "type": "ratio", "printed": 1.1, "as_printed": "10%", "statement": "s"})";
  EXPECT_EQ(of("[" + good + "]"), "no error");
  EXPECT_THAT(of("[" + good + "," + good + "]"),
              AllOf(HasSubstr("claims.json: /1"), HasSubstr("duplicate ID 'harp.a'")));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return of("[" + text + "]");
  };
  EXPECT_THAT(with("ratio", "rato"),
              AllOf(HasSubstr("/0/type"), HasSubstr("\"rato\""), HasSubstr("allowed: ratio, change")));
  EXPECT_THAT(with("\"7\"", "\"\""), AllOf(HasSubstr("/0/place"), HasSubstr("text that is not empty")));
  EXPECT_THAT(with("1.1", "\"x\""), AllOf(HasSubstr("/0/printed"), HasSubstr("a number")));
  EXPECT_THAT(with("\"printed\"", "\"prnted\""), HasSubstr("unknown key 'prnted'"));
  EXPECT_THAT(with("\"ratio\"", "\"maximum\""), HasSubstr("'of' is missing for the type 'maximum'"));
  EXPECT_THAT(with("\"ratio\"", "\"order\""), AllOf(HasSubstr("/0/printed"), HasSubstr("a list")));
}

TEST(Causes, NeedAClaimAndAKnownKind) {
  EXPECT_EQ(library().causes.count("harp.speedup.sbr.max"), 1u);
  const auto of = [](const std::string& text) {
    const test::Folder folder;
    return message_of([&] { read_causes(folder.write("causes.json", text), "HARP", papers()); });
  };
  EXPECT_THAT(of(R"({"harp.none": {}})"), HasSubstr("HARP has no claim 'harp.none'"));
  EXPECT_THAT(of(R"({"dwr.area": {}})"), HasSubstr("HARP has no claim 'dwr.area'"));
  EXPECT_THAT(of(R"({"harp.simd8": {"cause": "weather", "text": "t", "counter": "c", "run": "r"}})"),
              AllOf(HasSubstr("/harp.simd8/cause"), HasSubstr("allowed: mechanism, machine, program")));
}

// --- verdicts ---

std::string verdict(Claim claim, const Finding& finding) {
  return name_of(judge(claim, papers().rules, finding));
}
std::string verdict(ClaimType type, double printed, double ours) {
  Claim claim;
  claim.type = type;
  claim.number = printed;
  return verdict(claim, {ours, "", {}});
}

TEST(Verdict, OfARatioGoesByItsEffect) {
  const auto of = [](double printed, double ours) { return verdict(ClaimType::kRatio, printed, ours); };
  EXPECT_EQ(of(1.30, 1.20), "reproduced");  // a third less: the border counts
  EXPECT_EQ(of(1.30, 1.40), "reproduced");
  EXPECT_EQ(of(1.30, 1.199), "same trend");
  EXPECT_EQ(of(1.30, 1.401), "same trend");
  EXPECT_EQ(of(1.30, 1.01), "same trend");
  EXPECT_EQ(of(1.30, 1.009), "not");  // less than a percent is no trend
  EXPECT_EQ(of(1.30, 0.8), "not");
  EXPECT_EQ(of(0.74, 0.80), "reproduced");
  EXPECT_EQ(of(0.74, 0.90), "same trend");
  EXPECT_EQ(of(0.74, 1.05), "not");
}

TEST(Verdict, OfASmallEffectGoesByItsSign) {
  const auto of = [](double printed, double ours) { return verdict(ClaimType::kRatio, printed, ours); };
  EXPECT_EQ(of(0.98, 0.90), "reproduced");
  EXPECT_EQ(of(0.98, 1.029), "reproduced");
  EXPECT_EQ(of(0.98, 1.03), "not");
  EXPECT_EQ(of(1.0, 0.971), "reproduced");
  EXPECT_EQ(of(1.0, 0.97), "not");
  // Three percent are not under three percent.
  EXPECT_EQ(of(0.97, 0.98), "reproduced");
  EXPECT_EQ(of(0.97, 1.01), "not");
  EXPECT_EQ(verdict(ClaimType::kChange, -0.08, -0.06), "reproduced");
  EXPECT_EQ(verdict(ClaimType::kChange, -0.08, -0.02), "same trend");
  EXPECT_EQ(verdict(ClaimType::kChange, -0.08, 0.02), "not");
  EXPECT_EQ(verdict(ClaimType::kChange, -0.01, 0.029), "reproduced");
  EXPECT_EQ(verdict(ClaimType::kChange, -0.01, 0.031), "not");
}

TEST(Verdict, OfSharesAndCounts) {
  const auto share = [](double printed, double ours) { return verdict(ClaimType::kShare, printed, ours); };
  EXPECT_EQ(share(0.89, 0.84), "reproduced");  // 5 points
  EXPECT_EQ(share(0.89, 0.83), "same trend");
  EXPECT_EQ(share(0.89, 0.78), "not");
  EXPECT_EQ(share(0.37, 0.25), "reproduced");  // a third
  EXPECT_EQ(share(0.37, 0.24), "same trend");
  EXPECT_EQ(share(0.63, 0.75), "reproduced");  // the complement gets the same
  EXPECT_EQ(share(0.63, 0.76), "same trend");
  const auto count = [](double printed, double ours) { return verdict(ClaimType::kCount, printed, ours); };
  EXPECT_EQ(count(0, 0), "reproduced");
  EXPECT_EQ(count(0, 1), "not");
  EXPECT_EQ(count(10, 8), "reproduced");
  EXPECT_EQ(count(10, 12), "reproduced");
  EXPECT_EQ(count(10, 13), "same trend");
  EXPECT_EQ(count(10, 16), "not");
  EXPECT_EQ(count(3, 0), "not");
  EXPECT_EQ(verdict(ClaimType::kAmount, 0.5, 0.6), "reproduced");
}

TEST(Verdict, OfAMaximumNeedsTheProgram) {
  Claim claim;
  claim.type = ClaimType::kMaximum;
  claim.of = ClaimType::kRatio;
  claim.number = 1.6;
  claim.program = "MU";
  EXPECT_EQ(verdict(claim, {1.5, "MU", {}}), "reproduced");
  EXPECT_EQ(verdict(claim, {1.5, "MP", {}}), "same trend");
  EXPECT_EQ(verdict(claim, {1.2, "MU", {}}), "same trend");
  EXPECT_EQ(verdict(claim, {1.2, "MP", {}}), "not");
  claim.program.clear();
  EXPECT_EQ(verdict(claim, {1.5, "MP", {}}), "reproduced");
}

TEST(Verdict, OfBoundsAndRanges) {
  Claim claim;
  claim.type = ClaimType::kBound;
  claim.number = 0.03;
  claim.relation = "below";
  EXPECT_EQ(verdict(claim, {0.029, "", {}}), "reproduced");
  EXPECT_EQ(verdict(claim, {0.03, "", {}}), "same trend");
  EXPECT_EQ(verdict(claim, {0.041, "", {}}), "not");
  claim.relation = "at most";
  EXPECT_EQ(verdict(claim, {0.03, "", {}}), "reproduced");
  claim.relation = "at least";
  EXPECT_EQ(verdict(claim, {0.03, "", {}}), "reproduced");
  EXPECT_EQ(verdict(claim, {0.02, "", {}}), "same trend");
  EXPECT_EQ(verdict(claim, {0.019, "", {}}), "not");
  claim.type = ClaimType::kRange;
  claim.low = 1.06;
  claim.high = 1.09;
  for (const auto& [ours, expected] : std::map<double, std::string>{{1.04, "reproduced"},
                                                                    {1.07, "reproduced"},
                                                                    {1.12, "reproduced"},
                                                                    {1.13, "same trend"},
                                                                    {1.02, "same trend"},
                                                                    {1.0, "not"},
                                                                    {0.9, "not"}}) {
    EXPECT_EQ(verdict(claim, {ours, "", {}}), expected) << ours;
  }
}

TEST(Verdict, OfOrdersBestsAndSeries) {
  Claim claim;
  claim.type = ClaimType::kOrder;
  claim.above = {{"a", "b"}, {"b", "c"}, {"a", "c"}};
  EXPECT_EQ(verdict(claim, {0, "", {{"a", 3}, {"b", 2}, {"c", 1}}}), "reproduced");
  EXPECT_EQ(verdict(claim, {0, "", {{"a", 3}, {"b", 1}, {"c", 1}}}), "same trend");  // equal is not above
  EXPECT_EQ(verdict(claim, {0, "", {{"a", 1}, {"b", 2}, {"c", 1}}}), "not");
  claim.type = ClaimType::kBest;
  claim.best = {"1x", "2x"};
  EXPECT_EQ(verdict(claim, {0, "", {{"1x", 1.0}, {"2x", 1.1}, {"4x", 1.05}}}), "reproduced");
  EXPECT_EQ(verdict(claim, {0, "", {{"1x", 0.97}, {"2x", 0.5}, {"4x", 1.0}}}), "same trend");
  EXPECT_EQ(verdict(claim, {0, "", {{"1x", 0.96}, {"2x", 0.5}, {"4x", 1.0}}}), "not");
  claim.type = ClaimType::kSeries;
  claim.of = ClaimType::kAmount;
  claim.series = {{"p", 1}, {"q", 2}, {"r", 3}, {"s", 4}, {"t", 5}};
  EXPECT_EQ(verdict(claim, {0, "", {{"p", 1}, {"q", 2}, {"r", 3}, {"s", 4}, {"t", 9}}}), "reproduced");
  EXPECT_EQ(verdict(claim, {0, "", {{"p", 2}, {"q", 4}, {"r", 6}, {"s", 8}, {"t", 9}}}), "same trend");
  EXPECT_EQ(verdict(claim, {0, "", {{"p", 9}, {"q", 8}, {"r", 6}, {"s", 2}, {"t", 1}}}), "not");
}

}  // namespace
}  // namespace weft::study::reproduce_test
