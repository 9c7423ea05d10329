// Partners for benches of the reset property: an initiator and a target that act by chance, and can be reset.
#ifndef WEFT_TESTS_RESET_PLAYERS_H
#define WEFT_TESTS_RESET_PLAYERS_H

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "bus/clock_domain.h"
#include "bus/initiator_port.h"
#include "bus/memory_transaction.h"
#include "bus/target_port.h"

namespace weft::test {

struct Access {
  tlm::tlm_command command = tlm::TLM_READ_COMMAND;
  std::uint64_t address = 0;
  unsigned bytes = 32;
  AccessKind kind = AccessKind::kRead;
};

// Sends accesses with pauses, holds some responses back, and writes down when what came.
class Player final : public sc_core::sc_module, public Clocked, private bus::InitiatorPort::Listener {
 public:
  using Random = std::mt19937;
  using Choose = std::function<Access(Random&)>;
  tlm::tlm_initiator_socket<32> socket;

  // `image`: where the data of address 0 lie.
  Player(sc_core::sc_module_name name, ClockDomain& domain, unsigned char* image, Choose choose)
      : sc_module(name),
        socket("socket"),
        domain_(domain),
        image_(image),
        choose_(std::move(choose)),
        index_(domain.add(*this)),
        port_(socket, *this, {domain, index_}) {}

  void play(std::uint32_t seed) {
    random_.seed(seed);
    begun_ = domain_.current_edge();
    playing_ = true;
    next_at_ = begun_ + 1;
    log_.str("");
    domain_.wake(index_);
  }
  // After that of all who may hold a transaction: nobody does any more.
  void reset() {
    port_.reset();
    for (tlm::tlm_generic_payload* payload : open_) {
      EXPECT_EQ(payload->get_ref_count(), 1) << name() << ": somebody holds a transaction beyond the reset";
      payload->release();
    }
    open_.clear();
    playing_ = false;
  }
  std::string record() const { return log_.str(); }

  Cycle step(Cycle now) override {
    if (!playing_) return kNever;
    if (port_.withheld() != nullptr && end_at_ <= now) {
      take(*port_.withheld()->payload, now);
      port_.end_response();
    }
    if (next_at_ <= now && port_.usable(now) && open_.size() < 40) send(now);
    return now + 1;
  }

 private:
  void send(Cycle now) {
    const Access access = choose_(random_);
    next_at_ = now + (random_() % 8 == 0 ? random_() % 60 : random_() % 3);
    tlm::tlm_generic_payload& payload =
        pool_.acquire(access.command, access.address, image_ + access.address, access.bytes);
    TransactionOrigin& origin = *origin_of(payload);
    origin.kind = access.kind;
    origin.atomic_lanes = access.kind == AccessKind::kAtomic ? 7 : 0;
    origin.tag = now - begun_;  // when it was sent
    open_.push_back(&payload);
    port_.send(payload);
  }
  bool response(unsigned, tlm::tlm_generic_payload& payload, Cycle ready) override {
    if (random_() % 4 == 0) {
      end_at_ = ready + random_() % 20;
      return false;
    }
    take(payload, ready);
    return true;
  }
  void take(tlm::tlm_generic_payload& payload, Cycle now) {
    const auto found = std::find(open_.begin(), open_.end(), &payload);
    ASSERT_NE(found, open_.end()) << name() << ": an answer to a transaction that was forgotten";
    open_.erase(found);
    log_ << origin_of(payload)->tag << '-' << now - begun_ << ' ' << payload.get_response_status() << '\n';
    payload.release();
  }

  ClockDomain& domain_;
  unsigned char* const image_;
  const Choose choose_;
  const std::size_t index_;
  bus::InitiatorPort port_;
  TransactionPool pool_;
  Random random_;
  std::vector<tlm::tlm_generic_payload*> open_;
  Cycle begun_ = 0, next_at_ = 0, end_at_ = 0;
  bool playing_ = false;
  std::ostringstream log_;
};

// Answers in an order and after times of its own, some with an error; has few places.
class Memory final : public sc_core::sc_module, public Clocked, private bus::TargetPort::Listener {
 public:
  tlm::tlm_target_socket<32> socket;

  Memory(sc_core::sc_module_name name, ClockDomain& domain, std::vector<unsigned char>* image)
      : sc_module(name),
        socket("socket"),
        domain_(domain),
        image_(image),
        index_(domain.add(*this)),
        port_(socket, *this, {domain, index_}) {}

  void play(std::uint32_t seed) { random_.seed(seed); }
  void reset() {
    port_.reset();
    for (const Waiting& waiting : waiting_) waiting.payload->release();
    waiting_.clear();
  }
  bool idle() const { return waiting_.empty() && !port_.busy() && port_.withheld() == nullptr; }

  Cycle step(Cycle now) override {
    const auto due = std::find_if(waiting_.begin(), waiting_.end(),
                                  [now](const Waiting& waiting) { return waiting.ready <= now; });
    if (due != waiting_.end() && port_.usable(now)) {
      tlm::tlm_generic_payload& payload = *due->payload;
      waiting_.erase(due);
      payload.set_response_status(random_() % 16 == 0 ? tlm::TLM_GENERIC_ERROR_RESPONSE
                                                      : tlm::TLM_OK_RESPONSE);
      port_.respond(payload);
    }
    if (port_.withheld() != nullptr && waiting_.size() < kPlaces) {
      push(*port_.withheld()->payload, now + 1);
      port_.end_request();
    }
    return waiting_.empty() && port_.withheld() == nullptr ? kNever : now + 1;
  }

 private:
  static constexpr std::size_t kPlaces = 4;
  struct Waiting {
    tlm::tlm_generic_payload* payload;
    Cycle ready;
  };

  void push(tlm::tlm_generic_payload& payload, Cycle from) {
    waiting_.push_back({&payload, from + random_() % 40});
    domain_.wake(index_);
  }
  bus::Verdict request(unsigned, tlm::tlm_generic_payload& payload, Cycle ready, sc_core::sc_time&) override {
    if (random_() % 32 == 0 && !port_.busy()) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return bus::Verdict::kCompleted;
    }
    if (waiting_.size() >= kPlaces) return bus::Verdict::kWithheld;
    push(payload, ready);
    return bus::Verdict::kTaken;
  }
  void blocking(unsigned, tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  bool dmi(unsigned, tlm::tlm_generic_payload&, tlm::tlm_dmi& region) override {
    if (image_ == nullptr) return false;
    region.allow_read_write();
    region.set_dmi_ptr(image_->data());
    region.set_start_address(0);
    region.set_end_address(image_->size() - 1);
    return true;
  }
  unsigned debug(unsigned, tlm::tlm_generic_payload&) override { return 0; }

  ClockDomain& domain_;
  std::vector<unsigned char>* const image_;
  const std::size_t index_;
  bus::TargetPort port_;
  std::mt19937 random_;
  std::deque<Waiting> waiting_;
};

}  // namespace weft::test

#endif
