// Signals of parts that rest are not read. Without sleeping no part rests: every signal is read at every
// edge.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "end_to_end/process.h"
#include "warp_formation/schemes.h"

namespace weft::vcd {
namespace {

using Words = std::vector<std::string>;

struct Machine {
  std::string name, config;
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

std::vector<Machine> machines() {
  std::vector<Machine> list = {
      {"dwr_tesla", "dwr-tesla", {}},
      {"gtx480", "gtx480", {}},
      {"integrated", "integrated", {}},
      {"sub_cores",
       "gtx480",
       {"sm.count=3", "sm.schedulers=4", "sm.schedulers_per_domain=1", "sm.block_placement=sub_cores",
        "datapath.units.enabled=true", "datapath.address_queue.entries=5", "sm.memory_queue=32"}},
      {"stsimt", "stsimt", {"sm.count=3"}},
      {"refresh", "gtx480", {"dram.t_refi=500", "dram.t_rfc=50"}},
      {"closed_pages", "gtx480", {"dram.page_policy=closed"}},
      {"thread_states", "gtx480", {"sm.observe.stalled_threads=true"}}};
  for (const std::string& scheme : scheme_classes::all())
    list.push_back({scheme, "harp-fermi", {"warp_formation.scheme=" + scheme}});
  return list;
}

INSTANTIATE_TEST_SUITE_P(On, RestingParts, ::testing::ValuesIn(machines()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace weft::vcd
