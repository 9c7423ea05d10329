// `weft reproduce`: runs, page, verdicts.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "end_to_end/experiments.h"
#include "end_to_end/kernels.h"
#include "end_to_end/process.h"
#include "platform/csv_table.h"

namespace weft::end_to_end::reproduce_test {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// The table under a heading of a Markdown page: rows by their `key`th cell, then cells by the heading of the
// column.
using Table = std::map<std::string, std::map<std::string, std::string>>;
Table table_of(const std::string& page, const std::string& section, std::size_t key) {
  std::istringstream in(page);
  std::vector<std::string> headings;
  Table rows;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("## ", 0) == 0) inside = line == "## " + section;
    if (!inside || line.rfind("| ", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream words(line.substr(1));
    for (std::string cell; std::getline(words, cell, '|');) cells.push_back(trimmed(cell));
    if (headings.empty()) {
      headings = cells;
      continue;
    }
    for (std::size_t c = 0; c < cells.size(); ++c) rows[cells.at(key)][headings.at(c)] = cells[c];
  }
  return rows;
}

// Of a claim: at the defaults, and whatever is not printed.
std::string verdicts_of(const Table& claims, const std::string& id) {
  const auto& row = claims.at("`" + id + "`");
  return row.at("at the defaults") + ", " + row.at("whatever is not printed");
}

// With this number of digits, as a page has it.
std::string digits(double value, int count) {
  std::ostringstream out;
  out << std::fixed;
  out.precision(count);
  out << value;
  return out.str();
}

TEST(Reproduce, ListsTheExperiments) {
  const Exit exit = weft({"reproduce"});
  EXPECT_EQ(exit.code, 0) << exit.err;
  for (const char* name : {"harp-schemes ", "harp-trends ", "crown-schemes ", "crown-trends ", "dwr-sizes ",
                           "dwr-trends ", "stsimt-speed "})
    EXPECT_THAT(exit.out, HasSubstr(std::string("\n") + name));
  EXPECT_THAT(exit.out, HasSubstr("HARP over SBR, DWF and LWM"));
  const Exit wrong = weft({"reproduce", "harpp"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("unknown experiment 'harpp'"), HasSubstr("crown-trends, harp-")));
}

// PATH of programs that are started while it lives. Without Python there, no pictures take time.
class SearchPath {
 public:
  explicit SearchPath(const std::string& path) {
    if (const char* before = std::getenv("PATH")) before_ = before;
    setenv("PATH", path.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  }
  ~SearchPath() {
    setenv("PATH", before_.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  }
  SearchPath(const SearchPath&) = delete;
  SearchPath& operator=(const SearchPath&) = delete;

 private:
  std::string before_;
};

// A slice of an experiment of the project: its numbers are those of `weft compare` and of the runs.
TEST(Reproduce, ASliceHasTheNumbersOfCompare) {
  const Folder folder, other, empty;
  const SearchPath nowhere(empty.path());
  const std::vector<std::string> slice{"reproduce", "harp-schemes", "--only", "BFS,MTM",
                                       "--size",    "small",        "--out",  folder.path()};
  const Exit exit = weft(slice, patient(500));
  ASSERT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("8 of 8 runs to do"));
  const std::vector<std::string> schemes{"sbr+warp_size=32", "dwf+warp_size=32", "lwm+lwm.large_warp=128",
                                         "harp"};
  ASSERT_EQ(weft({"compare", "--config", "harp-fermi", "--workloads", "bfs,matrix_multiply", "--size",
                  "small", "--schemes", "sbr+warp_size=32,dwf+warp_size=32,lwm+lwm.large_warp=128,harp",
                  "--out", other.path()},
                 patient(500))
                .code,
            0);
  const std::string page = folder.text("harp-schemes-slice.md");
  EXPECT_FALSE(folder.has("harp-schemes.md")) << "a slice is not the whole";
  const ordered_json runs = other.json("comparison.json").at("runs");
  const std::vector<std::string> programs{"BFS", "MTM"}, variants{"SBR", "DWF", "LWM", "HARP"};
  const Table cycles = table_of(page, "core cycles", 1), lanes = table_of(page, "lane activity", 1),
              stalled = table_of(page, "threads stalled by divergence", 1),
              ratios = table_of(page, "Ratios: speed", 1);
  std::map<std::string, std::vector<double>> speedups;
  for (std::size_t p = 0; p < 2; ++p) {
    const double harp = runs[4 * p + 3].at("cycles").get<double>();
    for (std::size_t v = 0; v < 4; ++v) {
      const ordered_json& run = runs[4 * p + v];
      ASSERT_EQ(run.at("scheme"), schemes[v]);
      EXPECT_EQ(cycles.at(programs[p]).at(variants[v]), run.at("cycles").dump());
      EXPECT_EQ(lanes.at(programs[p]).at(variants[v]), digits(run.at("lane_activity"), 3));
      EXPECT_EQ(stalled.at(programs[p]).at(variants[v]), digits(run.at("stalled_share"), 3));
      if (v == 3) continue;
      const double ratio = run.at("cycles").get<double>() / harp;
      EXPECT_EQ(ratios.at(programs[p]).at("HARP : " + variants[v]), digits(ratio, 3));
      speedups[variants[v]].push_back(ratio);
    }
  }
  for (const auto& [over, pair] : speedups) {
    const double a = pair[0], b = pair[1];
    EXPECT_EQ(ratios.at("harmonic mean").at("HARP : " + over), digits(2 * a * b / (a + b), 3));
    EXPECT_EQ(ratios.at("arithmetic mean").at("HARP : " + over), digits((a + b) / 2, 3));
    EXPECT_EQ(ratios.at("geometric mean").at("HARP : " + over), digits(std::sqrt(a * b), 3));
  }
  EXPECT_EQ(ratios.at("printed").at("HARP : SBR"), "mean 1.100; max. 1.600");
  // A path into the statistics.
  double hits = 0, accesses = 0;
  const ordered_json stats = other.json("runs/bfs/sbr+warp_size=32/stats.json").at("statistics");
  for (unsigned sm = 0; stats.contains("sm" + std::to_string(sm)); ++sm) {
    hits += stats.at("sm" + std::to_string(sm)).at("memory").at("l1d").at("hits").get<double>();
    accesses += stats.at("sm" + std::to_string(sm)).at("memory").at("l1d").at("accesses").get<double>();
  }
  EXPECT_EQ(table_of(page, "L1 data hit rate", 1).at("BFS").at("SBR"), digits(hits / accesses, 3));

  // No verdicts on a slice; the value is there.
  const Table claims = table_of(page, "Claims", 0);
  for (const char* column : {"at the defaults", "whatever is not printed"})
    EXPECT_EQ(claims.at("`harp.speedup.sbr.mean`").at(column), "not judged");
  EXPECT_EQ(claims.at("`harp.speedup.sbr.mean`").at("ours"), ratios.at("harmonic mean").at("HARP : SBR"));
  EXPECT_THAT(page, HasSubstr("Claims are not judged"));
  EXPECT_THAT(folder.text("verdicts.md"),
              HasSubstr("| HARP | 102 | 102 | at the defaults | 0 | 0 | 0 | 0 (0 %) |"));
  EXPECT_THAT(folder.text("harp-schemes-slice.csv"), HasSubstr("\"\",\"BFS\",\"harp\",\"cycles\","));

  // Again: nothing is left to do, and another experiment finds what it shares.
  const Exit again = weft(slice, patient(500));
  EXPECT_THAT(again.err,
              AllOf(HasSubstr("8 of 8 runs already have results"), HasSubstr("0 of 8 runs to do")));
  EXPECT_EQ(folder.text("harp-schemes-slice.md"), page);
}

// The texts of an SVG file, each in brackets, by an XML parser.
std::string texts_of(const std::string& svg) {
  const Exit exit = run("/usr/bin/python3", {"-c",
                                             "import sys, xml.etree.ElementTree as t\n"
                                             "root = t.parse(sys.argv[1]).getroot()\n"
                                             "assert root.tag == '{http://www.w3.org/2000/svg}svg'\n"
                                             "print(*('[' + ''.join(e.itertext()).strip() + ']' for e in "
                                             "root.iter('{http://www.w3.org/2000/svg}text')))",
                                             svg});
  EXPECT_EQ(exit.code, 0) << exit.err;
  return exit.out;
}

std::size_t pages_of(const std::string& pdf) {
  std::size_t pages = 0;
  const std::string key = "/Type /Page";
  for (std::size_t at = pdf.find(key); at != std::string::npos; at = pdf.find(key, at + 1))
    pages += pdf[at + key.size()] == 's' ? 0 : 1;
  return pages;
}

// Pictures of a slice; the same again; those of headlines only; and without Python, the page without them.
TEST(Reproduce, DrawsFiguresAsSvgAndPdf) {
  const Folder folder;
  const std::vector<std::string> kept{"reproduce", "harp-schemes", "--only", "BFS,MTM",
                                      "--size",    "small",        "--out",  folder.path()};
  std::vector<std::string> slice = kept;
  slice.emplace_back("--figures");
  const Exit exit = weft(slice, patient(500));
  ASSERT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(exit.err,
              HasSubstr("9 figures drawn: " + folder.path() + "/figures/harp-schemes-slice-*.svg, .pdf"));
  const std::string page = folder.text("harp-schemes-slice.md");
  EXPECT_THAT(page, HasSubstr("## Performance (7.1, Fig. 11)\n\n"
                              "![Performance](figures/harp-schemes-slice-performance.svg)\n\n"
                              "1 of 20 bars has a printed value: the diamonds."));
  const ordered_json figures = folder.json("harp-schemes-slice.json").at("figures");
  EXPECT_EQ(figures.size(), 9u);
  std::vector<std::string> drawn;
  for (const ordered_json& figure : figures) {
    const std::string file = figure.at("file");
    SCOPED_TRACE(file);
    const std::string texts = texts_of(folder.path() + "/" + file + ".svg"), pdf = folder.text(file + ".pdf");
    EXPECT_THAT(texts, HasSubstr("[BFS]"));
    EXPECT_EQ(pdf.rfind("%PDF-", 0), 0u);
    EXPECT_EQ(pages_of(pdf), 1u);
    drawn.push_back(folder.text(file + ".svg") + pdf);
  }
  // Names, a mean, axis, and what the paper prints.
  const std::string texts = texts_of(folder.path() + "/figures/harp-schemes-slice-performance.svg");
  for (const char* text :
       {"[BFS]", "[LWM]", "[HARP]", "[hmean]", "[speed over SBR]", "[type B]", "[1.1]", "[printed]"})
    EXPECT_THAT(texts, HasSubstr(text));
  EXPECT_THAT(texts, Not(HasSubstr("[MU]")));
  EXPECT_THAT(texts_of(folder.path() + "/figures/harp-schemes-slice-harp-over-each-of-the-others.svg"),
              AllOf(HasSubstr("[1.6]"), HasSubstr("[1.88]")));

  ASSERT_EQ(weft(slice, patient(500)).code, 0);
  for (std::size_t f = 0; f < figures.size(); ++f) {
    const std::string file = figures[f].at("file");
    EXPECT_EQ(folder.text(file + ".svg") + folder.text(file + ".pdf"), drawn[f]) << file;
  }

  std::filesystem::remove_all(folder.path() + "/figures");
  const Exit headlines = weft(kept, patient(500));
  ASSERT_EQ(headlines.code, 0) << headlines.err;
  EXPECT_THAT(headlines.err, HasSubstr("0 of 9 figures drawn; --figures draws all"));
  EXPECT_FALSE(folder.has("figures")) << "a slice has no headline";
  EXPECT_THAT(
      folder.text("harp-schemes-slice.md"),
      AllOf(HasSubstr("## Figures on demand\n\nNot drawn: Performance, HARP over each of the others, "),
            HasSubstr("`weft reproduce harp-schemes --only BFS,MTM --size small --figures` draws"),
            Not(HasSubstr(".svg"))));

  const Folder empty;
  const SearchPath nowhere(empty.path());
  const Exit without = weft(slice, patient(500));
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_THAT(without.err,
              HasSubstr("no pictures: cannot start python3 (No such file or directory); run apt-get install "
                        "python3-matplotlib and repeat the command"));
  EXPECT_THAT(
      folder.text("harp-schemes-slice.md"),
      AllOf(HasSubstr("## Figures on demand\n\nThere are no pictures: cannot start python3"),
            HasSubstr("Not drawn: Performance, HARP over each of the others, "), Not(HasSubstr(".svg"))));
}

// A verdict that holds, one that another setting of the machine turns, one with a cause and one without.
TEST(Reproduce, VerdictsHaveCausesAndDependOnWhatIsNotPrinted) {
  const Folder first;
  ASSERT_EQ(weft({"run", "--config", "harp-fermi", "--workload", "vector_add", "--size", "small", "--out",
                  first.path()})
                .code,
            0);
  const double cycles = first.json("stats.json").at("cycles").get<double>();

  const Experiments experiments;
  std::vector<ordered_json> claims({claim("p.holds", "bound", 1), claim("p.turns", "count", cycles),
                                    claim("p.caused", "count", 10 * cycles),
                                    claim("p.open", "count", 20 * cycles), claim("p.twice", "count", cycles),
                                    claim("p.order", "order", ordered_json::parse(R"([["slow", "fast"]])"))});
  claims[0]["relation"] = "at least";
  experiments.claims(claims);
  experiments.write("p/causes.json", {{"p.caused",
                                       {{"cause", "machine"},
                                        {"text", "The clock is another one."},
                                        {"counter", "`cycles`"},
                                        {"run", "weft run --set x"}}},
                                      {"p.turns",
                                       {{"cause", "machine"},
                                        {"text", "Memory is another one."},
                                        {"counter", "`cycles`"},
                                        {"run", "weft run --set y"}}}});
  const ordered_json value{{"measure", "cycles"}, {"variant", "sbr"}, {"programs", {"VA"}}};
  ordered_json experiment{
      {"title", "An experiment"},
      {"place", "1"},
      {"config", "harp-fermi"},
      {"programs",
       {{{"abbr", "VA"}, {"workload", "vector_add"}, {"size", "small"}},
        {{"abbr", "SLOW"}, {"workload", "vector_add"}, {"size", "small"}, {"set", {"dram.t_cl=2000"}}}}},
      {"variants", {{{"name", "sbr"}}}},
      {"measures", {"cycles"}},
      {"headline", {"p.holds", "p.turns", "p.twice"}},
      {"sensitivity", {{{"key", "dram.t_cl"}, {"values", {4000}}, {"why", "not printed"}}}}};
  for (const char* id : {"p.holds", "p.turns", "p.caused", "p.open"})
    experiment["claims"].push_back({{"id", id}, {"value", value}});
  ordered_json of_slow = value;
  of_slow["programs"] = {"SLOW"};
  experiment["claims"].push_back(
      {{"id", "p.twice"}, {"value", value}, {"readings", {{{"name", "slow"}, {"value", of_slow}}}}});
  experiment["claims"].push_back(
      {{"id", "p.order"},
       {"values", {{"slow", of_slow}, {"fast", value}}},
       {"readings", {{{"name", "the other way"}, {"values", {{"slow", value}, {"fast", of_slow}}}}}}});
  experiments.experiment("mine", experiment);

  const Folder out;
  const Exit plain = weft({"reproduce", "mine", "--out", out.path()});
  ASSERT_EQ(plain.code, 0) << plain.err;
  Table table = table_of(out.text("mine.md"), "Claims", 0);
  EXPECT_EQ(verdicts_of(table, "p.holds"), "reproduced, reproduced");
  EXPECT_EQ(verdicts_of(table, "p.turns"), "reproduced, reproduced");
  EXPECT_EQ(table.at("`p.turns`").at("ours"), digits(cycles, 0));
  EXPECT_EQ(table.at("`p.turns`").at("why"), "");
  EXPECT_EQ(verdicts_of(table, "p.caused"), "not, not");
  EXPECT_EQ(table.at("`p.caused`").at("why"),
            "machine: The clock is another one. Shown by `cycles`: `weft run --set x`");
  EXPECT_EQ(table.at("`p.open`").at("why"), "no cause found yet");
  EXPECT_EQ(verdicts_of(table, "p.order"), "reproduced, not");
  EXPECT_THAT(table.at("`p.order`").at("why"), AllOf(HasSubstr("the other way: "), HasSubstr(", not")));
  EXPECT_THAT(out.text("verdicts.md"),
              HasSubstr("| P | 6 | 0 | at the defaults | 4 | 0 | 2 | 4 (66 %) |\n"
                        "| P | 6 | 0 | whatever is not printed | 2 | 0 | 4 | 2 (33 %) |\n"));
  const ordered_json judged = out.json("mine.json").at("claims");
  EXPECT_EQ(judged.at(5).at("verdict"), "depends on unprinted");
  EXPECT_EQ(judged.at(5).at("at_defaults"), "reproduced");
  EXPECT_EQ(judged.at(5).at("worst"), "not");
  EXPECT_THAT(out.text("mine.md"), HasSubstr("Not run for this page: `dram.t_cl=4000`."));
  // A program's own settings are its alone.
  EXPECT_THAT(out.text("mine.md"), HasSubstr("SLOW = `vector_add --size small` with `dram.t_cl=2000`."));
  const Table taken = table_of(out.text("mine.md"), "core cycles", 0);
  EXPECT_EQ(taken.at("VA").at("sbr"), digits(cycles, 0));
  EXPECT_GT(std::stod(taken.at("SLOW").at("sbr")), 2 * cycles);

  const Exit more = weft({"reproduce", "mine", "--sensitivity", "--out", out.path()});
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_THAT(more.err, HasSubstr("2 of 3 runs already have results"));
  const std::string page = out.text("mine.md");
  table = table_of(page, "Claims", 0);
  EXPECT_EQ(verdicts_of(table, "p.holds"), "reproduced, reproduced");
  EXPECT_EQ(verdicts_of(table, "p.turns"), "reproduced, not");
  EXPECT_THAT(table.at("`p.turns`").at("why"), HasSubstr("dram.t_cl=4000: "));
  EXPECT_THAT(table.at("`p.turns`").at("why"),
              HasSubstr("; machine: Memory is another one. Shown by `cycles`: `weft run --set y`"));
  EXPECT_THAT(table.at("`p.twice`").at("why"), AllOf(HasSubstr("slow: "), HasSubstr("dram.t_cl=4000: ")));
  EXPECT_THAT(page, Not(HasSubstr("Not run for this page")));
  const Table settings = table_of(page, "Sensitivity to what is not printed", 0);
  EXPECT_EQ(settings.at("as configured").at("`p.turns`"), digits(cycles, 0));
  EXPECT_THAT(settings.at("`dram.t_cl=4000`").at("`p.turns`"), HasSubstr("not"));

  for (const char* key : {"claims", "headline", "sensitivity"}) experiment.erase(key);
  experiments.experiment("bare", experiment);
  const Exit bare = weft({"reproduce", "bare", "--out", out.path()});
  ASSERT_EQ(bare.code, 0) << bare.err;
  EXPECT_THAT(out.text("bare.md"), AllOf(HasSubstr("## core cycles"), Not(HasSubstr("## Claims"))));
}

// PTX of one's own beside a workload: its file lies where the experiment does.
TEST(Reproduce, RunsAProgramOfOnesOwn) {
  const Experiments experiments;
  experiments.claims({claim("p.count", "count", 1)});
  ordered_json experiment{
      {"title", "An experiment"},
      {"place", "1"},
      {"config", "harp-fermi"},
      {"programs",
       {{{"abbr", "MINE"},
         {"ptx", "mine.ptx"},
         {"grid", "1"},
         {"block", "64"},
         {"arguments", {"ptr:256", "u32:5"}}},
        {{"abbr", "VA"}, {"workload", "vector_add"}, {"size", "small"}}}},
      {"variants", {{{"name", "sbr"}}, {{"name", "tbc"}, {"set", {"warp_formation.scheme=tbc"}}}}},
      {"measures", {"cycles"}}};
  std::ofstream(experiments.experiment("own", experiment) / "mine.ptx") << kGoodKernel;
  const Folder out;
  const Exit exit = weft({"reproduce", "own", "--out", out.path()});
  ASSERT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("1 functional run first"));
  const ordered_json runs = out.json("own.json").at("runs");
  ASSERT_EQ(runs.size(), 4u);
  for (const ordered_json& run : runs) EXPECT_EQ(run.at("result"), "verified") << run;
  EXPECT_GT(runs[0].at("measures").at("cycles"), 0);
  EXPECT_THAT(out.text("own.md"),
              HasSubstr("MINE = `mine.ptx --grid 1 --block 64 --arg ptr:256 --arg u32:5`"));
  const Exit again = weft({"reproduce", "own", "--out", out.path(), "--size", "small"});
  EXPECT_THAT(again.err, HasSubstr("4 of 4 runs already have results"));

  experiment["programs"][0]["arguments"] = {"u32:5", "u32:5"};
  experiments.experiment("own", experiment);
  EXPECT_THAT(weft({"reproduce", "own", "--out", out.path()}).err,
              AllOf(HasSubstr("/programs/0/arguments: found "), HasSubstr("allowed: at least one buffer")));
  experiment["programs"][0]["workload"] = "bfs";
  experiments.experiment("own", experiment);
  EXPECT_THAT(weft({"reproduce", "own", "--out", out.path()}).err,
              HasSubstr("one of \"workload\", \"ptx\" and \"cuda\""));
}

// Experiments of a group share their runs; the command says what is to do before and what it took after.
TEST(Reproduce, AGroupIsDoneTogether) {
  const Experiments experiments;
  experiments.claims({claim("p.a", "count", 1)});
  const ordered_json bfs{{"abbr", "BFS"}, {"workload", "bfs"}},
      sum{{"abbr", "VA"}, {"workload", "vector_add"}};
  experiments.experiment("one", small_experiment({bfs, sum}));
  experiments.experiment("two", small_experiment(ordered_json::array({bfs})));
  experiments.experiment("both", small_experiment(ordered_json::array({sum})));
  experiments.write("groups.json",
                    {{"pair", {{"about", "two of them"}, {"experiments", {"one", "two"}}}},
                     {"slices", {{"about", "a"}, {"size", "n=100"}, {"experiments", {"two"}}}}});
  EXPECT_THAT(weft({"reproduce"}).out, HasSubstr("\npair    two of them\n"));
  const Folder out;
  const Exit first = weft({"reproduce", "pair", "--out", out.path()});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("weft: pair: 2 experiments, 4 of 4 runs to do; the time of 4 is unknown"));
  EXPECT_THAT(first.err, HasSubstr("weft: two: 0 of 2 runs to do"));
  EXPECT_THAT(first.err, HasSubstr("weft: pair: 4 runs took "));
  EXPECT_THAT(first.out, HasSubstr("4 of 4"));
  EXPECT_THAT(first.out, AllOf(HasSubstr("at the defaults"), HasSubstr("whatever is not printed")));
  EXPECT_TRUE(out.has("one.md") && out.has("two.md") && out.has("verdicts.md"));
  EXPECT_FALSE(out.has("both.md"));
  const Exit second = weft({"reproduce", "pair", "--out", out.path()});
  EXPECT_THAT(second.err, HasSubstr("weft: pair: 2 experiments, 0 of 4 runs to do"));
  const Exit third = weft({"reproduce", "pair", "--again", "--out", out.path()});
  EXPECT_THAT(third.err, HasSubstr("4 of 4 runs to do; 4 of these runs take about "));
  EXPECT_EQ(weft({"reproduce", "slices", "--out", out.path()}).code, 0);
  EXPECT_THAT(out.text("two-slice.md"), HasSubstr("bfs --size n=100"));
  const Exit wrong = weft({"reproduce", "pair", "--only", "BFS"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err,
              HasSubstr("--only: is allowed with an experiment; 'pair' is a group of experiments"));
  EXPECT_THAT(weft({"reproduce", "pairs"}).err, HasSubstr("groups: pair, slices"));
}

// Results of another build count if they are asked for, are of the same configuration as far as that build
// knew it, and wherever they lie.
TEST(Reproduce, ResultsOfAnyBuildCountIfAskedFor) {
  const Experiments experiments;
  experiments.claims({claim("p.a", "count", 1)});
  ordered_json mine = small_experiment(ordered_json::array({{{"abbr", "BFS"}, {"workload", "bfs"}}}));
  mine["variants"].erase(1);
  experiments.experiment("mine", mine);
  const Folder out;
  ASSERT_EQ(weft({"reproduce", "mine", "--out", out.path()}).code, 0);
  const std::filesystem::path runs = out.path() + "/runs/bfs";
  const std::filesystem::path own = *std::filesystem::directory_iterator(runs), old = runs / "old";
  std::filesystem::rename(own, old);
  ordered_json record = out.json("runs/bfs/old/run.json"), config = out.json("runs/bfs/old/config.json");
  record["build"] = "another";
  record["config_fnv1a"] = "another";
  config.erase("addresses");  // as if it had no such key yet
  const auto write = [&](const char* file, const ordered_json& json) {
    std::ofstream(old / file) << json.dump();
  };
  write("run.json", record);
  write("config.json", config);
  const Exit any = weft({"reproduce", "mine", "--any-build", "--out", out.path()});
  EXPECT_THAT(any.err, HasSubstr("weft: mine: 0 of 1 runs to do"));
  EXPECT_THAT(out.text("mine.md"), HasSubstr("The runs were made by build 0.1.0 another."));
  EXPECT_THAT(out.text("mine.md"), HasSubstr(" another."));
  config["l2"]["latency"] = config["l2"]["latency"].get<int>() + 1;
  write("config.json", config);
  EXPECT_THAT(weft({"reproduce", "mine", "--any-build", "--out", out.path()}).err,
              HasSubstr("weft: mine: 1 of 1 runs to do"));
  EXPECT_THAT(weft({"reproduce", "mine", "--out", out.path()}).err,
              HasSubstr("weft: mine: 0 of 1 runs to do"));
  EXPECT_THAT(out.text("mine.md"), Not(HasSubstr("other builds")));
  EXPECT_EQ(weft({"reproduce", "mine", "--again", "--any-build"}).code, 2);
}

// Who has not the folder of results to himself leaves all in it alone, drafts of the other's runs too.
TEST(Reproduce, AFolderInUseIsNotTouched) {
  const Experiments experiments;
  experiments.claims({claim("p.a", "count", 1)});
  experiments.experiment(
      "mine", small_experiment(ordered_json::array({{{"abbr", "VA"}, {"workload", "vector_add"}}})));
  experiments.write("groups.json", {{"one", {{"about", "of it"}, {"experiments", {"mine"}}}}});
  const Folder out;
  ASSERT_EQ(weft({"reproduce", "mine", "--out", out.path()}).code, 0);
  const std::filesystem::path run = *std::filesystem::directory_iterator(out.path() + "/runs/vector_add");
  const std::filesystem::path draft = run / ".weft-abcdefgh.part";
  std::ofstream(draft) << "half";
  const int folder = open(out.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(folder, LOCK_EX), 0);
  for (const char* name : {"mine", "one"}) {
    EXPECT_EQ(weft({"reproduce", name, "--out", out.path()}).code, 2) << name;
    EXPECT_TRUE(std::filesystem::exists(draft)) << name;
  }
  close(folder);
  EXPECT_EQ(weft({"reproduce", "one", "--out", out.path()}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(draft)) << "of a run that was killed";
}

// With other seeds: the numbers of `weft run` with that seed. What has no seed stays the same.
TEST(Reproduce, TheHeadlineHasASpreadOverItsInputs) {
  std::vector<double> cycles;
  for (const char* size : {"small", "small,seed=1", "small,seed=2"}) {
    const Folder run;
    ASSERT_EQ(
        weft({"run", "--config", "harp-fermi", "--workload", "bfs", "--size", size, "--out", run.path()})
            .code,
        0);
    cycles.push_back(run.json("stats.json").at("cycles").get<double>());
  }
  const Experiments experiments;
  experiments.claims({claim("p.bfs", "count", cycles[0]), claim("p.sum", "count", 1)});
  ordered_json mine = small_experiment(
      {{{"abbr", "BFS"}, {"workload", "bfs"}}, {{"abbr", "VA"}, {"workload", "vector_add"}}});
  mine["headline"] = {"p.bfs", "p.sum"};
  for (const auto& [id, program] : std::map<std::string, std::string>{{"p.bfs", "BFS"}, {"p.sum", "VA"}})
    mine["claims"].push_back(
        {{"id", id}, {"value", {{"measure", "cycles"}, {"variant", "sbr"}, {"programs", {program}}}}});
  experiments.experiment("mine", mine);
  const Folder out;
  const Exit exit = weft({"reproduce", "mine", "--seeds", "3", "--out", out.path()});
  ASSERT_EQ(exit.code, 0) << exit.err;
  // Two programs under two variants, and BFS under the headline's variant with two seeds more.
  EXPECT_THAT(exit.err, HasSubstr("6 of 6 runs done"));
  const std::string page = out.text("mine.md");
  EXPECT_THAT(page, HasSubstr("Inputs that are not generated stay the same: VA."));
  const auto spread = table_of(page, "Spread over the inputs", 0);
  const auto& row = spread.at("`p.bfs`");
  EXPECT_EQ(row.at("as the sizes have it"), digits(cycles[0], 0));
  EXPECT_EQ(row.at("least"), digits(*std::min_element(cycles.begin(), cycles.end()), 3));
  EXPECT_EQ(row.at("most"), digits(*std::max_element(cycles.begin(), cycles.end()), 3));
  const double mean = (cycles[0] + cycles[1] + cycles[2]) / 3;
  EXPECT_EQ(row.at("mean"), digits(mean, 3));
  double squares = 0;
  for (const double one : cycles) squares += (one - mean) * (one - mean);
  EXPECT_EQ(row.at("standard deviation"), digits(std::sqrt(squares / 2), 3));
  EXPECT_GT(squares, 0);
  EXPECT_EQ(spread.at("`p.sum`").at("standard deviation"), "0.000");
  EXPECT_THAT(row.at("verdicts"), HasSubstr("reproduced "));
  EXPECT_EQ(out.json("mine.json").at("seeds").size(), 2u);
  EXPECT_THAT(out.text("mine.csv"), HasSubstr("\"seed 2\",\"BFS\",\"sbr\",\"cycles\","));
  mine.erase("headline");
  experiments.experiment("mine", mine);
  EXPECT_THAT(weft({"reproduce", "mine", "--seeds", "2"}).err, HasSubstr("'mine' has no 'headline'"));
}

// Shares and registers of a kernel on the page are those that the compiler's own table has.
TEST(Reproduce, ScalarizationHasTheCountsOfTheCompiler) {
  const Folder folder;
  const Exit exit =
      weft({"reproduce", "stsimt-scalar", "--only", "BP_0,LPS_0", "--size", "small", "--out", folder.path()},
           patient(500));
  ASSERT_EQ(exit.code, 0) << exit.err;
  const std::string page = folder.text("stsimt-scalar-slice.md");
  const std::map<std::string, std::pair<std::string, std::string>> kernels{
      {"BP_0", {"back_propagation", "forward"}}, {"LPS_0", {"laplace_3d", "laplace_3d"}}};
  for (const auto& of : kernels) {
    const std::string& program = of.first;
    const std::pair<std::string, std::string>& kernel = of.second;
    const Exit listed = weft({"ptx", "--workload", kernel.first, "--table"});
    ASSERT_EQ(listed.code, 0) << listed.err;
    const test::CsvTable counts(listed.out);
    std::map<std::string, double> executed;
    for (const auto& entry :
         std::map<std::string, std::string>{{"off", "STSIMT4"},
                                            {"restricted", "STSIMT4, restricted scalarization"},
                                            {"full", "STSIMT4 with scalarization"}}) {
      const std::string &kind = entry.first, &column = entry.second;
      const auto row = std::find_if(counts.rows().begin(), counts.rows().end(), [&](const auto& r) {
        return r.at("kernel") == kernel.second && r.at("scalarization") == kind;
      });
      ASSERT_NE(row, counts.rows().end()) << kernel.second;
      const auto on_page = [&](const std::string& section) {
        return table_of(page, section, 1)[program][column];
      };
      SCOPED_TRACE(program + ", " + kind);
      EXPECT_EQ(on_page("instructions that are scalar"), digits(std::stod(row->at("scalar_share")), 3));
      EXPECT_EQ(on_page("registers of a thread"), digits(std::stod(row->at("registers_per_thread")), 1));
      EXPECT_EQ(on_page("scalar registers of a warp"), digits(std::stod(row->at("scalars_per_warp")), 1));
      EXPECT_EQ(on_page("32-bit registers of a warp"), digits(std::stod(row->at("registers_per_warp")), 1));
      const std::string share = on_page("executed instructions that are scalar");
      executed[kind] = share == "-" ? 0 : std::stod(share);
    }
    EXPECT_EQ(executed["off"], 0);
    EXPECT_GT(executed["restricted"], 0);
    EXPECT_GT(executed["full"], executed["restricted"]) << program;
  }
}

// Kernels of one workload as programs: one run serves them, and each has the numbers of its own launches.
TEST(Reproduce, KernelsHaveTheNumbersOfTheirLaunches) {
  const Experiments experiments;
  ordered_json series = claim("p.series", "series", {{"D", 1}, {"P", 2}, {"I", 3}});
  series["of"] = "amount";
  experiments.claims({claim("p.dense", "count", 1), series});
  ordered_json experiment{
      {"title", "Kernels"},
      {"place", "1"},
      {"config", "stsimt"},
      {"size", "n=32"},
      {"variants", {{{"name", "fast"}}, {{"name", "slow"}, {"set", {"dram.extra_latency=400"}}}}},
      {"measures",
       {"cycles",
        "speed",
        "simd_efficiency",
        "ipc",
        "lane_activity",
        "idle_share_k",
        {{"name", "blocks"}, {"heading", "blocks"}, {"digits", 0}, {"sum", {"launches.blocks"}}},
        {{"name", "none"},
         {"heading", "counters of nothing"},
         {"digits", 0},
         {"zeros", {"launches.blocks", "launches.overlapped", "launches.queue"}}},
        {{"name", "blocks_of_8_launches"},
         {"heading", "blocks of 8 launches"},
         {"digits", 3},
         {"sum", {"launches.blocks"}},
         {"over", {"launches.launches"}},
         {"factor", 8}},
        {{"name", "resident"},
         {"heading", "SM cycles"},
         {"digits", 0},
         {"sum", {"launches.interface_sm_cycles"}}}}},
      {"comparisons", {{{"measure", "speed"}, {"variant", "slow"}, {"over", {"fast"}}}}},
      {"class",
       {{"measure", "simd_efficiency"},
        {"variant", "fast"},
        {"below", 0.85},
        {"names", {"sparse", "dense"}},
        {"near", 0.5},
        {"apart", {"D"}}}},
      {"numbers",
       {{{"what", "correlation"},
         {"printed", "1"},
         {"value",
          {{"rank_correlation", "p.series"}, {"measure", "simd_efficiency"}, {"variant", "fast"}}}}}},
      {"tables",
       {{{"title", "Beside"},
         {"variant", "fast"},
         {"columns", {{{"measure", "simd_efficiency"}, {"printed", "p.series"}}}}}}}};
  for (const auto& [abbr, kernel] : std::map<std::string, std::string>{
           {"D", "lud_diagonal"}, {"I", "lud_internal"}, {"P", "lud_perimeter"}})
    experiment["programs"].push_back(
        {{"abbr", abbr}, {"workload", "lud"}, {"kernel", kernel}, {"seconds", 1}});
  experiment["claims"] = {
      {{"id", "p.dense"},
       {"value",
        {{"count", "above"}, {"limit", 0}, {"measure", "ipc"}, {"variant", "fast"}, {"types", {"dense"}}}}},
      {{"id", "p.series"}, {"each", {{"measure", "simd_efficiency"}, {"variant", "fast"}}}}};
  experiments.experiment("mine", experiment);

  const Folder out;
  const Exit exit = weft({"reproduce", "mine", "--out", out.path()}, patient(300));
  ASSERT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("2 of 2 runs to do"));
  EXPECT_THAT(exit.err, HasSubstr("2 of the remaining runs take about 6 s of CPU"));
  const ordered_json json = out.json("mine.json");
  const std::string page = out.text("mine.md");

  // The same from the table of launches.
  const Folder run;
  ASSERT_EQ(weft({"run", "--config", "stsimt", "--workload", "lud", "--size", "n=32", "--out", run.path()},
                 patient(300))
                .code,
            0);
  const test::CsvTable launches(run.text("launches.csv"));
  const auto sum = [&](const char* column, const char* kernel) {
    return launches.sum(column, "kernel", kernel);
  };
  const Table cycles = table_of(page, "core cycles", 1), efficiency = table_of(page, "Beside", 1),
              blocks = table_of(page, "blocks", 1), resident = table_of(page, "SM cycles", 1),
              ipc = table_of(page, "IPC", 1), types = table_of(page, "Types", 0);
  double all = 0, places = 0, instructions = 0;
  for (const auto& [abbr, kernel] : std::map<std::string, const char*>{
           {"D", "lud_diagonal"}, {"I", "lud_internal"}, {"P", "lud_perimeter"}}) {
    all += sum("cycles", kernel);
    places += sum("thread_places", kernel);
    instructions += sum("thread_instructions", kernel);
    EXPECT_EQ(cycles.at(abbr).at("fast"), digits(sum("cycles", kernel), 0));
    EXPECT_EQ(blocks.at(abbr).at("fast"), digits(sum("blocks", kernel), 0));
    EXPECT_EQ(ipc.at(abbr).at("fast"), digits(sum("thread_instructions", kernel) / sum("cycles", kernel), 2));
    const double own = sum("thread_instructions", kernel) / sum("thread_places", kernel);
    EXPECT_EQ(efficiency.at(abbr).at("SIMD efficiency"), digits(own, 3));
    EXPECT_EQ(cycles.at(abbr).at("type"), own < 0.85 ? "sparse" : "dense");
  }
  EXPECT_EQ(all, run.json("stats.json").at("cycles").get<double>());
  EXPECT_DOUBLE_EQ(instructions / places, run.json("stats.json").at("simd_efficiency").get<double>());
  // One block at a time, which keeps one of the ten interfaces and its three SMs.
  EXPECT_EQ(sum("blocks", "lud_diagonal"), 2);
  const double shared = sum("interface_sm_cycles", "lud_diagonal");
  EXPECT_EQ(resident.at("D").at("fast"), digits(shared, 0));
  EXPECT_EQ(table_of(page, "counters of nothing", 1).at("D").at("fast"), "2");
  EXPECT_EQ(table_of(page, "blocks of 8 launches", 1).at("D").at("fast"),
            digits(8 * sum("blocks", "lud_diagonal") / sum("launches", "lud_diagonal"), 3));
  EXPECT_GT(shared, 3 * sum("held_cycles", "lud_diagonal"));
  EXPECT_LT(shared, 3 * sum("cycles", "lud_diagonal"));

  // Types: the internal kernel alone is dense; the limit may be where all or none are.
  EXPECT_EQ(types.size(), 4u);
  EXPECT_THAT(page, HasSubstr("| 0.85 | sparse | 2 |"));
  EXPECT_THAT(page, HasSubstr("| 0.35 | sparse | 1 |"));
  EXPECT_THAT(page, HasSubstr("| 1.35 | sparse | 3 |"));
  EXPECT_THAT(page, HasSubstr("| 0.85 without D | sparse | 1 |"));
  EXPECT_EQ(table_of(page, "Claims", 0).at("`p.dense`").at("ours"), "1");
  EXPECT_EQ(verdicts_of(table_of(page, "Claims", 0), "p.dense"), "reproduced, reproduced");
  EXPECT_EQ(efficiency.at("rank correlation").at("SIMD efficiency"), "1.000");
  EXPECT_EQ(table_of(page, "Further numbers", 0).at("correlation").at("ours"), "1.000");
  EXPECT_EQ(json.at("runs").at(0).at("kernel"), "lud_diagonal");
  EXPECT_EQ(json.at("numbers").at(0).at("ours"), 1.0);

  // A kernel that this size does not launch.
  experiment["programs"][0] = {
      {"abbr", "D"}, {"workload", "nearest_neighbor"}, {"kernel", "distances_of_lines"}};
  experiment["programs"][1] = {
      {"abbr", "I"}, {"workload", "nearest_neighbor"}, {"kernel", "distances_of_pairs"}};
  experiment["size"] = "small";
  experiment["programs"].erase(2);
  for (const char* key : {"claims", "tables", "numbers"}) experiment.erase(key);
  experiments.experiment("mine", experiment);
  ASSERT_EQ(weft({"reproduce", "mine", "--out", out.path()}, patient(300)).code, 0);
  EXPECT_THAT(out.text("mine.md"),
              HasSubstr("| I | fast | no launch of 'distances_of_pairs'; known: distances_of_lines |"));
}

}  // namespace
}  // namespace weft::end_to_end::reproduce_test
