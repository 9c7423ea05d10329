#include "sm/load_store_unit.h"

#include <algorithm>
#include <utility>

#include "sm/cache_parts.h"

namespace weft::sm {

LoadStoreUnit::FirstLevel::FirstLevel(const CacheConfig& c)
    : config(c), tags(tag_config(c)), mshrs(mshr_config(c)) {}

LoadStoreUnit::LoadStoreUnit(const Config& config, LoadStoreListener& listener)
    : config_(config),
      listener_(listener),
      l1d_(config.l1d),
      l1c_(config.l1c),
      l1t_(config.l1t),
      queue_(config.memory_queue),
      outgoing_(config.miss_queue),
      banks_(config.shared_memory, static_cast<unsigned>(config.memory_width)),
      block_shift_(static_cast<unsigned>(__builtin_ctzll(config.coalescer.block_bytes))),
      texture_shift_(config.l1t.enabled ? static_cast<unsigned>(__builtin_ctzll(config.l1t.line_bytes))
                                        : block_shift_),
      conflict_histogram_(33, 0) {
  hits_.reserve(warp_formation::kMaxGroups * 8);
}

void LoadStoreUnit::reset() {
  for (FirstLevel* level : {&l1d_, &l1c_, &l1t_}) {
    level->tags.reset();
    level->mshrs.reset();
  }
  parts_.clear();
  requests_.clear();
  instructions_.clear();
  queue_.clear();
  outgoing_.clear();
  wheel_.clear();
  busy_until_ = 0;
  blocked_ = counted_refusal_ = false;
  live_instructions_ = writes_in_flight_ = 0;
}

void LoadStoreUnit::start_kernel(std::uint64_t parameter_offset, bool report_probes) {
  parameter_offset_ = parameter_offset;
  report_probes_ = report_probes;
  for (FirstLevel* level : {&l1d_, &l1c_, &l1t_}) level->tags.invalidate_all();
}

void LoadStoreUnit::events(Cycle now) {
  wheel_.take(now, [&](const Event& event) {
    if (event.kind == Event::Kind::kRequest) {
      finish_request(event.index);
      return;
    }
    Instruction& instruction = instructions_[event.index];
    if (!instruction.together) return_parts(instruction, instruction.shared_parts);
    --instruction.outstanding;
    retire_if_done(event.index);
  });
}

void LoadStoreUnit::step(Cycle now) {
  if (queue_.empty() || busy_until_ > now) return;
  const std::uint32_t index = queue_.front();
  {
    Instruction& instruction = instructions_[index];
    if (instruction.setup_cycles > 1) {
      busy_until_ = now + instruction.setup_cycles - 1;
      instruction.setup_cycles = 0;
      return;
    }
    if (instruction.shared_cycles != 0) {
      wheel_.add(now, now + unit_latency(instruction) + instruction.shared_cycles - 1,
                 {Event::Kind::kShared, index});
      busy_until_ = now + instruction.shared_cycles;
      instruction.shared_cycles = 0;
      if (instruction.current == kNone) {
        queue_.pop();
        if (report_probes_) report_probes(instruction);
      }
      return;
    }
  }
  if (instructions_[index].current != kNone) {
    if (blocked_) return;
    const std::uint32_t request = instructions_[index].current;
    const bool waited = counted_refusal_;
    if (!probe(now, request)) {
      blocked_ = true;
      if (!waited) blocked_since_ = now;
      return;
    }
    if (counted_refusal_) {
      blocked_cycles_ += now - blocked_since_;
      counted_refusal_ = false;
    }
    instructions_[index].current = requests_[request].next;
  }
  if (instructions_[index].current == kNone) {
    queue_.pop();
    if (report_probes_) report_probes(instructions_[index]);
    // Stores are done with once they are on their way.
    const Instruction& instruction = instructions_[index];
    for (std::uint32_t r = instruction.first; r != kNone && !instruction.waits;) {
      const std::uint32_t next = requests_[r].next;
      std::uint32_t& parts = requests_[r].parts;
      while (parts != kNone) {
        const std::uint32_t p = parts;
        parts = parts_[p].next;
        parts_.give(p);
      }
      give_request(r);
      --instructions_[index].outstanding;
      r = next;
    }
    if (!instructions_[index].waits) instructions_[index].first = kNone;
    retire_if_done(index);
  }
}

bool LoadStoreUnit::probe(Cycle now, std::uint32_t r) {
  Request& request = requests_[r];
  switch (request.target) {
    case Target::kL1d:
      return probe_cache(now, r, l1d_, Tag::kL1d, AccessKind::kRead);
    case Target::kL1c:
      return probe_cache(now, r, l1c_, Tag::kL1c, AccessKind::kConstant);
    case Target::kL1t:
      return probe_cache(now, r, l1t_, Tag::kL1t, AccessKind::kTexture);
    case Target::kDirect:
      if (outgoing_.full()) return counted_refusal_ = true, false;
      outgoing_.push({tlm::TLM_READ_COMMAND, AccessKind::kRead, 0,
                      static_cast<std::uint32_t>(request.exact ? request.high - request.low
                                                               : config_.coalescer.block_bytes),
                      request.block, tag_of(Tag::kRequest, r), std::exchange(request.system, kNone)});
      ++read_requests_;
      ++data_requests_;
      return true;
    case Target::kWrite:
    case Target::kAtomic:
      break;
  }
  if (outgoing_.full()) return counted_refusal_ = true, false;
  if (config_.l1d.enabled) {
    const cache::Line line = l1d_.tags.line_of(request.block);
    if (l1d_.tags.find(line) == cache::LineState::kValid) {
      if (request.target == Target::kAtomic || config_.l1d.write_hit == WriteHit::kInvalidate) {
        l1d_.tags.invalidate(line);
      } else {
        l1d_.tags.access(line);
      }
    }
  }
  const std::uint32_t bytes = request.high - request.low;
  if (request.target == Target::kAtomic) {
    outgoing_.push(
        {tlm::TLM_WRITE_COMMAND, AccessKind::kAtomic, request.lanes, bytes, request.block + request.low,
         instructions_[request.instruction].waits ? tag_of(Tag::kRequest, r) : tag_of(Tag::kWrite, 0),
         std::exchange(request.system, kNone)});
    ++atomic_requests_;
    if (!instructions_[request.instruction].waits) ++writes_in_flight_;
  } else {
    outgoing_.push({tlm::TLM_WRITE_COMMAND, AccessKind::kWrite, 0, bytes, request.block + request.low,
                    tag_of(Tag::kWrite, 0), std::exchange(request.system, kNone)});
    ++write_requests_;
    ++writes_in_flight_;
  }
  ++data_requests_;
  bytes_out_ += bytes;
  return true;
}

// What answers without the caches. Beyond a surface: as a hit in the data cache.
Cycle LoadStoreUnit::unit_latency(const Instruction& instruction) const {
  return instruction.texture   ? config_.texture.latency
         : instruction.surface ? config_.l1d.latency
                               : config_.shared_memory.latency;
}

// What the texture unit adds after the data of a request.
Cycle LoadStoreUnit::filter_latency(std::uint32_t r) const {
  return instructions_[requests_[r].instruction].texture ? config_.texture.latency : 0;
}

bool LoadStoreUnit::probe_cache(Cycle now, std::uint32_t r, FirstLevel& cache, Tag tag, AccessKind kind) {
  const cache::Line line = cache.tags.line_of(requests_[r].block);
  const cache::LineState state = cache.tags.find(line);
  if (!cache.config.enabled || state == cache::LineState::kValid) {
    if (cache.config.enabled) cache.tags.access(line);
    requests_[r].hit = true;
    wheel_.add(now, now + cache.config.latency + filter_latency(r), {Event::Kind::kRequest, r});
    return true;
  }
  const cache::MshrOutcome outcome = cache.mshrs.check(line);
  const bool merges = outcome == cache::MshrOutcome::kMerged;
  const bool allocates = outcome == cache::MshrOutcome::kAllocated && !outgoing_.full() &&
                         (state == cache::LineState::kReserved || cache.tags.can_reserve(line));
  if (!merges && !allocates) {
    if (!counted_refusal_) {
      if (outcome == cache::MshrOutcome::kNoEntry || outcome == cache::MshrOutcome::kEntryFull) {
        cache.mshrs.count_refusal(outcome);
      } else if (!outgoing_.full()) {
        cache.tags.count_reservation_failure();
      }
    }
    counted_refusal_ = true;
    return false;
  }
  cache.tags.access(line);
  cache.mshrs.add(line, r);
  if (allocates) {
    if (state == cache::LineState::kInvalid) cache.tags.reserve(line);
    const std::uint64_t bytes = cache.config.line_bytes;
    outgoing_.push({tlm::TLM_READ_COMMAND, kind, 0, static_cast<std::uint32_t>(bytes), line * bytes,
                    tag_of(tag, line), std::exchange(requests_[r].system, kNone)});
    if (tag != Tag::kL1c) {
      ++read_requests_;
      ++data_requests_;
    }
  }
  return true;
}

void LoadStoreUnit::fetch_instructions(std::uint64_t address, std::uint32_t bytes) {
  outgoing_.push({tlm::TLM_READ_COMMAND, AccessKind::kInstruction, 0, bytes, address,
                  tag_of(Tag::kL1i, address), OutgoingRequest::kDeviceMemory});
}

void LoadStoreUnit::respond(Cycle now, std::uint64_t tag, std::uint64_t) {
  blocked_ = false;
  const std::uint64_t value = tag & ((std::uint64_t{1} << 56) - 1);
  switch (kind_of(tag)) {
    case Tag::kL1d:
    case Tag::kL1c:
    case Tag::kL1t: {
      FirstLevel& cache = cache_of(kind_of(tag));
      cache.tags.fill(value);
      cache.mshrs.release(value, [&](std::uint32_t r) {
        wheel_.add(now, now + 1 + filter_latency(r), {Event::Kind::kRequest, r});
      });
      break;
    }
    case Tag::kRequest:
      wheel_.add(now, now + 1 + filter_latency(static_cast<std::uint32_t>(value)),
                 {Event::Kind::kRequest, static_cast<std::uint32_t>(value)});
      break;
    case Tag::kWrite:
      --writes_in_flight_;
      break;
    case Tag::kL1i:
      break;
  }
}

void LoadStoreUnit::give_request(std::uint32_t r) {
  if (requests_[r].system != kNone) listener_.close_system(requests_[r].system);
  requests_.give(r);
}

void LoadStoreUnit::report_probes(const Instruction& instruction) {
  hits_.clear();
  for (std::uint32_t r = instruction.first; r != kNone; r = requests_[r].next) {
    if (!requests_[r].hit) continue;
    for (std::uint32_t p = requests_[r].parts; p != kNone; p = parts_[p].next) {
      hits_.push_back({parts_[p].mask, parts_[p].chunk, 0, false});
    }
  }
  listener_.memory_probed(instruction.issue, hits_.data(), static_cast<unsigned>(hits_.size()));
}

void LoadStoreUnit::finish_request(std::uint32_t r) {
  const std::uint32_t index = requests_[r].instruction;
  if (instructions_[index].together) {
    for (std::uint32_t p = requests_[r].parts; p != kNone;) {
      const Part part = parts_[p];
      parts_.give(p);
      add_part(instructions_[index].shared_parts, part.chunk, part.mask);
      p = part.next;
    }
    requests_[r].parts = kNone;
  } else {
    return_parts(instructions_[index], requests_[r].parts);
  }
  // The request keeps its place in the instruction's list until all have returned.
  --instructions_[index].outstanding;
  retire_if_done(index);
}

void LoadStoreUnit::return_parts(const Instruction& instruction, std::uint32_t& parts) {
  while (parts != kNone) {
    const std::uint32_t p = parts;
    const Part part = parts_[p];
    parts = part.next;
    parts_.give(p);
    if (instruction.waits) listener_.memory_returned(instruction.issue, part.chunk, part.mask);
  }
}

void LoadStoreUnit::retire_if_done(std::uint32_t index) {
  Instruction& instruction = instructions_[index];
  if (!instruction.live || instruction.outstanding != 0 || instruction.current != kNone ||
      instruction.shared_cycles != 0) {
    return;
  }
  if (!queue_.empty() && queue_.front() == index) return;  // still being probed
  for (std::uint32_t r = instruction.first; r != kNone;) {
    const std::uint32_t next = requests_[r].next;
    give_request(r);
    r = next;
  }
  const std::uint16_t issue = instruction.issue;
  if (instruction.together) return_parts(instruction, instruction.shared_parts);
  instructions_[index].live = false;
  instructions_.give(index);
  --live_instructions_;
  listener_.memory_finished(issue);
}

Cycle LoadStoreUnit::next_event(Cycle now) const {
  Cycle next = wheel_.next(now);
  if (!queue_.empty()) {
    if (busy_until_ > now) {
      next = std::min(next, busy_until_);
    } else if (!blocked_) {
      next = now + 1;
    }
  }
  return next;
}

void LoadStoreUnit::bind(statistics::Registry& registry, const std::string& prefix) {
  registry.counter(prefix + ".memory_thread_instructions", "threads",
                   "threads' accesses to global and local memory (of a texture fetch: each texel)",
                   memory_threads_);
  registry.counter(prefix + ".data_requests", "requests", "data requests sent to the crossbar",
                   data_requests_);
  registry.counter(prefix + ".read_requests", "requests", "of these, reads", read_requests_);
  registry.counter(prefix + ".write_requests", "requests", "of these, writes", write_requests_);
  registry.counter(prefix + ".atomic_requests", "requests", "of these, atomics", atomic_requests_);
  registry.counter(prefix + ".write_bytes", "bytes", "bytes of writes and atomics sent", bytes_out_);
  registry.counter(prefix + ".blocked_cycles", "cycles", "cycles in which the head request could not go on",
                   blocked_cycles_);
  registry.counter(prefix + ".shared_accesses", "accesses", "accesses of 32 positions to shared memory",
                   shared_accesses_);
  registry.counter(prefix + ".shared_conflict_cycles", "cycles", "extra cycles through bank conflicts",
                   shared_conflict_cycles_);
  registry.histogram(prefix + ".shared_conflict_degree", "accesses",
                     "accesses by the cycles that the banks needed", conflict_histogram_);
  registry.counter(prefix + ".texture_fetches", "threads", "threads' texture instructions", texture_fetches_);
  registry.counter(prefix + ".texels", "texels", "texels that they read from memory", texture_texels_);
  l1d_.tags.bind(registry, prefix + ".l1d");
  l1d_.mshrs.bind(registry, prefix + ".l1d.mshr");
  l1c_.tags.bind(registry, prefix + ".l1c");
  l1c_.mshrs.bind(registry, prefix + ".l1c.mshr");
  l1t_.tags.bind(registry, prefix + ".l1t");
  l1t_.mshrs.bind(registry, prefix + ".l1t.mshr");
}

}  // namespace weft::sm
