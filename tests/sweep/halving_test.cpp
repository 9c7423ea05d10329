// Searches by successive halving, on stores of runs that were never done.
#include "study/judge/halving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "folder.h"
#include "refusals.h"
#include "weft/common/error.h"

namespace weft::study::halving_test {
namespace {

using sweep_test::message_of;
using sweep_test::refusal;
using test::Folder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Candidates are depths from 8 on; programs bfs and aes; three sizes.
std::string file(int candidates, const std::string& halving) {
  std::string depths;
  for (int i = 0; i < candidates; ++i) depths += (i == 0 ? "" : ", ") + std::to_string(8 + i);
  return R"({"config": "harp-fermi", "halving": {)" + halving +
         R"(}, "axes": [{"name": "workload", "values": ["bfs", "aes"]},
    {"name": "size", "values": ["small", "default", "large"]},
    {"name": "sm.pipeline_depth", "values": [)" +
         depths + "]}]}";
}

const std::string kBySize = R"("rungs": "size", "metric": "cycles")";

StoredRun done(double cycles) {
  StoredRun result;
  result.state = "done";
  result.values = {{"cycles", cycles}};
  return result;
}

StoredRun broken(const std::string& reason) {
  StoredRun result;
  result.state = "fault";
  result.reason = reason;
  return result;
}

// What a run comes to: by program (0 bfs), rung, and candidate.
using Outcome = std::function<StoredRun(int program, int rung, int candidate)>;

// A sweep, and a store that it plays in.
struct Game {
  Game(int candidates, const std::string& halving)
      : sweep(plan_of_file(folder.write("s.json", file(candidates, halving)))), search(sweep) {}

  StoredRun result_of(std::size_t run, const Outcome& outcome) const {
    const auto point = std::find_if(sweep.points.begin(), sweep.points.end(),
                                    [&](const Point& one) { return one.run == run; });
    const auto& values = point->values;
    const int rung = values[1] == "small" ? 0 : values[1] == "default" ? 1 : 2;
    return outcome(values[0] == "bfs" ? 0 : 1, rung, std::stoi(values[2]) - 8);
  }

  // Does what the search needs, up to so many runs. Returns those that were done.
  std::vector<std::size_t> play(SqliteStore& store, const Outcome& outcome, std::size_t most = 1000) const {
    std::vector<std::size_t> list;
    for (;;) {
      const auto played = search.played(store);
      const std::size_t before = list.size();
      for (const std::size_t run : search.runs(played.size() - 1, played.back().entered)) {
        if (list.size() == most) return list;
        if (store.state_of(sweep.runs[run].id).has_value()) continue;
        store.record(sweep.runs[run], result_of(run, outcome));
        list.push_back(run);
      }
      if (list.size() == before) return list;
    }
  }

  Folder folder;
  Plan sweep;
  SuccessiveHalving search;
};

std::vector<std::vector<std::size_t>> entered(const std::vector<SuccessiveHalving::Rung>& played) {
  std::vector<std::vector<std::size_t>> list;
  list.reserve(played.size());
  for (const auto& rung : played) list.push_back(rung.entered);
  return list;
}

TEST(Halving, TheBestThirdRoundedUpGoesOn) {
  const Game game(7, kBySize);
  EXPECT_EQ(game.search.rungs(), 3u);
  EXPECT_EQ(game.search.candidates().size(), 7u);
  EXPECT_EQ(game.search.most_candidates(1), 3u);
  EXPECT_EQ(game.search.most_candidates(2), 1u);
  EXPECT_EQ(game.search.most_runs(0), 14u);
  EXPECT_EQ(game.search.most_runs(1), 6u);
  SqliteStore store(game.folder.path("s.db"));
  // Of the first rung 6, 1 and 5 are the best, of the second 5.
  const double first[] = {70, 20, 60, 50, 40, 30, 10}, second[] = {1, 300, 1, 1, 1, 100, 200};
  const auto runs =
      game.play(store, [&](int, int rung, int c) { return done(rung == 0 ? first[c] : second[c]); });
  const auto played = game.search.played(store);
  EXPECT_THAT(entered(played),
              ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5, 6), ElementsAre(1, 5, 6), ElementsAre(5)));
  EXPECT_EQ(runs.size(), 14u + 6 + 2);
  EXPECT_EQ(played[0].standings[0].candidate, 6u);
  EXPECT_DOUBLE_EQ(played[0].standings[0].ratio, 1);
  EXPECT_NEAR(played[0].standings[1].ratio, 2, 1e-12);
  EXPECT_TRUE(played[2].standings[0].goes_on);
  const std::string text = ranking(game.sweep, game.search, store, 4);
  EXPECT_THAT(text,
              AllOf(HasSubstr("best: sm.pipeline_depth 13; cycles 100"), HasSubstr("and 3 more (--ranking)"),
                    HasSubstr("22 runs of the 42 of all combinations (52.4 %)")));
  EXPECT_THAT(ranking(game.sweep, game.search, store, 7), Not(HasSubstr("more (--ranking)")));
}

TEST(Halving, OfEqualsTheFirstIsBetter) {
  const Game game(5, kBySize + R"(, "keep_one_in": 2)");
  SqliteStore store(game.folder.path("s.db"));
  game.play(store, [](int, int, int c) { return done(c == 0 ? 9 : 7); });
  EXPECT_THAT(entered(game.search.played(store)),
              ElementsAre(ElementsAre(0, 1, 2, 3, 4), ElementsAre(1, 2, 3), ElementsAre(1, 2)));
}

TEST(Halving, ProgramsCountAlikeHoweverLongTheyAre) {
  const Game game(2, kBySize + R"(, "keep_one_in": 2)");
  SqliteStore store(game.folder.path("s.db"));
  // Together the first takes less, 1100 to 1560; of its factors 1.67 and 0.67 the product is above 1.
  game.play(store, [](int program, int, int c) {
    return done(program == 0 ? (c == 0 ? 100 : 60) : (c == 0 ? 1000 : 1500));
  });
  const auto played = game.search.played(store);
  EXPECT_THAT(played[1].entered, ElementsAre(1));
  EXPECT_NEAR(played[0].standings[1].ratio, std::sqrt(100.0 / 60 * 1000 / 1500), 1e-12);
}

TEST(Halving, TheGoalMayBeTheMost) {
  const Game game(3, kBySize + R"(, "goal": "most")");
  SqliteStore store(game.folder.path("s.db"));
  game.play(store, [](int, int, int c) { return done(c == 1 ? 9 : 7); });
  EXPECT_THAT(game.search.played(store)[2].entered, ElementsAre(1));
}

TEST(Halving, OneThatFailsIsOutWithTheReason) {
  const Game game(6, kBySize);
  SqliteStore store(game.folder.path("s.db"));
  // 0 would be the best.
  game.play(store, [](int program, int rung, int c) {
    if (c == 0 && program == 1) return broken("it hangs");
    if (c == 1 && rung == 0) return done(0);
    if (c == 2 && rung == 1) return broken("too large");
    return done(10 + c);
  });
  const auto played = game.search.played(store);
  EXPECT_THAT(entered(played), ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5), ElementsAre(2, 3), ElementsAre(3)));
  EXPECT_EQ(played[0].standings[4].reason, "aes small: fault: it hangs");
  EXPECT_THAT(played[0].standings[5].reason, HasSubstr("cycles is 0, which has no geometric mean"));
  EXPECT_THAT(ranking(game.sweep, game.search, store, 9),
              AllOf(HasSubstr("best: sm.pipeline_depth 11"), HasSubstr("aes small: fault: it hangs"),
                    HasSubstr("bfs default: fault: too large")));
}

TEST(Halving, EndsWhenNobodyIsLeft) {
  const Game game(3, kBySize);
  SqliteStore store(game.folder.path("s.db"));
  const auto runs = game.play(store, [](int, int, int) { return broken("no"); });
  EXPECT_EQ(runs.size(), 6u);
  EXPECT_EQ(game.search.played(store).size(), 1u);
  EXPECT_THAT(ranking(game.sweep, game.search, store, 9),
              AllOf(HasSubstr("no candidate is left"), Not(HasSubstr("best:"))));
  EXPECT_THAT(
      halving_plan(game.sweep, game.search, store),
      AllOf(HasSubstr("rung 2, size default: 0 candidates, 0 runs"), HasSubstr("together at most 6 runs")));
}

TEST(Halving, GoesOnFromAnyMoment) {
  const Outcome outcome = [](int program, int rung, int c) {
    return c == 3 && rung == 1 ? broken("no") : done(10 + (c * 7 + rung * 3) % 11 + 100 * program);
  };
  const Game game(9, kBySize + R"(, "keep_one_in": 2)");
  SqliteStore whole(game.folder.path("whole.db"));
  const auto wanted = game.play(whole, outcome);
  const std::string text = ranking(game.sweep, game.search, whole, 99);
  for (std::size_t stop = 0; stop <= wanted.size(); ++stop) {
    const std::string name = game.folder.path("s" + std::to_string(stop) + ".db");
    std::vector<std::size_t> runs;
    {
      SqliteStore store(name);
      runs = game.play(store, outcome, stop);
      ASSERT_EQ(runs.size(), stop);
    }
    SqliteStore store(name);
    const auto rest = game.play(store, outcome);
    runs.insert(runs.end(), rest.begin(), rest.end());
    EXPECT_EQ(runs, wanted) << "each once";
    EXPECT_EQ(ranking(game.sweep, game.search, store, 99), text);
  }
}

// Runs of others, or of a search before, in any number.
TEST(Halving, DoesNotDependOnWhatElseTheStoreHas) {
  const Outcome outcome = [](int program, int rung, int c) {
    return done(10 + (c * 5 + rung) % 7 + 10 * program);
  };
  const Game game(8, kBySize);
  SqliteStore whole(game.folder.path("whole.db"));
  game.play(whole, outcome);
  const auto wanted = entered(game.search.played(whole));
  std::mt19937 random(77);
  for (int round = 0; round < 10; ++round) {
    SqliteStore store(game.folder.path("s" + std::to_string(round) + ".db"));
    for (std::size_t run = 0; run < game.sweep.runs.size(); ++run) {
      if (random() % 2 == 0) store.record(game.sweep.runs[run], game.result_of(run, outcome));
    }
    game.play(store, outcome);
    EXPECT_EQ(entered(game.search.played(store)), wanted);
  }
}

TEST(Halving, ScoresCountTheRungsSoFarIfAsked) {
  const std::string rungs =
      R"("rungs": "workload", "metric": "cycles", "keep_one_in": 2, "mean_over": ["size"])";
  // After bfs it is 0 before 1; aes alone would turn that, both together do not.
  const Outcome outcome = [](int program, int, int c) {
    const double cycles[2][4] = {{100, 300, 900, 900}, {300, 200, 1, 1}};
    return done(cycles[program][c]);
  };
  const Game alone(4, rungs), both(4, rungs + R"(, "cumulative": true)");
  SqliteStore store_of_alone(alone.folder.path("s.db")), store_of_both(both.folder.path("s.db"));
  alone.play(store_of_alone, outcome);
  both.play(store_of_both, outcome);
  EXPECT_EQ(alone.search.rungs(), 2u);
  EXPECT_EQ(alone.search.played(store_of_alone)[1].standings[0].candidate, 1u);
  EXPECT_EQ(both.search.played(store_of_both)[1].standings[0].candidate, 0u);
}

TEST(Halving, PlansAtMostWhatItRuns) {
  const Game game(7, kBySize);
  SqliteStore store(game.folder.path("s.db"));
  EXPECT_THAT(
      halving_plan(game.sweep, game.search, store),
      AllOf(HasSubstr("rung 1, size small: 7 candidates, 14 runs\n"),
            HasSubstr("  to do  workload=bfs  size=small"),
            HasSubstr("rung 2, size default: at most 3 candidates, 6 runs\n"),
            HasSubstr("rung 3, size large: at most 1 candidate, 2 runs\n"), Not(HasSubstr("size=default")),
            HasSubstr("together at most 22 runs, of 42 of all combinations\n")));
  game.play(store, [](int, int, int c) { return done(10 + c); }, 14);
  EXPECT_THAT(halving_plan(game.sweep, game.search, store),
              AllOf(HasSubstr("  done  workload=bfs  size=small"),
                    HasSubstr("rung 2, size default: 3 candidates, 6 runs\n"),
                    HasSubstr("  to do  workload=aes  size=default  sm.pipeline_depth=10"),
                    Not(HasSubstr("size=default  sm.pipeline_depth=11"))));
  EXPECT_THAT(ranking(game.sweep, game.search, store, 9), HasSubstr("runs are missing"));
}

TEST(Halving, PointsThatItDidNotComeToAreAbsent) {
  const Game game(7, kBySize);
  SqliteStore store(game.folder.path("s.db"));
  store.describe(game.sweep, game.search.points(1, {2, 5}));
  const auto rows = store.json("s");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].at("point"), 10) << "numbered as in the whole sweep";
  EXPECT_EQ(rows[0].at("axes").at("sm.pipeline_depth"), "10");
  EXPECT_EQ(rows[0].at("axes").at("size"), "default");
  EXPECT_EQ(store.sweeps().at(0).points, 4u);
}

TEST(Halving, AMetricThatNoRunHasIsRefused) {
  const Game game(3, R"("rungs": "size", "metric": "cycels")");
  SqliteStore store(game.folder.path("s.db"));
  EXPECT_THAT(
      message_of([&] { game.play(store, [](int, int, int) { return done(5); }); }),
      HasSubstr(
          "s.json: /halving/metric: found 'cycels', which no run has; allowed: a number of stats.json"));
  store.record(game.sweep.runs[0], broken("no"));
  game.search.check_metric(store, 0);  // nothing is known of it
  EXPECT_THAT(message_of([&] { game.search.check_metric(store, 1); }), HasSubstr("found 'cycels'"));
}

TEST(Halving, MistakesAreAnsweredWithTheirPlace) {
  const auto with = [](const std::string& halving) { return refusal(file(3, halving)); };
  EXPECT_THAT(with(R"("metric": "cycles")"), HasSubstr("/halving: 'rungs' is missing"));
  EXPECT_THAT(with(R"("rungs": "sizes", "metric": "cycles")"),
              AllOf(HasSubstr("/halving/rungs: found \"sizes\""), HasSubstr("size")));
  EXPECT_THAT(with(kBySize + R"(, "keep": 3)"), HasSubstr("unknown key 'keep'"));
  for (const char* number : {"1", "0", "-3", "2.5", "\"3\"", "1000001"}) {
    EXPECT_THAT(with(kBySize + R"(, "keep_one_in": )" + number),
                AllOf(HasSubstr(std::string("/halving/keep_one_in: found ") + number),
                      HasSubstr("a whole number from 2 to 1000000")));
  }
  EXPECT_THAT(with(kBySize + R"(, "goal": "lest")"), HasSubstr("/halving/goal: found \"lest\""));
  EXPECT_THAT(with(kBySize + R"(, "cumulative": 1)"), HasSubstr("/halving/cumulative: found 1"));
  EXPECT_THAT(with(kBySize + R"(, "mean_over": ["programs"])"),
              HasSubstr("/halving/mean_over/0: found \"programs\""));
  EXPECT_THAT(with(kBySize + R"(, "mean_over": ["workload", "size"])"),
              HasSubstr("/halving/mean_over/1: 'size' is the axis of the rungs"));
  EXPECT_THAT(with(kBySize + R"(, "mean_over": ["workload", "workload"])"),
              HasSubstr("/halving/mean_over/1: duplicate 'workload'"));
  EXPECT_THAT(with(kBySize + R"(, "mean_over": ["workload", "sm.pipeline_depth"])"),
              HasSubstr("/halving: has fewer than two candidates"));
  EXPECT_THAT(refusal(file(1, R"("rungs": "sm.pipeline_depth", "metric": "cycles")")),
              HasSubstr("/halving/rungs: found \"sm.pipeline_depth\""));
  std::string both = file(2, kBySize);
  both.insert(1, R"("screening": {"factors": ["workload"]}, )");
  EXPECT_THAT(refusal(both), HasSubstr("/halving: is not allowed with \"screening\""));
}

}  // namespace
}  // namespace weft::study::halving_test
