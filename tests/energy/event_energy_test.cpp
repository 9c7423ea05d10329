// Energy: a sum over events, whichever way it is taken.
#include "energy/event_energy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "platform/csv_table.h"
#include "platform/energy_machine.h"
#include "platform/gpu_bench.h"

namespace weft::test::event_energy_test {
namespace {

using energy::Component;
using energy::Energy;
using energy::Events;
using runtime::Arguments;

const std::string kBody = "mad.lo.u32 %r1, %r1, 3, %r2; add.u64 %rd5, %rd3, 8; ld.global.u32 %r5, [%rd5];";

nlohmann::ordered_json run(GpuBench& bench, unsigned turns = 20) {
  const auto out = bench.zeros(4096);
  bench.load(looped_kernel(kBody));
  bench.run({3, 1, 1}, {64, 1, 1}, Arguments().add(out).add(turns).add(out));
  return bench.statistics();
}

Energy energy_of(const nlohmann::ordered_json& statistics, const GpuConfig& config) {
  const statistics::Sample sample(statistics);
  const Events events = Events::of(sample);
  const energy::Machine machine = machine_of(config);
  return energy::energy_of(sample, events, energy::prices_of(events, machine, technology_of(config.energy)),
                           machine);
}

TEST(EventEnergy, IsTheSumOfItsComponents) {
  GpuBench bench({"sm.observe.events=true"});
  const Energy energy = energy_of(run(bench), bench.device.gpu().config());
  double components = 0, parts = 0;
  for (std::size_t c = 0; c < energy::kComponents; ++c)
    components += energy.joules(static_cast<Component>(c));
  for (const auto& part : energy.parts) parts += part.count * part.price.picojoules * 1e-12;
  EXPECT_NEAR(components, energy.joules(), 1e-9 * energy.joules());
  EXPECT_NEAR(parts, energy.joules(), 1e-9 * energy.joules());
  EXPECT_LT(energy.joules_low(), energy.joules());
  EXPECT_GT(energy.joules_high(), energy.joules());
  EXPECT_DOUBLE_EQ(energy.watts() * energy.seconds, energy.joules());
  EXPECT_DOUBLE_EQ(energy.edp(), energy.joules() * energy.seconds);
  EXPECT_NEAR(energy.seconds, static_cast<double>(bench.device.gpu().totals().cycles) / 700e6, 1e-15);
  for (const Component c :
       {Component::kLanes, Component::kRegisters, Component::kFrontEnd, Component::kL1, Component::kNetwork,
        Component::kL2, Component::kDram, Component::kClock, Component::kLeakage})
    EXPECT_GT(energy.joules(c), 0) << name_of(c);
}

// Power over time, and launches, come to the energy of the run; so do samples to that of the SMs.
TEST(EventEnergy, OfIntervalsAndLaunchesAddsUpToTheRun) {
  GpuBench bench({"sm.observe.events=true"});
  Gpu& gpu = bench.device.gpu();
  gpu.recordings().sample(300);
  gpu.recordings().write_down_launches();
  run(bench, 30);
  const auto out = bench.zeros(4096);
  bench.run({30, 1, 1}, {96, 1, 1}, Arguments().add(out).add(7u).add(out));
  const Energy energy = energy_of(bench.statistics(), gpu.config());
  const double joules = energy.joules();
  const CsvTable power(gpu.recordings().power()), samples(gpu.recordings().samples()),
      launches(gpu.recordings().launches());
  ASSERT_GT(power.rows().size(), 4u);
  EXPECT_NEAR(power.sum("energy_nj") * 1e-9, joules, 1e-9 * joules);
  double over_time = 0;
  for (const CsvTable::Row& row : power.rows())
    over_time += std::stod(row.at("power_w")) * std::stod(row.at("cycles")) / 700e6;
  EXPECT_NEAR(over_time, joules, 1e-6 * joules);  // but for what memory did after the last launch
  EXPECT_EQ(power.sum("cycles"), static_cast<double>(gpu.totals().cycles));
  for (std::size_t c = 0; c < energy::kComponents; ++c) {
    const auto component = static_cast<Component>(c);
    EXPECT_NEAR(power.sum(std::string(name_of(component)) + "_nj") * 1e-9, energy.joules(component),
                1e-9 * joules);
  }
  ASSERT_EQ(launches.rows().size(), 2u);
  EXPECT_NEAR(launches.sum("energy_nj") * 1e-9, joules, 1e-9 * joules);
  EXPECT_NEAR(launches.sum("dram_energy_nj") * 1e-9, energy.joules(Component::kDram), 1e-9 * joules);
  double of_sms = 0;
  for (const auto& part : energy.parts) {
    for (const auto& event : Events::of(gpu.statistics()).all)
      of_sms += event.of_sm && event.name == part.name ? part.joules() : 0;
  }
  EXPECT_NEAR(samples.sum("energy_nj") * 1e-9, of_sms, 1e-9 * joules);
  EXPECT_NEAR(launches.sum("sm_energy_nj") * 1e-9, of_sms, 1e-9 * joules);
}

// The tree in memory names the same events as the file that is made of it.
TEST(EventEnergy, IsTheSameFromTheTreeAndFromItsFile) {
  GpuBench bench({"sm.observe.events=true"});
  const auto file = run(bench);
  const statistics::Group& tree = bench.device.gpu().statistics();
  const Events from_tree = Events::of(tree), from_file = Events::of(statistics::Sample(file));
  ASSERT_EQ(from_tree.all.size(), from_file.all.size());
  const Energy energy = energy_of(file, bench.device.gpu().config());
  for (std::size_t i = 0; i < from_tree.all.size(); ++i) {
    EXPECT_EQ(from_tree.all[i].name, from_file.all[i].name);
    if (energy::counts_cycles(from_tree.all[i])) continue;
    double count = 0;
    if (from_tree.all[i].of_sm) {
      for (const auto* sm : tree.groups({"sm"}))
        count += static_cast<double>(sum_of(*sm, from_tree.all[i]).value());
    } else {
      count = static_cast<double>(sum_of(tree, from_tree.all[i]).value());
    }
    EXPECT_EQ(count, energy.parts[i].count) << from_tree.all[i].name;
  }
  ASSERT_EQ(from_tree.tables.size(), 1u);
  EXPECT_EQ(from_tree.tables[0].name, "stacks");
  EXPECT_EQ(from_tree.tables[0].row_bits, 96);
}

TEST(EventEnergy, IsNotThereUnlessAskedFor) {
  GpuBench bench;
  const auto statistics = run(bench);
  EXPECT_TRUE(Events::of(statistics::Sample(statistics)).empty());
  EXPECT_TRUE(Events::of(bench.device.gpu().statistics()).empty());
  EXPECT_FALSE(statistics.at("sm0").contains("events"));
}

// By hand, on gtx480: 64 lanes of an SM in two groups; 128 KB of registers, 8 banks of a lane each.
TEST(EventEnergy, PricesFollowTheMachine) {
  GpuBench bench({"sm.observe.events=true", "clocks.interconnect_mhz=350"});
  const auto file = run(bench);
  const GpuConfig& config = bench.device.gpu().config();
  const energy::Technology technology = technology_of(config.energy);
  const auto figure = [&](const std::string& name) { return technology.at(name).value; };
  const Energy energy = energy_of(file, config);
  const auto price = [&](const std::string& name) {
    for (const auto& part : energy.parts) {
      if (part.name == name) return part.price.picojoules;
    }
    ADD_FAILURE() << name;
    return 0.0;
  };
  const auto array = [&](const std::string& access, double bytes, double bits) {
    return figure(access) * std::pow(bits / 256, figure(access + "_width_exponent")) *
           std::pow(bytes / 8192, figure(access + "_capacity_exponent"));
  };
  const double bank = 131072.0 / 64 / 8;
  EXPECT_NEAR(price("register_read"), 32 * array("sram.read", bank, 32), 1e-9);
  EXPECT_NEAR(price("register_write"), 32 * array("sram.write", bank, 32), 1e-9);
  EXPECT_NEAR(price("shared_read"),
              array("sram.read", 49152.0 / 32, 32) + figure("wire") * 32 * std::sqrt(48 * 0.0026), 1e-9);
  EXPECT_NEAR(price("operation.float_fma"), figure("operation.float_fma"), 1e-9);
  EXPECT_NEAR(price("sm_clock"), figure("clock.lane") * 64 / 2, 1e-9);
  EXPECT_NEAR(price("flit"), figure("wire") * 40 * 8 * figure("network.length"), 1e-9);
  EXPECT_NEAR(price("dram_activate"), figure("dram.activate") * 4, 1e-9);
  EXPECT_NEAR(price("dram_standby"), figure("dram.background") * 12 * 1000 / 700, 1e-9);
  EXPECT_NEAR(price("chip_clock"), (figure("clock.chip") + figure("clock.cluster") * 15) * 350 / 700, 1e-9);
  EXPECT_NEAR(price("leakage"),
              (figure("leakage.lane") * 15 * 64 * 700 / 1400 + figure("sram.leakage") * 12 * 64) * 1000 / 700,
              1e-6);
}

// A line of the L1 lies in the banks of shared memory: there is one array, of the bytes of both.
TEST(EventEnergy, AUnifiedMemoryIsOneArray) {
  const GpuConfig config = load_config("rtx3070");
  const energy::Technology technology = technology_of(config.energy);
  Events events;
  for (const char* name : {"shared_read", "shared_write", "l1d_read_hit", "l1d_fill"})
    events.all.push_back({name, Component::kL1, true, {}, 0});
  const auto prices = energy::prices_of(events, machine_of(config), technology);
  const auto figure = [&](const std::string& name) { return technology.at(name).value; };
  const double kilobytes = 128, bank = kilobytes * 1024 / 32;  // bytes of one of 32 banks, 4 bytes wide
  const double word = figure("sram.read") * std::pow(32.0 / 256, figure("sram.read_width_exponent")) *
                          std::pow(bank / 8192, figure("sram.read_capacity_exponent")) +
                      figure("wire") * 32 * std::sqrt(kilobytes * 0.0026);
  EXPECT_NEAR(prices[0].picojoules, word, 1e-9);
  EXPECT_NEAR(prices[2].picojoules, 8 * word, 1e-9) << "a sector of 32 bytes";
  EXPECT_NEAR(prices[3].picojoules, 8 * prices[1].picojoules, 1e-9) << "fetched sector by sector";
}

// The power laws against CACTI's runs of the very arrays (modules/area/cacti/events.csv).
TEST(EventEnergy, OfArraysIsNearThatOfCacti) {
  std::ifstream in(WEFT_CACTI_EVENTS);
  std::stringstream text;
  text << in.rdbuf();
  const CsvTable runs(text.str());
  ASSERT_GT(runs.rows().size(), 20u);
  const energy::Technology technology = technology_of({});
  for (const std::string access : {"read", "write"}) {
    const auto figure = [&](const std::string& what) { return technology.at("sram." + access + what).value; };
    std::vector<double> off;
    for (const CsvTable::Row& run : runs.rows()) {
      const double rows = std::stod(run.at("rows")), bits = std::stod(run.at("bits"));
      const double law = figure("") * std::pow(bits / 256, figure("_width_exponent")) *
                         std::pow(rows * bits / 8 / 8192, figure("_capacity_exponent"));
      off.push_back(std::abs(std::log(law / std::stod(run.at(access + "_pj")))));
    }
    std::sort(off.begin(), off.end());
    EXPECT_LT(std::exp(off[off.size() / 2]), 1.2) << access;
    EXPECT_LT(std::exp(off.back()), 1.5) << access;
  }
}

}  // namespace
}  // namespace weft::test::event_energy_test
