// One claim: the runs that it needs, its formula in words, and why its verdict is what it is.
#include "study/page/claim_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "folder.h"
#include "papers.h"
#include "study/judge/claim_runs.h"
#include "study/judge/experiment.h"
#include "study/judge/verdict.h"
#include "study/page/value_words.h"

namespace weft::study::claim_page_test {
namespace {

using reproduce_test::library;
using reproduce_test::papers;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kText = R"({"title": "t", "place": "7", "config": "harp-fermi",
  "programs": [{"abbr": "MU", "workload": "mummer_gpu", "size": "small", "type": "A"},
               {"abbr": "BFS", "workload": "bfs", "size": "small", "type": "B"},
               {"abbr": "CP", "workload": "coulombic_potential", "size": "small", "type": "C"}],
  "variants": [{"name": "sbr", "label": "SBR"}, {"name": "dwf", "label": "DWF"},
               {"name": "harp", "label": "HARP", "set": ["warp_formation.scheme=harp"]}],
  "measures": ["speed", "stalled_share", "lane_activity"],
  "comparisons": [{"measure": "speed", "variant": "harp", "over": ["dwf"]}],
  "figures": [{"title": "f", "place": "1", "measure": "speed"}],
  "headline": ["harp.speedup.sbr.mean"],
  "sensitivity": [{"key": "sm.fetch_width", "values": [1], "why": "not printed"}],
  "claims": [
    {"id": "harp.speedup.sbr.mean",
     "value": {"measure": "speed", "variant": "harp", "over": "sbr", "mean": "harmonic", "programs": ["MU", "BFS"]},
     "readings": [{"name": "of MU", "value": {"measure": "speed", "variant": "harp", "over": "dwf", "programs": ["MU"]}}]},
    {"id": "harp.lanes.full_cp", "value": {"measure": "lane_activity", "variant": "sbr", "programs": ["CP"]}},
    {"id": "harp.depth16.type_a", "value": {"difference": [
      {"measure": "speed", "variant": "harp", "over": "sbr", "programs": ["MU"]},
      {"measure": "speed", "variant": "dwf", "programs": ["CP"]}]}}]})";

Experiment experiment() {
  const test::Folder folder;
  return read_experiment({"x", "HARP", folder.write("x.json", kText)}, papers());
}

std::vector<std::string> names_of(const RunNames& runs) {
  std::vector<std::string> names;
  for (const auto& [program, variant] : runs) names.push_back(program + " " + variant);
  return names;
}

TEST(ClaimRuns, AreThoseThatItsValuesLookAt) {
  const Experiment all = experiment();
  EXPECT_THAT(names_of(runs_of(all.claims[0])), ElementsAre("BFS harp", "BFS sbr", "MU harp", "MU sbr"));
  EXPECT_THAT(names_of(runs_with_readings(all.claims[0])),
              ElementsAre("BFS harp", "BFS sbr", "MU dwf", "MU harp", "MU sbr"));
  EXPECT_THAT(names_of(runs_of(all.claims[1])), ElementsAre("CP sbr"));
  EXPECT_THAT(names_of(runs_of(all.claims[2])), ElementsAre("CP dwf", "MU harp", "MU sbr"));
}

TEST(ClaimRuns, AnExperimentIsLeftWithTheClaimAlone) {
  const Experiment mean = with_claim_alone(experiment(), "harp.speedup.sbr.mean");
  ASSERT_EQ(mean.claims.size(), 1u);
  EXPECT_EQ(mean.programs.size(), 2u);
  EXPECT_EQ(mean.variants.size(), 3u);
  EXPECT_TRUE(mean.figures.empty() && mean.comparisons.empty());
  EXPECT_EQ(mean.sensitivity.size(), 1u);
  const Experiment lanes = with_claim_alone(experiment(), "harp.lanes.full_cp");
  EXPECT_EQ(lanes.programs.size(), 1u);
  EXPECT_EQ(lanes.variants.size(), 1u);
  EXPECT_TRUE(lanes.sensitivity.empty()) << "it is no headline";
}

// Every claim of the project is of some runs, which its experiment has.
TEST(ClaimRuns, OfEveryClaimAreThere) {
  std::size_t claims = 0;
  for (const std::string& name : library().names()) {
    const Experiment all = library().read(name);
    for (const ClaimPlan& plan : all.claims) {
      ++claims;
      const RunNames runs = runs_with_readings(plan);
      EXPECT_FALSE(runs.empty()) << plan.claim->id;
      EXPECT_LE(runs.size(), all.programs.size() * all.variants.size()) << plan.claim->id;
      const Experiment alone = with_claim_alone(all, plan.claim->id);
      for (const auto& [program, variant] : runs) {
        EXPECT_TRUE(std::any_of(alone.programs.begin(), alone.programs.end(),
                                [&p = program](const ExperimentProgram& one) { return one.abbr == p; }))
            << plan.claim->id << ": " << program;
        EXPECT_EQ(alone.variant(variant).name, variant) << plan.claim->id;
      }
    }
  }
  EXPECT_GT(claims, 200u);
}

TEST(ClaimPage, HasTheFormulaInWordsAndTheNumbers) {
  const Experiment all = experiment();
  EXPECT_EQ(in_words(all, *all.claims[0].value),
            "harmonic mean over 2 programs of speed under HARP over that under SBR");
  EXPECT_EQ(in_words(all, *all.claims[2].value),
            "(speed under HARP over that under SBR in MU) - (speed under DWF in CP)");
  const Lookup at = [](const std::string&, const std::string& variant, const std::string& program) {
    return std::optional<double>((variant == "harp" ? 3 : 2) * (program == "MU" ? 2 : 1));
  };
  const Table numbers = numbers_table(all, all.claims[0], at);
  EXPECT_THAT(numbers.headings,
              ElementsAre("program", "measure", "under", "number", "beside", "its number", "goes in"));
  EXPECT_THAT(numbers.rows.at(0), ElementsAre("MU", "speed", "HARP", "6", "SBR", "4", "1.5"));
  EXPECT_THAT(numbers.rows.at(1), ElementsAre("BFS", "speed", "HARP", "3", "SBR", "2", "1.5"));
  const Table formula = formula_table(all, all.claims[2], at);
  ASSERT_EQ(formula.rows.size(), 3u);
  EXPECT_EQ(formula.rows[0].at(2), "-0.5");
  EXPECT_THAT(formula.rows[2], ElementsAre("2", "speed under DWF in CP", "2", "CP"));
}

TEST(ClaimPage, SaysWhyTheVerdictIsWhatItIs) {
  const Experiment all = experiment();
  ShownClaim shown;
  shown.experiment = "x";
  shown.result.claim = all.claims[0].claim;
  shown.result.finding = Finding{1.15, "", {}};
  shown.result.verdict = shown.result.plain = Verdict::kSameTrend;
  shown.result.worst = Verdict::kNot;
  shown.others = {{"reading", "of MU", "0.9", Verdict::kNot}, {"setting", "a=1", "1.2", Verdict::kSameTrend}};
  const std::string page = markdown(claim_page(shown, papers(), {}));
  EXPECT_THAT(
      page,
      AllOf(
          HasSubstr(
              "Ours: 1.150. Printed: 1.100. At the defaults: same trend. Whatever is not printed: not."),
          HasSubstr("| reproduced | the effects +0.15 and +0.1 (printed) differ by 0.05; allowed: a third of "
                    "the printed one, 0.03333 | no |"),
          HasSubstr("| same trend | the effect +0.15 has the sign of the printed one, +0.1, and at least the "
                    "size 0.01 | yes |"),
          HasSubstr("| reading | of MU | 0.9 | not | yes |"),
          HasSubstr("| setting | a=1 | 1.2 | same trend | no |"), HasSubstr("No cause has been found yet.")));
}

// The verdict follows from the conditions that are shown, for findings around what is printed.
TEST(ClaimPage, ConditionsGiveTheVerdict) {
  std::size_t rulings = 0;
  for (const Claim& claim : papers().list) {
    for (const double factor : {-1.0, 0.0, 0.3, 0.7, 0.9, 0.99, 1.0, 1.01, 1.1, 1.3, 1.8, 3.0}) {
      Finding finding;
      const double base = claim.type == ClaimType::kRange ? claim.high : claim.number;
      finding.number = base * factor;
      finding.program = factor < 1 ? claim.program : "another";
      double step = 1;
      for (const auto& [above, below] : claim.above) {
        finding.values.emplace(above, step += factor - 0.95);
        finding.values.emplace(below, 1.0);
      }
      for (const std::string& name : claim.best) finding.values[name] = factor;
      if (claim.type == ClaimType::kBest) finding.values["another"] = 1;
      for (const auto& [name, value] : claim.series)
        finding.values[name] = value * (finding.values.size() % 2 == 0 ? factor : 1);
      const Ruling ruled = ruling(claim, papers().rules, finding);
      bool reproduced = true, trend = true, any_trend = false;
      for (const Condition& condition : ruled.conditions) {
        EXPECT_FALSE(condition.text.empty());
        if (condition.of == Verdict::kReproduced) reproduced = reproduced && condition.holds;
        if (condition.of == Verdict::kSameTrend) trend = trend && condition.holds;
        any_trend = any_trend || condition.of == Verdict::kSameTrend;
      }
      const Verdict expected = reproduced           ? Verdict::kReproduced
                               : trend && any_trend ? Verdict::kSameTrend
                                                    : Verdict::kNot;
      EXPECT_EQ(ruled.verdict, expected) << claim.id << " " << factor;
      EXPECT_EQ(judge(claim, papers().rules, finding), ruled.verdict);
      ++rulings;
    }
  }
  EXPECT_GT(rulings, 3000u);
}

}  // namespace
}  // namespace weft::study::claim_page_test
