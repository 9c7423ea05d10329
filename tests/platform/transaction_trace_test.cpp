// The table of transactions: complete, in order, and nothing changes for it.
#include "weft/platform/transaction_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "default_addresses.h"
#include "folder.h"
#include "platform/csv_table.h"
#include "platform/gpu_bench.h"

namespace weft::test::transaction_trace_test {
namespace {

using runtime::Arguments;
using testing::HasSubstr;

// 256 threads read a word each, add 1 and write it.
constexpr const char* kBody = R"(  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r1, %r2, 64, %r1;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r3, [%rd1];
  add.u32 %r3, %r3, 1;
  st.global.u32 [%rd1], %r3;
  ret;)";

struct Traced {
  Folder folder;
  TransactionTrace trace;
  GpuBench bench;
  runtime::Address data = 0;
  std::uint64_t cycles = 0;

  explicit Traced(const TransactionFilter& filter)
      : trace(folder.path("t.csv"), filter), bench({"sm.count=2"}, "gtx480", options(trace)) {
    trace.begin(bench.device.gpu());
  }
  static runtime::DeviceOptions options(TransactionTrace& trace) {
    runtime::DeviceOptions options;
    options.observations.push_back({trace.hops(), trace.observer(), false});
    return options;
  }
  CsvTable run() {
    data = bench.zeros(1024);
    bench.load(kernel_text(".param .u64 out", kBody));
    cycles = bench.run({4, 1, 1}, {64, 1, 1}, Arguments().add(data));
    trace.close();
    return CsvTable(folder.text("t.csv"));
  }
};

std::uint64_t number(const CsvTable::Row& row, const std::string& column) {
  return std::stoull(row.at(column), nullptr, 0);
}

// Every transaction of an SM is on its hop and on one to the L2 under one number, each phase behind the
// other, and as many as are counted.
TEST(TransactionTrace, HasEveryTransactionOnItsWay) {
  Traced traced({});
  const CsvTable table = traced.run();
  std::map<std::string, const CsvTable::Row*> of_sm;
  std::map<std::string, std::size_t> rows;
  for (const CsvTable::Row& row : table.rows()) {
    const std::string& hop = row.at("hop");
    ++rows[hop.substr(0, hop.find_last_not_of("0123456789") + 1)];
    EXPECT_LE(number(row, "begin_req_ps"), number(row, "end_req_ps"));
    EXPECT_LE(number(row, "end_req_ps"), number(row, "begin_resp_ps"));
    EXPECT_LE(number(row, "begin_resp_ps"), number(row, "end_resp_ps"));
    EXPECT_EQ(row.at("status"), "ok");
    if (hop.rfind("hop_sm", 0) != 0) continue;
    EXPECT_EQ(row.at("sm"), hop.substr(6));
    EXPECT_EQ(row.at("kernel"), "k");
    EXPECT_TRUE(of_sm.emplace(row.at("transaction"), &row).second);
  }
  for (const CsvTable::Row& row : table.rows()) {
    if (row.at("hop").rfind("hop_l2_", 0) != 0) continue;
    const CsvTable::Row& sent = *of_sm.at(row.at("transaction"));
    EXPECT_GT(number(row, "begin_req_ps"), number(sent, "begin_req_ps"));
    EXPECT_LT(number(row, "begin_resp_ps"), number(sent, "begin_resp_ps"));
    for (const char* same : {"address", "bytes", "kind", "command", "sm"})
      EXPECT_EQ(row.at(same), sent.at(same));
  }
  EXPECT_EQ(rows["hop_sm"], rows["hop_l2_"]);
  double of_memory = 0;
  const auto all = traced.bench.statistics();
  for (const auto& [name, part] : all.items()) {
    if (name.rfind("dram", 0) == 0)
      of_memory += part.at("reads").get<double>() + part.at("writes").get<double>();
  }
  EXPECT_EQ(rows["hop_dram"], of_memory);
}

TEST(TransactionTrace, ChangesNoTime) {
  const auto with = [] {
    Traced traced({});
    traced.run();
    return std::to_string(traced.cycles);
  };
  const auto without = [] {
    GpuBench bench({"sm.count=2"});
    const auto data = bench.zeros(1024);
    bench.load(kernel_text(".param .u64 out", kBody));
    return std::to_string(bench.run({4, 1, 1}, {64, 1, 1}, Arguments().add(data)));
  };
  EXPECT_EQ(apart(with), apart(without));
}

TEST(TransactionTrace, OfChosenSmsAndAddresses) {
  TransactionFilter filter;
  filter.hops = "hop_sm*";
  filter.sms = {{1, 1}};
  filter.addresses = {{kDeviceBase, kDeviceBase + 0x7fff'ffff}};
  Traced traced(filter);
  const CsvTable table = traced.run();
  double of_data = 0;
  for (const CsvTable::Row& row : table.rows()) {
    EXPECT_EQ(row.at("hop"), "hop_sm1");
    of_data += row.at("kind") == "read" || row.at("kind") == "write" ? 1 : 0;
  }
  EXPECT_EQ(of_data, traced.bench.sum_over_sms({"memory", "data_requests"}) / 2);
}

TEST(TransactionTrace, OfTheBytesThatTheyTouch) {
  TransactionFilter filter;
  constexpr std::uint64_t kByte = kDeviceBase + 300;
  filter.addresses = {{kByte, kByte}};
  Traced traced(filter);
  const CsvTable table = traced.run();
  EXPECT_FALSE(table.rows().empty());
  for (const CsvTable::Row& row : table.rows()) {
    EXPECT_LE(number(row, "address"), kByte);
    EXPECT_GT(number(row, "address") + number(row, "bytes"), kByte);
  }
}

TEST(TransactionTrace, OfAKernelThatDoesNotRunHasNone) {
  TransactionFilter filter;
  filter.kernel = "another";
  Traced traced(filter);
  EXPECT_TRUE(traced.run().rows().empty());
}

TEST(TransactionTrace, SaysWhatCannotBe) {
  const Folder folder;
  const auto message = [&](const TransactionFilter& filter) -> std::string {
    try {
      Traced traced(filter);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  TransactionFilter sms;
  sms.sms = {{0, 2}};
  EXPECT_THAT(message(sms), HasSubstr("SM 2 in the selection of transactions; allowed: 0 to 1"));
  EXPECT_THROW(TransactionTrace(folder.path("none/t.csv"), {}), InputError);
  EXPECT_THROW(TransactionTrace("/dev/full", {}), InputError);
}

}  // namespace
}  // namespace weft::test::transaction_trace_test
