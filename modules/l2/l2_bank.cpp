#include "l2/l2_bank.h"

#include <algorithm>
#include <numeric>

#include "common/error.h"

namespace weft::l2 {

using sc_core::sc_time;

void L2Bank::Config::describe(config::Visitor& v) {
  tags.describe(v);
  v.integer("mshr_entries", mshrs.entries, {1, 1 << 16}, "entries", "lines that can be outstanding");
  v.integer("mshr_merges", mshrs.merges, {1, 1024}, "requests", "requests that can wait for one line");
  v.integer("latency", latency, {1, 10'000}, "cycles", "from a request's arrival to the response of a hit");
  v.integer("input_queue", input_queue, {1, 4096}, "requests", "requests that wait for the pipeline");
  v.integer("miss_queue", miss_queue, {2, 4096}, "requests", "fetches and write-backs that wait for memory");
  v.integer("response_queue", response_queue, {1, 4096}, "responses", "responses that wait for the crossbar");
  v.integer("write_back_buffers", write_back_buffers, {1, 4096}, "lines", "lines being written back");
  v.integer("atomic_interval", atomic_interval, {0, 1000}, "cycles", "cycles per lane of an atomic");
  config::choice(v, "write_miss", write_miss,
                 {{"fetch", WriteMiss::kFetch}, {"no_fetch", WriteMiss::kNoFetch}},
                 "does a write to a part of an absent line fetch the line");
}

void L2Bank::Config::check(const std::string& where) const {
  tags.check(where);
  mshrs.check(where + "/mshr");
  if (miss_queue < 2) throw InputError(where + "/miss_queue", "a fetch and its write-back need 2 places");
}

L2Bank::L2Bank(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
               const gddr5::AddressMap& map, unsigned channel, unsigned bank)
    : sc_module(name),
      target("target"),
      memory("memory"),
      config_(config),
      domain_(domain),
      map_(map),
      channel_(channel),
      bank_(bank),
      index_(domain.add(*this)),
      tags_(config.tags),
      mshrs_(config.mshrs),
      requests_(config.input_queue + config.latency + config.mshrs.entries * config.mshrs.merges +
                config.response_queue + 2),
      input_(config.input_queue),
      pipeline_(config.latency),
      misses_(config.miss_queue),
      fills_(config.mshrs.entries + config.write_back_buffers),
      released_(config.mshrs.entries),
      responses_(config.response_queue),
      slots_(config.mshrs.entries + config.write_back_buffers) {
  if (config.tags.line_bytes > map.chunk_bytes()) {
    throw InputError(this->name(), "a line of " + std::to_string(config.tags.line_bytes) +
                                       " bytes is larger than the interleave of " +
                                       std::to_string(map.chunk_bytes()));
  }
  target.register_nb_transport_fw(this, &L2Bank::forward);
  target.register_b_transport(this, &L2Bank::blocking);
  target.register_get_direct_mem_ptr(this, &L2Bank::dmi);
  target.register_transport_dbg(this, &L2Bank::debug);
  memory.register_nb_transport_bw(this, &L2Bank::backward);
  memory.register_invalidate_direct_mem_ptr(this, &L2Bank::invalidate);
  reset();
}

void L2Bank::reset() {
  for (Request& request : requests_) {
    if (request.payload != nullptr) request.payload->release();
    request = {};
  }
  for (Slot& slot : slots_) {
    if (slot.payload != nullptr) slot.payload->release();
    slot = {};
  }
  if (responding_ != nullptr) responding_->release();
  responding_ = nullptr;
  free_requests_.resize(requests_.size());
  std::iota(free_requests_.rbegin(), free_requests_.rend(), 0u);
  free_write_backs_.resize(config_.write_back_buffers);
  std::iota(free_write_backs_.rbegin(), free_write_backs_.rend(),
            static_cast<std::uint32_t>(config_.mshrs.entries));
  memory_in_flight_ = 0;
  tags_.reset();
  mshrs_.reset();
  input_.clear();
  pipeline_.clear();
  misses_.clear();
  fills_.clear();
  released_.clear();
  responses_.clear();
  blocked_ = waiter_ = kNone;
  request_gate_ = response_gate_ = {};
  busy_until_ = 0;
}

Cycle L2Bank::step(Cycle now) {
  bool moved = take_fill(now);
  moved |= release_waiter(now);
  moved |= enter_pipeline(now);
  moved |= look_up(now);
  moved |= send_miss(now);
  moved |= respond(now);
  admit_blocked(now);
  return next_work(now, moved);
}

// Whatever stalls can go on only after something has moved, in a step; so after a step without movement only
// the passing of time is waited for, or a call from outside, which wakes the bank.
Cycle L2Bank::next_work(Cycle now, bool moved) const {
  Cycle next = kNever;
  const auto at = [&](Cycle edge) { next = std::min(next, std::max(edge, now + 1)); };
  const bool head_due = !pipeline_.empty() && requests_[pipeline_.front()].ready <= now;
  if (moved && (head_due || !released_.empty() || !input_.empty())) return now + 1;
  if (!fills_.empty()) at(fills_.front().ready);
  if (!pipeline_.empty() && !head_due) at(requests_[pipeline_.front()].ready);
  if (busy_until_ > now && (head_due || !released_.empty())) at(busy_until_);
  if (!input_.empty() && !pipeline_.full()) at(requests_[input_.front()].ready);
  if (!misses_.empty() && !request_gate_.closed()) at(request_gate_.usable_from());
  if (!responses_.empty() && !response_gate_.closed()) {
    at(std::max(responses_.front().ready, response_gate_.usable_from()));
  }
  if (blocked_ != kNone && !input_.full()) at(requests_[blocked_].ready);
  return next;
}

// One line per cycle is written into the data array.
bool L2Bank::take_fill(Cycle now) {
  if (fills_.empty() || fills_.front().ready > now) return false;
  const Fill fill = fills_.front();
  fills_.pop();
  Slot& slot = slots_[fill.slot];
  if (fill.status != tlm::TLM_OK_RESPONSE) ++memory_errors_;
  if (fill.slot >= config_.mshrs.entries) {
    free_slot(fill.slot);
    free_write_backs_.push_back(fill.slot);
    return true;
  }
  const Line line = slot.line;
  slot.status = fill.status;
  if (fill.status == tlm::TLM_OK_RESPONSE) {
    tags_.fill(line);
    if (slot.dirty) tags_.mark_dirty(line);
  } else {
    tags_.invalidate(line);
  }
  free_slot(fill.slot);
  released_.push(mshrs_.close(line));
  return true;
}

// One waiting request per cycle is served from a line that came.
bool L2Bank::release_waiter(Cycle now) {
  if (released_.empty()) return false;
  const std::uint32_t entry = released_.front();
  if (waiter_ == kNone && !mshrs_.next_waiter(entry, waiter_)) {
    released_.pop();
    return true;
  }
  Request& request = requests_[waiter_];
  if (slots_[entry].status != tlm::TLM_OK_RESPONSE) request.status = slots_[entry].status;
  --request.missing;
  if (!finish_line(request, waiter_, now)) {
    ++request.missing;
    return false;
  }
  waiter_ = kNone;
  if (!mshrs_.has_waiter(entry)) {
    std::uint32_t none;
    mshrs_.next_waiter(entry, none);
    released_.pop();
  }
  return true;
}

bool L2Bank::enter_pipeline(Cycle now) {
  if (input_.empty() || pipeline_.full() || requests_[input_.front()].ready > now) return false;
  const std::uint32_t handle = input_.front();
  input_.pop();
  requests_[handle].ready = now + config_.latency - 1;
  pipeline_.push(handle);
  return true;
}

bool L2Bank::send_miss(Cycle now) {
  if (misses_.empty() || !request_gate_.usable(now)) return false;
  const Miss miss = misses_.front();
  misses_.pop();
  const std::uint64_t address = map_.address_of(channel_, bank_, miss.line * tags_.line_bytes());
  const auto bytes = static_cast<unsigned>(tags_.line_bytes());
  Payload& payload = pool_.acquire(miss.write_back ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address,
                                   bytes_of(address, miss.slot), bytes);
  if (miss.write_back && image_ == nullptr) {  // there is no other copy than memory's own
    payload.set_read();
    memory->transport_dbg(payload);
    payload.set_write();
  }
  TransactionOrigin& origin = *origin_of(payload);
  origin.kind = miss.write_back ? AccessKind::kWriteBack : AccessKind::kRead;
  origin.sm = 0xffff;
  origin.tag = miss.slot;
  origin.issued_ps = domain_.time_of(now).value() / sc_time(1, sc_core::SC_PS).value();
  slots_[miss.slot].payload = &payload;
  last_slot_ = miss.slot;
  ++memory_in_flight_;

  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_time delay = sc_core::SC_ZERO_TIME;
  request_gate_.close();
  const tlm::tlm_sync_enum result = memory->nb_transport_fw(payload, phase, delay);
  if (result == tlm::TLM_ACCEPTED) return true;
  request_gate_.open(edge_of(delay));
  if (result == tlm::TLM_COMPLETED) {
    memory_answered(payload, edge_of(delay));
  } else if (phase == tlm::BEGIN_RESP) {
    memory_answered(payload, edge_of(delay));
    tlm::tlm_phase end = tlm::END_RESP;
    memory->nb_transport_fw(payload, end, delay);
  }
  return true;
}

bool L2Bank::respond(Cycle now) {
  if (responses_.empty() || responses_.front().ready > now || !response_gate_.usable(now)) return false;
  const std::uint32_t handle = responses_.front().request;
  responses_.pop();
  Request& request = requests_[handle];
  responding_ = request.payload;
  responding_->set_response_status(request.status);
  request = {};
  free_requests_.push_back(handle);

  response_gate_.close();
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum result = target->nb_transport_bw(*responding_, phase, delay);
  if (result == tlm::TLM_COMPLETED || (result == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
    end_response(edge_of(delay));
  }
  return true;
}

void L2Bank::admit_blocked(Cycle now) {
  if (blocked_ == kNone || input_.full() || requests_[blocked_].ready > now) return;
  const std::uint32_t handle = blocked_;
  blocked_ = kNone;
  requests_[handle].ready = now + 1;
  input_.push(handle);
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_time delay = sc_core::SC_ZERO_TIME;
  target->nb_transport_bw(*requests_[handle].payload, phase, delay);
}

void L2Bank::bind(statistics::Registry& registry, const std::string& prefix) {
  registry.counter(prefix + ".reads", "requests", "reads looked up", reads_);
  registry.counter(prefix + ".writes", "requests", "writes looked up", writes_);
  registry.counter(prefix + ".atomics", "requests", "atomics looked up", atomics_);
  registry.counter(prefix + ".atomic_cycles", "cycles", "cycles in which atomics kept the bank busy",
                   atomic_cycles_);
  registry.counter(prefix + ".fetches", "lines", "lines fetched from memory", fetches_);
  registry.counter(prefix + ".write_backs", "lines", "dirty lines written back", write_backs_);
  registry.counter(prefix + ".memory_errors", "requests", "fetches and write-backs that memory refused",
                   memory_errors_);
  registry.counter(prefix + ".blocked", "requests", "requests whose END_REQ was withheld", blocked_requests_);
  registry.counter(prefix + ".queue_stalls", "requests",
                   "requests that waited for the miss queue, a write-back buffer or the response queue",
                   queue_stalls_);
  tags_.bind(registry, prefix + ".tags");
  mshrs_.bind(registry, prefix + ".mshr");
}

}  // namespace weft::l2
