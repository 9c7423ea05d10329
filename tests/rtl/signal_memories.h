// Memories behind the signals of adapters, as a hostile RTL would have them: ready comes and goes, responses
// come late and in any order, and whatever the protocol asks of the adapter is checked.
#ifndef WEFT_TESTS_RTL_SIGNAL_MEMORIES_H
#define WEFT_TESTS_RTL_SIGNAL_MEMORIES_H

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <systemc>
#include <tuple>
#include <vector>

#include "platform/signal_words.h"
#include "weft/platform/axi4_hop.h"
#include "weft/platform/ready_valid_hop.h"

namespace weft::test {

// What belongs to a `valid` that has not met its `ready` must stay.
template <class... Values>
class Held {
 public:
  void edge(bool valid, bool ready, std::string& wrong, const char* channel, const Values&... values) {
    const std::tuple<Values...> now(values...);
    if (waiting_ && (!valid || now != before_)) wrong += std::string(channel) + " did not wait; ";
    waiting_ = valid && !ready;
    before_ = now;
  }
  void clear() { waiting_ = false; }

 private:
  bool waiting_ = false;
  std::tuple<Values...> before_;
};

template <unsigned kBits>
class ReadyValidMemory : public sc_core::sc_module {
 public:
  std::vector<unsigned char> bytes;
  std::string wrong;           // what the adapter did
  bool fail = false;           // answers with errors
  std::uint32_t wrong_id = 0;  // added to response_id

  SC_HAS_PROCESS(ReadyValidMemory);
  ReadyValidMemory(const sc_core::sc_module_name& name, ReadyValidHop<kBits>& adapter, std::size_t size)
      : sc_module(name), bytes(size), adapter_(adapter), pins_(adapter.pins) {
    SC_METHOD(edge);
    sensitive << adapter.clock.pos();
    dont_initialize();
  }

 private:
  static constexpr unsigned kBytes = kBits / 8;
  struct Request {
    std::uint32_t id;
    std::vector<unsigned char> data;
  };

  bool chance(unsigned of) { return random_() % of == 0; }
  void edge() {
    if (!adapter_.reset_n.read()) {
      std::fill(bytes.begin(), bytes.end(), 0);
      open_.clear();
      ids_.clear();
      held_.clear();
      ready_ = valid_ = false;
      pins_.request_ready.write(false);
      pins_.response_valid.write(false);
      return;
    }
    held_.edge(pins_.request_valid.read(), ready_, wrong, "request", pins_.request_id, pins_.request_write,
               pins_.request_address, pins_.request_data, pins_.request_strobe);
    if (pins_.request_valid.read() && ready_) take();
    if (valid_ && pins_.response_ready.read()) valid_ = false;
    if (!valid_ && !open_.empty() && chance(3)) {
      const std::size_t i = random_() % open_.size();
      pins_.response_id.write(open_[i].id + wrong_id);
      pins_.response_data.write(word_of<kBits>(open_[i].data.data()));
      pins_.response_error.write(fail);
      ids_.erase(open_[i].id);
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
      valid_ = true;
    }
    pins_.response_valid.write(valid_);
    ready_ = chance(2);
    pins_.request_ready.write(ready_);
  }
  void take() {
    const std::uint64_t at = pins_.request_address.read();
    if (!ids_.insert(pins_.request_id.read()).second) wrong += "request_id is used twice; ";
    if (at % kBytes != 0 || at + kBytes > bytes.size()) {
      wrong += "request_address " + std::to_string(at) + "; ";
      return;
    }
    open_.push_back({pins_.request_id.read(),
                     {bytes.begin() + static_cast<std::ptrdiff_t>(at),
                      bytes.begin() + static_cast<std::ptrdiff_t>(at + kBytes)}});
    if (!pins_.request_write.read()) return;
    std::vector<unsigned char> data(kBytes);
    take_word<kBits>(pins_.request_data.read(), data.data());
    const sc_dt::sc_bv<kBytes> strobes(pins_.request_strobe.read());
    for (unsigned i = 0; i < kBytes; ++i) {
      if (strobes[i].to_bool()) bytes[at + i] = data[i];
    }
  }

  ReadyValidHop<kBits>& adapter_;
  ReadyValidSignals<kBits>& pins_;
  std::mt19937 random_{1};
  std::deque<Request> open_;
  std::set<std::uint32_t> ids_;
  Held<std::uint32_t, bool, std::uint64_t, SignalValue<kBits>, SignalValue<kBytes>> held_;
  bool ready_ = false, valid_ = false;
};

// Reads of several bursts mix their beats; a write takes effect at its last beat.
template <unsigned kBits>
class Axi4Memory : public sc_core::sc_module {
 public:
  std::vector<unsigned char> bytes;
  std::string wrong;           // what the adapter did
  std::uint32_t response = 0;  // xRESP
  bool wrong_last = false;     // RLAST is 0
  unsigned most_open = 0;      // reads at a time

  SC_HAS_PROCESS(Axi4Memory);
  Axi4Memory(const sc_core::sc_module_name& name, Axi4Hop<kBits>& adapter, std::size_t size)
      : sc_module(name), bytes(size), adapter_(adapter), pins_(adapter.pins) {
    SC_METHOD(edge);
    sensitive << adapter.clock.pos();
    dont_initialize();
  }

 private:
  static constexpr unsigned kBytes = kBits / 8;
  struct Burst {
    std::uint32_t id = 0;
    std::uint64_t address = 0;
    unsigned beats = 0, done = 0;
    std::vector<unsigned char> data;
  };
  struct Data {
    std::vector<unsigned char> bytes;
    sc_dt::sc_bv<kBytes> strobes;
    bool last;
  };

  bool chance(unsigned of) { return random_() % of == 0; }
  void edge() {
    if (!adapter_.reset_n.read()) {
      // A3.1.2
      if (pins_.awvalid.read() || pins_.wvalid.read() || pins_.arvalid.read()) wrong += "VALID in a reset; ";
      std::fill(bytes.begin(), bytes.end(), 0);
      writes_.clear();
      data_.clear();
      answers_.clear();
      reads_.clear();
      aw_.clear();
      w_.clear();
      ar_.clear();
      bvalid_ = rvalid_ = false;
      show();
      return;
    }
    aw_.edge(pins_.awvalid.read(), pins_.awready.read(), wrong, "AW", pins_.awid, pins_.awaddr, pins_.awlen);
    w_.edge(pins_.wvalid.read(), pins_.wready.read(), wrong, "W", pins_.wdata, pins_.wstrb, pins_.wlast);
    ar_.edge(pins_.arvalid.read(), pins_.arready.read(), wrong, "AR", pins_.arid, pins_.araddr, pins_.arlen);
    if (pins_.awvalid.read() && pins_.awready.read())
      writes_.push_back(burst(pins_.awid, pins_.awaddr, pins_.awlen, pins_.awsize, pins_.awburst));
    if (pins_.wvalid.read() && pins_.wready.read()) {
      Data data{std::vector<unsigned char>(kBytes), sc_dt::sc_bv<kBytes>(pins_.wstrb.read()),
                pins_.wlast.read()};
      take_word<kBits>(pins_.wdata.read(), data.bytes.data());
      data_.push_back(data);
    }
    if (pins_.arvalid.read() && pins_.arready.read()) {
      Burst read = burst(pins_.arid, pins_.araddr, pins_.arlen, pins_.arsize, pins_.arburst);
      const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(read.address);
      read.data.assign(from, from + static_cast<std::ptrdiff_t>(read.beats) * kBytes);
      reads_.push_back(read);
      most_open = std::max(most_open, static_cast<unsigned>(reads_.size()));
    }
    write();
    answer();
    show();
  }
  Burst burst(const sc_core::sc_signal<std::uint32_t>& id, const sc_core::sc_signal<std::uint64_t>& address,
              const sc_core::sc_signal<std::uint32_t>& length, const sc_core::sc_signal<std::uint32_t>& size,
              const sc_core::sc_signal<std::uint32_t>& kind) {
    Burst burst{id.read(), address.read(), length.read() + 1, 0, {}};
    const std::uint64_t total = std::uint64_t{burst.beats} * kBytes;
    const bool crosses = burst.address / 4096 != (burst.address + total - 1) / 4096;  // A3.4.1
    if (burst.address % kBytes != 0 || burst.address + total > bytes.size() || burst.beats > 256 || crosses ||
        1u << size.read() != kBytes || kind.read() != 1) {
      wrong += "burst of " + std::to_string(burst.beats) + " at " + std::to_string(burst.address) + "; ";
      burst = {burst.id, 0, 1, 0, {}};
    }
    return burst;
  }
  void write() {
    while (!writes_.empty() && !data_.empty()) {
      Burst& first = writes_.front();
      const Data& data = data_.front();
      const bool last = first.done + 1 == first.beats;
      if (data.last != last) wrong += "WLAST; ";
      for (unsigned i = 0; i < kBytes; ++i) {
        if (data.strobes[i].to_bool()) bytes[first.address + first.done * kBytes + i] = data.bytes[i];
      }
      ++first.done;
      data_.pop_front();
      if (!last) continue;
      answers_.push_back(first.id);
      writes_.pop_front();
    }
  }
  void answer() {
    if (bvalid_ && pins_.bready.read()) bvalid_ = false;
    if (!bvalid_ && !answers_.empty() && chance(4)) {
      const auto i = answers_.begin() + static_cast<std::ptrdiff_t>(random_() % answers_.size());
      pins_.bid.write(*i);
      pins_.bresp.write(response);
      answers_.erase(i);
      bvalid_ = true;
    }
    if (rvalid_ && pins_.rready.read()) rvalid_ = false;
    if (!rvalid_ && !reads_.empty() && chance(2)) {
      const auto i = reads_.begin() + static_cast<std::ptrdiff_t>(random_() % reads_.size());
      pins_.rid.write(i->id);
      pins_.rdata.write(word_of<kBits>(i->data.data() + i->done * kBytes));
      pins_.rresp.write(response);
      const bool last = ++i->done == i->beats;
      pins_.rlast.write(last && !wrong_last);
      if (last) reads_.erase(i);
      rvalid_ = true;
    }
  }
  void show() {
    const bool on = adapter_.reset_n.read();
    pins_.awready.write(on && chance(2));
    pins_.wready.write(on && chance(2));
    pins_.arready.write(on && chance(2));
    pins_.bvalid.write(bvalid_);
    pins_.rvalid.write(rvalid_);
  }

  Axi4Hop<kBits>& adapter_;
  Axi4Signals<kBits>& pins_;
  std::mt19937 random_{1};
  std::deque<Burst> writes_, reads_;
  std::deque<Data> data_;
  std::deque<std::uint32_t> answers_;
  Held<std::uint32_t, std::uint64_t, std::uint32_t> aw_, ar_;
  Held<SignalValue<kBits>, SignalValue<kBytes>, bool> w_;
  bool bvalid_ = false, rvalid_ = false;
};

}  // namespace weft::test

#endif
