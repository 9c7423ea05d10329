#include "sm/load_store_unit.h"

#include <algorithm>
#include <utility>

namespace weft::sm {
namespace {

// Elements of 64 and 128 bits may have a latency of their own, which has their passes over the banks in it.
void take_wide_latency(const machine::SmConfig& config, MemoryRequests::Instruction& instruction,
                       std::uint32_t bytes) {
  const std::uint64_t latency = config.shared_memory.latency_of(bytes);
  if (latency == 0) return;
  const std::uint64_t threads = std::min<std::uint64_t>(isa::kLanes, config.memory_width);
  const std::uint64_t words = std::max<std::uint64_t>(1, bytes / config.shared_memory.bank_bytes);
  instruction.unit_latency = static_cast<std::uint32_t>(latency);
  instruction.shared_passes = static_cast<std::uint32_t>(words * isa::kLanes / threads);
}

}  // namespace

LoadStoreUnit::LoadStoreUnit(const machine::SmConfig& config, LoadStoreListener& listener,
                             SystemAccesses& system, const SmObservers& observers, unsigned lanes,
                             unsigned lane_width)
    : config_(config),
      listener_(listener),
      system_(system),
      observers_(observers),
      outgoing_(config.miss_queue, std::max(config.coalescer.block_bytes, config.l1d.tags.line_bytes),
                config.joined_bytes()),
      intake_(config, requests_, system, outgoing_, lanes, lane_width),
      data_(config, outgoing_, system),
      l1c_(config.l1c),
      l1t_(config.l1t),
      state_(config, data_.looks_up_last()) {
  if (!config.unified_l1.on()) return;
  shared_options_ = config.unified_l1.shared_options("sm/unified_l1/shared_options_kb");
  kernels_by_option_.resize(shared_options_.size());
}

void LoadStoreUnit::reset() {
  data_.reset();
  for (FirstLevel* level : {&l1c_, &l1t_}) level->reset();
  state_ = State(config_, data_.looks_up_last());
  requests_ = MemoryRequests();
  outgoing_.reset();
  waited_in_.reset();
  intake_.reset();
  now_ = 0;
  went_on_at_ = kNever;
}

void LoadStoreUnit::start_kernel(std::uint64_t parameter_offset, std::uint64_t shared_option) {
  intake_.start_kernel(parameter_offset);
  state_.flushing = false;
  const auto option = std::find(shared_options_.begin(), shared_options_.end(), shared_option);
  if (option != shared_options_.end())
    ++kernels_by_option_[static_cast<std::size_t>(option - shared_options_.begin())];
  data_.start_kernel(config_.unified_l1.cache_ways(config_.l1d.tags.ways, shared_option));
  for (FirstLevel* level : {&l1c_, &l1t_}) level->start_kernel();
}

void LoadStoreUnit::accept(std::uint16_t issue, const ptx::Instruction& in,
                           const warp_formation::ThreadGroup* groups, const execute::LaneAccess* accesses,
                           unsigned count, bool waits, const datapath::Times& times) {
  const std::uint32_t index = requests_.add_instruction();
  Instruction& instruction = requests_.instruction(index);
  instruction.issue = issue;
  instruction.waits = waits;
  instruction.addresses = times.addresses;
  instruction.live = true;
  // What answers without the caches. Beyond a surface: as a hit in the data cache.
  const bool texture = in.space == ptx::Space::kTexture;
  instruction.filter_latency = texture ? config_.texture.latency : 0;
  instruction.unit_latency = texture         ? config_.texture.latency
                             : in.is_image() ? config_.l1d.latency
                                             : config_.shared_memory.latency;
  if (in.space == ptx::Space::kShared) take_wide_latency(config_, instruction, accesses[0].bytes);

  const SmObserver::Requests before = intake_.taken();
  const MemoryIntake::Taken taken = intake_.take(now_, index, in, groups, accesses, count, times);
  shared_cycles_ += taken.bank_cycles;
  texture_cycles_ += taken.texture_address_cycles;
  if (taken.has_banks) {
    state_.wheel.add(now_, taken.banks + instruction.unit_latency, {Event::Kind::kShared, index});
    if (!taken.goes_on) {
      ++state_.beside;
      state_.wheel.add(now_, taken.banks, {Event::Kind::kPlace, index});
    }
  }
  if (taken.goes_on) {
    instruction.current = instruction.first;
    enqueue(index);
  }
  if (!observers_.any()) return;
  const SmObserver::Requests now = intake_.taken();
  observers_.tell(&SmObserver::requested, issue,
                  SmObserver::Requests{now.threads - before.threads, now.coalesced - before.coalesced,
                                       now.shared_accesses - before.shared_accesses,
                                       now.shared_conflict_cycles - before.shared_conflict_cycles});
}

// Behind those whose addresses are known before its own.
void LoadStoreUnit::enqueue(std::uint32_t index) {
  state_.queue.push(index);
  const Cycle addresses = requests_.instruction(index).addresses;
  std::size_t place = state_.queue.size() - 1;
  for (; place != 0; --place) {
    std::uint32_t& before = state_.queue.at(place - 1);
    if (requests_.instruction(before).addresses <= addresses) return;
    std::swap(before, state_.queue.at(place));
  }
  if (state_.working == Hold::kPort) state_.busy_until = 0;  // it was the other one that was waited for
}

void LoadStoreUnit::handle(const Event& event) {
  if (event.kind == Event::Kind::kRequest) return finish_request(event.index);
  if (event.kind == Event::Kind::kPlace) {
    --state_.beside;
    return;
  }
  Instruction& instruction = requests_.instruction(event.index);
  if (!instruction.together) return_parts(instruction, instruction.shared_parts);
  --instruction.outstanding;
  retire_if_done(event.index);
}

void LoadStoreUnit::work_on_head(Cycle now) {
  const std::uint32_t index = state_.queue.front();
  {
    Instruction& instruction = requests_.instruction(index);
    if (instruction.addresses >= now) {
      state_.busy_until = instruction.addresses + 1;
      state_.working = Hold::kPort;
      return;
    }
    if (instruction.setup_cycles > 1) {
      state_.busy_until = now + instruction.setup_cycles - 1;
      texture_cycles_ += instruction.setup_cycles - 1;
      state_.working = Hold::kTexture;
      instruction.setup_cycles = 0;
      return;
    }
    if (instruction.shared_cycles != 0) {
      const std::uint32_t passes = instruction.shared_passes;
      state_.wheel.add(now,
                       now + instruction.unit_latency + std::max(instruction.shared_cycles, passes) - passes,
                       {Event::Kind::kShared, index});
      state_.busy_until = now + instruction.shared_cycles;
      shared_cycles_ += instruction.shared_cycles;
      state_.working = Hold::kSharedMemory;
      instruction.shared_cycles = 0;
      if (instruction.current == kNone) state_.queue.pop();
      return;
    }
  }
  if (requests_.instruction(index).current != kNone &&
      !(state_.stages.has_several_banks() ? send_requests(now, index) : send_current(now, index))) {
    return;
  }
  if (requests_.instruction(index).current == kNone) {
    state_.queue.pop();
    const Instruction& instruction = requests_.instruction(index);
    if (!instruction.waits && !data_.looks_up_last()) finish_stores(index);
    retire_if_done(index);
  }
}

// With several banks: the head's next requests go on, as many as come to different banks of the data cache.
// False if the first one has to wait.
bool LoadStoreUnit::send_requests(Cycle now, std::uint32_t index) {
  const std::uint32_t& current = requests_.instruction(index).current;
  if (!goes_through_stages(current)) return send_current(now, index);
  std::uint32_t taken = 0;  // banks that have taken a request in this cycle
  while (current != kNone && goes_through_stages(current)) {
    const std::uint32_t bank = 1u << state_.stages.number_of(requests_.request(current).block);
    if ((taken & bank) != 0) {
      ++bank_conflicts_;
      break;
    }
    if (!send_current(now, index)) break;
    taken |= bank;
  }
  return taken != 0;
}

// The head's next request is looked up, or enters the stages before the data cache. False if it has to wait.
bool LoadStoreUnit::send_current(Cycle now, std::uint32_t index) {
  const std::uint32_t request = requests_.instruction(index).current;
  if (goes_through_stages(request)) {
    const std::uint64_t block = requests_.request(request).block;
    if (state_.stages.full(block)) return false;
    state_.stages.push(block, request, now + config_.l1d.latency - 1);
  } else {
    if (state_.head.blocked || !look_up(now, request, state_.head)) return false;
    if (data_.looks_up_last() && !requests_.instruction(index).waits) finish_request(request);
  }
  requests_.instruction(index).current = requests_.request(request).next;
  return true;
}

void LoadStoreUnit::leave_stages(Cycle now) {
  state_.stages.leave(
      now, [&](std::uint32_t r, Refusal& refusal) { return look_up(now, r, refusal); },
      [&](std::uint32_t r) {
        if (!requests_.owner(r).waits) finish_request(r);
      });
}

bool LoadStoreUnit::look_up(Cycle now, std::uint32_t r, Refusal& refusal) {
  const std::uint64_t requests = outgoing_.data_requests();
  if (probe(now, r, refusal.counted)) {
    observers_.tell(&SmObserver::sent, requests_.owner(r).issue, outgoing_.data_requests() - requests);
    went_on(now, refusal);
    return true;
  }
  refusal.blocked = true;
  refusal.why = refusal_of(requests_.request(r));
  if (!refusal.counted) refusal.since = now;
  refusal.counted = true;
  return false;
}

// Stores are done with once they are on their way.
void LoadStoreUnit::finish_stores(std::uint32_t index) {
  Instruction& instruction = requests_.instruction(index);
  for (std::uint32_t r = instruction.first; r != kNone;) {
    const std::uint32_t next = requests_.request(r).next;
    requests_.take_parts(requests_.request(r).parts, [](const MemoryRequests::Part&) {});
    give_request(r);
    --instruction.outstanding;
    r = next;
  }
  instruction.first = kNone;
}

// A request was looked up in this cycle.
void LoadStoreUnit::went_on(Cycle now, Refusal& refusal) {
  request_cycles_ += !state_.stages.has_several_banks() || went_on_at_ != now ? 1 : 0;
  went_on_at_ = now;
  for (FirstLevel* level : {&data_.level(), &l1t_}) level->count_full(now);
  if (!refusal.counted) return;
  refusal.counted = false;
  blocked_cycles_ += now - refusal.since;
  if (refusal.why == Hold::kMissQueue) {
    waited_in_.for_queue(now - refusal.since);
  } else {
    waited_in_.for_response(refusal.since, now);
  }
}

LoadStoreUnit::Hold LoadStoreUnit::refusal_of(const Request& request) {
  const bool allocates = data_.allocates(request);
  const bool cached = request.target == Target::kL1d || request.target == Target::kL1c ||
                      request.target == Target::kL1t || allocates;
  if (!cached) return Hold::kMissQueue;
  const FirstLevel& level = level_of(request.target == Target::kL1c   ? TagKind::kL1c
                                     : request.target == Target::kL1t ? TagKind::kL1t
                                                                      : TagKind::kL1d);
  const cache::Sector sector = level.tags().sector_of(request.block);
  if (!level.has_entry(sector) && (!allocates || data_.fetches(request))) return Hold::kMshr;
  return level.has_way(sector) ? Hold::kMissQueue : Hold::kWays;
}

LoadStoreUnit::Hold LoadStoreUnit::hold(Cycle now) const {
  if (can_accept()) return Hold::kPort;
  const bool comes = state_.busy_until > now && state_.working == Hold::kPort;  // the head, lane by lane
  if (state_.beside != 0 && (state_.queue.empty() || comes)) return Hold::kSharedMemory;
  if (state_.busy_until > now) return state_.working;
  if (state_.head.counted) return state_.head.why;
  // Only several banks are looked through for the one that the head waits for.
  const std::uint32_t current =
      state_.queue.empty() ? kNone : requests_.instruction(state_.queue.front()).current;
  const unsigned number = state_.stages.has_several_banks() && current != kNone
                              ? state_.stages.number_of(requests_.request(current).block)
                              : 0;
  const CacheStages::Bank& bank = state_.stages.bank(number);
  return bank.exit.counted && bank.staged.full() ? bank.exit.why : Hold::kCoalescer;
}

bool LoadStoreUnit::probe(Cycle now, std::uint32_t r, bool again) {
  Request& request = requests_.request(r);
  if (request.system != kNone && !system_.can_start(request.system)) return false;
  switch (request.target) {
    case Target::kL1d:
      return request.system != kNone
                 ? probe_system_line(now, r, again)
                 : probe_cache(now, r, data_.level(), TagKind::kL1d, AccessKind::kRead, again);
    case Target::kL1c:
      return probe_cache(now, r, l1c_, TagKind::kL1c, AccessKind::kConstant, again);
    case Target::kL1t:
      return probe_cache(now, r, l1t_, TagKind::kL1t, AccessKind::kTexture, again);
    case Target::kDirect:
      return data_.read_past(request, tag_of(TagKind::kRequest, r));
    case Target::kWrite:
    case Target::kAtomic:
      break;
  }
  const bool waits = request.target == Target::kAtomic && requests_.owner(r).waits;
  return data_.write(request, waits, waits ? tag_of(TagKind::kRequest, r) : tag_of(TagKind::kWrite, 0));
}

void LoadStoreUnit::flush(bool resting) {
  state_.flushing = resting && state_.queue.empty() && requests_.live_instructions() == 0;
  if (!state_.flushing || outgoing_.full()) return;
  data_.write_back_next();
  observers_.tell(&SmObserver::wrote_back);
  state_.flushing = data_.has_to_flush();
}

// A line of system memory has its bytes here, of which a load takes its own. Loads of one line always wait
// for one fetch.
bool LoadStoreUnit::probe_system_line(Cycle now, std::uint32_t r, bool again) {
  const std::uint32_t handle = requests_.request(r).system;
  const cache::Line line = data_.level().tags().sector_of(requests_.request(r).block);
  const cache::LineState before = data_.level().tags().find(line);
  if (before == cache::LineState::kReserved && data_.system_lines().is_void(line)) return false;
  if (!probe_cache(now, r, data_.level(), TagKind::kL1d, AccessKind::kRead, again)) return false;
  if (before == cache::LineState::kInvalid) data_.system_lines().reserve(line);
  if (before == cache::LineState::kValid) {
    data_.give_bytes(requests_.request(r));
  } else {
    system_.started(handle);
  }
  return true;
}

bool LoadStoreUnit::probe_cache(Cycle now, std::uint32_t r, FirstLevel& cache, TagKind tag, AccessKind kind,
                                bool again) {
  const cache::Sector sector = cache.tags().sector_of(requests_.request(r).block);
  const std::uint32_t system = requests_.request(r).system;
  if (tag == TagKind::kL1d && !config_.l1d.merge_loads && system == kNone) tag = TagKind::kL1dAlone;
  const FirstLevel::Probe found = cache.probe(sector, tag == TagKind::kL1dAlone ? r : sector);
  if (found.hit) {
    cache.touch(found);
    // At the end of the stages it has spent its latency.
    const Cycle latency = data_.looks_up_last() && &cache == &data_.level() ? 1 : cache.config().latency;
    state_.wheel.add(now, now + latency + requests_.owner(r).filter_latency, {Event::Kind::kRequest, r});
    return true;
  }
  const std::uint64_t bytes = cache.tags().sector_bytes();
  OutgoingRequest fetch{tlm::TLM_READ_COMMAND,  kind,  0, static_cast<std::uint32_t>(bytes), sector * bytes,
                        tag_of(tag, found.key), system};
  if (&cache == &data_.level() && system == kNone) fetch.instruction = requests_.request(r).instruction;
  const bool joins = found.write_backs == 0 && outgoing_.joins(fetch);
  if (found.waits(outgoing_.room() + (joins ? 1 : 0))) {
    if (!again) cache.refuse(found, outgoing_.full());
    return false;
  }
  const bool written = &cache == &data_.level() && cache.tags().written(found.tag) != 0;
  data_.write_back(cache.take(found, r));
  if (found.merges) return true;
  if (written) data_.count_lazy_fetch();
  if (tag == TagKind::kL1c) {
    outgoing_.fetch(fetch);
  } else {
    outgoing_.read(fetch);
  }
  return true;
}

void LoadStoreUnit::respond(Cycle now, std::uint64_t tag) {
  try_again();
  const std::uint64_t value = value_of_tag(tag);
  switch (kind_of_tag(tag)) {
    case TagKind::kL1d:
    case TagKind::kL1c:
    case TagKind::kL1t: {
      FirstLevel& cache = level_of(kind_of_tag(tag));
      const bool system = value * cache.tags().sector_bytes() >= execute::kSystemSpace;
      cache.fill(now, value, value, [&](std::uint32_t r) {
        if (r == kNone) return;  // a store, which did not wait
        if (system) data_.give_bytes(requests_.request(r));
        state_.wheel.add(now, now + 1 + requests_.owner(r).filter_latency, {Event::Kind::kRequest, r});
      });
      if (system && data_.system_lines().is_void(value)) cache.tags().invalidate(value);
      break;
    }
    case TagKind::kL1dAlone: {
      // Unless another's fetch has filled the line.
      const cache::Sector sector =
          data_.level().tags().sector_of(requests_.request(static_cast<std::uint32_t>(value)).block);
      data_.level().fill(now, sector, value, [&](std::uint32_t r) {
        state_.wheel.add(now, now + 1 + requests_.owner(r).filter_latency, {Event::Kind::kRequest, r});
      });
      break;
    }
    case TagKind::kRequest:
      state_.wheel.add(now, now + 1 + requests_.owner(static_cast<std::uint32_t>(value)).filter_latency,
                       {Event::Kind::kRequest, static_cast<std::uint32_t>(value)});
      break;
    case TagKind::kWrite:
      outgoing_.answered_write();
      break;
    case TagKind::kJoined:
      outgoing_.answered_joined(tag, [&](std::uint64_t one) { respond(now, one); });
      break;
    case TagKind::kL1i:
      break;
  }
}

void LoadStoreUnit::give_request(std::uint32_t r) {
  if (requests_.request(r).system != kNone) {
    system_.close(requests_.request(r).system);
    state_.head.blocked = false;  // perhaps by this one
  }
  outgoing_.drop(requests_.request(r).carried);
  requests_.give_request(r);
}

void LoadStoreUnit::finish_request(std::uint32_t r) {
  const std::uint32_t index = requests_.request(r).instruction;
  Instruction& instruction = requests_.instruction(index);
  if (instruction.together) {
    requests_.take_parts(requests_.request(r).parts, [&](const MemoryRequests::Part& part) {
      requests_.add_part(instruction.shared_parts, part.chunk, part.mask);
    });
  } else {
    return_parts(instruction, requests_.request(r).parts);
  }
  // The request keeps its place in the instruction's list until all have returned.
  --instruction.outstanding;
  retire_if_done(index);
}

void LoadStoreUnit::return_parts(const Instruction& instruction, std::uint32_t& parts) {
  requests_.take_parts(parts, [&](const MemoryRequests::Part& part) {
    if (instruction.waits) listener_.memory_returned(instruction.issue, part.chunk, part.mask);
  });
}

void LoadStoreUnit::retire_if_done(std::uint32_t index) {
  Instruction& instruction = requests_.instruction(index);
  if (!instruction.live || instruction.outstanding != 0 || instruction.current != kNone ||
      instruction.shared_cycles != 0) {
    return;
  }
  if (!state_.queue.empty() && state_.queue.front() == index) return;  // still being probed
  for (std::uint32_t r = instruction.first; r != kNone;) {
    const std::uint32_t next = requests_.request(r).next;
    give_request(r);
    r = next;
  }
  const std::uint16_t issue = instruction.issue;
  if (instruction.together) return_parts(instruction, instruction.shared_parts);
  requests_.give_instruction(index);
  listener_.memory_finished(issue);
}

Cycle LoadStoreUnit::next_event(Cycle now) const {
  Cycle next = state_.wheel.next(now);
  if (state_.flushing && !outgoing_.full()) next = now + 1;
  if (state_.stages.next() != kNever) next = std::min(next, std::max(state_.stages.next(), now + 1));
  if (!state_.queue.empty()) {
    if (state_.busy_until > now) {
      next = std::min(next, state_.busy_until);
    } else if (!state_.head.blocked) {
      const std::uint32_t r = requests_.instruction(state_.queue.front()).current;
      if (!goes_through_stages(r) || !state_.stages.full(requests_.request(r).block)) next = now + 1;
    }
  }
  return next;
}

void LoadStoreUnit::bind(statistics::Group& group) {
  intake_.bind(group);
  outgoing_.bind(group);
  group.counter("blocked_cycles", units::kCycles, "cycles in which the head request could not go on",
                blocked_cycles_);
  group.counter("request_cycles", units::kCycles, "cycles in which a request went on", request_cycles_);
  group.counter("shared_cycles", units::kCycles, "cycles in which shared memory was accessed",
                shared_cycles_);
  group.counter("texture_cycles", units::kCycles, "cycles in which the texture unit made addresses",
                texture_cycles_);
  if (config_.l1d.banks > 1) {
    group.counter(
        "bank_conflicts", units::kCycles,
        "cycles in which a request waited because its bank of the data cache took another one of its "
        "instruction",
        bank_conflicts_);
  }
  if (config_.unified_l1.on()) {
    group.histogram("shared_options", statistics::Unit("kernels"),
                    "kernels that the SM began, by their entry of sm.unified_l1.shared_options_kb",
                    kernels_by_option_);
  }
  waited_in_.bind(group.group("waited_in"));
  group.gauge("queue", units::kInstructions, "memory instructions that wait for the unit",
              [this] { return state_.queue.size(); });
  outgoing_.bind_length(group);
  data_.bind(group);
  l1c_.bind(group.group("l1c"), false);
  l1t_.bind(group.group("l1t"), true);
}

}  // namespace weft::sm
