// `weft reproduce CLAIM`: one claim, its runs, and why its verdict is what it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "end_to_end/experiments.h"
#include "end_to_end/process.h"

namespace weft::end_to_end::reproduce_claim_test {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A claim by its ID: its runs and no others, what it is made of, and what turns it.
TEST(ReproduceClaim, ShowsOneClaim) {
  const Experiments experiments;
  experiments.claims({claim("p.ratio", "ratio", 2), claim("p.other", "count", 1)});
  experiments.write("p/causes.json", {{"p.ratio",
                                       {{"cause", "machine"},
                                        {"text", "The clock is another one."},
                                        {"counter", "`cycles`"},
                                        {"run", "weft run --set x"}}}});
  ordered_json mine = small_experiment(
      {{{"abbr", "BFS"}, {"workload", "bfs"}}, {{"abbr", "VA"}, {"workload", "vector_add"}}});
  mine["variants"].push_back({{"name", "tbc"}, {"set", {"warp_formation.scheme=tbc"}}});
  mine["headline"] = {"p.ratio"};
  mine["sensitivity"] = {{{"key", "dram.t_cl"}, {"values", {400}}, {"why", "not printed"}}};
  const ordered_json value{{"measure", "cycles"}, {"variant", "harp"}, {"over", "sbr"}, {"programs", {"VA"}}};
  ordered_json reading = value;
  reading["over"] = "harp";
  mine["claims"] = {
      {{"id", "p.ratio"}, {"value", value}, {"readings", {{{"name", "itself"}, {"value", reading}}}}},
      {{"id", "p.other"}, {"value", {{"measure", "cycles"}, {"variant", "tbc"}, {"programs", {"BFS"}}}}}};
  experiments.experiment("mine", mine);
  const Folder out;
  const Exit exit = weft({"reproduce", "p.ratio", "--out", out.path()});
  ASSERT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("weft: mine: p.ratio, 2 of 2 runs to do"));
  EXPECT_FALSE(out.has("runs/bfs")) << "another claim needs it";
  EXPECT_THAT(exit.out,
              AllOf(HasSubstr("cycles under harp over that under sbr in VA"),
                    HasSubstr("{\"id\":\"p.ratio\",\"value\":{\"measure\":\"cycles\",\"variant\":\"harp\""),
                    HasSubstr("reading  itself  1.000  not"), HasSubstr("The effect of a ratio is"),
                    HasSubstr("(printed) differ by"), HasSubstr("machine: The clock is another one."),
                    HasSubstr("`weft run --set x`"), HasSubstr("Not run: dram.t_cl=400. --sensitivity"),
                    HasSubstr("VA       sbr      verified  " + out.path() + "/runs/vector_add/"),
                    HasSubstr("VA       harp     verified  "),
                    HasSubstr("  weft run --config harp-fermi --out " + out.path() + "/runs/vector_add/")));
  // The experiment finds these runs; with the setting there are two more.
  EXPECT_THAT(weft({"reproduce", "mine", "--out", out.path()}).err,
              HasSubstr("2 of 6 runs already have results"));
  const Exit more = weft({"reproduce", "p.ratio", "--sensitivity", "--out", out.path()});
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_THAT(more.err,
              AllOf(HasSubstr("p.ratio, 0 of 2 runs to do"), HasSubstr("settings, 2 of 2 runs to do")));
  EXPECT_THAT(more.out, AllOf(HasSubstr("setting  dram.t_cl=400  "), HasSubstr("dram.t_cl=400  verified")));

  // From data, without a run.
  const Exit data = weft({"reproduce", "p.ratio", "--from-results=" + out.path()});
  ASSERT_EQ(data.code, 0) << data.err;
  EXPECT_THAT(data.out, AllOf(HasSubstr("reading  itself  1.000  not"), HasSubstr("without a run")));

  EXPECT_THAT(weft({"reproduce", "p.other", "--sensitivity"}).err,
              HasSubstr("--sensitivity: 'p.other' is in no headline; allowed: p.ratio"));
  EXPECT_THAT(weft({"reproduce", "p.ratio", "--size", "small"}).err,
              HasSubstr("--size: is allowed with an experiment; 'p.ratio' is a claim"));
  EXPECT_THAT(weft({"reproduce", "p.ratoi"}).err, HasSubstr("did you mean \"p.ratio\"?"));
  EXPECT_THAT(weft({"reproduce", "p."}).err, HasSubstr("claims that begin so: p.ratio, p.other"));
}

TEST(ReproduceClaim, ListsClaimsAndShowsThoseAboutArea) {
  const Exit list = weft({"reproduce", "--claims"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_THAT(list.out, AllOf(HasSubstr("harp.speedup.sbr.mean "), HasSubstr(" harp-schemes\n"),
                              HasSubstr("crown.area.total "), HasSubstr(" area\n")));
  EXPECT_EQ(weft({"reproduce", "harp-schemes", "--claims"}).code, 2);
  const Exit area = weft({"reproduce", "crown.area.total"});
  EXPECT_EQ(area.code, 0) << area.err;
  EXPECT_THAT(area.out, AllOf(HasSubstr("At the defaults: reproduced."), HasSubstr("ready_lookup"),
                              HasSubstr("None are needed")));
}

}  // namespace
}  // namespace weft::end_to_end::reproduce_claim_test
