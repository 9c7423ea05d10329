#include "weft/platform/signal_hop.h"

#include "platform/signal_transfers.h"
#include "weft/common/error.h"

namespace weft {
namespace {

unsigned checked(const char* where, const char* what, unsigned value, unsigned most) {
  if (value == 0 || value > most) {
    throw InputError(where, std::string(what) + " is " + std::to_string(value) + "; allowed: 1 to " +
                                std::to_string(most));
  }
  return value;
}

}  // namespace

SignalHop::SignalHop(sc_core::sc_module_name name, const Hop& hop, const Options& options,
                     unsigned word_bytes)
    : sc_module(name),
      clock("clock"),
      reset_n("reset_n"),
      target("target"),
      initiator("initiator"),
      reset_edges_(checked(this->name(), "reset_edges", options.reset_edges, 1u << 20)),
      reset_left_(reset_edges_),
      transfers_(std::make_unique<SignalTransfers>(this->name(), hop,
                                                   checked(this->name(), "in_flight", options.in_flight, 255),
                                                   word_bytes, target, initiator)) {
  sc_core::sc_spawn_options process;
  process.spawn_method();
  process.dont_initialize();
  process.set_sensitivity(&clock.pos());
  sc_core::sc_spawn([this] { step(); }, "step", &process);
}

SignalHop::~SignalHop() = default;

const SignalHop::Counters& SignalHop::counters() const {
  return transfers_->counters();
}
const std::string& SignalHop::violations() const {
  return transfers_->violations();
}
bool SignalHop::idle() const {
  return transfers_->idle();
}
void SignalHop::refresh(std::uint64_t address, std::uint64_t bytes) {
  transfers_->refresh(address, bytes);
}

void SignalHop::before_end_of_elaboration() {
  transfers_->bind_rest();
}

void SignalHop::reset() {
  transfers_->reset();
  reset_left_ = reset_edges_;
}

void SignalHop::step() {
  transfers_->work();
  if (reset_left_ == 0) return edge();
  idle_pins();
  reset_n.write(--reset_left_ == 0);
}

}  // namespace weft
