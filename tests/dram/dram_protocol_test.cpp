// Protocol: back-pressure, foreign payloads, errors, DMI and debug.
#include <array>

#include "dram_bench.h"
#include "weft/common/error.h"

namespace weft::dram {
namespace {

using bench::read;
using bench::write;

TEST(DramProtocol, QueuesOfOneStallAndDrain) {
  ChannelConfig config;
  config.scheduler.queue_size = 1;
  config.response_queue = 1;
  bench::MockInitiator::Options options;
  options.response_hold = 20;
  std::vector<bench::Access> accesses;
  for (unsigned i = 0; i < 50; ++i) accesses.push_back(i % 3 == 0 ? write(i * 128) : read(i * 128));
  DramBench bench("b", config, {accesses, accesses}, options);
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_GT(bench.statistics()["blocked"].get<int>(), 90);
  EXPECT_EQ(bench.statistics()["queue_most"], 1);
  EXPECT_EQ(bench.monitors[0]->bytes_requested(), 50u * 128);
  EXPECT_EQ(bench.monitors[0]->bytes_responded(), 50u * 128);
  const auto statistics = bench.statistics();
  EXPECT_EQ(statistics["bytes_read"].get<unsigned>() + statistics["bytes_written"].get<unsigned>(),
            100u * 128);
  // A held response stops the requests of its port: one response per 20 cycles at best.
  EXPECT_GT(bench.initiators[0]->last_response(), 49u * 20);
}

TEST(DramProtocol, TimedAccessesOfOurOwnLeaveTheImageAlone) {
  DramBench bench("b", {}, {{write(0), read(0)}});
  bench.image.data()[3] = 77;
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.image.data()[3], 77);
}

TEST(DramProtocol, ForeignAccessesMoveData) {
  bench::MockInitiator::Options options;
  options.foreign = true;
  DramBench bench("b", {}, {{write(4096, 64), read(4096, 64), read(4100, 4)}}, options);
  for (unsigned i = 0; i < 64; ++i) bench.initiators[0]->data[0].push_back(static_cast<unsigned char>(i + 1));
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.image.data()[4096], 1);
  EXPECT_EQ(bench.image.data()[4096 + 63], 64);
  EXPECT_EQ(bench.initiators[0]->data[1], bench.initiators[0]->data[0]);
  EXPECT_EQ(bench.initiators[0]->data[2], (std::vector<unsigned char>{5, 6, 7, 8}));
}

TEST(DramProtocol, BadRequestsGetTheirErrors) {
  const std::uint64_t end = std::uint64_t{1} << 30;
  DramBench bench("b", {},
                  {{read(end - 32, 32),
                    read(end, 32),
                    read(end - 4, 8),
                    read(200, 100),
                    {tlm::TLM_IGNORE_COMMAND, 0, 4, AccessKind::kRead, 0, 0},
                    read(0, 0),
                    read(UINT64_MAX - 3, 8)}});
  sc_core::sc_start();
  EXPECT_TRUE(bench.initiators[0]->done());
  const std::vector<bench::Record>& records = bench.initiators[0]->records;
  EXPECT_EQ(records[0].status, tlm::TLM_OK_RESPONSE) << "the last bytes";
  EXPECT_EQ(records[1].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(records[2].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(records[3].status, tlm::TLM_BURST_ERROR_RESPONSE) << "over the end of a chunk";
  EXPECT_EQ(records[4].status, tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(records[5].status, tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(records[6].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST(DramProtocol, BlockingTransportWithByteEnables) {
  DramBench bench("b", {}, {{}});
  std::array<unsigned char, 8> data{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<unsigned char, 2> enables{0xff, 0};
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  payload.set_address(1000);
  payload.set_data_ptr(data.data());
  payload.set_data_length(8);
  payload.set_streaming_width(8);
  payload.set_byte_enable_ptr(enables.data());
  payload.set_byte_enable_length(2);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.initiators[0]->socket->b_transport(payload, delay);
  EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
  EXPECT_GT(delay, sc_core::SC_ZERO_TIME);
  const std::vector<unsigned char> image(bench.image.data() + 1000, bench.image.data() + 1008);
  EXPECT_EQ(image, (std::vector<unsigned char>{1, 0, 3, 0, 5, 0, 7, 0}));
}

TEST(DramProtocol, DmiAndDebugReachTheWholeImageAndNoMore) {
  DramBench bench("b", {}, {{}});
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  tlm::tlm_generic_payload payload;
  tlm::tlm_dmi region;
  payload.set_address(12);
  ASSERT_TRUE(bench.initiators[0]->socket->get_direct_mem_ptr(payload, region));
  EXPECT_EQ(region.get_dmi_ptr(), bench.image.data());
  EXPECT_EQ(region.get_start_address(), 0u);
  EXPECT_EQ(region.get_end_address(), bench.image.bytes() - 1);
  payload.set_address(bench.image.bytes());
  EXPECT_FALSE(bench.initiators[0]->socket->get_direct_mem_ptr(payload, region));

  std::array<unsigned char, 16> data{};
  data[3] = 9;
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  payload.set_data_ptr(data.data());
  payload.set_data_length(16);
  payload.set_address(bench.image.bytes() - 4);
  EXPECT_EQ(bench.initiators[0]->socket->transport_dbg(payload), 4u);
  EXPECT_EQ(bench.image.data()[bench.image.bytes() - 1], 9);
  payload.set_address(bench.image.bytes());
  EXPECT_EQ(bench.initiators[0]->socket->transport_dbg(payload), 0u);
  EXPECT_EQ(bench.monitors[0]->report(), "");
}

// A reset in full flight: what was under way is dropped and its payloads go back, then everything works
// again.
TEST(DramProtocol, ResetDropsWhatIsUnderWay) {
  std::vector<bench::Access> accesses;
  for (unsigned i = 0; i < 30; ++i) accesses.push_back(read(i * 128));
  DramBench bench("b", {}, {accesses, {read(0, 128, 500)}});
  sc_core::sc_start(25, sc_core::SC_NS);
  EXPECT_GT(bench.channel.queued(), 5u);
  bench.channel.reset();
  bench.domain.reset();
  EXPECT_EQ(bench.channel.queued(), 0u);
  sc_core::sc_start();
  EXPECT_TRUE(bench.initiators[1]->done());
  EXPECT_EQ(bench.initiators[1]->records[0].latency(), 1u + 12 + 12 + 3 + 2);
}

TEST(DramConfig, RefusesWhatCannotBe) {
  ChannelConfig config;
  EXPECT_NO_THROW(config.check("/dram"));
  config.scheduler.timing.refi = 100;
  EXPECT_THROW(config.check("/dram"), InputError);
  config = {};
  config.scheduler.timing.devices = 3;
  EXPECT_THROW(config.check("/dram"), InputError);
}

}  // namespace
}  // namespace weft::dram
