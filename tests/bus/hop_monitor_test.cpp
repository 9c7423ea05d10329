// The monitor fires on each seeded mistake, once and with its rule, and is silent on correct traffic. (The
// benches of the memory modules show the silence on real traffic.)
#include "bus/hop_monitor.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "bus/memory_transaction.h"

namespace weft {
namespace {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;
using Payload = tlm::tlm_generic_payload;

// Both ends of a hop, moved by hand. A call forward is answered by `reply`, a call backward by `answer`.
struct Hop : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Hop> initiator;
  tlm_utils::passthrough_target_socket<Hop> target;
  HopMonitor monitor;
  TransactionPool pool;
  unsigned char data[64] = {};

  tlm_sync_enum reply = tlm::TLM_ACCEPTED;
  tlm_phase reply_phase = tlm::END_REQ;
  tlm::tlm_response_status reply_status = tlm::TLM_INCOMPLETE_RESPONSE;  // with TLM_COMPLETED
  tlm_sync_enum answer = tlm::TLM_ACCEPTED;
  tlm_phase answer_phase = tlm::END_RESP;
  tlm::tlm_response_status blocking_status = tlm::TLM_OK_RESPONSE;
  std::uint64_t dmi_begin = 0;
  std::uint64_t dmi_end = 1023;
  unsigned char* dmi_bytes = data;
  bool dmi_access = true;
  unsigned debug_surplus = 0;
  std::function<void(tlm_phase&, sc_time&)> on_forward;
  std::uint64_t invalidated = 0;

  explicit Hop(sc_core::sc_module_name name)
      : sc_module(name), initiator("initiator"), target("target"), monitor("monitor") {
    initiator.register_nb_transport_bw(this, &Hop::backward);
    initiator.register_invalidate_direct_mem_ptr(this, &Hop::invalidate);
    target.register_nb_transport_fw(this, &Hop::forward);
    target.register_b_transport(this, &Hop::blocking);
    target.register_get_direct_mem_ptr(this, &Hop::dmi);
    target.register_transport_dbg(this, &Hop::debug);
    initiator.bind(monitor.target);
    monitor.initiator.bind(target);
    monitor.set_memory_bytes(1024);
  }

  tlm_sync_enum forward(Payload& payload, tlm_phase& phase, sc_time& delay) {
    if (on_forward) on_forward(phase, delay);
    if (reply == tlm::TLM_UPDATED) phase = reply_phase;
    if (reply == tlm::TLM_COMPLETED) payload.set_response_status(reply_status);
    return reply;
  }
  tlm_sync_enum backward(Payload&, tlm_phase& phase, sc_time&) {
    if (answer == tlm::TLM_UPDATED) phase = answer_phase;
    return answer;
  }
  void blocking(Payload& payload, sc_time&) { payload.set_response_status(blocking_status); }
  bool dmi(Payload&, tlm::tlm_dmi& region) {
    region.set_start_address(dmi_begin);
    region.set_end_address(dmi_end);
    region.set_dmi_ptr(dmi_bytes);
    if (dmi_access) region.allow_read_write();
    return true;
  }
  unsigned debug(Payload& payload) { return payload.get_data_length() + debug_surplus; }
  void invalidate(sc_dt::uint64, sc_dt::uint64 end) { invalidated = end; }

  Payload& payload() { return pool.acquire(tlm::TLM_READ_COMMAND, 128, data, 64); }
  tlm_sync_enum to_target(Payload& payload, tlm_phase phase, sc_time delay = sc_core::SC_ZERO_TIME) {
    return initiator->nb_transport_fw(payload, phase, delay);
  }
  tlm_sync_enum to_initiator(Payload& payload, tlm_phase phase, sc_time delay = sc_core::SC_ZERO_TIME) {
    return target->nb_transport_bw(payload, phase, delay);
  }
  // A whole correct transaction with all four phases as calls.
  void good() {
    Payload& p = payload();
    to_target(p, tlm::BEGIN_REQ);
    to_initiator(p, tlm::END_REQ);
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    to_initiator(p, tlm::BEGIN_RESP);
    to_target(p, tlm::END_RESP);
    p.release();
  }
  // Up to a phase: BEGIN_REQ, END_REQ or BEGIN_RESP.
  Payload& open(tlm_phase until) {
    Payload& p = payload();
    to_target(p, tlm::BEGIN_REQ);
    if (until == tlm::BEGIN_REQ) return p;
    to_initiator(p, tlm::END_REQ);
    if (until == tlm::END_REQ) return p;
    respond(p);
    return p;
  }
  void respond(Payload& p) {
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    to_initiator(p, tlm::BEGIN_RESP);
  }
};

struct Mistake {
  const char* name;
  HopRule rule;
  std::function<void(Hop&)> make;
};

// No constant: an sc_time before main would fix the time resolution that other tests here set.
sc_time nanoseconds(int count) {
  return sc_time(count, sc_core::SC_NS);
}

std::vector<Mistake> mistakes() {
  return {
      {"RequestTwice", HopRule::kPhaseOrder,
       [](Hop& hop) { hop.to_target(hop.open(tlm::END_REQ), tlm::BEGIN_REQ); }},
      {"EndRequestTwice", HopRule::kPhaseOrder,
       [](Hop& hop) { hop.to_initiator(hop.open(tlm::END_REQ), tlm::END_REQ); }},
      {"ResponseTwice", HopRule::kPhaseOrder,
       [](Hop& hop) { hop.to_initiator(hop.open(tlm::BEGIN_RESP), tlm::BEGIN_RESP); }},
      {"EndResponseBeforeResponse", HopRule::kPhaseOrder,
       [](Hop& hop) { hop.to_target(hop.open(tlm::END_REQ), tlm::END_RESP); }},
      {"ResponseOfAStranger", HopRule::kPhaseOrder,
       [](Hop& hop) { hop.to_initiator(hop.payload(), tlm::BEGIN_RESP); }},
      {"EndRequestForward", HopRule::kPhaseDirection,
       [](Hop& hop) { hop.to_target(hop.open(tlm::BEGIN_REQ), tlm::END_REQ); }},
      {"BeginResponseForward", HopRule::kPhaseDirection,
       [](Hop& hop) { hop.to_target(hop.open(tlm::END_REQ), tlm::BEGIN_RESP); }},
      {"BeginRequestBackward", HopRule::kPhaseDirection,
       [](Hop& hop) { hop.to_initiator(hop.open(tlm::END_REQ), tlm::BEGIN_REQ); }},
      {"EndResponseReturnedByTheTarget", HopRule::kPhaseDirection,
       [](Hop& hop) {
         hop.reply = tlm::TLM_UPDATED;
         hop.reply_phase = tlm::END_RESP;
         hop.to_target(hop.payload(), tlm::BEGIN_REQ);
       }},
      {"AcceptedWithAnotherPhase", HopRule::kReturn,
       [](Hop& hop) {
         hop.on_forward = [](tlm_phase& phase, sc_time&) { phase = tlm::END_REQ; };
         hop.to_target(hop.payload(), tlm::BEGIN_REQ);
       }},
      {"AcceptedWithAnotherDelay", HopRule::kReturn,
       [](Hop& hop) {
         hop.on_forward = [](tlm_phase&, sc_time& delay) { delay += nanoseconds(1); };
         hop.to_target(hop.payload(), tlm::BEGIN_REQ);
       }},
      {"UpdatedWithTheSamePhase", HopRule::kReturn,
       [](Hop& hop) {
         hop.reply = tlm::TLM_UPDATED;
         hop.reply_phase = tlm::BEGIN_REQ;
         hop.to_target(hop.payload(), tlm::BEGIN_REQ);
       }},
      {"ResponseUpdatedWithTheSamePhase", HopRule::kReturn,
       [](Hop& hop) {
         hop.answer = tlm::TLM_UPDATED;
         hop.answer_phase = tlm::BEGIN_RESP;
         hop.respond(hop.open(tlm::END_REQ));
       }},
      {"RequestDuringRequest", HopRule::kRequestExclusion,
       [](Hop& hop) {
         hop.open(tlm::BEGIN_REQ);
         hop.to_target(hop.payload(), tlm::BEGIN_REQ);
       }},
      {"ResponseDuringResponse", HopRule::kResponseExclusion,
       [](Hop& hop) {
         Payload& first = hop.open(tlm::END_REQ);
         Payload& second = hop.open(tlm::END_REQ);
         hop.respond(first);
         hop.respond(second);
       }},
      {"DelayDecreases", HopRule::kTiming,
       [](Hop& hop) {
         Payload& p = hop.payload();
         hop.to_target(p, tlm::BEGIN_REQ, nanoseconds(5));
         hop.to_initiator(p, tlm::END_REQ, nanoseconds(4));
       }},
      {"RequestBeforeTheLastRequest", HopRule::kTiming,
       [](Hop& hop) {
         hop.reply = tlm::TLM_UPDATED;
         hop.to_target(hop.payload(), tlm::BEGIN_REQ, nanoseconds(5));
         hop.to_target(hop.payload(), tlm::BEGIN_REQ, nanoseconds(4));
       }},
      {"RequestWithAStatus", HopRule::kRequestStatus,
       [](Hop& hop) {
         Payload& p = hop.payload();
         p.set_response_status(tlm::TLM_OK_RESPONSE);
         hop.to_target(p, tlm::BEGIN_REQ);
       }},
      {"RequestWithDmiHint", HopRule::kRequestDmi,
       [](Hop& hop) {
         Payload& p = hop.payload();
         p.set_dmi_allowed(true);
         hop.to_target(p, tlm::BEGIN_REQ);
       }},
      {"NoStreamingWidth", HopRule::kStreamingWidth,
       [](Hop& hop) {
         Payload& p = hop.payload();
         p.set_streaming_width(0);
         hop.to_target(p, tlm::BEGIN_REQ);
       }},
      {"NoData", HopRule::kDataPointer,
       [](Hop& hop) {
         Payload& p = hop.payload();
         p.set_data_ptr(nullptr);
         hop.to_target(p, tlm::BEGIN_REQ);
       }},
      {"NoDataToDebug", HopRule::kDataPointer,
       [](Hop& hop) {
         Payload& p = hop.payload();
         p.set_data_ptr(nullptr);
         hop.initiator->transport_dbg(p);
       }},
      {"DataOfLengthZero", HopRule::kLength,
       [](Hop& hop) {
         Payload& p = hop.payload();
         p.set_data_length(0);
         hop.to_target(p, tlm::BEGIN_REQ);
       }},
      {"ByteEnablesOfLengthZero", HopRule::kEnablesLength,
       [](Hop& hop) {
         Payload& p = hop.payload();
         p.set_byte_enable_ptr(hop.data);
         hop.to_target(p, tlm::BEGIN_REQ);
       }},
      {"NoMemoryManager", HopRule::kMemoryManager,
       [](Hop& hop) {
         static Payload p;
         static TransactionPool pool;
         static unsigned char bytes[4];
         p.set_read();
         p.set_data_ptr(bytes);
         p.set_data_length(4);
         p.set_streaming_width(4);
         p.set_mm(&pool);
         p.acquire();
         p.set_mm(nullptr);
         hop.to_target(p, tlm::BEGIN_REQ);
       }},
      {"NotAcquired", HopRule::kReferenceCount,
       [](Hop& hop) {
         static TransactionPool pool;
         static Payload p(&pool);
         static unsigned char bytes[4];
         p.set_read();
         p.set_data_ptr(bytes);
         p.set_data_length(4);
         p.set_streaming_width(4);
         hop.to_target(p, tlm::BEGIN_REQ);
       }},
      {"StatusAtEndOfRequest", HopRule::kEarlyStatus,
       [](Hop& hop) {
         Payload& p = hop.open(tlm::BEGIN_REQ);
         p.set_response_status(tlm::TLM_OK_RESPONSE);
         hop.to_initiator(p, tlm::END_REQ);
       }},
      {"NoStatusAtResponse", HopRule::kMissingStatus,
       [](Hop& hop) { hop.to_initiator(hop.open(tlm::END_REQ), tlm::BEGIN_RESP); }},
      {"NoStatusAtEarlyCompletion", HopRule::kMissingStatus,
       [](Hop& hop) {
         hop.reply = tlm::TLM_COMPLETED;
         hop.to_target(hop.payload(), tlm::BEGIN_REQ);
       }},
      {"NoStatusAfterBlocking", HopRule::kMissingStatus,
       [](Hop& hop) {
         sc_time delay;
         hop.blocking_status = tlm::TLM_INCOMPLETE_RESPONSE;
         hop.initiator->b_transport(hop.payload(), delay);
       }},
      {"StatusChangedAfterResponse", HopRule::kStatusChanged,
       [](Hop& hop) {
         Payload& p = hop.open(tlm::BEGIN_RESP);
         p.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
         hop.to_target(p, tlm::END_RESP);
       }},
      {"AddressChanged", HopRule::kAttributesChanged,
       [](Hop& hop) {
         Payload& p = hop.open(tlm::END_REQ);
         p.set_address(0);
         hop.respond(p);
         hop.to_target(p, tlm::END_RESP);
       }},
      {"CommandChanged", HopRule::kAttributesChanged,
       [](Hop& hop) {
         Payload& p = hop.open(tlm::BEGIN_REQ);
         p.set_write();
         hop.to_initiator(p, tlm::END_REQ);
       }},
      {"DataPointerChanged", HopRule::kAttributesChanged,
       [](Hop& hop) {
         Payload& p = hop.open(tlm::BEGIN_RESP);
         p.set_data_ptr(nullptr);
         hop.to_target(p, tlm::END_RESP);
       }},
      {"ByteEnablesChanged", HopRule::kAttributesChanged,
       [](Hop& hop) {
         Payload& p = hop.open(tlm::BEGIN_REQ);
         p.set_byte_enable_length(1);
         hop.to_initiator(p, tlm::END_REQ);
       }},
      {"StreamingWidthChanged", HopRule::kAttributesChanged,
       [](Hop& hop) {
         Payload& p = hop.open(tlm::BEGIN_REQ);
         p.set_streaming_width(4);
         hop.to_initiator(p, tlm::END_REQ);
       }},
      {"WriteDataChanged", HopRule::kDataChanged,
       [](Hop& hop) {
         Payload& p = hop.pool.acquire(tlm::TLM_WRITE_COMMAND, 128, hop.data, 64);
         hop.to_target(p, tlm::BEGIN_REQ);
         hop.data[63] = 1;
         hop.to_initiator(p, tlm::END_REQ);
       }},
      {"ReadDataChangedAfterResponse", HopRule::kDataChanged,
       [](Hop& hop) {
         Payload& p = hop.open(tlm::END_REQ);
         hop.data[0] = 1;  // as it may
         hop.respond(p);
         hop.data[0] = 2;
         hop.to_target(p, tlm::END_RESP);
       }},
      {"ByteEnableChanged", HopRule::kEnablesChanged,
       [](Hop& hop) {
         static unsigned char enables[4] = {0xff, 0xff, 0xff, 0xff};
         Payload& p = hop.payload();
         p.set_byte_enable_ptr(enables);
         p.set_byte_enable_length(4);
         hop.to_target(p, tlm::BEGIN_REQ);
         enables[2] = 0;
         hop.to_initiator(p, tlm::END_REQ);
       }},
      {"BlockingFromAMethod", HopRule::kCalledFromMethod,
       [](Hop& hop) {
         sc_core::sc_spawn_options options;
         options.spawn_method();
         sc_core::sc_spawn(
             [&hop] {
               sc_time delay;
               hop.initiator->b_transport(hop.payload(), delay);
             },
             "method", &options);
         sc_core::sc_start(sc_core::SC_ZERO_TIME);
       }},
      {"BlockingDuringNonBlocking", HopRule::kMixedTransport,
       [](Hop& hop) {
         sc_time delay;
         hop.initiator->b_transport(hop.open(tlm::END_REQ), delay);
       }},
      {"DmiEndIsTheSize", HopRule::kDmiRange,
       [](Hop& hop) {
         tlm::tlm_dmi region;
         hop.dmi_end = 1024;
         hop.initiator->get_direct_mem_ptr(hop.payload(), region);
       }},
      {"DmiElsewhere", HopRule::kDmiRange,
       [](Hop& hop) {
         tlm::tlm_dmi region;
         hop.dmi_begin = 512;
         hop.initiator->get_direct_mem_ptr(hop.payload(), region);
       }},
      {"DmiWithoutAPointer", HopRule::kDmiGrant,
       [](Hop& hop) {
         tlm::tlm_dmi region;
         hop.dmi_bytes = nullptr;
         hop.initiator->get_direct_mem_ptr(hop.payload(), region);
       }},
      {"DmiWithoutAccess", HopRule::kDmiGrant,
       [](Hop& hop) {
         tlm::tlm_dmi region;
         hop.dmi_access = false;
         hop.initiator->get_direct_mem_ptr(hop.payload(), region);
       }},
      {"DebugMovesTooMuch", HopRule::kDebugCount,
       [](Hop& hop) {
         hop.debug_surplus = 1;
         hop.initiator->transport_dbg(hop.payload());
       }},
      {"NeverAnswered", HopRule::kUnfinished,
       [](Hop& hop) {
         hop.open(tlm::END_REQ);
         hop.monitor.check_complete();
       }},
  };
}

class SeededMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(SeededMistake, FiresItsRuleOnce) {
  Hop hop("hop");
  sc_core::sc_start(10, sc_core::SC_NS);
  int called = 0;
  hop.monitor.on_violation([&](const HopMonitor::Violation&) { ++called; });
  GetParam().make(hop);
  ASSERT_EQ(hop.monitor.violations().size(), 1u) << hop.monitor.report();
  EXPECT_EQ(hop.monitor.violations()[0].rule, GetParam().rule) << hop.monitor.report();
  EXPECT_NE(hop.monitor.violations()[0].text.find("hop.monitor at 10 ns"), std::string::npos);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(hop.monitor.violation_count(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Each, SeededMistake, ::testing::ValuesIn(mistakes()),
                         [](const auto& info) { return std::string(info.param.name); });

// A length that changes in flight breaks two rules: the attribute's, and in the end the sum of the bytes.
TEST(HopMonitor, FindsBytesThatGotLost) {
  Hop hop("hop");
  sc_core::sc_start(10, sc_core::SC_NS);
  Payload& p = hop.open(tlm::END_REQ);
  p.set_data_length(32);
  hop.respond(p);
  hop.to_target(p, tlm::END_RESP);
  hop.monitor.check_complete();
  ASSERT_EQ(hop.monitor.violations().size(), 2u) << hop.monitor.report();
  EXPECT_EQ(hop.monitor.violations()[0].rule, HopRule::kAttributesChanged);
  EXPECT_EQ(hop.monitor.violations()[1].rule, HopRule::kBytes);
}

TEST(HopMonitor, EveryRuleHasASeededMistake) {
  for (int rule = 0; rule <= static_cast<int>(HopRule::kUnfinished); ++rule) {
    if (static_cast<HopRule>(rule) == HopRule::kBytes) continue;  // FindsBytesThatGotLost
    bool found = false;
    for (const Mistake& mistake : mistakes()) found |= mistake.rule == static_cast<HopRule>(rule);
    EXPECT_TRUE(found) << to_string(static_cast<HopRule>(rule));
  }
}

TEST(HopMonitor, IsSilentOnEveryLegalSequence) {
  Hop hop("hop");
  sc_core::sc_start(10, sc_core::SC_NS);
  hop.good();
  // The response comes without END_REQ.
  Payload& hurried = hop.open(tlm::BEGIN_REQ);
  hop.respond(hurried);
  hop.to_target(hurried, tlm::END_RESP);
  // END_REQ as return value; then END_RESP as return value; then completion instead of END_RESP.
  hop.reply = tlm::TLM_UPDATED;
  for (tlm_sync_enum answer : {tlm::TLM_UPDATED, tlm::TLM_COMPLETED}) {
    hop.answer = answer;
    Payload& p = hop.payload();
    hop.to_target(p, tlm::BEGIN_REQ, nanoseconds(2));
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    hop.to_initiator(p, tlm::BEGIN_RESP, nanoseconds(3));
  }
  // Completion at once, with an error.
  hop.reply = tlm::TLM_COMPLETED;
  hop.reply_status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  hop.to_target(hop.payload(), tlm::BEGIN_REQ, nanoseconds(4));
  hop.reply = tlm::TLM_ACCEPTED;
  // Two in flight, answered out of order.
  hop.answer = tlm::TLM_ACCEPTED;
  sc_core::sc_start(10, sc_core::SC_NS);
  Payload& first = hop.open(tlm::END_REQ);
  Payload& second = hop.open(tlm::END_REQ);
  hop.respond(second);
  hop.to_target(second, tlm::END_RESP);
  hop.respond(first);
  hop.to_target(first, tlm::END_RESP);
  // Blocking, debug, DMI, invalidation.
  sc_time delay;
  hop.initiator->b_transport(hop.payload(), delay);
  tlm::tlm_dmi region;
  EXPECT_TRUE(hop.initiator->get_direct_mem_ptr(hop.payload(), region));
  EXPECT_EQ(hop.initiator->transport_dbg(hop.payload()), 64u);
  hop.target->invalidate_direct_mem_ptr(0, 77);
  EXPECT_EQ(hop.invalidated, 77u);

  hop.monitor.check_complete();
  EXPECT_EQ(hop.monitor.report(), "");
  EXPECT_EQ(hop.monitor.transactions(), 8u);
  EXPECT_EQ(hop.monitor.bytes_requested(), 8u * 64);
  EXPECT_EQ(hop.monitor.bytes_responded(), 8u * 64);
}

}  // namespace
}  // namespace weft
