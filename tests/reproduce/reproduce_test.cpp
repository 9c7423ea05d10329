// Experiments and values: what `weft reproduce` makes of numbers. Claims and verdicts are in claims_test.cpp;
// the command itself is tried in tests/end_to_end/reproduce_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "folder.h"
#include "papers.h"
#include "study/judge/experiment.h"
#include "study/judge/experiment_plan.h"
#include "study/judge/groups.h"
#include "study/judge/kernel_launches.h"
#include "study/judge/other_prices.h"
#include "study/judge/pareto.h"
#include "study/judge/results.h"
#include "study/judge/value.h"
#include "study/page/page.h"
#include "study/plan/place.h"
#include "weft/platform/gpu_config.h"

namespace weft::study::reproduce_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

// --- values ---

const Names kNames{{{"P", "A"}, {"Q", "A"}, {"R", "B"}},
                   {"a", "b", "c"},
                   {"m"},
                   {},
                   {{"s", {{"P", 1}, {"Q", 2}, {"R", 3}}}}};

std::optional<Answer> answer(const std::string& text) {
  static const std::map<std::string, double> numbers{{"aP", 2}, {"aQ", 8}, {"aR", 4}, {"bP", 1},
                                                     {"bQ", 2}, {"bR", 4}, {"cP", 0}};
  const nlohmann::json json = nlohmann::json::parse(text);
  return evaluate(read_value(Place(json, "value"), kNames),
                  [](const std::string&, const std::string& variant, const std::string& program) {
                    const auto found = numbers.find(variant + program);
                    return found == numbers.end() ? std::nullopt : std::optional(found->second);
                  });
}

TEST(Values, ComeOutOfRuns) {
  const auto number = [](const std::string& text) { return answer(text)->number; };
  EXPECT_EQ(number(R"({"measure": "m", "variant": "a", "programs": ["Q"]})"), 8);
  EXPECT_EQ(number(R"({"measure": "m", "variant": "a", "over": "b", "programs": ["Q"]})"), 4);
  EXPECT_DOUBLE_EQ(number(R"({"measure": "m", "variant": "a", "over": "b", "mean": "harmonic"})"),
                   3 / (1 / 2.0 + 1 / 4.0 + 1));
  EXPECT_DOUBLE_EQ(number(R"({"measure": "m", "variant": "a", "over": "b", "mean": "geometric"})"), 2);
  EXPECT_DOUBLE_EQ(number(R"({"measure": "m", "variant": "a", "over": "b", "mean": "arithmetic"})"), 7 / 3.0);
  EXPECT_EQ(number(R"({"measure": "m", "variant": "a", "mean": "sum", "types": ["A"]})"), 10);
  const auto most = answer(R"({"measure": "m", "variant": "a", "over": "b", "mean": "maximum"})");
  EXPECT_EQ(most->number, 4);
  EXPECT_EQ(most->program, "Q");
  const std::string a = R"({"measure": "m", "variant": "a", "mean": "sum"})",
                    b = R"({"measure": "m", "variant": "b", "mean": "sum"})";
  EXPECT_EQ(number(R"({"difference": [)" + b + "," + a + "]}"), -7);
  EXPECT_EQ(number(R"({"distance": [)" + b + "," + a + "]}"), 7);
  EXPECT_EQ(number(R"({"quotient": [)" + a + "," + b + "]}"), 2);
  EXPECT_EQ(number(R"({"largest": [)" + a + "," + b + "]}"), 14);
  EXPECT_EQ(number(R"({"smallest": [)" + a + "," + b + "]}"), 7);
  EXPECT_EQ(number(R"({"average": [)" + a + "," + b + "]}"), 10.5);
  EXPECT_EQ(number(R"({"wins": "a", "against": ["b"], "measure": "m"})"), 2);  // equal is no win
  EXPECT_EQ(number(R"({"measure": "m", "variant": "c", "mean": "zeros", "programs": ["P"]})"), 1);
  EXPECT_EQ(number(R"({"count": "above", "limit": 2, "measure": "m", "variant": "a"})"), 2);
  EXPECT_EQ(number(R"({"count": "below", "limit": 2, "measure": "m", "variant": "a"})"), 0);
  EXPECT_EQ(number(R"({"count": "below", "limit": 3, "measure": "m", "variant": "a", "over": "b"})"), 2);
  // 2, 8, 4 beside 1, 2, 3: ranks 1, 3, 2 beside 1, 2, 3.
  EXPECT_DOUBLE_EQ(number(R"({"rank_correlation": "s", "measure": "m", "variant": "a"})"), 0.5);
  EXPECT_DOUBLE_EQ(number(R"({"rank_correlation": "s", "measure": "m", "variant": "b"})"), 1);
  EXPECT_FALSE(answer(R"({"rank_correlation": "s", "measure": "m", "variant": "a", "programs": ["P", "Q"]})"))
      << "of two there is none";
  // 2, 8, 4 of a: of the programs above the limit, the least number, whatever stands first.
  const auto first = answer(
      R"({"first": "above", "limit": 3, "measure": "m", "variant": "a", "of": {"P": 1, "Q": 16, "R": 4}})");
  EXPECT_EQ(first->number, 4);
  EXPECT_EQ(first->program, "R");
  EXPECT_EQ(
      number(R"({"first": "below", "limit": 3, "measure": "m", "variant": "a", "of": {"P": 9, "Q": 1}})"), 9);
  EXPECT_EQ(
      number(
          R"({"first": "above", "limit": 2, "measure": "m", "variant": "a", "over": "b", "of": {"Q": 5}})"),
      5);
  EXPECT_FALSE(answer(R"({"first": "above", "limit": 8, "measure": "m", "variant": "a", "of": {"Q": 5}})"))
      << "none is above";
  EXPECT_FALSE(
      answer(R"({"first": "above", "limit": 1, "measure": "m", "variant": "c", "of": {"P": 1, "Q": 2}})"));
  // A run that is missing, and division by zero.
  EXPECT_FALSE(answer(R"({"measure": "m", "variant": "c", "mean": "sum"})"));
  EXPECT_FALSE(answer(R"({"measure": "m", "variant": "a", "over": "c", "programs": ["P"]})"));
}

TEST(Values, MistakesAreNamed) {
  const auto of = [](const std::string& text) { return message_of([&] { answer(text); }); };
  EXPECT_THAT(of(R"({"measure": "x", "variant": "a", "mean": "sum"})"),
              AllOf(HasSubstr("/measure"), HasSubstr("allowed: m")));
  EXPECT_THAT(of(R"({"measure": "m", "variant": "d", "mean": "sum"})"), HasSubstr("allowed: a, b, c"));
  EXPECT_THAT(of(R"({"measure": "m", "variant": "a"})"), HasSubstr("needs a mean"));
  EXPECT_THAT(of(R"({"measure": "m", "variant": "a", "mean": "median"})"), HasSubstr("allowed: arithmetic"));
  EXPECT_THAT(of(R"({"measure": "m", "variant": "a", "mean": "sum", "types": ["C"]})"),
              HasSubstr("allowed: A, B"));
  EXPECT_THAT(of(R"({"count": "over", "limit": 1, "measure": "m", "variant": "a"})"),
              AllOf(HasSubstr("/count"), HasSubstr("allowed: above, below")));
  EXPECT_THAT(of(R"({"first": "above", "limit": 1, "measure": "m", "variant": "a", "of": {"S": 1}})"),
              AllOf(HasSubstr("/of"), HasSubstr("P, Q, R")));
  EXPECT_THAT(of(R"({"first": "above", "limit": 1, "measure": "m", "variant": "a", "of": {"P": "1"}})"),
              AllOf(HasSubstr("/of/P"), HasSubstr("a number")));
  EXPECT_THAT(of(R"({"rank_correlation": "t", "measure": "m", "variant": "a"})"),
              AllOf(HasSubstr("/rank_correlation"), HasSubstr("allowed: s")));
  EXPECT_THAT(of(R"({"quotient": [{"measure": "m", "variant": "a", "mean": "sum"}]})"),
              HasSubstr("two values"));
}

TEST(Values, KnowTheirProgramsOnceTypesAreKnown) {
  Names names = kNames;
  for (auto& program : names.programs) program.type.clear();
  names.computed_types = {"low", "high"};
  const nlohmann::json json =
      nlohmann::json::parse(R"({"measure": "m", "variant": "a", "mean": "sum", "types": ["high"]})");
  const Value value = read_value(Place(json, "value"), names);
  const auto sum = [&](const std::map<std::string, std::string>& type_of) {
    Value of = value;
    settle_types(type_of, of);
    return evaluate(of, [](const std::string&, const std::string&, const std::string& program) {
      return program == "P" ? std::nullopt : std::optional<double>(program == "Q" ? 8 : 4);
    });
  };
  EXPECT_EQ(sum({{"P", "low"}, {"Q", "high"}, {"R", "high"}})->number, 12);
  EXPECT_EQ(sum({{"P", "low"}, {"Q", "high"}, {"R", "low"}})->number, 8);
  EXPECT_FALSE(sum({{"Q", "high"}, {"R", "high"}})) << "P may be high, too";
}

// --- launches ---

TEST(Launches, AreSummedByKernel) {
  const LaunchTable table("launch,kernel,cycles\n0,\"a\",10\n1,\"b\",5\n2,\"a\",7\n", "launches.csv");
  EXPECT_EQ(table.kernels(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.sum("cycles", "a"), 17);
  EXPECT_EQ(table.sum("cycles", ""), 22);
  EXPECT_EQ(table.numbers("cycles", "a"), (std::vector<double>{10, 7}));
  EXPECT_FALSE(table.sum("cycles", "c"));
  EXPECT_FALSE(table.sum("beats", "a"));
  const auto of = [](const std::string& text) {
    return message_of([&] { LaunchTable(text, "launches.csv").sum("cycles", "a"); });
  };
  EXPECT_THAT(of("launch,cycles\n0,1\n"), HasSubstr("no column 'kernel'"));
  EXPECT_THAT(of("kernel,cycles\n\"a\",1\n\"a\"\n"),
              AllOf(HasSubstr("launches.csv:3: found 1 cells"), HasSubstr("allowed: 2")));
  EXPECT_THAT(of("kernel,cycles\n\"a\",1\n\"(3 more launches)\",9\n"),
              HasSubstr("those of 'a' are not known"));
}

// --- experiments ---

TEST(Experiments, OfTheProjectAreWellFormedAndTheirMachinesExist) {
  std::set<std::string> judged;
  for (const std::string& name : library().names()) {
    const Experiment experiment = library().read(name);
    for (const ClaimPlan& plan : experiment.claims)
      EXPECT_TRUE(judged.insert(plan.claim->id).second) << plan.claim->id << " is judged twice";
    for (const ExperimentVariant& variant : experiment.variants) {
      auto overrides = experiment.overrides;
      overrides.insert(overrides.end(), variant.overrides.begin(), variant.overrides.end());
      EXPECT_NO_THROW(load_config(variant.config, overrides)) << name << " " << variant.name;
      for (const Sensitivity& one : experiment.sensitivity) {
        if (!one.concerns(variant.name)) continue;
        for (const Sensitivity::Setting& setting : one.settings) {
          auto other = overrides;
          other.insert(other.end(), setting.overrides.begin(), setting.overrides.end());
          EXPECT_NO_THROW(load_config(variant.config, other))
              << name << " " << variant.name << " " << setting.name;
        }
      }
    }
    for (const ExperimentProgram& program : experiment.programs)
      EXPECT_NO_THROW(load_config(experiment.config, program.overrides)) << name << " " << program.abbr;
  }
  for (const char* id : {"harp.speedup.sbr.mean", "crown.speedup.lwm.mean", "dwr.speedup.fixed8.mean",
                         "stsimt.tsimt.simt.mean"})
    EXPECT_EQ(judged.count(id), 1u) << id;
}

// Every experiment and the areas are in `all`; what is of a paper, in its group.
TEST(Groups, HaveAllExperiments) {
  const std::map<std::string, std::string> group_of{{"DWR", "dwr"},         {"HARP", "harp"},
                                                    {"CROWN", "crown"},     {"STSIMT", "stsimt"},
                                                    {"RELATED", "related"}, {"TODAY", "today"}};
  const auto known = [] {
    auto list = library().names();
    list.emplace_back(kAreaPage);
    return list;
  }();
  const ExperimentGroups& groups = library().groups;
  EXPECT_THAT(groups.at("all").experiments, ::testing::UnorderedElementsAreArray(known));
  for (const ExperimentFile& file : library().experiments)
    EXPECT_THAT(groups.at(group_of.at(file.paper)).experiments, Contains(file.name));
  EXPECT_FALSE(groups.at("smoke").size.empty());
  const test::Folder folder;
  const auto refusal = [&](const std::string& text) {
    return message_of([&] { read_groups(folder.write("g.json", text), {"a", "b"}); });
  };
  EXPECT_EQ(refusal(R"({"x": {"about": "y", "experiments": ["a", "b"]}})"), "no error");
  EXPECT_THAT(refusal(R"({"x": {"about": "y", "experiments": ["c"]}})"),
              AllOf(HasSubstr("/x/experiments/0"), HasSubstr("allowed: a, b")));
  EXPECT_THAT(refusal(R"({"x": {"about": "y", "experiments": ["a", "a"]}})"),
              HasSubstr("each experiment once"));
  EXPECT_THAT(refusal(R"({"a": {"about": "y", "experiments": ["b"]}})"),
              HasSubstr("duplicate name: an experiment has this name"));
  EXPECT_THAT(refusal(R"({"x": {"experiments": ["a"]}})"), HasSubstr("'about' is missing"));
  EXPECT_TRUE(read_groups(folder.path("none.json"), {"a"}).empty());
}

TEST(Experiments, MistakesAreNamedWithTheirPlace) {
  const auto of = [](const std::string& key, const std::string& value) {
    nlohmann::json json = nlohmann::json::parse(R"({"title": "t", "place": "7", "config": "harp-fermi",
      "programs": [{"abbr": "BFS", "workload": "bfs", "size": "small"}],
      "variants": [{"name": "sbr"}, {"name": "harp", "set": ["warp_formation.scheme=harp"]}],
      "measures": ["speed", {"name": "hits", "heading": "hits", "sum": ["sm.memory.l1d.hits"]}]})");
    if (!key.empty()) json[key] = nlohmann::json::parse(value);
    const test::Folder folder;
    return message_of([&] { read_experiment({"x", "HARP", folder.write("x.json", json.dump())}, papers()); });
  };
  EXPECT_EQ(of("", ""), "no error");
  EXPECT_THAT(of("titel", "1"), HasSubstr("unknown key 'titel'; allowed: title"));
  EXPECT_THAT(of("programs", R"([{"abbr": "B", "workload": "bfsx", "size": "small"}])"),
              AllOf(HasSubstr("/programs/0"), HasSubstr("bfsx")));
  EXPECT_THAT(of("programs", R"([{"abbr": "B", "workload": "bfs", "size": "huge"}])"),
              AllOf(HasSubstr("/programs/0"), HasSubstr("huge")));
  EXPECT_THAT(of("programs", R"([{"abbr": "B", "workload": "bfs", "size": "small", "kernel": "x"}])"),
              AllOf(HasSubstr("/programs/0/kernel"), HasSubstr("bfs_expand"), HasSubstr("bfs_advance")));
  EXPECT_THAT(
      of("programs", R"([{"abbr": "B", "workload": "bfs", "size": "small", "kernel": "bfs_expand"}])"),
      AllOf(HasSubstr("/measures/1: 'hits' exists for whole runs only"), HasSubstr("simd_efficiency")));
  EXPECT_THAT(of("programs", R"([{"abbr": "B", "workload": "bfs", "size": "small", "seconds": -1}])"),
              HasSubstr("/programs/0/seconds"));
  EXPECT_THAT(of("programs", R"([{"abbr": "B", "workload": "bfs", "size": "small", "set": ["flits"]}])"),
              AllOf(HasSubstr("/programs/0/set/0"), HasSubstr("path=value")));
  EXPECT_THAT(of("measures", R"([{"name": "h", "heading": "h", "sum": ["launches.a.b"]}])"),
              HasSubstr("a column of launches.csv"));
  EXPECT_THAT(of("measures", R"([{"name": "h", "heading": "h"}])"),
              HasSubstr("needs exactly one of 'sum', 'largest' and 'zeros'"));
  EXPECT_THAT(of("measures", R"([{"name": "h", "heading": "h", "largest": "/cycles", "factor": 2}])"),
              HasSubstr("'factor' needs 'sum'"));
  EXPECT_THAT(of("class", R"({"measure": "speed", "variant": "sbr", "below": 1, "names": ["low", "low"]})"),
              AllOf(HasSubstr("/class/names"), HasSubstr("two different names")));
  EXPECT_THAT(
      of("tables",
         R"([{"title": "T", "variant": "sbr", "columns": [{"measure": "speed", "printed": "dwr.area"}]}])"),
      AllOf(HasSubstr("/tables/0/columns/0/printed"), HasSubstr("the ID of a series")));
  EXPECT_THAT(
      of("claims", R"([{"id": "harp.speedup.sbr.mean", "each": {"measure": "speed", "variant": "sbr"}}])"),
      HasSubstr("'each' is allowed for a series only"));
  EXPECT_THAT(of("variants", R"([{"name": "a"}, {"name": "a"}])"),
              AllOf(HasSubstr("/variants/1"), HasSubstr("duplicate 'a'")));
  EXPECT_THAT(of("variants", R"([{"name": "a", "set": ["warp_size"]}])"),
              AllOf(HasSubstr("/variants/0/set/0"), HasSubstr("path=value")));
  EXPECT_THAT(of("measures", R"(["spede"])"),
              AllOf(HasSubstr("/measures/0"), HasSubstr("allowed: speed, cycles")));
  EXPECT_THAT(of("measures", R"([{"name": "h", "heading": "h", "sum": ["sm..hits"]}])"),
              HasSubstr("/measures/0/sum/0"));
  EXPECT_THAT(of("comparisons", R"([{"measure": "speed", "variant": "harp", "over": ["dwf"]}])"),
              HasSubstr("allowed: sbr, harp"));
  EXPECT_THAT(of("claims", R"([{"id": "harp.none", "value": {}}])"),
              AllOf(HasSubstr("/claims/0/id"), HasSubstr("claims.json")));
  EXPECT_THAT(
      of("claims", R"([{"id": "dwr.area", "value": {"measure": "speed", "variant": "sbr", "mean": "sum"}}])"),
      HasSubstr("a claim of the paper HARP"));
  EXPECT_THAT(
      of("claims",
         R"([{"id": "harp.stalled.harp_below_sbr", "values": {"sbr": {"measure": "speed", "variant": "sbr", "mean": "sum"}}}])"),
      HasSubstr("'harp' is missing"));
  EXPECT_THAT(
      of("claims",
         R"([{"id": "harp.speedup.sbr.mean", "value": {"measure": "speed", "variant": "sbr", "mean": "sum"}, "readings": [{"name": "r", "values": {}}]}])"),
      AllOf(HasSubstr("/claims/0/readings/0"), HasSubstr("needs 'value'")));
  EXPECT_THAT(of("sensitivity", R"([{"key": "a", "values": [1], "why": "w"}])"),
              HasSubstr("needs 'headline'"));
  EXPECT_THAT(of("prices", R"({"times": [2], "why": "w"})"),
              AllOf(HasSubstr("/prices"), HasSubstr("needs 'headline'")));
}

// A small experiment whose headline is looked at under these values of `key`.
Experiment with_values(const std::string& key, const std::string& values) {
  const test::Folder folder;
  const std::string text = R"({"title": "t", "place": "7", "config": "harp-fermi",
    "programs": [{"abbr": "BFS", "workload": "bfs", "size": "small"}],
    "variants": [{"name": "sbr"}, {"name": "harp", "set": ["warp_formation.scheme=harp"]}],
    "measures": ["speed"],
    "claims": [{"id": "harp.speedup.sbr.mean",
                "value": {"measure": "speed", "variant": "harp", "over": "sbr", "mean": "harmonic"}}],
    "headline": ["harp.speedup.sbr.mean"],
    "sensitivity": [{"key": ")" +
                           key + R"(", "why": "w", "values": )" + values + "}]}";
  return read_experiment({"x", "HARP", folder.write("x.json", text)}, papers());
}

TEST(Variants, MayHaveMachinesOfTheirOwn) {
  const test::Folder folder;
  const std::string text = R"({"title": "t", "place": "7", "config": "harp-fermi",
      "programs": [{"abbr": "BFS", "workload": "bfs", "size": "small"}],
      "variants": [{"name": "a"}, {"name": "b", "config": "rtx3070", "set": ["sm.count=2"]}],
      "measures": ["speed"]})";
  const Experiment experiment = read_experiment({"x", "HARP", folder.write("x.json", text)}, papers());
  const ExperimentPlan plan(experiment);
  ASSERT_EQ(plan.plan().runs.size(), 2u);
  EXPECT_EQ(plan.plan().runs[0].config, "harp-fermi");
  EXPECT_EQ(plan.plan().runs[1].config, "rtx3070");
  EXPECT_EQ(plan.plan().runs[1].overrides, (std::vector<std::string>{"sm.count=2"}));
}

TEST(Sensitivities, SetSeveralKeysAtOnce) {
  const std::string span = "warp_formation.harp.barrier_span", search = "warp_formation.harp.barrier_search";
  const Experiment experiment =
      with_values(span, R"(["split", {"value": "split", "with": [")" + search + R"(=own_cycle"]}])");
  ASSERT_EQ(experiment.sensitivity.size(), 1u);
  const auto& settings = experiment.sensitivity[0].settings;
  ASSERT_EQ(settings.size(), 2u);
  EXPECT_EQ(settings[0].name, span + "=split");
  EXPECT_EQ(settings[1].name, span + "=split " + search + "=own_cycle");
  // Both are of one run.
  const ExperimentPlan plan(experiment, experiment.sensitivity);
  const auto entries = plan.entries();
  ASSERT_EQ(entries.size(), 6u);
  EXPECT_EQ(plan.name_of(2), settings[1].name);
  const auto& overrides = entries[5].run->overrides;
  ASSERT_EQ(overrides.size(), 3u);
  EXPECT_EQ(overrides[1], span + "=split");
  EXPECT_EQ(overrides[2], search + "=own_cycle");
}

// The others stay as they are, so that their runs are those of the experiment.
TEST(Sensitivities, ConcernTheVariantsThatTheyName) {
  const std::string span = "warp_formation.harp.barrier_span";
  const Experiment experiment = with_values(span, R"(["split"], "variants": ["harp"])");
  const ExperimentPlan plan(experiment, experiment.sensitivity);
  const auto entries = plan.entries();
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[2].run, entries[0].run) << "of sbr, which nothing changes";
  EXPECT_THAT(entries[3].run->overrides, Contains(span + "=split"));
  EXPECT_THAT(message_of([&] { with_values(span, R"(["split"], "variants": ["dwf"])"); }),
              AllOf(HasSubstr("/sensitivity/0/variants/0"), HasSubstr("allowed: sbr, harp")));
}

TEST(Sensitivities, AreRefusedIfNotWellFormed) {
  const auto of = [](const std::string& key, const std::string& values) {
    return message_of([&] { with_values(key, values); });
  };
  EXPECT_THAT(of("a", R"([{"value": 1}])"), HasSubstr("'with' is missing"));
  EXPECT_THAT(of("a", R"([{"value": 1, "with": ["b"]}])"), HasSubstr("path=value"));
  EXPECT_THAT(of("a", R"([{"value": [1], "with": ["b=1"]}])"), HasSubstr("/sensitivity/0/values/0/value"));
  EXPECT_THAT(of("a", "[[1]]"), HasSubstr("an object"));
  EXPECT_THAT(of("a", "[1, 1]"), HasSubstr("duplicate 'a=1'"));
  EXPECT_THAT(of("energy.a", R"([{"value": 1, "with": ["b=1"]}])"), HasSubstr("for a key of \"energy\""));
}

// Every run has 3 nJ of `a` and 1 nJ of `b`; with scalarization half as much of `a`. An event below a
// thousandth is left out.
TEST(Prices, ChangeWhatTheRunsCounted) {
  Experiment experiment = library().read("stsimt-energy");
  experiment.sensitivity.clear();  // it would read the runs' configurations
  std::vector<RunResult> runs;
  for (std::size_t p = 0; p < experiment.programs.size(); ++p) {
    for (const ExperimentVariant& variant : experiment.variants) {
      RunResult run;
      const double a = variant.name == "stsimt4_scalar" ? 1500 : 3000, energy = a * 1e-3 + 1 + 1e-3;
      run.reading.events = {{"a", {a, 1}}, {"b", {10, 100}}, {"c", {1, 1}}};
      run.values = {{"cycles", 10}, {"energy", energy}, {"power", energy / 10}, {"edp", energy * 10}};
      runs.push_back(run);
    }
  }
  const Results results(experiment, runs);
  const auto priced = with_other_prices(experiment, results, papers().rules, true);
  std::vector<std::string> names;
  for (const SettingResult& setting : priced) {
    names.push_back(setting.setting);
    EXPECT_EQ(setting.claims.size(), experiment.headline.size());
    EXPECT_TRUE(setting.computed);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a x 0.5", "a x 2", "b x 0.5", "b x 2"}));
  const auto edp = [](const SettingResult& setting) {
    for (const ClaimResult& claim : setting.claims) {
      if (claim.claim->id == "stsimt.energy.stsimt4_scalar.edp") return claim.finding->number;
    }
    return 0.0;
  };
  // Of 1 pJ is `c`.
  const auto ratio = [](double times_a, double times_b) {
    return (1.5 * times_a + times_b + 0.001) / (3 * times_a + times_b + 0.001);
  };
  EXPECT_NEAR(edp(priced[0]), ratio(0.5, 1), 1e-9);
  EXPECT_NEAR(edp(priced[1]), ratio(2, 1), 1e-9);
  EXPECT_NEAR(edp(priced[2]), ratio(1, 0.5), 1e-9);
  EXPECT_NEAR(edp(priced[3]), ratio(1, 2), 1e-9);
}

Row cost_row(const std::string& workload, const std::string& scheme, std::uint64_t cycles, double joules,
             std::optional<double> area) {
  Measures measures;
  measures.cycles = cycles;
  measures.joules = joules;
  measures.edp = joules * static_cast<double>(cycles);
  measures.area_mm2 = area;
  return {workload, scheme, 0, "verified", measures};
}

TEST(Pareto, NamesSchemesThatNoOtherBeats) {
  const Comparison comparison{"c",
                              "s",
                              {cost_row("w", "base", 100, 1, 1), cost_row("w", "fast", 50, 1.2, 2),
                               cost_row("w", "worse", 60, 1.3, 2), cost_row("w", "unknown", 10, 0.1, {}),
                               cost_row("v", "base", 400, 2, 1), cost_row("v", "fast", 100, 1.2, 2),
                               cost_row("v", "worse", 300, 1.3, 2), cost_row("v", "unknown", 10, 0.1, {})}};
  const std::vector<SchemeCost> costs = costs_of(comparison);
  ASSERT_EQ(costs.size(), 3u);
  EXPECT_EQ(costs[0].dominated_by, "");
  EXPECT_EQ(costs[1].dominated_by, "");
  EXPECT_EQ(costs[2].dominated_by, "fast");
  EXPECT_NEAR(costs[1].speedup, std::sqrt(2.0 * 4), 1e-12);
  EXPECT_NEAR(costs[1].energy, std::sqrt(1.2 * 0.6), 1e-12);
  EXPECT_NEAR(costs[1].edp, std::sqrt(1.2 * 0.6) / std::sqrt(8.0), 1e-12);
  EXPECT_THAT(pareto_text(comparison),
              AllOf(HasSubstr("Pareto front of speed, energy and area: base, fast"), HasSubstr("no: fast")));
}

TEST(Page, IsMarkdownOrPlain) {
  const Page page{"T", {"words"}, {{"S", {}, {{"name", "value"}, {{"a|b", "1"}, {"c", "10"}}}}}};
  EXPECT_EQ(markdown(page),
            "# T\n\nwords\n\n## S\n\n| name | value |\n|---|---|\n| a\\|b | 1 |\n| c | 10 |\n");
  EXPECT_EQ(plain(page), "T\n\nwords\n\n-- S\n\nname  value\na|b       1\nc        10\n");
}

}  // namespace
}  // namespace weft::study::reproduce_test
