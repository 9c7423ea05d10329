// instructions.csv and `weft annotate`: sums over instructions are what the machine's own statistics and the
// table of launches say, whatever the scheme, datapath and caches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/process.h"

namespace weft::end_to_end::annotate_test {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

// Sums of the columns of a table, by kernel. No cell of these tables has a comma within.
std::map<std::string, std::map<std::string, std::uint64_t>> sums_of(const std::string& table) {
  std::map<std::string, std::map<std::string, std::uint64_t>> sums;
  std::istringstream in(table);
  const auto cells = [](const std::string& line) {
    std::vector<std::string> list;
    std::istringstream rest(line);
    for (std::string cell; std::getline(rest, cell, ',');) list.push_back(cell);
    return list;
  };
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = cells(line);
  const auto kernel = std::find(names.begin(), names.end(), "kernel") - names.begin();
  while (std::getline(in, line)) {
    const std::vector<std::string> row = cells(line);
    for (std::size_t i = 0; i < row.size(); ++i)
      sums[row[static_cast<std::size_t>(kernel)]][names[i]] += std::strtoull(row[i].c_str(), nullptr, 10);
  }
  return sums;
}

// The sum of all numbers that a path below smN names; "*" before a number stands for any.
std::uint64_t sum_below(const ordered_json& group, const std::vector<std::string>& path, std::size_t at = 0) {
  if (at == path.size()) return group.get<std::uint64_t>();
  std::uint64_t sum = 0;
  for (const auto& [name, value] : group.items()) {
    const bool same = name == path[at];
    const bool instance = !same && name.size() > path[at].size() && name.rfind(path[at], 0) == 0 &&
                          name.find_first_not_of("0123456789", path[at].size()) == std::string::npos;
    if (same || instance) sum += sum_below(value, path, at + 1);
  }
  return sum;
}

struct Case {
  const char* name;
  std::vector<std::string> arguments;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class Instructions : public ::testing::TestWithParam<Case> {};
TEST_P(Instructions, SumToTheStatistics) {
  const Folder folder;
  std::vector<std::string> arguments{
      "run", "--size", "small", "--out", folder.path("out"), "--set", "sm.observe.instructions=true"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const Exit exit = weft(arguments);
  ASSERT_EQ(exit.code, 0) << exit.err;
  const auto instructions = sums_of(folder.text("out/instructions.csv"));
  const auto launches = sums_of(folder.text("out/launches.csv"));
  const ordered_json statistics = folder.json("out/stats.json").at("statistics");

  // Of each kernel, as its launches.
  ASSERT_EQ(instructions.size(), launches.size());
  for (const auto& [kernel, sums] : launches) {
    ASSERT_EQ(instructions.count(kernel), 1u) << kernel;
    const auto& found = instructions.at(kernel);
    for (const char* column : {"warp_instructions", "thread_instructions", "executed_thread_instructions",
                               "thread_places", "active_beats", "active_lanes", "memory_thread_instructions",
                               "data_requests", "shared_accesses", "shared_conflict_cycles"})
      EXPECT_EQ(found.at(column), sums.at(column)) << kernel << " " << column;
    for (const char* bucket : {"issued", "unit_busy", "memory_busy", "memory", "dependence", "control",
                               "fetch", "barrier", "reconvergence", "scheme", "empty"}) {
      const std::string column = std::string("cycles_") + bucket;
      EXPECT_EQ(found.at(column), sums.at(column)) << kernel << " " << column;
    }
  }
  // Of all, as the machine's counters.
  std::uint64_t requests = 0, issued = 0, parted = 0;
  for (const auto& [kernel, sums] : instructions) {
    requests += sums.at("coalesced_requests");
    issued += sums.at("cycles_issued");
    parted += sums.at("parted");
  }
  EXPECT_EQ(requests, sum_below(statistics, {"sm", "memory", "coalesced_requests"}));
  EXPECT_EQ(issued, sum_below(statistics, {"sm", "scheduler", "cycles", "issued"}));
  EXPECT_GT(issued, 0u);
  EXPECT_GT(parted, 0u);
}
INSTANTIATE_TEST_SUITE_P(
    Machines, Instructions,
    ::testing::Values(
        Case{"Gtx480", {"--workload", "bfs"}},
        Case{"WrittenBack", {"--workload", "bfs", "--set", "sm.l1d.write_policy=back", "sm.l1d.kept=false"}},
        Case{"Harp", {"--workload", "bfs", "--config", "harp-fermi", "--set", "warp_formation.scheme=harp"}},
        Case{"DwrSeveralKernels", {"--workload", "merge_sort", "--config", "dwr-tesla"}},
        Case{"Temporal",
             {"--workload", "discontinuous_galerkin", "--config", "stsimt", "--set",
              "datapath.kind=temporal"}},
        Case{"SharedMemory", {"--workload", "back_propagation", "--config", "crown-tesla"}},
        Case{"TwoAtATime", {"--workload", "bfs", "--set", "sm.issue_width=2"}}),
    [](const auto& info) { return std::string(info.param.name); });

// Nothing is simulated otherwise, and nothing is written without being asked for.
TEST(Instructions, ChangeNothing) {
  const Folder folder;
  ASSERT_EQ(weft({"run", "--workload", "bfs", "--size", "small", "--out", folder.path("a")}).code, 0);
  ASSERT_EQ(weft({"run", "--workload", "bfs", "--size", "small", "--sample", "100", "--set",
                  "sm.observe.instructions=true", "--out", folder.path("b")})
                .code,
            0);
  EXPECT_EQ(folder.json("a/stats.json").at("statistics"), folder.json("b/stats.json").at("statistics"));
  EXPECT_EQ(folder.text("a/launches.csv"), folder.text("b/launches.csv"));
  EXPECT_FALSE(folder.has("a/instructions.csv"));
  EXPECT_FALSE(folder.has("a/kernels.json"));
  // Reading the statistics meanwhile, as samples do, charges nothing otherwise.
  ASSERT_EQ(weft({"run", "--workload", "bfs", "--size", "small", "--set", "sm.observe.instructions=true",
                  "--out", folder.path("c")})
                .code,
            0);
  EXPECT_EQ(folder.text("b/instructions.csv"), folder.text("c/instructions.csv"));
  // A run without takes away what an earlier one left.
  ASSERT_EQ(weft({"run", "--workload", "bfs", "--size", "small", "--out", folder.path("b")}).code, 0);
  EXPECT_FALSE(folder.has("b/instructions.csv"));
  EXPECT_FALSE(folder.has("b/kernels.json"));
}

TEST(Annotate, ShowsSourceAndPtx) {
  const Folder folder;
  ASSERT_EQ(weft({"run", "--workload", "bfs", "--size", "small", "--set", "sm.observe.instructions=true",
                  "--out", folder.path("out")})
                .code,
            0);
  const std::string out = weft({"annotate", folder.path("out")}).out;
  EXPECT_THAT(out, HasSubstr("if (level[next] >= 0) continue;"));
  EXPECT_THAT(out, HasSubstr("ld.global"));
  const auto sums = sums_of(folder.text("out/instructions.csv"));
  std::uint64_t cycles = 0, issues = 0;
  for (const auto& [name, value] : sums.begin()->second) {
    if (name.rfind("cycles_", 0) == 0) cycles += value;
    if (name == "warp_instructions") issues = value;
  }
  EXPECT_THAT(out, HasSubstr(std::to_string(cycles) + " cycles of schedulers, " + std::to_string(issues) +
                             " warp instructions"));
  const std::string source =
      weft({"annotate", folder.path("out"), "--view", "source", "--kernel", "bfs"}).out;
  EXPECT_THAT(source, HasSubstr("continue;"));
  EXPECT_THAT(source, ::testing::Not(HasSubstr("ld.global")));
}

TEST(Annotate, RefusesWhatItCannotRead) {
  const Folder folder;
  const auto says = [&](const std::vector<std::string>& arguments, const std::string& text) {
    const Exit exit = weft(arguments);
    EXPECT_EQ(exit.code, 2) << exit.out;
    EXPECT_THAT(exit.err, HasSubstr(text));
  };
  says({"annotate", folder.path("nowhere")},
       "found no folder; allowed: a folder that weft run, compare or cuda has written");
  says({"annotate", folder.path("")}, "found neither stats.json nor comparison.json");
  ASSERT_EQ(weft({"run", "--workload", "reduction", "--size", "small", "--out", folder.path("out")}).code, 0);
  says({"annotate", folder.path("out")}, "repeat the run with --set sm.observe.instructions=true");
  ASSERT_EQ(weft({"run", "--workload", "reduction", "--size", "small", "--set",
                  "sm.observe.instructions=true", "--out", folder.path("out")})
                .code,
            0);
  says({"annotate", folder.path("out"), "--kernel", "none"}, "--kernel: found 'none'; allowed: ");
  says({"annotate", folder.path("out"), "--view", "all"}, "--view: found 'all'; allowed: source, ptx, both");
  const std::string table = folder.text("out/instructions.csv");
  folder.write("out/instructions.csv", table + "a,b\n");
  says({"annotate", folder.path("out")}, "found 2 cells; allowed: ");
  folder.write("out/instructions.csv", "kernel,program\n");
  says({"annotate", folder.path("out")}, "found no column 'pc'");
  folder.write("out/instructions.csv", table);
  folder.write("out/kernels.json", "{\"lanes\": 32}");
  says({"annotate", folder.path("out")}, "kernels.json: ");
  folder.write("out/stats.json", "{\"cycles\": ");
  says({"annotate", folder.path("out")}, "stats.json: found invalid JSON: ");
}

}  // namespace
}  // namespace weft::end_to_end::annotate_test
