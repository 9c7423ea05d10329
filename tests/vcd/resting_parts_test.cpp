// Signals of parts that rest are not read. Without sleeping no part rests: every signal is read at every
// edge.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "end_to_end/process.h"

namespace weft::vcd {
namespace {

using Words = std::vector<std::string>;

struct Machine {
  const char *name, *config;
  Words settings;
};

class RestingParts : public ::testing::TestWithParam<Machine> {};

std::string waveform(const Machine& machine, const Words& more) {
  const end_to_end::Folder folder;
  Words words{"run",    "--config", machine.config, "--workload",          "bfs",
              "--size", "n=500",    "--vcd",        folder.path("run.vcd")};
  for (const std::string& setting : machine.settings) words.insert(words.end(), {"--set", setting});
  words.insert(words.end(), more.begin(), more.end());
  const end_to_end::Exit exit = end_to_end::weft(words);
  EXPECT_EQ(exit.code, 0) << exit.out << exit.err;
  return folder.text("run.vcd");
}

TEST_P(RestingParts, KeepTheirValues) {
  const std::string asleep = waveform(GetParam(), {});
  EXPECT_GT(asleep.size(), 100'000u);
  EXPECT_TRUE(asleep == waveform(GetParam(), {"--no-sleep"}));
}

Machine of_scheme(const char* scheme) {
  return {scheme, "harp-fermi", {std::string("warp_formation.scheme=") + scheme}};
}

INSTANTIATE_TEST_SUITE_P(
    On, RestingParts,
    ::testing::Values(Machine{"dwr_tesla", "dwr-tesla", {}}, Machine{"gtx480", "gtx480", {}},
                      Machine{"integrated", "integrated", {}}, Machine{"stsimt", "stsimt", {"sm.count=3"}},
                      Machine{"refresh", "gtx480", {"dram.t_refi=500", "dram.t_rfc=50"}},
                      Machine{"closed_pages", "gtx480", {"dram.page_policy=closed"}},
                      Machine{"thread_states", "gtx480", {"sm.observe.stalled_threads=true"}},
                      of_scheme("crown"), of_scheme("dwf"), of_scheme("dwr"), of_scheme("harp"),
                      of_scheme("lwm"), of_scheme("sbr"), of_scheme("stackless"), of_scheme("tbc"),
                      of_scheme("capri"), of_scheme("thread_frontiers"), of_scheme("convergence_barriers")),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::vcd
