#include "l2/l2_bank.h"

#include <algorithm>
#include <numeric>

#include "bus/picoseconds.h"
#include "common/bits.h"
#include "common/config_origins.h"
#include "weft/common/error.h"

namespace weft::l2 {

void Config::describe(config::Visitor& v) {
  tags.describe(v);
  v.integer("sector_bytes", sector_bytes, {0, 4096}, "bytes",
            "bytes fetched, written and looked up at a time; a power of two; 0: whole lines");
  v.integer("mshr_entries", mshrs.entries, {1, 1 << 16}, "entries", "lines that can be outstanding");
  v.integer("mshr_merges", mshrs.merges, {1, 1024}, "requests", "requests that can wait for one line");
  v.integer("latency", latency, {1, 10'000}, "cycles", "from a request's arrival to the response of a hit");
  v.integer("bytes_per_cycle", bytes_per_cycle, {0, 4096}, "bytes",
            "bytes looked up per cycle, a power of two; 0: a line (sector), whatever its size");
  v.integer("input_queue", input_queue, {1, 4096}, "requests", "requests that wait for the pipeline");
  v.integer("miss_queue", miss_queue, {2, 4096}, "requests", "fetches and write-backs that wait for memory");
  v.integer("response_queue", response_queue, {1, 4096}, "responses", "responses that wait for the crossbar");
  v.integer("write_back_buffers", write_back_buffers, {1, 4096}, "lines", "lines being written back");
  v.integer("atomic_interval", atomic_interval, {0, 1000}, "cycles", "cycles per lane of an atomic");
  config::choice(
      v, "write_miss", write_miss,
      {{"fetch", WriteMiss::kFetch},
       {"no_fetch", WriteMiss::kNoFetch},
       {"lazy_fetch", WriteMiss::kLazyFetch}},
      "a write to a part of an absent line fetches the line; no_fetch: the line counts as present; "
      "lazy_fetch: it is fetched when bytes are read that no write had");
  v.integer(
      "partitions", partitions, {1, 8}, "partitions",
      "parts of the chip with as many SMs and L2 banks each; requests of an SM to a bank of another part "
      "are far");
  v.integer("far_latency", far_latency, {0, 10'000}, "cycles", "cycles that a far request takes more");
  v.boolean("host_copies_fill", host_copies_fill,
            "the lines that the host copies to the device are in the L2 afterwards");
}

void Config::check(const std::string& where) const {
  tags.check(where);
  mshrs.check(where + "/mshr");
  cache::check_sectors(where, tags.line_bytes, sector_bytes);
  if (bytes_per_cycle != 0 && !is_power_of_two(bytes_per_cycle)) {
    throw InputError(where + "/bytes_per_cycle",
                     "found " + std::to_string(bytes_per_cycle) + "; allowed: 0, or a power of two");
  }
  if (far_latency != 0 && partitions == 1) {
    throw config::RuleError(where + "/far_latency", {where + "/partitions"},
                            "found " + std::to_string(far_latency) +
                                " with partitions = 1; allowed: 0, or at least 2 partitions");
  }
  if (write_miss == WriteMiss::kLazyFetch && unit_bytes() > cache::kMostMaskedBytes) {
    throw config::RuleError(where + "/write_miss", {where + "/sector_bytes", where + "/line_bytes"},
                            "found lazy_fetch with sectors of " + std::to_string(unit_bytes()) +
                                " bytes; allowed with sectors of up to " +
                                std::to_string(cache::kMostMaskedBytes) + " bytes");
  }
  if (miss_queue < 1 + most_write_backs()) {
    throw config::RuleError(where + "/miss_queue", {where + "/sector_bytes"},
                            "found " + std::to_string(miss_queue) + "; a fetch and its write-backs need " +
                                std::to_string(1 + most_write_backs()) + " places");
  }
  if (write_back_buffers < most_write_backs()) {
    throw config::RuleError(where + "/write_back_buffers", {where + "/sector_bytes"},
                            "found " + std::to_string(write_back_buffers) + "; a line may need " +
                                std::to_string(most_write_backs()));
  }
}

namespace {

// Far requests on the link: one per cycle of its latency, and those that wait for the input queue.
std::size_t link_places(const Config& config) {
  return config.partitions == 1 ? 0 : config.far_latency + config.input_queue;
}

// At least one lookup, of a line or sector, in a cycle.
unsigned lookups_per_cycle(const Config& config) {
  return static_cast<unsigned>(std::max<std::uint64_t>(config.bytes_per_cycle / config.unit_bytes(), 1));
}

Cycle cycles_of_lookup(const Config& config) {
  return config.bytes_per_cycle == 0
             ? 1
             : std::max<std::uint64_t>(config.unit_bytes() / config.bytes_per_cycle, 1);
}

}  // namespace

L2Bank::State::State(const Config& config)
    : requests(link_places(config) + config.input_queue + config.latency +
               config.mshrs.entries * config.mshrs.merges + config.response_queue + 2),
      free_requests(requests.size()),
      link(link_places(config)),
      input(config.input_queue),
      pipeline(config.latency),
      misses(config.miss_queue),
      fills(config.mshrs.entries + config.write_back_buffers),
      released(config.mshrs.entries),
      responses(config.response_queue),
      slots(config.mshrs.entries + config.write_back_buffers),
      free_write_backs(config.write_back_buffers) {
  std::iota(free_requests.rbegin(), free_requests.rend(), 0u);
  std::iota(free_write_backs.rbegin(), free_write_backs.rend(),
            static_cast<std::uint32_t>(config.mshrs.entries));
}

L2Bank::L2Bank(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
               const memory::ChannelMap& map, unsigned channel, unsigned bank)
    : sc_module(name),
      target("target"),
      memory("memory"),
      config_(config),
      domain_(domain),
      map_(map),
      channel_(channel),
      bank_(bank),
      index_(domain.add(*this)),
      wide_(config.bytes_per_cycle != 0),
      lookups_per_cycle_(lookups_per_cycle(config)),
      lookup_cycles_each_(cycles_of_lookup(config)),
      target_port_(target, *this, {domain, index_}),
      memory_port_(memory, *this, {domain, index_}),
      tags_(config.tags, config.unit_bytes(), config.write_miss == WriteMiss::kLazyFetch),
      mshrs_(config.mshrs),
      state_(config) {
  if (config.tags.line_bytes > map.chunk_bytes()) {
    throw InputError(this->name(), "a line of " + std::to_string(config.tags.line_bytes) +
                                       " bytes is larger than the interleave of " +
                                       std::to_string(map.chunk_bytes()));
  }
}

void L2Bank::reset() {
  for (const Request& request : state_.requests) {
    if (request.payload != nullptr) request.payload->release();
  }
  for (const Slot& slot : state_.slots) {
    if (slot.payload != nullptr) slot.payload->release();
  }
  target_port_.reset();
  memory_port_.reset();
  tags_.reset();
  mshrs_.reset();
  state_ = State(config_);
}

void L2Bank::archive(Archive& archive) {
  const bool waits = !idle();
  archive(at_rest(waits), state_, target_port_, memory_port_, tags_, mshrs_);
}

Cycle L2Bank::step(Cycle now) {
  bool moved = false;
  if (!state_.fills.empty()) moved |= take_fill(now);
  if (!state_.released.empty()) moved |= release_waiter(now);
  if (!state_.link.empty()) moved |= cross_link(now);
  if (!state_.input.empty()) moved |= enter_pipeline(now);
  if (!state_.pipeline.empty()) moved |= look_up(now);
  if (!state_.misses.empty()) moved |= send_miss(now);
  if (!state_.responses.empty()) moved |= respond(now);
  if (target_port_.withheld() != nullptr) admit_blocked(now);
  return next_work(now, moved);
}

// Whatever stalls can go on only after something has moved, in a step; so after a step without movement only
// the passing of time is waited for, or a call from outside, which wakes the bank.
Cycle L2Bank::next_work(Cycle now, bool moved) const {
  Cycle next = kNever;
  const auto at = [&](Cycle edge) { next = std::min(next, std::max(edge, now + 1)); };
  const bool head_due = !state_.pipeline.empty() && state_.requests[state_.pipeline.front()].ready <= now;
  if (moved && (head_due || !state_.released.empty() || !state_.input.empty())) return now + 1;
  if (!state_.fills.empty()) at(state_.fills.front().ready);
  if (!state_.pipeline.empty() && !head_due) at(state_.requests[state_.pipeline.front()].ready);
  if (wide_ && state_.lookup_until > now && head_due) at(state_.lookup_until);
  if (!state_.link.empty() && !state_.input.full()) at(state_.requests[state_.link.front()].ready);
  if (state_.busy_until > now && (head_due || !state_.released.empty())) at(state_.busy_until);
  if (!state_.input.empty() && !state_.pipeline.full()) at(state_.requests[state_.input.front()].ready);
  if (!state_.misses.empty() && !memory_port_.busy()) at(memory_port_.usable_from());
  if (!state_.responses.empty() && !target_port_.busy()) {
    at(std::max(state_.responses.front().ready, target_port_.usable_from()));
  }
  if (const bus::TargetPort::Withheld* const withheld = target_port_.withheld())
    if (has_place(is_far(*withheld->payload))) at(withheld->ready);
  return next;
}

// One line or sector per cycle is written into the data array.
bool L2Bank::take_fill(Cycle now) {
  if (state_.fills.front().ready > now) return false;
  const Fill fill = state_.fills.front();
  state_.fills.pop();
  Slot& slot = state_.slots[fill.slot];
  if (fill.status != tlm::TLM_OK_RESPONSE) ++memory_errors_;
  if (fill.slot >= config_.mshrs.entries) {
    free_slot(fill.slot);
    state_.free_write_backs.push_back(fill.slot);
    return true;
  }
  const Sector sector = slot.sector;
  slot.status = fill.status;
  if (fill.status == tlm::TLM_OK_RESPONSE) {
    tags_.fill(sector);
    if (slot.dirty) tags_.mark_dirty(sector);
  } else {
    tags_.invalidate(sector);
  }
  free_slot(fill.slot);
  state_.released.push(mshrs_.close(sector));
  return true;
}

// One waiting request per cycle is served from a line that came.
bool L2Bank::release_waiter(Cycle now) {
  const std::uint32_t entry = state_.released.front();
  if (state_.waiter == kNone && !mshrs_.next_waiter(entry, state_.waiter)) {
    state_.released.pop();
    return true;
  }
  Request& request = state_.requests[state_.waiter];
  if (state_.slots[entry].status != tlm::TLM_OK_RESPONSE) request.status = state_.slots[entry].status;
  --request.missing;
  if (!finish_line(request, state_.waiter, now)) {
    ++request.missing;
    return false;
  }
  state_.waiter = kNone;
  if (!mshrs_.has_waiter(entry)) {
    std::uint32_t none;
    mshrs_.next_waiter(entry, none);
    state_.released.pop();
  }
  return true;
}

bool L2Bank::cross_link(Cycle now) {
  const std::uint32_t handle = state_.link.front();
  if (state_.input.full() || state_.requests[handle].ready > now) return false;
  state_.link.pop();
  state_.input.push(handle);
  return true;
}

bool L2Bank::enter_pipeline(Cycle now) {
  if (state_.pipeline.full() || state_.requests[state_.input.front()].ready > now) return false;
  const std::uint32_t handle = state_.input.front();
  state_.input.pop();
  state_.requests[handle].ready = now + config_.latency - 1;
  state_.pipeline.push(handle);
  return true;
}

bool L2Bank::send_miss(Cycle now) {
  if (!memory_port_.usable(now)) return false;
  const Miss miss = state_.misses.front();
  state_.misses.pop();
  const std::uint64_t address = map_.address_of(channel_, bank_, miss.first * tags_.sector_bytes());
  const auto bytes = static_cast<unsigned>(miss.sectors * tags_.sector_bytes());
  const tlm::tlm_command command = miss.write_back ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
  Payload& payload = carries_data_ ? pool_.acquire(command, address, bytes)
                                   : pool_.acquire(command, address, bytes_of(address, miss.slot), bytes);
  if (miss.write_back && carries_data_) {
    std::memcpy(payload.get_data_ptr(), evicted_of(miss.slot), bytes);
  } else if (miss.write_back && image_ == nullptr) {  // there is no other copy than memory's own
    payload.set_read();
    memory->transport_dbg(payload);
    payload.set_write();
  }
  TransactionOrigin& origin = *origin_of(payload);
  origin.carries = carries_data_;
  origin.kind = miss.write_back ? AccessKind::kWriteBack : AccessKind::kRead;
  origin.sm = 0xffff;
  origin.tag = miss.slot;
  origin.issued_ps = picoseconds(domain_.time_of(now));
  state_.slots[miss.slot].payload = &payload;
  ++state_.memory_in_flight;
  memory_port_.send(payload);
  return true;
}

bool L2Bank::respond(Cycle now) {
  if (state_.responses.front().ready > now || !target_port_.usable(now)) return false;
  const std::uint32_t handle = state_.responses.front().request;
  state_.responses.pop();
  Request& request = state_.requests[handle];
  Payload& payload = *request.payload;
  payload.set_response_status(request.status);
  if (request.origin != nullptr && request.origin->carries && payload.is_read())
    read_memory(payload.get_address(), payload.get_data_ptr(), payload.get_data_length());
  request = {};
  state_.free_requests.push_back(handle);
  target_port_.respond(payload);
  return true;
}

void L2Bank::admit_blocked(Cycle now) {
  const bus::TargetPort::Withheld* const blocked = target_port_.withheld();
  const bool far = is_far(*blocked->payload);
  if (!has_place(far) || blocked->ready > now) return;
  accept(*blocked->payload, far, now + 1);
  target_port_.end_request();
}

void L2Bank::probes(const Probes::Scope& all) const {
  const Probes::Scope scope = all.with([this] { return domain_.activity(index_); });
  constexpr unsigned kBits = Probes::kCountBits;
  scope.signal("input_queue", kBits, [this](Cycle) { return state_.input.size(); });
  scope.signal("pipeline", kBits, [this](Cycle) { return state_.pipeline.size(); });
  scope.signal("mshrs", kBits, [this](Cycle) { return mshrs_.in_use(); });
  scope.signal("miss_queue", kBits, [this](Cycle) { return state_.misses.size(); });
  scope.signal("response_queue", kBits, [this](Cycle) { return state_.responses.size(); });
}

void L2Bank::bind(statistics::Group& group) {
  group.counter("reads", units::kRequests, "reads looked up", reads_);
  group.counter("writes", units::kRequests, "writes looked up", writes_);
  group.counter("atomics", units::kRequests, "atomics looked up", atomics_);
  group.counter("lookup_cycles", units::kCycles, "cycles in which a line was looked up", lookup_cycles_);
  group.counter("atomic_cycles", units::kCycles, "cycles in which atomics kept the bank busy",
                atomic_cycles_);
  group.counter("fetches", units::kLines, "lines, or sectors of lines, fetched from memory", fetches_);
  group.counter("write_backs", units::kLines, "dirty lines, or runs of dirty sectors, written back",
                write_backs_);
  group.counter("memory_errors", units::kRequests, "fetches and write-backs that memory refused",
                memory_errors_);
  group.counter("blocked", units::kRequests, "requests whose END_REQ was withheld", blocked_requests_);
  group.counter("queue_stalls", units::kRequests,
                "requests that waited for the miss queue, a write-back buffer or the response queue",
                queue_stalls_);
  if (config_.partitions > 1)
    group.counter("far", units::kRequests, "requests of SMs of other partitions", far_requests_);
  tags_.bind(group.group("tags"));
  mshrs_.bind(group.group("mshr"));
}

}  // namespace weft::l2
