// Pareto fronts of random numbers, beside the definition; and those of a sweep's candidates.
#include "study/judge/pareto_front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "folder.h"
#include "refusals.h"
#include "study/judge/plan_pareto.h"
#include "weft/common/error.h"

namespace weft::study::pareto_front_test {
namespace {

using sweep_test::message_of;
using test::Folder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Few values, so that many are equal.
std::vector<std::vector<double>> random_costs() {
  const auto objectives = *rc::gen::inRange<std::size_t>(1, 5);
  return *rc::gen::container<std::vector<std::vector<double>>>(rc::gen::container<std::vector<double>>(
      objectives, rc::gen::map(rc::gen::inRange(0, 5), [](int value) { return value / 2.0; })));
}

// By the definition, with words of its own.
bool beats(const std::vector<double>& a, const std::vector<double>& b) {
  std::size_t less = 0, equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    less += a[i] < b[i] ? 1 : 0;
    equal += a[i] == b[i] ? 1 : 0;
  }
  return less > 0 && less + equal == a.size();
}

TEST(ParetoFront, IsWhatNoOtherBeats) {
  const bool held = rc::check([] {
    const auto costs = random_costs();
    const auto result = dominated_by(costs);
    RC_ASSERT(result.size() == costs.size());
    std::size_t off = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const bool beaten =
          std::any_of(costs.begin(), costs.end(), [&](const auto& other) { return beats(other, costs[i]); });
      RC_ASSERT(result[i].has_value() == beaten);
      if (!beaten) continue;
      ++off;
      RC_ASSERT(beats(costs[*result[i]], costs[i]));
      RC_ASSERT(!result[*result[i]].has_value());  // by one on the front
      for (std::size_t other = 0; other < *result[i]; ++other)
        RC_ASSERT(result[other].has_value() || !beats(costs[other], costs[i]));  // the first such
    }
    RC_CLASSIFY(off > 0, "something is off the front");
  });
  EXPECT_TRUE(held);
}

TEST(ParetoFront, KeepsEqualsAndRefusesUnequalLengths) {
  EXPECT_THAT(dominated_by({{1, 2}, {1, 2}, {2, 1}, {2, 2}}),
              ElementsAre(std::nullopt, std::nullopt, std::nullopt, std::optional<std::size_t>(0)));
  EXPECT_TRUE(dominated_by({}).empty());
  EXPECT_THROW(dominates({1}, {1, 2}), std::invalid_argument);
}

// --- of a sweep ---

Plan four_schemes(const Folder& folder) {
  return plan_of_file(folder.write("s.json", R"({"config": "harp-fermi", "axes": [
      {"name": "workload", "values": ["bfs", "aes"]}, {"name": "size", "values": ["small"]},
      {"name": "scheme", "values": ["sbr", "dwf", "harp", "crown"]}]})"));
}

// Of bfs, then of aes.
void fill(const Plan& sweep, SqliteStore& store) {
  const double cycles[] = {100, 50, 60, 10, 400, 100, 300, 10},
               joules[] = {1, 1.2, 1.3, 0.1, 2, 1.2, 1.3, 0.1};
  for (std::size_t i = 0; i < sweep.runs.size(); ++i) {
    StoredRun result;
    result.state = i == 7 ? "fault" : "done";
    result.reason = i == 7 ? "it broke" : "";
    result.values = {{"cycles", cycles[i]},
                     {"energy.joules", joules[i]},
                     {"ipc", 1 / cycles[i]},
                     {"area.scheme_mm2_per_sm", i % 4 == 0 ? 0.25 : 1.25},
                     {"area.registers_mm2_per_sm", 0.75}};
    store.record(sweep.runs[i], result);
  }
}

TEST(SweepPareto, NamesCombinationsThatNoOtherBeats) {
  const Folder folder;
  const Plan sweep = four_schemes(folder);
  SqliteStore store(folder.path("s.db"));
  fill(sweep, store);
  const std::string text =
      pareto_text(sweep, store, all_points(sweep), read_objectives("cycles,energy,area"), {});
  // sqrt(0.5 * 0.25), sqrt(1.2 * 0.6), 2
  EXPECT_THAT(text, AllOf(HasSubstr("sbr     1.0000  1.0000  1.0000  yes\n"),
                          HasSubstr("dwf     0.3536  0.8485  2.0000  yes\n"),
                          HasSubstr("harp    0.6708  0.9192  2.0000  no: dwf\n"),
                          HasSubstr("2 of 3 on the Pareto front"),
                          HasSubstr("not compared: scheme crown: aes small: fault: it broke")));
  const std::string most = pareto_text(sweep, store, all_points(sweep), read_objectives("ipc:most"), {});
  EXPECT_THAT(most, AllOf(HasSubstr("sbr     1.0000  no: dwf\n"), HasSubstr("dwf     2.8284  yes\n")));
}

TEST(SweepPareto, HasAFrontForEachValueOfAnAxis) {
  const Folder folder;
  const Plan sweep = four_schemes(folder);
  SqliteStore store(folder.path("s.db"));
  fill(sweep, store);
  const std::string text = pareto_text(sweep, store, all_points(sweep), read_objectives("cycles,energy"),
                                       axes_named(sweep, "workload"));
  const std::size_t aes = text.find("workload aes\n");
  ASSERT_NE(aes, std::string::npos);
  EXPECT_THAT(text.substr(0, aes),
              AllOf(HasSubstr("workload bfs\n"), HasSubstr("crown   0.1000  0.1000  yes")));
  EXPECT_THAT(text.substr(aes), AllOf(HasSubstr("dwf     0.2500  0.6000  yes"), Not(HasSubstr("crown   "))));
}

TEST(SweepPareto, MistakesAreAnswered) {
  const Folder folder;
  const Plan sweep = four_schemes(folder);
  SqliteStore store(folder.path("s.db"));
  fill(sweep, store);
  EXPECT_THAT(message_of([] { read_objectives("cycles:lest"); }),
              HasSubstr("--pareto: found 'cycles:lest'; allowed: METRIC, METRIC:least, METRIC:most"));
  EXPECT_THAT(message_of([] { read_objectives(":most"); }), HasSubstr("found ':most'"));
  EXPECT_THAT(message_of([] { read_objectives("ipc,ipc:most"); }), HasSubstr("duplicate 'ipc'"));
  EXPECT_THAT(message_of([] { read_objectives("ipc,,cycles"); }), HasSubstr("--pareto: "));
  EXPECT_THAT(message_of([&] { axes_named(sweep, "programme"); }),
              HasSubstr("--per: found 'programme'; allowed: workload, size, scheme"));
  EXPECT_THAT(message_of([&] { compared_axes(sweep, axes_named(sweep, "scheme")); }),
              HasSubstr("--pareto: found no axis to compare"));
  EXPECT_THAT(
      pareto_text(sweep, store, all_points(sweep), read_objectives("cycels"), {}),
      AllOf(HasSubstr("not compared: scheme sbr: bfs small: has no cycels"), Not(HasSubstr("front"))));
}

}  // namespace
}  // namespace weft::study::pareto_front_test
