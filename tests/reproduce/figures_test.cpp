// Figures of an experiment: which numbers stand where, and what of them the paper prints.
#include "study/judge/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "folder.h"
#include "study/judge/library.h"
#include "study/judge/results.h"
#include "study/page/drawing.h"
#include "weft/common/error.h"

namespace weft::study::figures_test {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using reproduce_test::library;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Claims& papers() {
  static const Library library = read_library(WEFT_EXPERIMENTS);
  return library.claims;
}

// An experiment with these figures. Of its claims, one is a mean over all programs, one the maximum with the
// paper's program MU, one in words, one a change and one an order.
Experiment experiment_with(const std::string& figures) {
  json document = json::parse(R"({"title": "t", "place": "7", "config": "harp-fermi",
    "programs": [{"abbr": "MU", "workload": "mummer_gpu", "size": "small", "type": "A"},
                 {"abbr": "BFS", "workload": "bfs", "size": "small", "type": "B"},
                 {"abbr": "CP", "workload": "coulombic_potential", "size": "small", "type": "C"}],
    "variants": [{"name": "sbr", "label": "SBR"},
                 {"name": "harp", "label": "HARP", "set": ["warp_formation.scheme=harp"]}],
    "measures": ["speed", "stalled_share", "lane_activity", "stalled_inactive"],
    "claims": [
      {"id": "harp.speedup.sbr.mean",
       "value": {"measure": "speed", "variant": "harp", "over": "sbr", "mean": "harmonic"}},
      {"id": "harp.sbr.stalled_max", "value": {"measure": "stalled_share", "variant": "sbr", "mean": "maximum"}},
      {"id": "harp.lanes.full_cp", "value": {"measure": "lane_activity", "variant": "sbr", "programs": ["CP"]}},
      {"id": "harp.depth16.type_a", "value": {"difference": [
        {"measure": "speed", "variant": "harp", "over": "sbr", "programs": ["MU"]},
        {"measure": "speed", "variant": "harp", "over": "sbr", "programs": ["BFS"]}]}},
      {"id": "harp.stalled.harp_below_sbr", "values": {
        "sbr": {"measure": "stalled_share", "variant": "sbr", "mean": "arithmetic"},
        "harp": {"measure": "stalled_share", "variant": "harp", "mean": "arithmetic"}}}]})");
  document["figures"] = json::parse(figures);
  const test::Folder folder;
  return read_experiment({"x", "HARP", folder.write("x.json", document.dump())}, papers());
}

// MU is twice as fast under HARP, BFS half as fast; CP has no lane activity.
std::vector<RunResult> runs() {
  const std::vector<std::vector<double>> numbers{{1, 0.4, 0.5, 0.1}, {2, 0.2, 0.75, 0.1}, {4, 0.2, 0.5, 0.2},
                                                 {2, 0.1, 0.25, 0},  {1, 0, -1, 0},       {1, 0, -1, 0}};
  std::vector<RunResult> list;
  for (const auto& of : numbers) {
    RunResult run;
    run.values = {{"speed", of[0]}, {"stalled_share", of[1]}, {"stalled_inactive", of[3]}};
    if (of[2] >= 0) run.values["lane_activity"] = of[2];
    list.push_back(run);
  }
  return list;
}

ordered_json figure_of(const std::string& text) {
  const Experiment experiment = experiment_with("[" + text + "]");
  return figures_json(experiment, Results(experiment, runs()), "x").at(0);
}

std::vector<std::string> labels(const ordered_json& panel) {
  std::vector<std::string> list;
  for (const auto& group : panel.at("groups")) list.push_back(group.at("label"));
  return list;
}

TEST(Figures, HaveABarPerProgramVariantAndMean) {
  const ordered_json figure =
      figure_of(R"({"title": "The speed: IPC", "place": "7, Fig. 1", "measure": "speed",
    "over": "sbr", "variants": ["harp", "sbr"], "means": ["harmonic", {"mean": "harmonic", "types": ["A"]}]})");
  EXPECT_EQ(figure.at("file"), "figures/x-the-speed-ipc");
  EXPECT_EQ(figure.at("kind"), "bars");
  EXPECT_EQ(figure.at("axis"), "speed over SBR");
  EXPECT_EQ(figure.at("ratio"), true);
  ASSERT_EQ(figure.at("panels").size(), 1u);
  const ordered_json& panel = figure.at("panels").at(0);
  EXPECT_THAT(labels(panel), ElementsAre("MU", "BFS", "CP", "hmean", "hmean A"));
  EXPECT_EQ(panel.at("groups").at(1).at("type"), "B");
  EXPECT_EQ(panel.at("groups").at(3).at("mean"), true);
  const ordered_json& harp = panel.at("series").at(0);
  EXPECT_EQ(harp.at("label"), "HARP");
  const std::vector<double> values{2, 0.5, 1, 3 / (0.5 + 2 + 1), 2};
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_DOUBLE_EQ(harp.at("values").at(i), values[i]) << i;
  // What the text prints is of the mean over all programs under HARP, and of nothing else.
  EXPECT_EQ(harp.at("printed"), ordered_json::parse("[null, null, null, 1.1, null]"));
  EXPECT_EQ(harp.at("claims").at(3), "harp.speedup.sbr.mean");
  EXPECT_EQ(panel.at("series").at(1).at("printed"), ordered_json::parse("[null, null, null, null, null]"));
  EXPECT_EQ(figure.at("printed"), 1);
  EXPECT_EQ(figure.at("of"), 10);
}

TEST(Figures, MarkWhatThePaperPrintsInNumbers) {
  // A maximum marks its mean and the program that the paper names.
  const ordered_json stalled = figure_of(
      R"({"title": "t", "place": "1", "measure": "stalled_share", "variants": ["sbr"], "means": ["maximum", "arithmetic"]})");
  EXPECT_EQ(stalled.at("panels").at(0).at("series").at(0).at("printed"),
            ordered_json::parse("[0.37, null, null, 0.37, null]"));
  // Not a claim in words; what a run does not have is null.
  const ordered_json lanes =
      figure_of(R"({"title": "t", "place": "1", "measure": "lane_activity", "means": ["arithmetic"]})");
  EXPECT_EQ(lanes.at("printed"), 0);
  EXPECT_EQ(lanes.at("axis"), "lane activity");
  EXPECT_EQ(lanes.at("ratio"), false);
  EXPECT_EQ(lanes.at("panels").at(0).at("series").at(0).at("values"),
            ordered_json::parse("[0.5, 0.5, null, null]"));
  // Nor the same measure under another variant, or over one.
  const ordered_json other = figure_of(
      R"({"title": "t", "place": "1", "measure": "speed", "over": "harp", "variants": ["sbr"], "means": ["harmonic"]})");
  EXPECT_EQ(other.at("printed"), 0);
}

TEST(Figures, OfSegmentsAreOneOnTopOfTheOther) {
  const ordered_json figure = figure_of(R"({"title": "t", "place": "1", "kind": "stacked", "over": "sbr",
    "measures": ["stalled_share", "stalled_inactive"], "programs": ["MU", "CP"], "means": ["arithmetic"]})");
  const ordered_json& series = figure.at("panels").at(0).at("series");
  ASSERT_EQ(series.size(), 4u);
  EXPECT_EQ(series.at(2).at("bar"), "HARP");
  EXPECT_THAT(series.at(2).at("label"), HasSubstr("stalled by divergence"));
  EXPECT_EQ(figure.at("ratio"), true);
  // Of MU's bar under SBR: 0.5. CP has none to be compared with.
  EXPECT_DOUBLE_EQ(series.at(0).at("values").at(0), 0.8);
  EXPECT_DOUBLE_EQ(series.at(1).at("values").at(0), 0.2);
  EXPECT_DOUBLE_EQ(series.at(2).at("values").at(0), 0.4);
  EXPECT_TRUE(series.at(2).at("values").at(1).is_null());
  // Of the means of MU and CP: 0.1 of 0.25.
  EXPECT_DOUBLE_EQ(series.at(2).at("values").at(2), 0.4);
}

TEST(Figures, MayHaveVariantsOrValuesOnTheXAxis) {
  const ordered_json lines =
      figure_of(R"({"title": "t", "place": "1", "kind": "lines", "measure": "speed", "over": "sbr",
    "x": ["one", "two"], "programs": ["BFS"], "means": ["harmonic"], "series": [
      {"label": "a", "variants": ["sbr", "harp"]}, {"label": "b", "variants": [null, {"variant": "harp", "over": "harp"}]}]})");
  ASSERT_EQ(lines.at("panels").size(), 2u);
  const ordered_json &bfs = lines.at("panels").at(0), &mean = lines.at("panels").at(1);
  EXPECT_EQ(bfs.at("title"), "BFS");
  EXPECT_THAT(labels(bfs), ElementsAre("one", "two"));
  EXPECT_EQ(bfs.at("series").at(0).at("values"), ordered_json::parse("[1.0, 0.5]"));
  EXPECT_EQ(bfs.at("series").at(1).at("values"), ordered_json::parse("[null, 1.0]"));
  EXPECT_EQ(bfs.at("series").at(1).at("gaps"), ordered_json::parse("[0]")) << "nothing is missing there";
  EXPECT_EQ(bfs.at("series").at(0).at("gaps"), ordered_json::array());
  EXPECT_EQ(mean.at("series").at(0).at("printed"), ordered_json::parse("[null, 1.1]"));
  EXPECT_EQ(lines.at("of"), 6);

  const ordered_json values =
      figure_of(R"({"title": "t", "place": "1", "axis": "a", "x": ["change", "mean", "order"],
    "series": [{"label": "s", "values": [{"claim": "harp.depth16.type_a"},
      {"measure": "speed", "variant": "harp", "over": "sbr", "mean": "harmonic"},
      {"claim": "harp.stalled.harp_below_sbr", "name": "sbr"}]}]})");
  const ordered_json& series = values.at("panels").at(0).at("series").at(0);
  EXPECT_EQ(series.at("values").at(0), 1.5);
  EXPECT_NEAR(series.at("values").at(2), 0.2, 1e-12);
  EXPECT_EQ(series.at("printed"), ordered_json::parse("[-0.01, 1.1, null]"));
}

TEST(Figures, MayHaveProgramsOnTheXAxis) {
  const ordered_json figure =
      figure_of(R"({"title": "t", "place": "1", "kind": "lines", "measure": "stalled_share",
    "variants": ["sbr", "harp"], "x": ["one", "two"], "series": [
      {"label": "a", "programs": ["MU", "BFS"]}, {"label": "b", "programs": ["CP", null]}]})");
  ASSERT_EQ(figure.at("panels").size(), 2u);
  const ordered_json& sbr = figure.at("panels").at(0);
  EXPECT_EQ(sbr.at("title"), "SBR");
  EXPECT_EQ(sbr.at("series").at(0).at("values"), ordered_json::parse("[0.4, 0.2]"));
  EXPECT_EQ(sbr.at("series").at(0).at("printed"), ordered_json::parse("[0.37, null]"));
  EXPECT_EQ(sbr.at("series").at(1).at("values"), ordered_json::parse("[0.0, null]"));
  EXPECT_EQ(figure.at("panels").at(1).at("series").at(0).at("values"), ordered_json::parse("[0.2, 0.1]"));
  EXPECT_EQ(figure.at("of"), 6);
}

TEST(Figures, OrderTheirPrograms) {
  const ordered_json figure = figure_of(
      R"({"title": "t", "place": "1", "measure": "lane_activity", "order": {"measure": "speed", "variant": "sbr"}, "means": ["maximum"]})");
  EXPECT_THAT(labels(figure.at("panels").at(0)), ElementsAre("MU", "CP", "BFS", "max"));
  EXPECT_EQ(figure.at("panels").at(0).at("series").at(1).at("values"),
            ordered_json::parse("[0.75, null, 0.25, null]"));
  // Those without a number come last.
  const ordered_json by_lanes = figure_of(
      R"({"title": "t", "place": "1", "measure": "speed", "order": {"measure": "lane_activity", "variant": "harp"}})");
  EXPECT_THAT(labels(by_lanes.at("panels").at(0)), ElementsAre("BFS", "MU", "CP"));
}

// A slice leaves out programs, and means of which nothing is left; what is printed stays where it belongs.
TEST(Figures, OfASliceHaveItsPrograms) {
  Experiment experiment = experiment_with(R"([{"title": "t", "place": "1", "measure": "speed", "over": "sbr",
    "means": ["harmonic", {"mean": "harmonic", "types": ["A"]}, {"mean": "harmonic", "types": ["B"]}]},
    {"title": "u", "place": "1", "measure": "speed", "x": ["a"], "programs": ["MU"], "series": [{"label": "s", "variants": ["sbr"]}]}])");
  experiment.programs = {experiment.programs[1]};
  experiment.each_value([](Value& value) { restrict_to({"BFS"}, value); });
  const auto all = runs();
  const ordered_json figures = figures_json(experiment, Results(experiment, {all[2], all[3]}), "x-slice");
  ASSERT_EQ(figures.size(), 1u);
  const ordered_json& panel = figures.at(0).at("panels").at(0);
  EXPECT_THAT(labels(panel), ElementsAre("BFS", "hmean", "hmean B"));
  EXPECT_EQ(panel.at("series").at(1).at("values"), ordered_json::parse("[0.5, 0.5, 0.5]"));
  EXPECT_EQ(panel.at("series").at(1).at("printed"), ordered_json::parse("[null, 1.1, null]"));
}

TEST(Figures, MistakesAreNamedWithTheirPlace) {
  const auto of = [](const std::string& more) {
    try {
      experiment_with(R"([{"title": "t", "place": "1")" + (more.empty() ? "" : ", " + more) + "}]");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(of(R"("measure": "speed")"), "no error");
  EXPECT_THAT(of(""), AllOf(HasSubstr("/figures/0"), HasSubstr("'measure' is missing")));
  EXPECT_THAT(of(R"("mesure": "speed")"), HasSubstr("unknown key 'mesure'; allowed: title, place"));
  EXPECT_THAT(of(R"("measure": "cycles")"),
              AllOf(HasSubstr("/figures/0/measure"), HasSubstr("allowed: speed, stalled_share")));
  EXPECT_THAT(
      of(R"("measure": "speed", "kind": "pie")"),
      AllOf(HasSubstr("/figures/0/kind"), HasSubstr("\"pie\""), HasSubstr("allowed: bars, lines, stacked")));
  EXPECT_THAT(of(R"("measure": "speed", "variants": ["dwf"])"),
              AllOf(HasSubstr("/figures/0/variants/0"), HasSubstr("allowed: sbr, harp")));
  EXPECT_THAT(of(R"("measure": "speed", "over": "dwf")"), HasSubstr("/figures/0/over"));
  EXPECT_THAT(of(R"("measure": "speed", "programs": ["X"])"),
              AllOf(HasSubstr("/figures/0/programs/0"), HasSubstr("allowed: MU, BFS, CP")));
  EXPECT_THAT(of(R"("measure": "speed", "means": ["median"])"),
              AllOf(HasSubstr("/figures/0/means/0"), HasSubstr("allowed: arithmetic, geometric")));
  EXPECT_THAT(of(R"("measure": "speed", "means": [{"mean": "sum", "types": ["D"]}])"),
              HasSubstr("allowed: A, B, C"));
  EXPECT_THAT(of(R"("measure": "speed", "measures": ["speed"])"),
              HasSubstr("found both 'measure' and 'measures'"));
  EXPECT_THAT(of(R"("measures": ["speed"])"), HasSubstr("'measures' is allowed for the kind 'stacked' only"));
  EXPECT_THAT(of(R"("measure": "speed", "kind": "lines")"), HasSubstr("needs 'x' and 'series'"));
  EXPECT_THAT(of(R"("measure": "speed", "scale": "root")"), HasSubstr("allowed: linear, log"));
  EXPECT_THAT(of(R"("measure": "speed", "kept": 1)"),
              AllOf(HasSubstr("/figures/0/kept"), HasSubstr("allowed: true or false")));
  EXPECT_THAT(of(R"("measure": "speed", "x": ["a"])"),
              HasSubstr("found only one of 'x' and 'series'; allowed: both or none"));
  EXPECT_THAT(of(R"("measure": "speed", "x": ["a"], "series": [{"label": "s", "variants": ["sbr"]}])"),
              HasSubstr("needs 'programs' or 'means'"));
  EXPECT_THAT(
      of(R"("measure": "speed", "means": ["sum"], "x": ["a", "b"], "series": [{"label": "s", "variants": ["sbr"]}])"),
      AllOf(HasSubstr("/figures/0/series/0/variants"), HasSubstr("found 1 entries; allowed: 2")));
  EXPECT_THAT(
      of(R"("x": ["a"], "series": [{"label": "s", "values": [{"claim": "harp.simd8"}]}])"),
      AllOf(HasSubstr("/figures/0/series/0/values/0/claim"), HasSubstr("a claim of this experiment")));
  EXPECT_THAT(
      of(R"("x": ["a"], "series": [{"label": "s", "values": [{"claim": "harp.stalled.harp_below_sbr"}]}])"),
      HasSubstr("'name' is missing; allowed: harp, sbr"));
  EXPECT_THAT(of(R"("x": ["a"], "series": [{"label": "s", "values": [null]}])"),
              HasSubstr("'axis', the title of the values, is missing"));
  EXPECT_THAT(of(R"("measure": "speed"}, {"title": "T!", "place": "2", "measure": "speed")"),
              AllOf(HasSubstr("/figures/1"), HasSubstr("'T!'; allowed: another title")));
}

TEST(Figures, OfAGridHaveOneKindOfPoints) {
  const auto of = [](const std::string& series, const std::string& more) {
    try {
      experiment_with(R"([{"title": "t", "place": "1", "measure": "speed", "x": ["a"], "series": [)" +
                      series + "]" + more + "}]");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string programs = R"({"label": "s", "programs": ["MU"]})",
                    variants = R"({"label": "s", "variants": ["sbr"]})";
  EXPECT_EQ(of(programs, R"(, "variants": ["sbr"])"), "no error");
  EXPECT_THAT(of(programs, ""), HasSubstr("needs 'variants' for the panels"));
  EXPECT_THAT(of(programs, R"(, "variants": ["sbr"], "means": ["sum"])"),
              HasSubstr("'means' is not allowed"));
  EXPECT_THAT(of(variants + "," + programs, R"(, "means": ["sum"])"),
              AllOf(HasSubstr("/figures/0/series/1"), HasSubstr("found 'programs'; allowed: 'variants'")));
  EXPECT_THAT(of(R"({"label": "s"})", ""), HasSubstr("needs one of variants, programs, values"));
}

TEST(Figures, AreOnThePageWithOrWithoutPictures) {
  const ordered_json figures = ordered_json::array({figure_of(
      R"({"title": "t", "place": "7", "about": "In short.", "measure": "speed", "over": "sbr", "means": ["harmonic"]})")});
  Page page{"P", {}, {{"Claims", {}, {}}}};
  add_figures(figures, Drawings::kAll, "", "weft draw", page);
  EXPECT_EQ(markdown(page),
            "# P\n\n## t (7)\n\n![t](figures/x-t.svg)\n\nIn short. 1 of 8 bars has a printed value: the "
            "diamonds. For "
            "papers: [PDF](figures/x-t.pdf).\n\n## Claims\n");
  page = {"P", {}, {}};
  add_figures(figures, Drawings::kAll, "no pictures: why", "weft draw", page);
  EXPECT_EQ(markdown(page),
            "# P\n\n## Figures on demand\n\nThere are no pictures: why.\n\n"
            "Not drawn: t. `weft draw` draws them.\n");
}

// Without being asked for, only what an experiment keeps is drawn; the page lists the others.
TEST(Figures, OfHeadlinesAreDrawnAlone) {
  const ordered_json figures =
      ordered_json::array({figure_of(R"({"title": "a", "place": "1", "measure": "speed"})"),
                           figure_of(R"({"title": "b", "place": "2", "measure": "speed", "kept": true})"),
                           figure_of(R"({"title": "c", "place": "3", "measure": "speed", "kept": false})")});
  Page page{"P", {}, {}};
  add_figures(figures, Drawings::kKept, "", "weft draw", page);
  EXPECT_EQ(markdown(page),
            "# P\n\n## b (2)\n\n![b](figures/x-b.svg)\n\n0 of 6 bars have a printed value.\n\n"
            "## Figures on demand\n\nNot drawn: a, c. `weft draw` draws them.\n");
  EXPECT_EQ(drawing_message(figures, Drawings::kKept, "", "figures/x"),
            "weft: 1 of 3 figures drawn: figures/x-*.svg; --figures draws all\n");
  // Nothing is started where nothing is kept.
  const ordered_json others = ordered_json::array({figures[0], figures[2]});
  EXPECT_EQ(draw_figures(others, Drawings::kKept, "/nowhere/x.json", "/nowhere/script"), "");
  EXPECT_EQ(drawing_message(others, Drawings::kKept, "", "figures/x"),
            "weft: 0 of 2 figures drawn; --figures draws all\n");
}

// A dozen pictures are committed: those that experiments keep, and what samples show of threads over time.
TEST(Figures, OfTheProjectAreADozenAndDrawn) {
  std::set<std::string> wanted{"crown-threads-over-time.svg"}, there;
  for (const std::string& name : library().names()) {
    const Experiment experiment = library().read(name);
    for (const Figure& figure : experiment.figures) {
      if (figure.kept) wanted.insert("figures/" + name + "-" + figure.slug + ".svg");
    }
  }
  EXPECT_LE(wanted.size(), 12u);
  const std::filesystem::path results = std::string(WEFT_EXPERIMENTS) + "/results";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(results)) {
    const std::string extension = entry.path().extension();
    if (extension == ".svg" || extension == ".pdf")
      there.insert(entry.path().lexically_relative(results).string());
  }
  EXPECT_EQ(there, wanted);
}

}  // namespace
}  // namespace weft::study::figures_test
