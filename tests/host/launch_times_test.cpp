// Where the time of a launch from a packet goes, against what driver, interrupt and dispatcher say
// themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "host/gpu_machine.h"
#include "platform/csv_table.h"

namespace weft::test::launch_times_test {
namespace {

constexpr const char* kMoments[] = {"doorbell_ns",    "fetch_began_ns", "fetched_ns", "dispatched_ns",
                                    "first_issue_ns", "last_issue_ns",  "ended_ns",   "signalled_ns",
                                    "interrupt_ns",   "handled_ns"};

double now_ns() {
  return sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_NS);
}

class LaunchTimes : public ::testing::Test {
 public:
  LaunchTimes() : machine(config_of("gtx480")) {
    machine.with_ram();
    machine.gpu.recordings().time_launches();
    machine.gpu.recordings().write_down_launches();
  }
  // What lies around a moment, as the driver and the interrupt see it.
  struct Seen {
    double before_doorbell = 0, after_doorbell = 0, interrupt = 0, before_read = 0, after_read = 0;
  };
  Seen launch(std::uint32_t index) {
    Seen seen;
    machine.ram.put<std::int64_t>(kSignal, 1);
    seen.before_doorbell = now_ns();
    machine.submit(0, index, dispatch_packet(5, 64));
    seen.after_doorbell = now_ns();
    sc_core::wait(machine.irq.posedge_event());
    seen.interrupt = now_ns();
    sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
    seen.before_read = now_ns();
    EXPECT_EQ(machine.reg(WEFT_REG_IRQ_STATUS), unsigned{WEFT_IRQ_COMPLETION});
    seen.after_read = now_ns();
    machine.acknowledge();
    return seen;
  }
  CsvTable table() { return CsvTable(machine.gpu.recordings().launch_times()); }

  Machine machine;
};

TEST_F(LaunchTimes, AreThoseOfDriverInterruptAndDispatcher) {
  std::vector<Seen> seen;
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    for (std::uint32_t i = 0; i < 3; ++i) seen.push_back(launch(i));
  }));
  const CsvTable times = table(), launches(machine.gpu.recordings().launches());
  ASSERT_EQ(times.rows().size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const CsvTable::Row& row = times.rows()[i];
    EXPECT_EQ(row.at("queue"), "0");
    EXPECT_EQ(row.at("packet"), std::to_string(i));
    EXPECT_EQ(row.at("kernel"), "fill");
    std::map<std::string, double> at;
    double last = 0;
    for (const char* moment : kMoments) {
      at[moment] = std::stod(row.at(moment));
      EXPECT_GE(at[moment], last) << moment;
      last = at[moment];
    }
    EXPECT_GE(at["doorbell_ns"], seen[i].before_doorbell);
    EXPECT_LE(at["doorbell_ns"], seen[i].after_doorbell);
    EXPECT_NEAR(at["interrupt_ns"], seen[i].interrupt, 1e-3);
    EXPECT_GE(at["handled_ns"], seen[i].before_read);
    EXPECT_LE(at["handled_ns"], seen[i].after_read);
    // The launch's own cycles lie between, at 700 MHz.
    const double cycle = 1 / 0.7, cycles = std::stod(launches.rows()[i].at("cycles"));
    EXPECT_LE(at["last_issue_ns"] - at["first_issue_ns"], cycles * cycle);
    EXPECT_GE(at["ended_ns"] - at["dispatched_ns"], (cycles - 1) * cycle);
    EXPECT_LE(at["ended_ns"] - at["dispatched_ns"], (cycles + 3) * cycle);
  }
  // A kernel that is in the cache is not read again.
  const auto dispatch = [&](std::size_t i) {
    return std::stod(times.rows()[i].at("dispatched_ns")) - std::stod(times.rows()[i].at("fetched_ns"));
  };
  EXPECT_GT(dispatch(0), dispatch(1));
  EXPECT_NEAR(dispatch(1), dispatch(2), 2);  // edges of the clock, in whole picoseconds

  const auto stages = machine.gpu.recordings().launch_stages();
  double sum = 0;
  for (const auto& stage : stages) {
    EXPECT_EQ(stage.launches, 3U) << stage.name;
    EXPECT_LE(stage.least_ns, stage.mean_ns);
    EXPECT_LE(stage.mean_ns, stage.most_ns);
    if (stage.name != "total") sum += stage.mean_ns;
  }
  ASSERT_EQ(stages.back().name, "total");
  EXPECT_NEAR(sum, stages.back().mean_ns, 0.01);
}

// Of packets that software announces by one doorbell, the second waits for the first.
TEST_F(LaunchTimes, OfPacketsThatWait) {
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    machine.ram.put<std::int64_t>(kSignal, 2);
    machine.ram.put(kRing, dispatch_packet(5, 64));
    machine.ram.put(kRing + 64, dispatch_packet(5, 64));
    machine.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_DOORBELL), 2);
    sc_core::wait(sc_core::sc_time(100, sc_core::SC_US));
    EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal), 0);
    machine.reg(WEFT_QUEUE(0, WEFT_QUEUE_IRQ_STATUS));
  }));
  const CsvTable times = table();
  ASSERT_EQ(times.rows().size(), 2U);
  const CsvTable::Row &first = times.rows()[0], &second = times.rows()[1];
  EXPECT_EQ(first.at("doorbell_ns"), second.at("doorbell_ns"));
  EXPECT_GE(std::stod(second.at("fetch_began_ns")), std::stod(first.at("interrupt_ns")));
  EXPECT_EQ(first.at("handled_ns"), second.at("handled_ns"));  // of the queue's own status
}

// Without a signal there is no interrupt, without an interrupt no handler, without timing no issue.
TEST_F(LaunchTimes, MissWhatDoesNotHappen) {
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    machine.submit(0, 0, dispatch_packet(5, 64, 0));
    machine.ram.put<std::int64_t>(kSignal, 1);
    machine.submit(0, 1, copy_packet(kDeviceBase, kDeviceBase + 0x4000, 64));
    machine.wait_for_interrupt();
    machine.reg(WEFT_REG_IRQ_STATUS);
    machine.acknowledge();
    machine.cpu.write32(WEFT_REG_IRQ_ENABLE, 0);
    machine.cpu.write32(WEFT_REG_MODE, WEFT_MODE_FUNCTIONAL);
    machine.ram.put<std::int64_t>(kSignal, 1);
    machine.submit(0, 2, dispatch_packet(5, 64));
    sc_core::wait(sc_core::sc_time(100, sc_core::SC_US));
    EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal), 0);
    machine.reg(WEFT_REG_IRQ_STATUS);
  }));
  const CsvTable times = table();
  ASSERT_EQ(times.rows().size(), 2U) << "the copy is no launch";
  const auto missing = [&](std::size_t row) {
    std::string names;
    for (const char* moment : kMoments) {
      if (times.rows()[row].count(moment) == 0 || times.rows()[row].at(moment).empty())
        names += std::string(moment) + " ";
    }
    return names;
  };
  EXPECT_EQ(missing(0), "signalled_ns interrupt_ns handled_ns ");
  EXPECT_EQ(missing(1), "first_issue_ns last_issue_ns interrupt_ns handled_ns ");
}

TEST_F(LaunchTimes, GoOnAfterAReset) {
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    launch(0);
    machine.cpu.write32(WEFT_REG_CONTROL, WEFT_CONTROL_RESET);
    sc_core::wait(sc_core::sc_time(10, sc_core::SC_US));
    put_kernel(machine.ram, "fill");
    machine.open();
    launch(0);
  }));
  const CsvTable times = table();
  ASSERT_EQ(times.rows().size(), 2U);
  for (const CsvTable::Row& row : times.rows()) {
    double last = 0;
    for (const char* moment : kMoments) {
      EXPECT_GE(std::stod(row.at(moment)), last) << moment;
      last = std::stod(row.at(moment));
    }
  }
}

}  // namespace
}  // namespace weft::test::launch_times_test
