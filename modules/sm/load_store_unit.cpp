#include "sm/load_store_unit.h"

#include <algorithm>
#include <utility>

namespace weft::sm {

LoadStoreUnit::LoadStoreUnit(const Config& config, LoadStoreListener& listener, SystemAccesses& system,
                             const SmObservers& observers, unsigned lanes, unsigned lane_width)
    : config_(config),
      listener_(listener),
      system_(system),
      observers_(observers),
      coalescer_(config, requests_, system),
      l1d_(config.l1d),
      l1c_(config.l1c),
      l1t_(config.l1t),
      outgoing_(config.miss_queue, std::max(config.coalescer.block_bytes, config.l1d.line_bytes)),
      system_lines_(l1d_.tags(), config.l1d.sets * config.l1d.ways,
                    config.l1d.enabled && config.system_cached),
      banks_(config),
      calendar_(config, lanes, lane_width),
      writes_back_(config.l1d.enabled && config.l1d.write_policy == WritePolicy::kBack),
      flushes_(writes_back_ && !config.l1d.kept),
      looks_up_last_(config.l1d.enabled && config.l1d.lookup == Lookup::kLast && config.l1d.latency > 1),
      state_(config, looks_up_last_),
      conflict_histogram_(33, 0) {}

void LoadStoreUnit::reset() {
  for (FirstLevel* level : {&l1d_, &l1c_, &l1t_}) level->reset();
  state_ = State(config_, looks_up_last_);
  requests_ = MemoryRequests();
  outgoing_.reset();
  waited_in_.reset();
  system_lines_.reset();
  calendar_.reset();
  now_ = 0;
}

void LoadStoreUnit::start_kernel(std::uint64_t parameter_offset) {
  coalescer_.start_kernel(parameter_offset);
  state_.flushing = false;
  for (FirstLevel* level : {&l1d_, &l1c_, &l1t_}) level->start_kernel();
  system_lines_.drop_all();
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

void LoadStoreUnit::step(Cycle now) {
  if (!state_.staged.empty() && state_.staged.front().ready <= now && !state_.exit.blocked) leave_stages(now);
  if (state_.queue.empty() || state_.busy_until > now) return;
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
      state_.wheel.add(now, now + unit_latency(instruction) + instruction.shared_cycles - 1,
                       {Event::Kind::kShared, index});
      state_.busy_until = now + instruction.shared_cycles;
      shared_cycles_ += instruction.shared_cycles;
      state_.working = Hold::kSharedMemory;
      instruction.shared_cycles = 0;
      if (instruction.current == kNone) state_.queue.pop();
      return;
    }
  }
  if (requests_.instruction(index).current != kNone && !send_current(now, index)) return;
  if (requests_.instruction(index).current == kNone) {
    state_.queue.pop();
    const Instruction& instruction = requests_.instruction(index);
    if (!instruction.waits && !looks_up_last_) finish_stores(index);
    retire_if_done(index);
  }
}

// The head's next request is looked up, or enters the stages before the data cache. False if it has to wait.
bool LoadStoreUnit::send_current(Cycle now, std::uint32_t index) {
  const std::uint32_t request = requests_.instruction(index).current;
  if (goes_through_stages(request)) {
    if (state_.staged.full()) return false;
    state_.staged.push({request, now + config_.l1d.latency - 1});
  } else {
    if (state_.head.blocked || !look_up(now, request, state_.head)) return false;
    if (looks_up_last_ && !requests_.instruction(index).waits) finish_request(request);
  }
  requests_.instruction(index).current = requests_.request(request).next;
  return true;
}

// The request at the end of the stages is looked up; if it is refused, those behind it close up.
void LoadStoreUnit::leave_stages(Cycle now) {
  const Staged front = state_.staged.front();
  if (!look_up(now, front.request, state_.exit)) return;
  state_.staged.pop();
  if (!requests_.owner(front.request).waits) finish_request(front.request);
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
  ++request_cycles_;
  for (FirstLevel* level : {&l1d_, &l1t_}) level->count_full(now);
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
  const bool cached =
      request.target == Target::kL1d || request.target == Target::kL1c || request.target == Target::kL1t;
  if (!cached) return Hold::kMissQueue;
  const FirstLevel& level = cache_of(request.target == Target::kL1d   ? Tag::kL1d
                                     : request.target == Target::kL1c ? Tag::kL1c
                                                                      : Tag::kL1t);
  const cache::Line line = level.tags().line_of(request.block);
  if (!level.has_entry(line)) return Hold::kMshr;
  return level.has_way(line) ? Hold::kMissQueue : Hold::kWays;
}

LoadStoreUnit::Hold LoadStoreUnit::hold(Cycle now) const {
  if (can_accept()) return Hold::kPort;
  const bool comes = state_.busy_until > now && state_.working == Hold::kPort;  // the head, lane by lane
  if (state_.beside != 0 && (state_.queue.empty() || comes)) return Hold::kSharedMemory;
  if (state_.busy_until > now) return state_.working;
  if (state_.head.counted) return state_.head.why;
  return state_.exit.counted && state_.staged.full() ? state_.exit.why : Hold::kCoalescer;
}

bool LoadStoreUnit::probe(Cycle now, std::uint32_t r, bool again) {
  Request& request = requests_.request(r);
  if (request.system != kNone && !system_.can_start(request.system)) return false;
  switch (request.target) {
    case Target::kL1d:
      return request.system != kNone ? probe_system_line(now, r, again)
                                     : probe_cache(now, r, l1d_, Tag::kL1d, AccessKind::kRead, again);
    case Target::kL1c:
      return probe_cache(now, r, l1c_, Tag::kL1c, AccessKind::kConstant, again);
    case Target::kL1t:
      return probe_cache(now, r, l1t_, Tag::kL1t, AccessKind::kTexture, again);
    case Target::kDirect:
      return probe_past_l1(r);
    case Target::kWrite:
    case Target::kAtomic:
      break;
  }
  return probe_write(r);
}

// What the L1 knows better than the memory behind it goes there first.
bool LoadStoreUnit::probe_past_l1(std::uint32_t r) {
  Request& request = requests_.request(r);
  const cache::Line line = l1d_.tags().line_of(request.block);
  const bool dirty = is_dirty(line);
  if (outgoing_.room() < (dirty ? 2 : 1)) return false;
  if (dirty) write_back(line);
  OutgoingRequest read{tlm::TLM_READ_COMMAND,
                       AccessKind::kRead,
                       0,
                       static_cast<std::uint32_t>(config_.coalescer.block_bytes),
                       request.block,
                       tag_of(Tag::kRequest, r)};
  if (request.system != kNone) {  // no more than the bytes touched, from the first to the last
    read.address += request.low;
    read.bytes = request.high - request.low;
    read.access = std::exchange(request.system, kNone);
    system_.started(read.access);
    drop_system_lines(read.address, read.address + (read.bytes - 1));
  }
  outgoing_.read(read);
  return true;
}

// Written back: a store to a line that is there or on its way stays in the cache. Not to system memory, which
// others watch.
bool LoadStoreUnit::absorb(const Request& request) {
  if (!writes_back_ || request.target != Target::kWrite || request.system != kNone) return false;
  const cache::Line line = l1d_.tags().line_of(request.block);
  switch (l1d_.tags().find(line)) {
    case cache::LineState::kInvalid:
      return false;
    case cache::LineState::kReserved:
      l1d_.tags().mark_dirty_on_fill(line);
      break;
    default:
      l1d_.tags().mark_dirty(line);
  }
  l1d_.tags().access(line);
  ++stores_absorbed_;
  return true;
}

bool LoadStoreUnit::probe_write(std::uint32_t r) {
  Request& request = requests_.request(r);
  if (absorb(request)) return true;
  const cache::Line line = l1d_.tags().line_of(request.block);
  const bool dirty = is_dirty(line);  // an atomic: it is done behind the cache
  if (outgoing_.room() < (dirty ? 2 : 1)) return false;
  if (dirty) write_back(line);
  if (request.system != kNone) {
    system_.started(request.system);
  } else if (config_.l1d.enabled && l1d_.tags().find(line) == cache::LineState::kValid) {
    if (request.target == Target::kWrite) ++store_hits_;
    if (request.target == Target::kAtomic || config_.l1d.write_hit == WriteHit::kInvalidate) {
      l1d_.tags().invalidate(line);
    } else {
      l1d_.tags().access(line);
    }
  }
  const bool atomic = request.target == Target::kAtomic;
  const bool waits = atomic && requests_.owner(r).waits;
  const std::uint32_t bytes = request.high - request.low;
  outgoing_.write({tlm::TLM_WRITE_COMMAND, atomic ? AccessKind::kAtomic : AccessKind::kWrite,
                   atomic ? request.lanes : std::uint16_t{0}, bytes, request.block + request.low,
                   waits ? tag_of(Tag::kRequest, r) : tag_of(Tag::kWrite, 0),
                   std::exchange(request.system, kNone), std::exchange(request.carried, kNone)},
                  waits);
  return true;
}

// The caller has seen that there is room. The line stays, clean.
void LoadStoreUnit::write_back(cache::Line line) {
  l1d_.tags().clean(line);
  const std::uint64_t bytes = config_.l1d.line_bytes;
  outgoing_.write_back({tlm::TLM_WRITE_COMMAND, AccessKind::kWrite, 0, static_cast<std::uint32_t>(bytes),
                        line * bytes, tag_of(Tag::kWrite, 0), OutgoingRequest::kDeviceMemory,
                        outgoing_.copy(line * bytes, bytes)});
}

void LoadStoreUnit::flush(bool resting) {
  state_.flushing = resting && state_.queue.empty() && requests_.live_instructions() == 0;
  if (!state_.flushing || outgoing_.full()) return;
  write_back(l1d_.tags().next_dirty());
  observers_.tell(&SmObserver::wrote_back);
  state_.flushing = has_to_flush();
}

// What answers without the caches. Beyond a surface: as a hit in the data cache.
Cycle LoadStoreUnit::unit_latency(const Instruction& instruction) const {
  return instruction.texture   ? config_.texture.latency
         : instruction.surface ? config_.l1d.latency
                               : config_.shared_memory.latency;
}

// What the texture unit adds after the data of a request.
Cycle LoadStoreUnit::filter_latency(std::uint32_t r) const {
  return requests_.owner(r).texture ? config_.texture.latency : 0;
}

// A line of system memory has its bytes here, of which a load takes its own. Loads of one line always wait
// for one fetch.
bool LoadStoreUnit::probe_system_line(Cycle now, std::uint32_t r, bool again) {
  const std::uint32_t handle = requests_.request(r).system;
  const cache::Line line = l1d_.tags().line_of(requests_.request(r).block);
  const cache::LineState before = l1d_.tags().find(line);
  if (before == cache::LineState::kReserved && system_lines_.is_void(line)) return false;
  if (!probe_cache(now, r, l1d_, Tag::kL1d, AccessKind::kRead, again)) return false;
  if (before == cache::LineState::kInvalid) system_lines_.reserve(line);
  if (before == cache::LineState::kValid) {
    fill_from_line(r);
  } else {
    system_.started(handle);
  }
  return true;
}

void LoadStoreUnit::fill_from_line(std::uint32_t r) {
  const Request& request = requests_.request(r);
  const cache::Line line = l1d_.tags().line_of(request.block);
  system_.fill(request.system, system_lines_.bytes(line) + (request.block - line * config_.l1d.line_bytes));
}

bool LoadStoreUnit::take_line(std::uint64_t tag, const std::uint8_t* bytes) {
  if (kind_of(tag) != Tag::kL1d) return false;
  system_lines_.fill(tag & kValueOfTag, bytes);
  return true;
}

void LoadStoreUnit::update_system_lines(std::uint64_t address, const tlm::tlm_generic_payload& write) {
  if (!config_.system_cached || !config_.l1d.enabled) return;
  system_lines_.update(address + execute::kSystemSpace, write);
}

void LoadStoreUnit::drop_system_lines(std::uint64_t first, std::uint64_t last) {
  if (!config_.system_cached || !config_.l1d.enabled) return;
  system_lines_.drop(l1d_.tags().line_of(first), l1d_.tags().line_of(last));
}

bool LoadStoreUnit::probe_cache(Cycle now, std::uint32_t r, FirstLevel& cache, Tag tag, AccessKind kind,
                                bool again) {
  const cache::Line line = cache.tags().line_of(requests_.request(r).block);
  const std::uint32_t system = requests_.request(r).system;
  if (tag == Tag::kL1d && !config_.l1d.merge_loads && system == kNone) tag = Tag::kL1dAlone;
  const FirstLevel::Probe found = cache.probe(line, tag == Tag::kL1dAlone ? r : line);
  if (found.hit) {
    cache.touch(found);
    // At the end of the stages it has spent its latency.
    const Cycle latency = looks_up_last_ && &cache == &l1d_ ? 1 : cache.config().latency;
    state_.wheel.add(now, now + latency + filter_latency(r), {Event::Kind::kRequest, r});
    return true;
  }
  if (found.waits(outgoing_.room())) {
    if (!again) cache.refuse(found, outgoing_.full());
    return false;
  }
  const cache::TagArray::Victim victim = cache.take(found, r);
  if (victim.dirty) write_back(victim.line);
  if (found.merges) return true;
  const std::uint64_t bytes = cache.config().line_bytes;
  const OutgoingRequest fetch{
      tlm::TLM_READ_COMMAND,  kind,  0, static_cast<std::uint32_t>(bytes), line * bytes,
      tag_of(tag, found.key), system};
  if (tag == Tag::kL1c) {
    outgoing_.fetch(fetch);
  } else {
    outgoing_.read(fetch);
  }
  return true;
}

void LoadStoreUnit::fetch_instructions(std::uint64_t address, std::uint32_t bytes) {
  outgoing_.fetch({tlm::TLM_READ_COMMAND, AccessKind::kInstruction, 0, bytes, address,
                   tag_of(Tag::kL1i, address), OutgoingRequest::kDeviceMemory});
}

void LoadStoreUnit::respond(Cycle now, std::uint64_t tag, std::uint64_t) {
  state_.head.blocked = state_.exit.blocked = false;
  const std::uint64_t value = tag & kValueOfTag;
  switch (kind_of(tag)) {
    case Tag::kL1d:
    case Tag::kL1c:
    case Tag::kL1t: {
      FirstLevel& cache = cache_of(kind_of(tag));
      const bool system = value * cache.config().line_bytes >= execute::kSystemSpace;
      cache.fill(now, value, value, [&](std::uint32_t r) {
        if (system) fill_from_line(r);
        state_.wheel.add(now, now + 1 + filter_latency(r), {Event::Kind::kRequest, r});
      });
      if (system && system_lines_.is_void(value)) cache.tags().invalidate(value);
      break;
    }
    case Tag::kL1dAlone: {
      // Unless another's fetch has filled the line.
      const cache::Line line =
          l1d_.tags().line_of(requests_.request(static_cast<std::uint32_t>(value)).block);
      l1d_.fill(now, line, value, [&](std::uint32_t r) {
        state_.wheel.add(now, now + 1 + filter_latency(r), {Event::Kind::kRequest, r});
      });
      break;
    }
    case Tag::kRequest:
      state_.wheel.add(now, now + 1 + filter_latency(static_cast<std::uint32_t>(value)),
                       {Event::Kind::kRequest, static_cast<std::uint32_t>(value)});
      break;
    case Tag::kWrite:
      outgoing_.answered_write();
      break;
    case Tag::kL1i:
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
  if (!state_.staged.empty() && !state_.exit.blocked)
    next = std::min(next, std::max(state_.staged.front().ready, now + 1));
  if (!state_.queue.empty()) {
    const bool stages_full =
        state_.staged.full() && goes_through_stages(requests_.instruction(state_.queue.front()).current);
    if (state_.busy_until > now) {
      next = std::min(next, state_.busy_until);
    } else if (!state_.head.blocked && !stages_full) {
      next = now + 1;
    }
  }
  return next;
}

void LoadStoreUnit::bind(statistics::Group& group) {
  coalescer_.bind(group);
  outgoing_.bind(group);
  group.counter("store_hits", units::kRequests,
                "stores written through that found their line and update or invalidate the line",
                store_hits_);
  group.counter("stores_absorbed", units::kRequests,
                "stores that made a line of the data cache dirty instead", stores_absorbed_);
  group.counter("blocked_cycles", units::kCycles, "cycles in which the head request could not go on",
                blocked_cycles_);
  group.counter("request_cycles", units::kCycles, "cycles in which a request went on", request_cycles_);
  group.counter("shared_cycles", units::kCycles, "cycles in which shared memory was accessed",
                shared_cycles_);
  group.counter("texture_cycles", units::kCycles, "cycles in which the texture unit made addresses",
                texture_cycles_);
  waited_in_.bind(group.group("waited_in"));
  group.counter("shared_accesses", units::kAccesses, "accesses of 32 places of a warp to shared memory",
                shared_accesses_);
  group.counter("shared_conflict_cycles", units::kCycles, "extra cycles through bank conflicts",
                shared_conflict_cycles_);
  group.histogram("shared_conflict_degree", units::kAccesses, "accesses by the cycles that the banks needed",
                  conflict_histogram_);
  group.counter("texture_fetches", units::kThreads, "threads' texture instructions", texture_fetches_);
  group.counter("texels", statistics::Unit("texels"), "texels that texture instructions read from memory",
                texture_texels_);
  group.gauge("queue", units::kInstructions, "memory instructions that wait for the unit",
              [this] { return state_.queue.size(); });
  outgoing_.bind_length(group);
  l1d_.bind(group.group("l1d"), true);
  l1c_.bind(group.group("l1c"), false);
  l1t_.bind(group.group("l1t"), true);
}

}  // namespace weft::sm
