// The SM's memory port before a target that is moved by hand. Edges are nanoseconds.
#include "sm/memory_port.h"

#include <gtest/gtest.h>
#include <tlm_utils/passthrough_target_socket.h>

#include <vector>

#include "bus/clock_domain.h"
#include "bus/hop_monitor.h"

namespace weft::sm {
namespace {

using Payload = tlm::tlm_generic_payload;

struct Nobody : Clocked {
  Cycle step(Cycle) override { return kNever; }
};

struct Bench : sc_core::sc_module, MemoryPort::Listener {
  static constexpr std::uint64_t kAnswers = 2;
  Nobody nobody;
  ClockDomain domain{"domain", 1000};
  tlm::tlm_initiator_socket<32> socket{"socket"};
  MemoryPort port{socket, kAnswers, {domain, domain.add(nobody)}, *this};
  HopMonitor monitor{"monitor"};
  tlm_utils::passthrough_target_socket<Bench> target{"target"};
  tlm::tlm_sync_enum reply = tlm::TLM_UPDATED;
  bool refused = false;  // the listener keeps answers from the queue
  unsigned ended = 0;    // END_RESP by a call
  std::vector<std::uint64_t> answered;
  unsigned char bytes[32] = {};

  explicit Bench(sc_core::sc_module_name name) : sc_module(name) {
    target.register_nb_transport_fw(this, &Bench::forward);
    socket.bind(monitor.target);
    monitor.initiator.bind(target);
  }
  bool memory_answered(const Payload& payload) override {
    answered.push_back(payload.get_address());
    return !refused;
  }
  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    if (phase == tlm::END_RESP) {
      ++ended;
      payload.release();
      return tlm::TLM_COMPLETED;
    }
    if (reply == tlm::TLM_COMPLETED) {
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
    } else {
      payload.acquire();
      phase = tlm::END_REQ;
    }
    return reply;
  }
  Payload& send(std::uint64_t address, std::uint64_t tag) {
    Payload& payload = port.acquire(tlm::TLM_READ_COMMAND, address, bytes, 32);
    origin_of(payload)->tag = tag;
    port.send(payload);
    return payload;
  }
  tlm::tlm_sync_enum respond(Payload& payload) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    const tlm::tlm_sync_enum result = target->nb_transport_bw(payload, phase, delay);
    if (result == tlm::TLM_COMPLETED) payload.release();
    return result;
  }
};

TEST(MemoryPort, AnswersCountFromTheNextEdge) {
  Bench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  EXPECT_TRUE(bench.port.idle());
  Payload& payload = bench.send(64, 5);
  EXPECT_FALSE(bench.port.usable(0));
  EXPECT_TRUE(bench.port.usable(1));
  EXPECT_EQ(bench.port.transactions(), 1u);
  EXPECT_EQ(bench.respond(payload), tlm::TLM_COMPLETED);
  EXPECT_EQ(bench.port.transactions(), 0u);
  EXPECT_TRUE(bench.port.waiting());
  EXPECT_FALSE(bench.port.idle());
  EXPECT_FALSE(bench.port.answered(0));
  ASSERT_TRUE(bench.port.answered(1));
  EXPECT_EQ(bench.port.answer().tag, 5u);
  EXPECT_EQ(bench.port.answer().address, 64u);
  bench.port.take_answer(1);
  EXPECT_TRUE(bench.port.idle());
  bench.monitor.check_complete();
  EXPECT_EQ(bench.monitor.report(), "");
}

// A full queue withholds END_RESP, and no request leaves, because its answer could come at once.
TEST(MemoryPort, AFullQueueHoldsUpBothDirections) {
  Bench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Payload& first = bench.send(0, 0);
  Payload& second = bench.send(32, 1);
  Payload& third = bench.send(64, 2);
  bench.respond(first);
  bench.respond(second);
  EXPECT_FALSE(bench.port.usable(10));
  EXPECT_EQ(bench.respond(third), tlm::TLM_ACCEPTED);
  EXPECT_EQ(bench.answered.size(), 2u);
  EXPECT_EQ(bench.ended, 0u);
  bench.port.take_answer(1);
  EXPECT_EQ(bench.ended, 1u);
  EXPECT_EQ(bench.answered, (std::vector<std::uint64_t>{0, 32, 64}));
  EXPECT_FALSE(bench.port.usable(10)) << "full again";
  bench.port.take_answer(2);
  EXPECT_TRUE(bench.port.usable(10));
  EXPECT_FALSE(bench.port.answered(1)) << "it came into the queue at edge 1";
  EXPECT_TRUE(bench.port.answered(2));
  EXPECT_EQ(bench.port.answer().tag, 2u);
  EXPECT_EQ(bench.port.transactions(), 0u);
  bench.monitor.check_complete();
  EXPECT_EQ(bench.monitor.report(), "");
}

TEST(MemoryPort, TakesEarlyCompletions) {
  Bench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.reply = tlm::TLM_COMPLETED;
  bench.send(96, 9);
  EXPECT_EQ(bench.port.transactions(), 0u);
  EXPECT_FALSE(bench.port.busy());
  ASSERT_TRUE(bench.port.answered(1));
  EXPECT_EQ(bench.port.answer().tag, 9u);
}

TEST(MemoryPort, TheListenerMayKeepAnAnswer) {
  Bench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.refused = true;
  bench.respond(bench.send(96, 9));
  EXPECT_EQ(bench.answered, std::vector<std::uint64_t>{96});
  EXPECT_TRUE(bench.port.idle());
}

TEST(MemoryPort, ResetForgetsEverything) {
  Bench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (const unsigned answers : {0u, 2u, 3u}) {  // the third is withheld
    Payload* payloads[3];
    for (unsigned i = 0; i < 3; ++i) payloads[i] = &bench.send(32 * i, i);
    for (unsigned i = 0; i < answers; ++i) bench.respond(*payloads[i]);
    bench.reply = tlm::TLM_ACCEPTED;  // a request that stays open
    if (answers == 0) bench.send(128, 4);
    bench.reply = tlm::TLM_UPDATED;
    bench.port.reset();
    bench.monitor.reset();
    EXPECT_TRUE(bench.port.idle());
    EXPECT_FALSE(bench.port.busy());
    EXPECT_TRUE(bench.port.usable(0));
  }
  EXPECT_EQ(bench.ended, 0u);
}

}  // namespace
}  // namespace weft::sm
