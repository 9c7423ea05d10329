// The two ports against partners that are moved by hand, and against each other.
#include <gtest/gtest.h>
#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <deque>
#include <string>
#include <tuple>
#include <vector>

#include "bus/clock_domain.h"
#include "bus/hop_monitor.h"
#include "bus/initiator_port.h"
#include "bus/memory_transaction.h"
#include "bus/target_port.h"

namespace weft::bus {
namespace {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;
using Payload = tlm::tlm_generic_payload;

struct Nobody : Clocked {
  Cycle step(Cycle) override { return kNever; }
};

// An InitiatorPort, and behind a monitor a target that is moved by hand. Edges are nanoseconds.
struct InitiatorBench : sc_core::sc_module, InitiatorPort::Listener {
  Nobody nobody;
  ClockDomain domain{"domain", 1000};
  tlm::tlm_initiator_socket<32> socket{"socket"};
  InitiatorPort port{socket, *this, {domain, domain.add(nobody)}, 7};
  HopMonitor monitor{"monitor"};
  tlm_utils::passthrough_target_socket<InitiatorBench> target{"target"};
  TransactionPool pool;
  bool place = true;
  // The target's answer to BEGIN_REQ, and the phases that came.
  tlm_sync_enum reply = tlm::TLM_ACCEPTED;
  tlm_phase reply_phase = tlm::END_REQ;
  sc_time reply_delay;
  std::vector<std::pair<tlm_phase, sc_time>> phases;
  std::vector<std::pair<Payload*, Cycle>> responses;
  std::pair<sc_dt::uint64, sc_dt::uint64> invalidated;

  explicit InitiatorBench(sc_core::sc_module_name name) : sc_module(name) {
    target.register_nb_transport_fw(this, &InitiatorBench::forward);
    socket.bind(monitor.target);
    monitor.initiator.bind(target);
  }

  bool response(unsigned index, Payload& payload, Cycle ready) override {
    EXPECT_EQ(index, 7u);
    if (!place) return false;
    responses.emplace_back(&payload, ready);
    return true;
  }
  void invalidate(unsigned index, sc_dt::uint64 first, sc_dt::uint64 last) override {
    EXPECT_EQ(index, 7u);
    invalidated = {first, last};
  }

  tlm_sync_enum forward(Payload& payload, tlm_phase& phase, sc_time& delay) {
    phases.emplace_back(phase, delay);
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
    const bool responds =
        reply == tlm::TLM_COMPLETED || (reply == tlm::TLM_UPDATED && reply_phase == tlm::BEGIN_RESP);
    if (responds) payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (reply == tlm::TLM_UPDATED) phase = reply_phase;
    delay += reply_delay;
    return reply;
  }
  tlm_sync_enum call(Payload& payload, tlm_phase phase, int delay_ns = 0) {
    if (phase == tlm::BEGIN_RESP) payload.set_response_status(tlm::TLM_OK_RESPONSE);
    sc_time delay(delay_ns, sc_core::SC_NS);
    return target->nb_transport_bw(payload, phase, delay);
  }
  Payload& send() {
    Payload& payload = pool.acquire(tlm::TLM_READ_COMMAND, 64, nullptr, 32);
    payload.set_data_ptr(bytes);
    port.send(payload);
    return payload;
  }
  unsigned char bytes[32] = {};
};

TEST(InitiatorPort, IsUsableAtTheEdgeAfterEndOfRequest) {
  InitiatorBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  EXPECT_TRUE(bench.port.usable(0));
  Payload& first = bench.send();
  EXPECT_TRUE(bench.port.busy());
  EXPECT_FALSE(bench.port.usable(1000));
  EXPECT_EQ(bench.call(first, tlm::END_REQ), tlm::TLM_ACCEPTED);
  EXPECT_FALSE(bench.port.busy());
  EXPECT_FALSE(bench.port.usable(0));
  EXPECT_TRUE(bench.port.usable(1));

  bench.reply = tlm::TLM_UPDATED;  // END_REQ as return value, for later
  bench.reply_delay = sc_time(4.5, sc_core::SC_NS);
  bench.send();
  EXPECT_EQ(bench.port.usable_from(), 5u);
  EXPECT_EQ(bench.monitor.report(), "");
}

TEST(InitiatorPort, BeginOfResponseEndsTheRequest) {
  InitiatorBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Payload& payload = bench.send();
  EXPECT_EQ(bench.call(payload, tlm::BEGIN_RESP, 2), tlm::TLM_COMPLETED);
  ASSERT_EQ(bench.responses.size(), 1u);
  EXPECT_EQ(bench.responses[0], std::make_pair(&payload, Cycle{3}));
  EXPECT_EQ(bench.port.usable_from(), 3u);
  EXPECT_EQ(payload.get_ref_count(), 1) << "the sender's own";
  bench.monitor.check_complete();
  EXPECT_EQ(bench.monitor.report(), "");
}

TEST(InitiatorPort, ResponsesOfOthersEndNoRequest) {
  InitiatorBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Payload& first = bench.send();
  bench.call(first, tlm::END_REQ);
  bench.send();
  bench.call(first, tlm::BEGIN_RESP);
  EXPECT_TRUE(bench.port.busy());
}

TEST(InitiatorPort, TakesCompletionAtOnce) {
  InitiatorBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.reply = tlm::TLM_COMPLETED;
  bench.reply_delay = sc_time(6, sc_core::SC_NS);
  Payload& payload = bench.send();
  ASSERT_EQ(bench.responses.size(), 1u);
  EXPECT_EQ(bench.responses[0], std::make_pair(&payload, Cycle{7}));
  EXPECT_EQ(bench.port.usable_from(), 7u);
  EXPECT_EQ(bench.port.withheld(), nullptr);
  bench.monitor.check_complete();
  EXPECT_EQ(bench.monitor.report(), "");
}

// It has no END_RESP to withhold: the request stays open, else the next one could be completed too.
TEST(InitiatorPort, WithoutAPlaceACompletionKeepsTheRequestOpen) {
  InitiatorBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.reply = tlm::TLM_COMPLETED;
  bench.place = false;
  Payload& payload = bench.send();
  EXPECT_TRUE(bench.port.busy());
  ASSERT_NE(bench.port.withheld(), nullptr);
  EXPECT_EQ(bench.port.withheld()->payload, &payload);
  EXPECT_EQ(bench.port.withheld()->ready, 1u);
  payload.release();  // the module may be done with it
  EXPECT_EQ(bench.pool.in_use(), 1u);
  bench.port.end_response();
  EXPECT_EQ(bench.pool.in_use(), 0u);
  EXPECT_EQ(bench.port.withheld(), nullptr);
  EXPECT_FALSE(bench.port.busy());
  EXPECT_EQ(bench.port.usable_from(), 1u);
  EXPECT_EQ(bench.phases.size(), 1u) << "no END_RESP";
  bench.monitor.check_complete();
  EXPECT_EQ(bench.monitor.report(), "");
}

TEST(InitiatorPort, EndsAReturnedResponseByACall) {
  InitiatorBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.reply = tlm::TLM_UPDATED;
  bench.reply_phase = tlm::BEGIN_RESP;
  bench.reply_delay = sc_time(3, sc_core::SC_NS);
  Payload& payload = bench.send();
  ASSERT_EQ(bench.responses.size(), 1u);
  EXPECT_EQ(bench.responses[0], std::make_pair(&payload, Cycle{4}));
  ASSERT_EQ(bench.phases.size(), 2u);
  EXPECT_EQ(bench.phases[1], std::make_pair(tlm_phase(tlm::END_RESP), bench.reply_delay))
      << "not before the response";
  EXPECT_EQ(bench.port.usable_from(), 4u);
  EXPECT_EQ(payload.get_ref_count(), 1);
  bench.monitor.check_complete();
  EXPECT_EQ(bench.monitor.report(), "");
}

TEST(InitiatorPort, WithholdsEndOfResponse) {
  InitiatorBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (const bool returned : {false, true}) {
    SCOPED_TRACE(returned);
    bench.phases.clear();
    bench.place = false;
    bench.reply = returned ? tlm::TLM_UPDATED : tlm::TLM_ACCEPTED;
    bench.reply_phase = tlm::BEGIN_RESP;
    Payload& payload = bench.send();
    if (!returned) {
      EXPECT_EQ(bench.call(payload, tlm::BEGIN_RESP), tlm::TLM_ACCEPTED);
    }
    EXPECT_FALSE(bench.port.busy()) << "requests go on";
    ASSERT_NE(bench.port.withheld(), nullptr);
    EXPECT_EQ(bench.port.withheld()->payload, &payload);
    EXPECT_EQ(bench.phases.size(), 1u);
    payload.release();
    bench.port.end_response();
    ASSERT_EQ(bench.phases.size(), 2u);
    EXPECT_EQ(bench.phases[1].first, tlm::END_RESP);
    EXPECT_EQ(bench.port.withheld(), nullptr);
    EXPECT_EQ(bench.pool.in_use(), 0u);
    bench.monitor.check_complete();
    EXPECT_EQ(bench.monitor.report(), "");
  }
}

// Responses behind one that is withheld: the listener is not asked, lest they overtake it.
TEST(InitiatorPort, AResponseWaitsBehindACompletion) {
  InitiatorBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Payload& first = bench.send();
  bench.call(first, tlm::END_REQ);
  bench.place = false;
  bench.reply = tlm::TLM_COMPLETED;
  Payload& second = bench.send();
  bench.place = true;
  EXPECT_EQ(bench.call(first, tlm::BEGIN_RESP), tlm::TLM_ACCEPTED);
  EXPECT_TRUE(bench.responses.empty());
  EXPECT_EQ(bench.port.withheld()->payload, &second);
  bench.port.end_response();
  EXPECT_EQ(bench.port.withheld()->payload, &first);
  bench.port.end_response();
  EXPECT_EQ(bench.port.withheld(), nullptr);
  bench.monitor.check_complete();
  EXPECT_EQ(bench.monitor.report(), "");
}

TEST(InitiatorPort, ResetForgetsEveryPhase) {
  InitiatorBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  enum class Phase { kRequest, kWaiting, kResponse, kReturned, kCompleted };
  for (const Phase phase :
       {Phase::kRequest, Phase::kWaiting, Phase::kResponse, Phase::kReturned, Phase::kCompleted}) {
    SCOPED_TRACE(static_cast<int>(phase));
    bench.place = false;
    bench.reply = phase == Phase::kReturned    ? tlm::TLM_UPDATED
                  : phase == Phase::kCompleted ? tlm::TLM_COMPLETED
                                               : tlm::TLM_ACCEPTED;
    bench.reply_phase = tlm::BEGIN_RESP;
    Payload& payload = bench.send();
    if (phase == Phase::kWaiting) bench.call(payload, tlm::END_REQ);
    if (phase == Phase::kResponse) bench.call(payload, tlm::BEGIN_RESP);
    bench.port.reset();
    bench.monitor.reset();
    EXPECT_TRUE(bench.port.usable(0));
    EXPECT_EQ(bench.port.withheld(), nullptr);
    EXPECT_EQ(payload.get_ref_count(), 1);
    payload.release();
  }
}

// The other side was not reset: what it still says of old transactions does not touch the new one.
TEST(InitiatorPort, IgnoresPhasesOfForgottenTransactions) {
  InitiatorBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Payload& old = bench.send();
  bench.port.reset();
  bench.reply = tlm::TLM_ACCEPTED;
  bench.send();
  bench.call(old, tlm::END_REQ);
  EXPECT_TRUE(bench.port.busy());
  EXPECT_EQ(bench.call(old, tlm::BEGIN_RESP), tlm::TLM_COMPLETED) << "the listener says so";
  EXPECT_TRUE(bench.port.busy());
}

TEST(InitiatorPort, PassesInvalidation) {
  InitiatorBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.target->invalidate_direct_mem_ptr(16, 31);
  EXPECT_EQ(bench.invalidated, std::make_pair(sc_dt::uint64{16}, sc_dt::uint64{31}));
}

// A TargetPort, and before a monitor an initiator that is moved by hand.
struct TargetBench : sc_core::sc_module, TargetPort::Listener {
  Nobody nobody;
  ClockDomain domain{"domain", 1000};
  tlm_utils::simple_initiator_socket<TargetBench> initiator{"initiator"};
  HopMonitor monitor{"monitor"};
  tlm::tlm_target_socket<32> socket{"socket"};
  TargetPort port{socket, *this, {domain, domain.add(nobody)}, 3};
  TransactionPool pool;
  Verdict verdict = Verdict::kTaken;
  // The initiator's answer to BEGIN_RESP, and the phases that came.
  tlm_sync_enum reply = tlm::TLM_COMPLETED;
  sc_time reply_delay;
  std::vector<tlm_phase> phases;
  std::vector<Cycle> requests;
  unsigned char bytes[32] = {};

  explicit TargetBench(sc_core::sc_module_name name) : sc_module(name) {
    initiator.register_nb_transport_bw(this, &TargetBench::backward);
    initiator.bind(monitor.target);
    monitor.initiator.bind(socket);
  }

  Verdict request(unsigned index, Payload& payload, Cycle ready, sc_time& delay) override {
    EXPECT_EQ(index, 3u);
    requests.push_back(ready);
    if (verdict == Verdict::kCompleted) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      delay += sc_time(9, sc_core::SC_NS);
    }
    return verdict;
  }
  void blocking(unsigned, Payload& payload, sc_time& delay) override {
    delay += sc_time(1, sc_core::SC_NS);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  bool dmi(unsigned, Payload&, tlm::tlm_dmi& region) override {
    region.set_end_address(1023);
    return true;
  }
  unsigned debug(unsigned, Payload& payload) override { return payload.get_data_length() / 2; }

  tlm_sync_enum backward(Payload&, tlm_phase& phase, sc_time& delay) {
    phases.push_back(phase);
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    if (reply == tlm::TLM_UPDATED) phase = tlm::END_RESP;
    delay += reply_delay;
    return reply;
  }
  Payload& payload() { return pool.acquire(tlm::TLM_READ_COMMAND, 64, bytes, 32); }
  tlm_sync_enum begin(Payload& payload, int delay_ns = 0) {
    tlm_phase phase = tlm::BEGIN_REQ;
    sc_time delay(delay_ns, sc_core::SC_NS);
    const tlm_sync_enum result = initiator->nb_transport_fw(payload, phase, delay);
    if (result == tlm::TLM_UPDATED) {
      EXPECT_EQ(phase, tlm::END_REQ);
    }
    last_delay = delay;
    return result;
  }
  tlm_sync_enum end_response(Payload& payload) {
    tlm_phase phase = tlm::END_RESP;
    sc_time delay;
    return initiator->nb_transport_fw(payload, phase, delay);
  }
  void respond(Payload& payload) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    port.respond(payload);
  }
  sc_time last_delay;
};

TEST(TargetPort, EndsARequestThatIsTaken) {
  TargetBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Payload& payload = bench.payload();
  EXPECT_EQ(bench.begin(payload, 5), tlm::TLM_UPDATED);
  EXPECT_EQ(bench.requests, std::vector<Cycle>{6});
  EXPECT_EQ(bench.port.withheld(), nullptr);
  EXPECT_EQ(payload.get_ref_count(), 2);
}

TEST(TargetPort, CompletesWhatIsRefused) {
  TargetBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.verdict = Verdict::kCompleted;
  Payload& payload = bench.payload();
  EXPECT_EQ(bench.begin(payload), tlm::TLM_COMPLETED);
  EXPECT_EQ(bench.last_delay, sc_time(9, sc_core::SC_NS));
  EXPECT_EQ(payload.get_ref_count(), 1);
  bench.monitor.check_complete();
  EXPECT_EQ(bench.monitor.report(), "");
}

TEST(TargetPort, WithholdsEndOfRequest) {
  TargetBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.verdict = Verdict::kWithheld;
  Payload& payload = bench.payload();
  EXPECT_EQ(bench.begin(payload), tlm::TLM_ACCEPTED);
  ASSERT_NE(bench.port.withheld(), nullptr);
  EXPECT_EQ(bench.port.withheld()->payload, &payload);
  EXPECT_EQ(bench.port.withheld()->ready, 1u);

  Payload& second = bench.payload();  // against the exclusion rule
  EXPECT_EQ(bench.begin(second), tlm::TLM_COMPLETED);
  EXPECT_EQ(second.get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
  EXPECT_EQ(bench.requests.size(), 1u);
  EXPECT_EQ(bench.monitor.violations().size(), 1u);

  bench.port.end_request();
  EXPECT_EQ(bench.phases, std::vector<tlm_phase>{tlm::END_REQ});
  EXPECT_EQ(bench.port.withheld(), nullptr);
  EXPECT_EQ(payload.get_ref_count(), 2) << "until its response has ended";
}

TEST(TargetPort, IsUsableAtTheEdgeAfterEndOfResponse) {
  TargetBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (const tlm_sync_enum reply : {tlm::TLM_COMPLETED, tlm::TLM_UPDATED, tlm::TLM_ACCEPTED}) {
    SCOPED_TRACE(reply);
    bench.reply = reply;
    bench.reply_delay = sc_time(reply == tlm::TLM_ACCEPTED ? 0 : 2, sc_core::SC_NS);
    Payload& payload = bench.payload();
    bench.begin(payload);
    bench.respond(payload);
    if (reply == tlm::TLM_ACCEPTED) {
      EXPECT_TRUE(bench.port.busy());
      EXPECT_FALSE(bench.port.usable(1000));
      EXPECT_EQ(payload.get_ref_count(), 2);
      EXPECT_EQ(bench.end_response(payload), tlm::TLM_COMPLETED);
    }
    EXPECT_FALSE(bench.port.busy());
    EXPECT_EQ(bench.port.usable_from(), reply == tlm::TLM_ACCEPTED ? 1u : 3u);
    EXPECT_FALSE(bench.port.usable(0));
    EXPECT_EQ(payload.get_ref_count(), 1);
    payload.release();
    bench.monitor.check_complete();
    EXPECT_EQ(bench.monitor.report(), "");
    bench.port.reset();
    bench.monitor.reset();
  }
}

TEST(TargetPort, ResetForgetsEveryPhase) {
  TargetBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (int phase = 0; phase < 2; ++phase) {
    bench.verdict = phase == 0 ? Verdict::kWithheld : Verdict::kTaken;
    bench.reply = tlm::TLM_ACCEPTED;
    Payload& payload = bench.payload();
    bench.begin(payload);
    if (phase == 1) bench.respond(payload);
    EXPECT_EQ(payload.get_ref_count(), 2);
    bench.port.reset();
    EXPECT_EQ(payload.get_ref_count(), 1);
    EXPECT_EQ(bench.port.withheld(), nullptr);
    EXPECT_TRUE(bench.port.usable(0));
    bench.end_response(payload);  // of a transaction that is forgotten
    EXPECT_EQ(payload.get_ref_count(), 1);
    payload.release();
    bench.monitor.reset();
  }
}

TEST(TargetPort, PassesTheOtherCalls) {
  TargetBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Payload& payload = bench.payload();
  sc_time delay;
  bench.initiator->b_transport(payload, delay);
  EXPECT_EQ(delay, sc_time(1, sc_core::SC_NS));
  tlm::tlm_dmi region;
  EXPECT_TRUE(bench.initiator->get_direct_mem_ptr(payload, region));
  EXPECT_EQ(region.get_end_address(), 1023u);
  EXPECT_EQ(bench.initiator->transport_dbg(payload), 16u);
}

// ---- the ports against each other

struct Shape {
  Cycle answer_after;         // latency of the target
  std::size_t target_places;  // requests in it
  std::size_t answer_places;  // responses in the initiator
  Cycle answer_every;         // ... of which it takes one in so many cycles
  unsigned completed_of_ten;  // requests that the target completes at once
};

class Sender : public sc_core::sc_module, public Clocked, private InitiatorPort::Listener {
 public:
  tlm::tlm_initiator_socket<32> socket{"socket"};
  Sender(sc_core::sc_module_name name, ClockDomain& domain, const Shape& shape, unsigned count)
      : sc_module(name), shape_(shape), left_(count), port_(socket, *this, {domain, domain.add(*this)}) {}
  Cycle step(Cycle now) override {
    if (!answers_.empty() && now % shape_.answer_every == 0 && answers_.front().second <= now) {
      answers_.front().first->release();
      answers_.pop_front();
      ++done;
    }
    while (port_.withheld() != nullptr && answers_.size() < shape_.answer_places) {
      answers_.emplace_back(port_.withheld()->payload, now + 1);
      port_.end_response();
    }
    if (left_ != 0 && port_.usable(now)) {
      --left_;
      port_.send(pool_.acquire(tlm::TLM_WRITE_COMMAND, 32 * left_, bytes_, 32));
      last_sent = now;
    }
    return now + 1;
  }
  unsigned done = 0;
  Cycle last_sent = 0;
  std::size_t in_use() const { return pool_.in_use(); }
  InitiatorPort& port() { return port_; }

 private:
  bool response(unsigned, Payload& payload, Cycle ready) override {
    if (answers_.size() >= shape_.answer_places) return false;
    answers_.emplace_back(&payload, ready);
    return true;
  }
  const Shape shape_;
  unsigned left_;
  unsigned char bytes_[32] = {};
  InitiatorPort port_;
  TransactionPool pool_;
  std::deque<std::pair<Payload*, Cycle>> answers_;
};

class Answerer : public sc_core::sc_module, public Clocked, private TargetPort::Listener {
 public:
  tlm::tlm_target_socket<32> socket{"socket"};
  Answerer(sc_core::sc_module_name name, ClockDomain& domain, const Shape& shape)
      : sc_module(name), shape_(shape), port_(socket, *this, {domain, domain.add(*this)}) {}
  Cycle step(Cycle now) override {
    if (!queue_.empty() && queue_.front().second <= now && port_.usable(now)) {
      Payload& payload = *queue_.front().first;
      queue_.pop_front();
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      port_.respond(payload);
    }
    if (port_.withheld() != nullptr && queue_.size() < shape_.target_places) {
      queue_.emplace_back(port_.withheld()->payload, now + 1 + shape_.answer_after);
      port_.end_request();
    }
    return now + 1;
  }
  unsigned withheld = 0;

 private:
  Verdict request(unsigned, Payload& payload, Cycle ready, sc_time& delay) override {
    if (++count_ % 10 < shape_.completed_of_ten && !port_.busy()) {  // else it would be a second response
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      delay += sc_time(count_ % 3, sc_core::SC_NS);
      return Verdict::kCompleted;
    }
    if (queue_.size() >= shape_.target_places) {
      ++withheld;
      return Verdict::kWithheld;
    }
    queue_.emplace_back(&payload, ready + shape_.answer_after);
    return Verdict::kTaken;
  }
  void blocking(unsigned, Payload&, sc_time&) override {}
  bool dmi(unsigned, Payload&, tlm::tlm_dmi&) override { return false; }
  unsigned debug(unsigned, Payload&) override { return 0; }

  const Shape shape_;
  TargetPort port_;
  std::deque<std::pair<Payload*, Cycle>> queue_;
  unsigned count_ = 0;
};

class Ports : public ::testing::TestWithParam<Shape> {};

TEST_P(Ports, CarryEverythingUnderBackPressure) {
  constexpr unsigned kCount = 500;
  ClockDomain domain("domain", 1000);
  Sender sender("sender", domain, GetParam(), kCount);
  HopMonitor monitor("monitor");
  Answerer answerer("answerer", domain, GetParam());
  sender.socket.bind(monitor.target);
  monitor.initiator.bind(answerer.socket);
  sc_core::sc_start(20, sc_core::SC_US);
  EXPECT_EQ(sender.done, kCount);
  EXPECT_EQ(sender.in_use(), 0u);
  monitor.check_complete();
  EXPECT_EQ(monitor.report(), "");
  if (GetParam().target_places == 1) {
    EXPECT_GT(answerer.withheld, kCount / 4);
  }
  if (GetParam().target_places == 1000 && GetParam().answer_every == 1 && GetParam().completed_of_ten == 0) {
    EXPECT_EQ(sender.last_sent, kCount) << "one request per edge";
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Ports,
                         ::testing::Values(Shape{5, 1000, 1000, 1, 0},  // nothing in the way
                                           Shape{5, 1, 1000, 1, 0},     // END_REQ withheld
                                           Shape{5, 1000, 1, 7, 0},     // END_RESP withheld
                                           Shape{0, 2, 1, 3, 4},        // both, and early completions
                                           Shape{3, 1, 1, 5, 9}));

// Without a clock: the channel is free with the call, what arrives when its delay is over.
struct EventBench : sc_core::sc_module, EventInitiatorPort::Listener, EventTargetPort::Listener {
  SC_HAS_PROCESS(EventBench);
  sc_core::sc_event event;
  tlm::tlm_initiator_socket<32> initiator{"initiator"};
  HopMonitor monitor{"monitor"};
  tlm::tlm_target_socket<32> target{"target"};
  EventInitiatorPort from{initiator, *this, EventPace(event)};
  EventTargetPort to{target, *this, EventPace(event)};
  TransactionPool pool;
  unsigned char bytes[32] = {};
  std::deque<std::pair<Payload*, sc_time>> requests;
  std::vector<sc_time> answered, woken;

  explicit EventBench(sc_core::sc_module_name name) : sc_module(name) {
    initiator.bind(monitor.target);
    monitor.initiator.bind(target);
    SC_METHOD(work);
    sensitive << event;
    dont_initialize();
  }
  Verdict request(unsigned, Payload& payload, sc_time ready, sc_time&) override {
    if (!requests.empty()) return Verdict::kWithheld;
    requests.emplace_back(&payload, ready + sc_time(10, sc_core::SC_NS));
    EventPace(event).wake_at(requests.back().second);
    return Verdict::kTaken;
  }
  bool response(unsigned, Payload& payload, sc_time ready) override {
    answered.push_back(ready);
    payload.release();
    return true;
  }
  void work() {
    woken.push_back(sc_core::sc_time_stamp());
    if (!requests.empty() && requests.front().second <= sc_core::sc_time_stamp() &&
        to.usable(sc_core::sc_time_stamp())) {
      Payload& payload = *requests.front().first;
      requests.pop_front();
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      to.respond(payload);
    }
    if (to.withheld() != nullptr && requests.empty()) {
      requests.emplace_back(to.withheld()->payload, sc_core::sc_time_stamp() + sc_time(10, sc_core::SC_NS));
      EventPace(event).wake_at(requests.back().second);
      to.end_request();
    }
    if (!requests.empty()) EventPace(event).wake_at(requests.front().second);
  }
  void blocking(unsigned, Payload&, sc_time&) override {}
  bool dmi(unsigned, Payload&, tlm::tlm_dmi&) override { return false; }
  unsigned debug(unsigned, Payload&) override { return 0; }
};

TEST(EventPorts, AnswerInTime) {
  EventBench bench("bench");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const auto send = [&] { bench.from.send(bench.pool.acquire(tlm::TLM_READ_COMMAND, 0, bench.bytes, 32)); };
  send();
  EXPECT_TRUE(bench.from.usable(sc_core::sc_time_stamp())) << "in the same instant";
  send();
  EXPECT_TRUE(bench.from.busy()) << "withheld";
  sc_core::sc_start(100, sc_core::SC_NS);
  EXPECT_EQ(bench.answered, (std::vector<sc_time>{sc_time(10, sc_core::SC_NS), sc_time(20, sc_core::SC_NS)}));
  EXPECT_EQ(bench.pool.in_use(), 0u);
  bench.monitor.check_complete();
  EXPECT_EQ(bench.monitor.report(), "");
}

}  // namespace
}  // namespace weft::bus
