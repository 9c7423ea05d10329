// System memory as somebody else would write it: plain generic payloads, both transports, no knowledge of
// Weft.
#ifndef WEFT_TESTS_HOST_TEST_MEMORY_H
#define WEFT_TESTS_HOST_TEST_MEMORY_H

#include <tlm_utils/passthrough_target_socket.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

namespace weft::test {

class TestMemory : public sc_core::sc_module {
 public:
  // How it answers BEGIN_REQ: by the four phases as calls; by BEGIN_RESP in the return value; by
  // TLM_COMPLETED.
  enum class Reply : std::uint8_t { kCalls, kEarlyResponse, kCompleted };

  // What it grants to initiators that want to access its bytes directly.
  enum class Direct : std::uint8_t { kNone, kRead, kAll };

  SC_HAS_PROCESS(TestMemory);
  tlm_utils::passthrough_target_socket_optional<TestMemory> socket;  // may stay unbound

  std::vector<unsigned char> bytes;
  std::uint64_t base;
  sc_core::sc_time latency{50, sc_core::SC_NS};
  Reply reply = Reply::kCalls;
  std::size_t places = 4;                             // requests before END_REQ is withheld
  std::uint64_t bad_begin = UINT64_MAX, bad_end = 0;  // an access that touches [begin, end) is refused
  bool stuck = false;                                 // answers nothing
  std::uint64_t accesses = 0, foreign = 0;            // ... outside `bytes`
  Direct direct = Direct::kNone;
  bool answers_debug = true;
  std::uint64_t debugged = 0;  // calls
  unsigned most_bytes = ~0u;   // of a transaction; a longer one is refused
  std::size_t keeps = 0;       // so many payloads that it has answered
  bool kept_changed = false;
  std::size_t most_open = 0;

  TestMemory(sc_core::sc_module_name name, std::uint64_t first, std::size_t size)
      : sc_module(name), socket("socket"), bytes(size), base(first) {
    socket.register_nb_transport_fw(this, &TestMemory::forward);
    socket.register_b_transport(this, &TestMemory::blocking);
    socket.register_transport_dbg(this, &TestMemory::debug);
    socket.register_get_direct_mem_ptr(this, &TestMemory::grant);
    SC_METHOD(work);
    sensitive << event_;
    dont_initialize();
  }

  template <class T>
  T get(std::uint64_t address) const {
    T value;
    std::memcpy(&value, bytes.data() + (address - base), sizeof value);
    return value;
  }
  template <class T>
  void put(std::uint64_t address, const T& value) {
    std::memcpy(bytes.data() + (address - base), &value, sizeof value);
  }
  void put_bytes(std::uint64_t address, const void* from, std::size_t count) {
    std::memcpy(bytes.data() + (address - base), from, count);
  }
  // As the reset of a bus: drops what is under way.
  void drop() {
    for (const Waiting& waiting : queue_) waiting.payload->release();
    queue_.clear();
    for (Payload** held : {&blocked_, &responding_}) {
      if (*held != nullptr) (*held)->release();
      *held = nullptr;
    }
  }
  // Payloads that it keeps stay as they were.
  void let_go() {
    for (Kept& kept : kept_) let_go(kept);
    kept_.clear();
  }
  // Answers what waits, after `stuck`.
  void go_on() {
    stuck = false;
    event_.notify(sc_core::SC_ZERO_TIME);
  }

 private:
  using Payload = tlm::tlm_generic_payload;
  struct Waiting {
    Payload* payload;
    sc_core::sc_time ready;
  };

  bool grant(Payload&, tlm::tlm_dmi& region) {
    region.init();
    if (direct == Direct::kNone) return false;
    region.set_start_address(base);
    region.set_end_address(base + bytes.size() - 1);
    region.set_dmi_ptr(bytes.data());
    if (direct == Direct::kAll) {
      region.allow_read_write();
    } else {
      region.allow_read();
    }
    return true;
  }

  struct Kept {
    Payload* payload;
    std::uint64_t address;
    std::vector<unsigned char> data;
  };
  void let_go(Kept& kept) {
    const Payload& payload = *kept.payload;
    const bool same = payload.get_address() == kept.address &&
                      payload.get_data_length() == kept.data.size() &&
                      std::equal(kept.data.begin(), kept.data.end(), payload.get_data_ptr());
    kept_changed = kept_changed || !same;
    kept.payload->release();
  }
  void keep(Payload& payload) {
    payload.acquire();
    const unsigned char* const data = payload.get_data_ptr();
    kept_.push_back({&payload, payload.get_address(), {data, data + payload.get_data_length()}});
    if (kept_.size() <= keeps) return;
    let_go(kept_.front());
    kept_.pop_front();
  }

  unsigned debug(Payload& payload) {
    ++debugged;
    if (!answers_debug) return 0;
    const std::uint64_t counted = accesses, refused = foreign;
    const unsigned most = std::exchange(most_bytes, ~0u);
    perform(payload);
    most_bytes = most;
    accesses = counted;
    foreign = refused;
    const bool moved = payload.is_response_ok();
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return moved ? payload.get_data_length() : 0;
  }

  void perform(Payload& payload) {
    ++accesses;
    const std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    if (address < base || address - base > bytes.size() || length > bytes.size() - (address - base)) {
      ++foreign;
      return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
    if (length > most_bytes) return payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    if (address < bad_end && address + length > bad_begin)
      return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    unsigned char* place = bytes.data() + (address - base);
    const unsigned char* const enables = payload.get_byte_enable_ptr();
    for (unsigned i = 0; i < length; ++i) {
      if (enables != nullptr && enables[i % payload.get_byte_enable_length()] == TLM_BYTE_DISABLED) continue;
      if (payload.is_write()) place[i] = payload.get_data_ptr()[i];
      if (payload.is_read()) payload.get_data_ptr()[i] = place[i];
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  void blocking(Payload& payload, sc_core::sc_time& delay) {
    perform(payload);
    delay += latency;
  }

  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) {
      responding_->release();
      responding_ = nullptr;
      event_.notify(delay);
      return tlm::TLM_COMPLETED;
    }
    const bool alone = queue_.empty() && responding_ == nullptr && blocked_ == nullptr && !stuck;
    if (alone && reply == Reply::kCompleted) {
      perform(payload);
      delay += latency;
      return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    if (alone && reply == Reply::kEarlyResponse) {
      perform(payload);
      delay += latency;
      responding_ = &payload;
      phase = tlm::BEGIN_RESP;
      return tlm::TLM_UPDATED;
    }
    const sc_core::sc_time ready = sc_core::sc_time_stamp() + delay + latency;
    if (queue_.size() >= places) {
      blocked_ = &payload;
      return tlm::TLM_ACCEPTED;
    }
    push({&payload, ready});
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }

  void push(const Waiting& waiting) {
    queue_.push_back(waiting);
    most_open = std::max(most_open, queue_.size());
    event_.notify(waiting.ready - sc_core::sc_time_stamp());
  }

  void work() {
    if (stuck) return;
    if (!queue_.empty() && responding_ == nullptr && queue_.front().ready <= sc_core::sc_time_stamp()) {
      responding_ = queue_.front().payload;
      queue_.pop_front();
      perform(*responding_);
      if (keeps != 0) keep(*responding_);
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time delay;
      const auto result = socket->nb_transport_bw(*responding_, phase, delay);
      if (result == tlm::TLM_COMPLETED || phase == tlm::END_RESP) {
        responding_->release();
        responding_ = nullptr;
      }
    }
    if (blocked_ != nullptr && queue_.size() < places) {
      Payload& payload = *blocked_;
      blocked_ = nullptr;
      push({&payload, sc_core::sc_time_stamp() + latency});
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay;
      socket->nb_transport_bw(payload, phase, delay);
    }
    if (!queue_.empty() && responding_ == nullptr) {
      const sc_core::sc_time& now = sc_core::sc_time_stamp();
      event_.notify(queue_.front().ready > now ? queue_.front().ready - now : sc_core::SC_ZERO_TIME);
    }
  }

  std::deque<Waiting> queue_;
  std::deque<Kept> kept_;
  Payload* blocked_ = nullptr;
  Payload* responding_ = nullptr;
  sc_core::sc_event event_;
};

}  // namespace weft::test

#endif
