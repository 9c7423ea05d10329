// The SM's way to the crossbar: one request is open at a time, and answers wait in a queue of finite length,
// which holds up further ones and further requests while it is full.
//
//   if (port.usable(now)) port.send(port.acquire(...));
//   if (port.answered(now)) { ... port.answer() ...; port.take_answer(now); }    // one per cycle
#ifndef WEFT_SM_MEMORY_PORT_H
#define WEFT_SM_MEMORY_PORT_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tlm>

#include "bus/initiator_port.h"
#include "bus/memory_transaction.h"
#include "common/ring.h"
#include "weft/common/archive.h"

namespace weft::sm {

class MemoryPort final : private bus::InitiatorPort::Listener {
 public:
  using Payload = tlm::tlm_generic_payload;

  class Listener {
   public:
    // The answer to a transaction has come. Whether it goes into the queue; an error does not, nor does what
    // the listener has done itself.
    virtual bool memory_answered(const Payload& payload) = 0;

   protected:
    ~Listener() = default;
  };
  struct Answer {
    std::uint64_t tag = 0, address = 0;
    Cycle ready = 0;  // first edge at which it may be used
    std::uint64_t issued_ps = 0;
    TransactionStages stages;
  };

  MemoryPort(tlm::tlm_initiator_socket<32>& socket, std::uint64_t answers, const bus::EdgePace& pace,
             Listener& listener);

  // A transaction of the pool, with its origin to be filled in; with a data array of its own, or with `data`.
  Payload& acquire(tlm::tlm_command command, std::uint64_t address, unsigned bytes) {
    return state_.pool->acquire(command, address, bytes);
  }
  Payload& acquire(tlm::tlm_command command, std::uint64_t address, unsigned char* data, unsigned bytes) {
    return state_.pool->acquire(command, address, data, bytes);
  }
  bool busy() const { return port_.busy(); }
  bool usable(Cycle now) const { return port_.usable(now) && !state_.answers.full(); }
  void send(Payload& payload) {
    last_ = {payload.get_address(), payload.is_write(), last_.number + 1};
    port_.send(payload);
  }
  // The request sent last.
  struct Sent {
    std::uint64_t address = 0;
    bool write = false;
    std::uint64_t number = 0;  // counted from 1; 0: none yet
  };
  const Sent& last_sent() const { return last_; }
  // It keeps the port at `now`: until the cycle of its END_REQ.
  bool requests(Cycle now) const { return last_.number != 0 && (busy() || now < port_.usable_from()); }

  bool waiting() const { return !state_.answers.empty(); }
  std::size_t queued() const { return state_.answers.size(); }
  // The first answer may be used at `now`.
  bool answered(Cycle now) const { return waiting() && state_.answers.front().ready <= now; }
  const Answer& answer() const { return state_.answers.front(); }
  // Done with `answer`: its place is free for a response that was withheld.
  void take_answer(Cycle now);

  // Transactions that have not been answered yet.
  std::size_t transactions() const { return state_.pool->in_use(); }
  bool idle() const { return !waiting() && transactions() == 0; }
  // Forgets everything; nobody else may hold a transaction any more.
  void reset();
  // Between two launches.
  void archive(Archive& archive) { archive(state_, port_); }

 private:
  struct State {
    explicit State(std::size_t places) : pool(std::make_unique<TransactionPool>()), answers(places) {}
    std::unique_ptr<TransactionPool> pool;
    Ring<Answer> answers;
    void archive(Archive& archive) {
      auto& [pool_, answers_] = *this;
      const std::size_t in_use = pool_->in_use();
      archive(at_rest(in_use), at_rest(answers_));
    }
  };

  bool response(unsigned, Payload& payload, Cycle ready) override;
  void take(Payload& payload, Cycle ready);

  Listener& listener_;
  bus::InitiatorPort port_;
  State state_;
  Sent last_;  // what is looked at, and not kept
};

}  // namespace weft::sm

#endif
