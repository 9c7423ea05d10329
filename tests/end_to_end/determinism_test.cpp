// The same run gives the same statistics: again, without sleeping modules, and with the base instruction set.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "end_to_end/process.h"

namespace weft::end_to_end {
namespace {

// stats.json without what depends on the machine that ran it.
std::string comparable(const Folder& folder, const std::string& name) {
  auto stats = folder.json(name + "/stats.json");
  for (const char* key : {"cpu_seconds", "wall_seconds", "peak_memory_bytes"}) {
    EXPECT_EQ(stats.erase(key), 1u) << key;
  }
  return stats.dump(1);
}

std::string run(const Folder& folder, const std::string& name, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--out", folder.path(name)});
  const Exit exit = weft(arguments);
  EXPECT_EQ(exit.code, 0) << exit.out << exit.err;
  return comparable(folder, name);
}

class Determinism : public ::testing::TestWithParam<const char*> {};

TEST_P(Determinism, OfEveryStatistic) {
  const Folder folder;
  const std::vector<std::string> arguments{"run", "--config", GetParam(), "--workload",
                                           "bfs", "--size",   "n=700"};
  const std::string first = run(folder, "first", arguments);
  EXPECT_EQ(run(folder, "second", arguments), first);

  auto awake = arguments;
  awake.emplace_back("--no-sleep");
  EXPECT_EQ(run(folder, "awake", awake), first) << "modules that sleep must count as if they had not";

  setenv("WEFT_ISA", "base", 1);
  EXPECT_EQ(run(folder, "base", arguments), first)
      << "both compiled versions of the hot loops give the same bits";
  unsetenv("WEFT_ISA");
}

INSTANTIATE_TEST_SUITE_P(All, Determinism,
                         ::testing::Values("crown-tesla", "dwr-tesla", "gtx480", "harp-fermi", "stsimt"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

TEST(DeterminismOnGtx480, OfBarriersAndSharedMemory) {
  const Folder folder;
  const std::vector<std::string> arguments{"run", "--workload", "reduction", "--size", "n=5000"};
  auto awake = arguments;
  awake.emplace_back("--no-sleep");
  EXPECT_EQ(run(folder, "awake", awake), run(folder, "first", arguments));
}

}  // namespace
}  // namespace weft::end_to_end
