#include "sm/load_store_unit.h"

#include <algorithm>
#include <utility>

#include "sm/cache_parts.h"

namespace weft::sm {

LoadStoreUnit::FirstLevel::FirstLevel(const KernelCacheConfig& c)
    : config(c), tags(tag_config(c)), mshrs(mshr_config(c)) {}

LoadStoreUnit::LoadStoreUnit(const Config& config, LoadStoreListener& listener, SystemAccesses& system,
                             const SmObservers& observers, unsigned lanes, unsigned lane_width)
    : config_(config),
      listener_(listener),
      system_(system),
      observers_(observers),
      l1d_(config.l1d),
      l1c_(config.l1c),
      l1t_(config.l1t),
      system_lines_(l1d_.tags, config.l1d.sets * config.l1d.ways, config.l1d.enabled && config.system_cached),
      banks_(config),
      calendar_(config, lanes, lane_width),
      places_(static_cast<unsigned>(config.simd_width)),
      coalesced_places_(static_cast<unsigned>(config.coalescer_places())),
      writes_back_(config.l1d.enabled && config.l1d.write_policy == WritePolicy::kBack),
      flushes_(writes_back_ && !config.l1d.kept),
      looks_up_last_(config.l1d.enabled && config.l1d.lookup == Lookup::kLast && config.l1d.latency > 1),
      state_(config, looks_up_last_),
      carried_(std::max(config.coalescer.block_bytes, config.l1d.line_bytes)),
      block_shift_(static_cast<unsigned>(__builtin_ctzll(config.coalescer.block_bytes))),
      texture_shift_(config.l1t.enabled ? static_cast<unsigned>(__builtin_ctzll(config.l1t.line_bytes))
                                        : block_shift_),
      constant_shift_(config.constant_access == ConstantAccess::kLine
                          ? static_cast<unsigned>(__builtin_ctzll(config.l1c.line_bytes))
                          : 2),  // of a 32-bit word
      conflict_histogram_(33, 0) {}

void LoadStoreUnit::reset() {
  for (FirstLevel* level : {&l1d_, &l1c_, &l1t_}) {
    level->tags.reset();
    level->mshrs.reset();
    level->full_since = kNever;
  }
  state_ = State(config_, looks_up_last_);
  waited_in_.reset();
  system_lines_.reset();
  carried_.clear();
  calendar_.reset();
  now_ = 0;
}

void LoadStoreUnit::start_kernel(std::uint64_t parameter_offset) {
  state_.parameter_offset = parameter_offset;
  state_.flushing = false;
  for (FirstLevel* level : {&l1d_, &l1c_, &l1t_}) {
    if (!level->config.kept) level->tags.invalidate_all();
  }
  system_lines_.drop_all();
}

void LoadStoreUnit::handle(const Event& event) {
  if (event.kind == Event::Kind::kRequest) return finish_request(event.index);
  if (event.kind == Event::Kind::kPlace) {
    --state_.beside;
    return;
  }
  Instruction& instruction = state_.instructions[event.index];
  if (!instruction.together) return_parts(instruction, instruction.shared_parts);
  --instruction.outstanding;
  retire_if_done(event.index);
}

void LoadStoreUnit::step(Cycle now) {
  if (!state_.staged.empty() && state_.staged.front().ready <= now && !state_.exit.blocked) leave_stages(now);
  if (state_.queue.empty() || state_.busy_until > now) return;
  const std::uint32_t index = state_.queue.front();
  {
    Instruction& instruction = state_.instructions[index];
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
  if (state_.instructions[index].current != kNone && !send_current(now, index)) return;
  if (state_.instructions[index].current == kNone) {
    state_.queue.pop();
    const Instruction& instruction = state_.instructions[index];
    if (!instruction.waits && !looks_up_last_) finish_stores(index);
    retire_if_done(index);
  }
}

// The head's next request is looked up, or enters the stages before the data cache. False if it has to wait.
bool LoadStoreUnit::send_current(Cycle now, std::uint32_t index) {
  const std::uint32_t request = state_.instructions[index].current;
  if (goes_through_stages(request)) {
    if (state_.staged.full()) return false;
    state_.staged.push({request, now + config_.l1d.latency - 1});
  } else {
    if (state_.head.blocked || !look_up(now, request, state_.head)) return false;
    if (looks_up_last_ && !state_.instructions[index].waits) finish_request(request);
  }
  state_.instructions[index].current = state_.requests[request].next;
  return true;
}

// The request at the end of the stages is looked up; if it is refused, those behind it close up.
void LoadStoreUnit::leave_stages(Cycle now) {
  const Staged front = state_.staged.front();
  if (!look_up(now, front.request, state_.exit)) return;
  state_.staged.pop();
  if (!state_.instructions[state_.requests[front.request].instruction].waits) finish_request(front.request);
}

bool LoadStoreUnit::look_up(Cycle now, std::uint32_t r, Refusal& refusal) {
  const std::uint64_t requests = data_requests_;
  if (probe(now, r, refusal.counted)) {
    observers_.tell(&SmObserver::sent, state_.instructions[state_.requests[r].instruction].issue,
                    data_requests_ - requests);
    went_on(now, refusal);
    return true;
  }
  refusal.blocked = true;
  refusal.why = refusal_of(state_.requests[r]);
  if (!refusal.counted) refusal.since = now;
  refusal.counted = true;
  return false;
}

// Stores are done with once they are on their way.
void LoadStoreUnit::finish_stores(std::uint32_t index) {
  Instruction& instruction = state_.instructions[index];
  for (std::uint32_t r = instruction.first; r != kNone;) {
    const std::uint32_t next = state_.requests[r].next;
    std::uint32_t& parts = state_.requests[r].parts;
    while (parts != kNone) {
      const std::uint32_t p = parts;
      parts = state_.parts[p].next;
      state_.parts.give(p);
    }
    give_request(r);
    --instruction.outstanding;
    r = next;
  }
  instruction.first = kNone;
}

// A request was looked up in this cycle.
void LoadStoreUnit::went_on(Cycle now, Refusal& refusal) {
  ++request_cycles_;
  for (FirstLevel* level : {&l1d_, &l1t_}) count_full(*level, now);
  if (!refusal.counted) return;
  refusal.counted = false;
  blocked_cycles_ += now - refusal.since;
  if (refusal.why == Hold::kMissQueue) {
    waited_in_.for_queue(now - refusal.since);
  } else {
    waited_in_.for_response(refusal.since, now);
  }
}

// Counts the time in which every MSHR was in use, up to now.
void LoadStoreUnit::count_full(FirstLevel& level, Cycle now) {
  if (level.full_since != kNever) level.full_cycles += now - level.full_since;
  level.full_since = level.mshrs.full() ? now : kNever;
}

LoadStoreUnit::Hold LoadStoreUnit::refusal_of(const Request& request) {
  const bool cached =
      request.target == Target::kL1d || request.target == Target::kL1c || request.target == Target::kL1t;
  if (!cached) return Hold::kMissQueue;
  const FirstLevel& level = cache_of(request.target == Target::kL1d   ? Tag::kL1d
                                     : request.target == Target::kL1c ? Tag::kL1c
                                                                      : Tag::kL1t);
  const cache::Line line = level.tags.line_of(request.block);
  const cache::MshrOutcome outcome = level.mshrs.check(line);
  if (outcome == cache::MshrOutcome::kNoEntry || outcome == cache::MshrOutcome::kEntryFull)
    return Hold::kMshr;
  const bool has_way = level.tags.find(line) != cache::LineState::kInvalid || level.tags.can_reserve(line);
  return has_way ? Hold::kMissQueue : Hold::kWays;
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
  Request& request = state_.requests[r];
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
  Request& request = state_.requests[r];
  const cache::Line line = l1d_.tags.line_of(request.block);
  const bool dirty = is_dirty(line);
  if (!has_room(dirty ? 2 : 1)) return false;
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
  state_.outgoing.push(read);
  ++read_requests_;
  ++data_requests_;
  return true;
}

// Written back: a store to a line that is there or on its way stays in the cache. Not to system memory, which
// others watch.
bool LoadStoreUnit::absorb(const Request& request) {
  if (!writes_back_ || request.target != Target::kWrite || request.system != kNone) return false;
  const cache::Line line = l1d_.tags.line_of(request.block);
  switch (l1d_.tags.find(line)) {
    case cache::LineState::kInvalid:
      return false;
    case cache::LineState::kReserved:
      l1d_.tags.mark_dirty_on_fill(line);
      break;
    default:
      l1d_.tags.mark_dirty(line);
  }
  l1d_.tags.access(line);
  ++stores_absorbed_;
  return true;
}

bool LoadStoreUnit::probe_write(std::uint32_t r) {
  Request& request = state_.requests[r];
  if (absorb(request)) return true;
  const cache::Line line = l1d_.tags.line_of(request.block);
  const bool dirty = is_dirty(line);  // an atomic: it is done behind the cache
  if (!has_room(dirty ? 2 : 1)) return false;
  if (dirty) write_back(line);
  if (request.system != kNone) {
    system_.started(request.system);
  } else if (config_.l1d.enabled && l1d_.tags.find(line) == cache::LineState::kValid) {
    if (request.target == Target::kWrite) ++store_hits_;
    if (request.target == Target::kAtomic || config_.l1d.write_hit == WriteHit::kInvalidate) {
      l1d_.tags.invalidate(line);
    } else {
      l1d_.tags.access(line);
    }
  }
  const std::uint32_t bytes = request.high - request.low;
  if (request.target == Target::kAtomic) {
    state_.outgoing.push(
        {tlm::TLM_WRITE_COMMAND, AccessKind::kAtomic, request.lanes, bytes, request.block + request.low,
         state_.instructions[request.instruction].waits ? tag_of(Tag::kRequest, r) : tag_of(Tag::kWrite, 0),
         std::exchange(request.system, kNone), std::exchange(request.carried, kNone)});
    ++atomic_requests_;
    if (!state_.instructions[request.instruction].waits) ++state_.writes_in_flight;
  } else {
    state_.outgoing.push({tlm::TLM_WRITE_COMMAND, AccessKind::kWrite, 0, bytes, request.block + request.low,
                          tag_of(Tag::kWrite, 0), std::exchange(request.system, kNone),
                          std::exchange(request.carried, kNone)});
    ++write_requests_;
    ++state_.writes_in_flight;
  }
  ++data_requests_;
  bytes_out_ += bytes;
  return true;
}

// The caller has seen that there is room. The line stays, clean.
void LoadStoreUnit::write_back(cache::Line line) {
  l1d_.tags.clean(line);
  const std::uint64_t bytes = config_.l1d.line_bytes;
  state_.outgoing.push({tlm::TLM_WRITE_COMMAND, AccessKind::kWrite, 0, static_cast<std::uint32_t>(bytes),
                        line * bytes, tag_of(Tag::kWrite, 0), OutgoingRequest::kDeviceMemory,
                        image_ == nullptr ? kNone : carried_.take(image_ + line * bytes, bytes)});
  ++write_backs_;
  ++write_requests_;
  ++data_requests_;
  ++state_.writes_in_flight;
  bytes_out_ += bytes;
}

void LoadStoreUnit::flush(bool resting) {
  state_.flushing = resting && state_.queue.empty() && state_.live_instructions == 0;
  if (!state_.flushing || !has_room(1)) return;
  write_back(l1d_.tags.next_dirty());
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
  return state_.instructions[state_.requests[r].instruction].texture ? config_.texture.latency : 0;
}

// A line of system memory has its bytes here, of which a load takes its own. Loads of one line always wait
// for one fetch.
bool LoadStoreUnit::probe_system_line(Cycle now, std::uint32_t r, bool again) {
  const std::uint32_t handle = state_.requests[r].system;
  const cache::Line line = l1d_.tags.line_of(state_.requests[r].block);
  const cache::LineState before = l1d_.tags.find(line);
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
  const Request& request = state_.requests[r];
  const cache::Line line = l1d_.tags.line_of(request.block);
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
  system_lines_.drop(l1d_.tags.line_of(first), l1d_.tags.line_of(last));
}

bool LoadStoreUnit::probe_cache(Cycle now, std::uint32_t r, FirstLevel& cache, Tag tag, AccessKind kind,
                                bool again) {
  const cache::Line line = cache.tags.line_of(state_.requests[r].block);
  const cache::LineState state = cache.tags.find(line);
  if (!cache.config.enabled || state == cache::LineState::kValid || state == cache::LineState::kDirty) {
    if (cache.config.enabled) cache.tags.access(line);
    // At the end of the stages it has spent its latency.
    const Cycle latency = looks_up_last_ && &cache == &l1d_ ? 1 : cache.config.latency;
    state_.wheel.add(now, now + latency + filter_latency(r), {Event::Kind::kRequest, r});
    return true;
  }
  const std::uint32_t system = state_.requests[r].system;
  if (tag == Tag::kL1d && !config_.l1d.merge_loads && system == kNone) tag = Tag::kL1dAlone;
  const std::uint64_t key = tag == Tag::kL1dAlone ? r : line;  // what the MSHRs know the fetch by
  const cache::MshrOutcome outcome = cache.mshrs.check(key);
  const bool merges = outcome == cache::MshrOutcome::kMerged;
  const bool has_way = state == cache::LineState::kReserved || cache.tags.can_reserve(line);
  const bool evicts_dirty = cache.tags.dirty_lines() != 0 && state == cache::LineState::kInvalid && has_way &&
                            cache.tags.victim_for(line).dirty;
  const bool allocates =
      outcome == cache::MshrOutcome::kAllocated && has_way && has_room(evicts_dirty ? 2 : 1);
  if (!merges && !allocates) {
    if (!again) {
      if (outcome == cache::MshrOutcome::kNoEntry || outcome == cache::MshrOutcome::kEntryFull) {
        cache.mshrs.count_refusal(outcome);
      } else if (!has_way && !state_.outgoing.full()) {
        cache.tags.count_reservation_failure();
      }
    }
    return false;
  }
  cache.tags.access(line);
  cache.mshrs.add(key, r);
  if (allocates) {
    if (state == cache::LineState::kInvalid) {
      const cache::TagArray::Victim victim = cache.tags.reserve(line);
      if (victim.dirty) write_back(victim.line);
    }
    const std::uint64_t bytes = cache.config.line_bytes;
    state_.outgoing.push({tlm::TLM_READ_COMMAND, kind, 0, static_cast<std::uint32_t>(bytes), line * bytes,
                          tag_of(tag, key), system});
    if (tag != Tag::kL1c) {
      ++read_requests_;
      ++data_requests_;
    }
  }
  return true;
}

void LoadStoreUnit::fetch_instructions(std::uint64_t address, std::uint32_t bytes) {
  state_.outgoing.push({tlm::TLM_READ_COMMAND, AccessKind::kInstruction, 0, bytes, address,
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
      cache.tags.fill(value);
      const bool system = value * cache.config.line_bytes >= execute::kSystemSpace;
      cache.mshrs.release(value, [&](std::uint32_t r) {
        if (system) fill_from_line(r);
        state_.wheel.add(now, now + 1 + filter_latency(r), {Event::Kind::kRequest, r});
      });
      if (system && system_lines_.is_void(value)) cache.tags.invalidate(value);
      count_full(cache, now);
      break;
    }
    case Tag::kL1dAlone: {
      const auto r = static_cast<std::uint32_t>(value);
      l1d_.tags.fill(l1d_.tags.line_of(state_.requests[r].block));  // unless another's fetch has filled it
      l1d_.mshrs.release(value, [&](std::uint32_t) {
        state_.wheel.add(now, now + 1 + filter_latency(r), {Event::Kind::kRequest, r});
      });
      count_full(l1d_, now);
      break;
    }
    case Tag::kRequest:
      state_.wheel.add(now, now + 1 + filter_latency(static_cast<std::uint32_t>(value)),
                       {Event::Kind::kRequest, static_cast<std::uint32_t>(value)});
      break;
    case Tag::kWrite:
      --state_.writes_in_flight;
      break;
    case Tag::kL1i:
      break;
  }
}

void LoadStoreUnit::give_request(std::uint32_t r) {
  if (state_.requests[r].system != kNone) {
    system_.close(state_.requests[r].system);
    state_.head.blocked = false;  // perhaps by this one
  }
  carried_.give(state_.requests[r].carried);
  state_.requests.give(r);
}

void LoadStoreUnit::finish_request(std::uint32_t r) {
  const std::uint32_t index = state_.requests[r].instruction;
  if (state_.instructions[index].together) {
    for (std::uint32_t p = state_.requests[r].parts; p != kNone;) {
      const Part part = state_.parts[p];
      state_.parts.give(p);
      add_part(state_.instructions[index].shared_parts, part.chunk, part.mask);
      p = part.next;
    }
    state_.requests[r].parts = kNone;
  } else {
    return_parts(state_.instructions[index], state_.requests[r].parts);
  }
  // The request keeps its place in the instruction's list until all have returned.
  --state_.instructions[index].outstanding;
  retire_if_done(index);
}

void LoadStoreUnit::return_parts(const Instruction& instruction, std::uint32_t& parts) {
  while (parts != kNone) {
    const std::uint32_t p = parts;
    const Part part = state_.parts[p];
    parts = part.next;
    state_.parts.give(p);
    if (instruction.waits) listener_.memory_returned(instruction.issue, part.chunk, part.mask);
  }
}

void LoadStoreUnit::retire_if_done(std::uint32_t index) {
  Instruction& instruction = state_.instructions[index];
  if (!instruction.live || instruction.outstanding != 0 || instruction.current != kNone ||
      instruction.shared_cycles != 0) {
    return;
  }
  if (!state_.queue.empty() && state_.queue.front() == index) return;  // still being probed
  for (std::uint32_t r = instruction.first; r != kNone;) {
    const std::uint32_t next = state_.requests[r].next;
    give_request(r);
    r = next;
  }
  const std::uint16_t issue = instruction.issue;
  if (instruction.together) return_parts(instruction, instruction.shared_parts);
  state_.instructions[index].live = false;
  state_.instructions.give(index);
  --state_.live_instructions;
  listener_.memory_finished(issue);
}

Cycle LoadStoreUnit::next_event(Cycle now) const {
  Cycle next = state_.wheel.next(now);
  if (state_.flushing && has_room(1)) next = now + 1;
  if (!state_.staged.empty() && !state_.exit.blocked)
    next = std::min(next, std::max(state_.staged.front().ready, now + 1));
  if (!state_.queue.empty()) {
    const bool stages_full =
        state_.staged.full() && goes_through_stages(state_.instructions[state_.queue.front()].current);
    if (state_.busy_until > now) {
      next = std::min(next, state_.busy_until);
    } else if (!state_.head.blocked && !stages_full) {
      next = now + 1;
    }
  }
  return next;
}

void LoadStoreUnit::bind(statistics::Group& group) {
  group.counter("memory_thread_instructions", units::kThreads,
                "threads' accesses to global and local memory (of a texture fetch: each texel)",
                memory_threads_);
  group.counter("coalesced_requests", units::kRequests,
                "requests that the coalescer made of threads' accesses, before the caches",
                coalesced_requests_);
  group.counter("data_requests", units::kRequests, "data requests sent to the crossbar", data_requests_);
  group.counter("read_requests", units::kRequests, "reads sent to the crossbar", read_requests_);
  group.counter("write_requests", units::kRequests, "writes sent to the crossbar", write_requests_);
  group.counter("write_backs", units::kLines, "dirty lines of the data cache sent to the crossbar",
                write_backs_);
  group.counter("store_hits", units::kRequests,
                "stores written through that found their line and update or invalidate the line",
                store_hits_);
  group.counter("stores_absorbed", units::kRequests,
                "stores that made a line of the data cache dirty instead", stores_absorbed_);
  group.counter("atomic_requests", units::kRequests, "atomics sent to the crossbar", atomic_requests_);
  group.counter("write_bytes", units::kBytes, "bytes of writes and atomics sent", bytes_out_);
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
  group.gauge("miss_queue", units::kRequests, "requests that wait for the crossbar",
              [this] { return state_.outgoing.size(); });
  l1d_.tags.bind(group.group("l1d"));
  l1d_.mshrs.bind(group.group("l1d").group("mshr"));
  group.group("l1d").group("mshr").counter("full_cycles", units::kCycles,
                                           "cycles in which every entry was in use", l1d_.full_cycles);
  l1c_.tags.bind(group.group("l1c"));
  l1c_.mshrs.bind(group.group("l1c").group("mshr"));
  l1t_.tags.bind(group.group("l1t"));
  l1t_.mshrs.bind(group.group("l1t").group("mshr"));
  group.group("l1t").group("mshr").counter("full_cycles", units::kCycles,
                                           "cycles in which every entry was in use", l1t_.full_cycles);
}

}  // namespace weft::sm
