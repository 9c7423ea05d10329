// A correct initiator and targets that are each wrong in one way: the monitor between them notices, and is
// silent where the target is right. What a protocol checker of others finds here, ours has to find too.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "bus/hop_monitor.h"
#include "bus/memory_transaction.h"

namespace weft {
namespace {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;
using Payload = tlm::tlm_generic_payload;

// Ways to be wrong; each does nothing where it is not set.
struct Wrong {
  const char* name;
  HopRule rule;
  std::function<void(Payload&)> in_nonblocking, before_completion, in_blocking;
  bool unmoved_phase = false, phase_with_completion = false;
  unsigned debug_surplus = 0;
  bool dmi_without_pointer = false, dmi_without_access = false;
  std::function<void(Payload&)> request;  // what the initiator does wrong
  bool from_method = false;
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.name;
}

// Answers at once: TLM_COMPLETED to non-blocking requests.
struct Target : sc_core::sc_module {
  tlm_utils::simple_target_socket<Target> socket;
  const Wrong& wrong;
  std::array<unsigned char, 64> memory{};

  Target(sc_core::sc_module_name name, const Wrong& w) : sc_module(name), socket("socket"), wrong(w) {
    socket.register_nb_transport_fw(this, &Target::forward);
    socket.register_b_transport(this, &Target::blocking);
    socket.register_get_direct_mem_ptr(this, &Target::dmi);
    socket.register_transport_dbg(this, &Target::debug);
  }

  void move(Payload& payload) {
    unsigned char* const at = memory.data() + payload.get_address();
    if (payload.get_data_ptr() != nullptr && payload.is_read())
      std::memcpy(payload.get_data_ptr(), at, payload.get_data_length());
    if (payload.get_data_ptr() != nullptr && payload.is_write())
      std::memcpy(at, payload.get_data_ptr(), payload.get_data_length());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  tlm_sync_enum forward(Payload& payload, tlm_phase& phase, sc_time&) {
    if (wrong.unmoved_phase) return tlm::TLM_UPDATED;
    move(payload);
    if (wrong.in_nonblocking) wrong.in_nonblocking(payload);
    if (wrong.before_completion) wrong.before_completion(payload);
    if (wrong.phase_with_completion) phase = tlm::END_REQ;
    return tlm::TLM_COMPLETED;
  }
  void blocking(Payload& payload, sc_time&) {
    move(payload);
    if (wrong.in_blocking) wrong.in_blocking(payload);
  }
  bool dmi(Payload&, tlm::tlm_dmi& region) {
    region.set_dmi_ptr(wrong.dmi_without_pointer ? nullptr : memory.data());
    region.set_start_address(0);
    region.set_end_address(memory.size() - 1);
    if (!wrong.dmi_without_access) region.allow_read_write();
    return true;
  }
  unsigned debug(Payload& payload) {
    move(payload);
    return payload.get_data_length() + wrong.debug_surplus;
  }
};

// Writes and reads four bytes by both ways of transport, asks for DMI and debugs.
struct Initiator : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Initiator> socket;
  const Wrong& wrong;
  TransactionPool pool;
  std::array<unsigned char, 4> data{1, 2, 3, 4}, enables{0xff, 0xff, 0xff, 0xff};

  SC_HAS_PROCESS(Initiator);
  Initiator(sc_core::sc_module_name name, const Wrong& w) : sc_module(name), socket("socket"), wrong(w) {
    SC_THREAD(run);
    if (wrong.from_method) SC_METHOD(block);
  }

  Payload& payload(tlm::tlm_command command) {
    Payload& made = pool.acquire(command, 8, data.data(), 4);
    made.set_byte_enable_ptr(enables.data());
    made.set_byte_enable_length(4);
    if (wrong.request) wrong.request(made);
    return made;
  }
  void block() {
    sc_time delay;
    Payload& p = payload(tlm::TLM_READ_COMMAND);
    socket->b_transport(p, delay);
    p.release();
  }
  void run() {
    for (const tlm::tlm_command command : {tlm::TLM_WRITE_COMMAND, tlm::TLM_READ_COMMAND}) {
      sc_time delay;
      tlm_phase phase = tlm::BEGIN_REQ;
      Payload& p = payload(command);
      socket->nb_transport_fw(p, phase, delay);
      p.release();
      Payload& q = payload(command);
      socket->b_transport(q, delay);
      q.release();
      wait(10, sc_core::SC_NS);
    }
    Payload& p = payload(tlm::TLM_READ_COMMAND);
    tlm::tlm_dmi region;
    socket->get_direct_mem_ptr(p, region);
    socket->transport_dbg(p);
    p.release();
  }
};

Wrong mutant(const char* name, HopRule rule) {
  Wrong wrong;
  wrong.name = name;
  wrong.rule = rule;
  return wrong;
}

std::vector<Wrong> mutants() {
  std::vector<Wrong> list;
  const auto add = [&](const char* name, HopRule rule) -> Wrong& {
    list.push_back(mutant(name, rule));
    return list.back();
  };
  add("TargetChangesTheDataOfAWrite", HopRule::kDataChanged).in_nonblocking = [](Payload& p) {
    if (p.is_write()) ++p.get_data_ptr()[2];
  };
  add("ByteEnableArrayChanged", HopRule::kEnablesChanged).in_nonblocking = [](Payload& p) {
    p.get_byte_enable_ptr()[1] ^= 0xff;
  };

  add("OptionChanged", HopRule::kAttributesChanged).in_nonblocking = [](Payload& p) {
    p.set_gp_option(tlm::TLM_FULL_PAYLOAD_ACCEPTED);
  };
  add("AddressChangedInBlocking", HopRule::kAttributesChanged).in_blocking = [](Payload& p) {
    p.set_address(p.get_address() + 4);
  };
  add("WriteDataChangedInBlocking", HopRule::kDataChanged).in_blocking = [](Payload& p) {
    if (p.is_write()) ++p.get_data_ptr()[0];
  };
  add("LengthChangedInBlocking", HopRule::kAttributesChanged).in_blocking = [](Payload& p) {
    p.set_data_length(2);
  };
  add("DebugReturnsMoreThanTheLength", HopRule::kDebugCount).debug_surplus = 1;
  add("BlockingFromAMethod", HopRule::kCalledFromMethod).from_method = true;
  add("NullDataPointer", HopRule::kDataPointer).request = [](Payload& p) { p.set_data_ptr(nullptr); };
  add("CompletedWithThePhaseEndReq", HopRule::kReturn).phase_with_completion = true;
  add("UpdatedWithThePhaseUnchanged", HopRule::kReturn).unmoved_phase = true;
  add("LengthChangedBeforeCompletion", HopRule::kAttributesChanged).before_completion = [](Payload& p) {
    p.set_data_length(2);
  };
  add("CommandChangedInBlocking", HopRule::kAttributesChanged).in_blocking = [](Payload& p) {
    p.set_command(p.is_read() ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  };
  add("DmiWithoutAPointer", HopRule::kDmiGrant).dmi_without_pointer = true;
  add("DmiWithoutAccess", HopRule::kDmiGrant).dmi_without_access = true;
  add("LengthZero", HopRule::kLength).request = [](Payload& p) { p.set_data_length(0); };
  add("ByteEnablesOfLengthZero", HopRule::kEnablesLength).request = [](Payload& p) {
    p.set_byte_enable_length(0);
  };
  return list;
}

std::string seen(const Wrong& wrong, std::vector<HopRule>& rules) {
  Initiator initiator("initiator", wrong);
  HopMonitor monitor("monitor");
  Target target("target", wrong);
  initiator.socket.bind(monitor.target);
  monitor.initiator.bind(target.socket);
  sc_core::sc_start(100, sc_core::SC_NS);
  for (const auto& violation : monitor.violations()) rules.push_back(violation.rule);
  return monitor.report();
}

class Mutant : public ::testing::TestWithParam<Wrong> {};

TEST_P(Mutant, IsNoticed) {
  std::vector<HopRule> rules;
  const std::string report = seen(GetParam(), rules);
  ASSERT_FALSE(rules.empty());
  EXPECT_EQ(rules.front(), GetParam().rule) << report;
}

INSTANTIATE_TEST_SUITE_P(Each, Mutant, ::testing::ValuesIn(mutants()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(HopMutants, NothingIsNoticedWhereNothingIsWrong) {
  std::vector<HopRule> rules;
  EXPECT_EQ(seen(mutant("none", HopRule::kBytes), rules), "");
}

}  // namespace
}  // namespace weft
