// `weft reproduce --from-results`: pages, verdicts and figures out of stored numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "end_to_end/experiments.h"
#include "end_to_end/kernels.h"
#include "end_to_end/process.h"

namespace weft::end_to_end::results_data_test {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Two programs under two schemes, with a headline, another value of a key and another seed; energy under
// other prices; and a kernel's launches.
ordered_json experiment() {
  return ordered_json::parse(R"({
    "title": "An experiment", "place": "1", "config": "stsimt", "size": "small",
    "set": ["sm.observe.events=true"],
    "programs": [{"abbr": "VA", "workload": "vector_add", "kernel": "_Z10vector_addPKfS0_Pfi"},
                 {"abbr": "BFS", "workload": "bfs", "kernel": "bfs_expand"}],
    "variants": [{"name": "sbr"}, {"name": "wide", "set": ["sm.pipeline_depth=20"]}],
    "measures": ["cycles", "lane_activity", {"name": "energy", "heading": "energy", "sum": ["launches.energy_nj"]}],
    "claims": [{"id": "p.cycles", "value": {"measure": "cycles", "variant": "sbr", "over": "wide", "mean": "geometric"}},
               {"id": "p.energy", "value": {"measure": "energy", "variant": "sbr", "programs": ["VA"]}}],
    "headline": ["p.cycles", "p.energy"],
    "sensitivity": [{"key": "dram.t_cl", "values": [40], "why": "not printed"},
                    {"key": "energy.technology", "values": ["40nm-idle-lanes"], "why": "not printed"}],
    "prices": {"times": [2], "why": "not printed"}})");
}

TEST(ResultsData, GiveTheSamePageWithoutARun) {
  const Experiments experiments;
  experiments.claims({claim("p.cycles", "ratio", 0.9), claim("p.energy", "amount", 1000)});
  experiments.experiment("mine", experiment());
  const Folder out, again, elsewhere;
  const Exit run =
      weft({"reproduce", "mine", "--sensitivity", "--seeds", "2", "--out", out.path()}, patient(200));
  ASSERT_EQ(run.code, 0) << run.err;
  const Exit data = weft({"reproduce", "mine", "--from-results=" + out.path(), "--out", again.path()});
  ASSERT_EQ(data.code, 0) << data.err;
  EXPECT_FALSE(again.has("runs"));
  for (const char* file : {"mine.md", "mine.json", "mine.csv", "verdicts.md"})
    EXPECT_EQ(again.text(file), out.text(file)) << file;
  EXPECT_EQ(data.out, run.out);

  // A part of the whole.
  const Exit part =
      weft({"reproduce", "mine", "--only", "VA", "--from-results=" + out.path(), "--out", elsewhere.path()});
  ASSERT_EQ(part.code, 0) << part.err;
  EXPECT_THAT(elsewhere.text("mine-slice.md"), HasSubstr("VA = kernel `_Z10vector_addPKfS0_Pfi`"));

  // A measure of numbers that are kept needs no run. One of others says what it needs, and the page as well.
  ordered_json more = experiment();
  more["measures"].push_back({{"name", "n"},
                              {"heading", "per cycle"},
                              {"sum", {"launches.thread_instructions"}},
                              {"over", {"launches.cycles"}}});
  experiments.experiment("mine", more);
  const Exit kept = weft({"reproduce", "mine", "--from-results=" + out.path(), "--out", elsewhere.path()});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_THAT(elsewhere.text("mine.md"), HasSubstr("## per cycle"));
  more["measures"].push_back({{"name", "o"}, {"heading", "blocked"}, {"sum", {"launches.mshr_merges"}}});
  experiments.experiment("mine", more);
  const Exit lacks = weft({"reproduce", "mine", "--from-results=" + out.path(), "--out", elsewhere.path()});
  EXPECT_EQ(lacks.code, 2);
  EXPECT_THAT(lacks.err, AllOf(HasSubstr("lacks counters"), HasSubstr("launches.mshr_merges"),
                               HasSubstr("weft reproduce mine does the runs")));
  EXPECT_THAT(elsewhere.text("mine.md"), HasSubstr("lacks counters"));
}

TEST(ResultsData, ThatAreNotThereAreNamed) {
  const Folder empty, out;
  const Exit none =
      weft({"reproduce", "harp-schemes", "--from-results=" + empty.path(), "--out", out.path()});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr(empty.path() + "/data/harp-schemes.json"),
                              HasSubstr("weft reproduce harp-schemes --out DIR")));
  const Exit group = weft({"reproduce", "crown", "--from-results=" + empty.path(), "--out", out.path()});
  EXPECT_EQ(group.code, 2);
  EXPECT_THAT(group.err, HasSubstr("no data of crown-schemes, crown-trends, crown-machines"));
  EXPECT_TRUE(out.has("area.md")) << "areas need no data";
  for (const char* option : {"--again", "--any-build", "--sensitivity"}) {
    const Exit both = weft({"reproduce", "harp-schemes", "--from-results", option});
    EXPECT_EQ(both.code, 2);
    EXPECT_THAT(both.err, AllOf(HasSubstr(option), HasSubstr("--from-results")));
  }
}

}  // namespace
}  // namespace weft::end_to_end::results_data_test
