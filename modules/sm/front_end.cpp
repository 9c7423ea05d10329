#include "sm/front_end.h"

#include <algorithm>

#include "sm/cache_parts.h"

namespace weft::sm {
namespace {

// Every context may wait for one line.
cache::MshrTable::Config fetch_mshrs(const CacheConfig& config, unsigned contexts) {
  cache::MshrTable::Config mshrs = mshr_config(config);
  mshrs.merges = std::max<std::uint64_t>(mshrs.merges, contexts);
  return mshrs;
}

template <class Visit>
void each(const std::vector<std::uint64_t>& set, Visit&& visit) {
  for (std::size_t w = 0; w < set.size(); ++w) {
    for (std::uint64_t rest = set[w]; rest != 0; rest &= rest - 1) {
      visit(static_cast<unsigned>(w * 64) + static_cast<unsigned>(__builtin_ctzll(rest)));
    }
  }
}

void put(std::vector<std::uint64_t>& set, unsigned i) {
  set[i / 64] |= std::uint64_t{1} << (i % 64);
}
void drop(std::vector<std::uint64_t>& set, unsigned i) {
  set[i / 64] &= ~(std::uint64_t{1} << (i % 64));
}

bool any(const std::vector<std::uint64_t>& set) {
  return std::any_of(set.begin(), set.end(), [](std::uint64_t word) { return word != 0; });
}

}  // namespace

FrontEnd::FrontEnd(const Config& config, unsigned contexts)
    : config_(config),
      buffers_(contexts),
      needs_((contexts + 63) / 64, 0),
      arriving_((contexts + 63) / 64, 0),
      tags_(tag_config(config.l1i)),
      mshrs_(fetch_mshrs(config.l1i, contexts)) {}

void FrontEnd::reset() {
  if (untouched_) return;
  untouched_ = true;
  for (Buffer& b : buffers_) {
    Buffer fresh;
    fresh.waiting = b.waiting;
    fresh.number = b.number;
    b = fresh;
    if (b.waiting != nullptr) b.waiting->add(b.number);
  }
  std::fill(needs_.begin(), needs_.end(), 0);
  std::fill(arriving_.begin(), arriving_.end(), 0);
  next_arrival_ = kNever;
  last_ = 0;
  blocked_ = false;
  tags_.reset();
  mshrs_.reset();
}

void FrontEnd::start_kernel(std::uint32_t instructions, std::uint64_t code_offset) {
  reset();
  instructions_ = instructions;
  last_fetch_.assign(instructions, 0);
  fetch_number_ = 0;
  code_offset_ = code_offset;
}

void FrontEnd::follow(warp_formation::ContextTable& table, unsigned first) {
  auto& changed = table.changed();
  for (std::size_t w = 0; w < changed.size(); ++w) {
    for (std::uint64_t rest = changed[w]; rest != 0; rest &= rest - 1) {
      const unsigned local = static_cast<unsigned>(w * 64) + static_cast<unsigned>(__builtin_ctzll(rest));
      Buffer& b = buffers_[first + local];
      b.wanted = table.pc(local);
      if (b.wanted != ptx::kNoPc) untouched_ = false;
      if (b.count != 0 && b.first != b.wanted) {
        b.count = 0;
        ++flushes_;
      }
      consider(first + local);
    }
    changed[w] = 0;
  }
}

void FrontEnd::report_to(warp_formation::ContextSet& waiting, unsigned first, unsigned count) {
  for (unsigned c = 0; c < count; ++c) {
    buffers_[first + c].waiting = &waiting;
    buffers_[first + c].number = static_cast<std::uint16_t>(c);
    waiting.add(c);
  }
}

void FrontEnd::consider(unsigned context) {
  const Buffer& b = buffers_[context];
  if (b.waiting != nullptr) {
    if (b.count != 0 && b.first == b.wanted) {
      b.waiting->remove(b.number);
    } else {
      b.waiting->add(b.number);
    }
  }
  const bool room = b.count == 0 || b.count + config_.fetch_width <= config_.instruction_buffer;
  const ptx::Pc next = b.count == 0 ? b.wanted : b.first + b.count;
  if (next < instructions_ && !b.fetching && room) {
    put(needs_, context);
  } else {
    drop(needs_, context);
  }
}

void FrontEnd::consume(unsigned context) {
  Buffer& b = buffers_[context];
  --b.count;
  b.wanted = ++b.first;  // until the scheme says otherwise
  consider(context);
}

void FrontEnd::arrive(Cycle now) {
  if (next_arrival_ > now) return;
  next_arrival_ = kNever;
  each(arriving_, [&](unsigned c) {
    Buffer& b = buffers_[c];
    if (b.arrival > now) {
      next_arrival_ = std::min(next_arrival_, b.arrival);
      return;
    }
    drop(arriving_, c);
    b.fetching = false;
    if (b.wanted != ptx::kNoPc) {
      if (b.count == 0 && b.fetch_pc == b.wanted) b.first = b.fetch_pc;
      if (b.first + b.count == b.fetch_pc) b.count = static_cast<std::uint8_t>(b.count + b.fetch_count);
      if (b.count != 0 && b.first != b.wanted) b.count = 0;  // the warp went elsewhere meanwhile
    }
    consider(c);
  });
}

std::uint64_t FrontEnd::step(Cycle now, bool can_miss) {
  blocked_ = false;
  const auto contexts = static_cast<unsigned>(buffers_.size());
  // Round robin: the first context after the last one served.
  unsigned chosen = contexts;
  for (unsigned pass = 0; pass < 2 && chosen == contexts; ++pass) {
    const unsigned from = pass == 0 ? last_ + 1 : 0;
    for (std::size_t w = from / 64; w < needs_.size(); ++w) {
      std::uint64_t word = needs_[w];
      if (w == from / 64) word &= ~std::uint64_t{0} << (from % 64);
      if (word != 0) {
        chosen = static_cast<unsigned>(w * 64) + static_cast<unsigned>(__builtin_ctzll(word));
        break;
      }
    }
  }
  if (chosen >= contexts) return kNoLine;

  Buffer& b = buffers_[chosen];
  const ptx::Pc pc = b.count == 0 ? b.wanted : b.first + b.count;
  const std::uint64_t address = code_offset_ + std::uint64_t{pc} * ptx::kInstructionBytes;
  const cache::Line line = tags_.line_of(address);
  const auto left_in_line = static_cast<std::uint32_t>(
      (config_.l1i.line_bytes - address % config_.l1i.line_bytes) / ptx::kInstructionBytes);
  const bool present = !config_.l1i.enabled || tags_.find(line) == cache::LineState::kValid;
  std::uint64_t to_fetch = kNoLine;
  if (!present) {
    const bool merging = mshrs_.contains(line);
    if (!merging &&
        (!can_miss || !tags_.can_reserve(line) || mshrs_.check(line) != cache::MshrOutcome::kAllocated)) {
      blocked_ = true;
      return kNoLine;
    }
    tags_.access(line);
    if (mshrs_.add(line, chosen) == cache::MshrOutcome::kAllocated) {
      if (tags_.find(line) == cache::LineState::kInvalid) tags_.reserve(line);
      to_fetch = address / config_.l1i.line_bytes * config_.l1i.line_bytes;
    }
    b.missing = true;
  } else {
    if (config_.l1i.enabled) tags_.access(line);
    b.arrival = now + config_.l1i.latency;
    next_arrival_ = std::min(next_arrival_, b.arrival);
    put(arriving_, chosen);
  }
  ++fetches_;
  ++fetch_number_;
  if (last_fetch_[pc] != 0) {
    for (std::size_t span = 0; span < kSpans.size(); ++span) {
      if (fetch_number_ - last_fetch_[pc] > kSpans[span]) continue;
      ++redundant_[span];
      break;
    }
  }
  last_fetch_[pc] = fetch_number_;
  b.fetching = true;
  b.fetch_pc = pc;
  b.fetch_count = static_cast<std::uint8_t>(
      std::min<std::uint64_t>({config_.fetch_width, left_in_line, std::uint64_t{instructions_} - pc}));
  last_ = chosen;
  drop(needs_, chosen);
  return to_fetch;
}

void FrontEnd::fill(Cycle now, std::uint64_t line_address) {
  const cache::Line line = tags_.line_of(line_address);
  tags_.fill(line);
  mshrs_.release(line, [&](std::uint32_t c) {
    Buffer& b = buffers_[c];
    b.missing = false;
    b.arrival = now + 1;
    next_arrival_ = std::min(next_arrival_, b.arrival);
    put(arriving_, c);
  });
}

Cycle FrontEnd::next_event(Cycle now) const {
  return any(needs_) && !blocked_ ? now + 1 : next_arrival_;
}

void FrontEnd::bind(statistics::Registry& registry, const std::string& prefix) {
  registry.counter(prefix + ".fetches", "fetches", "fetches of instructions into an instruction buffer",
                   fetches_);
  registry.counter(prefix + ".flushes", "flushes", "instruction buffers emptied by a jump", flushes_);
  registry.counter(prefix + ".redundant_16", "fetches",
                   "fetches from a PC from which one of the last 16 fetches was", redundant_[0]);
  registry.counter(prefix + ".redundant_32", "fetches", "the same for the last 32, but not the last 16",
                   redundant_[1]);
  registry.counter(prefix + ".redundant_64", "fetches", "the same for the last 64, but not the last 32",
                   redundant_[2]);
  tags_.bind(registry, prefix + ".l1i");
  mshrs_.bind(registry, prefix + ".l1i.mshr");
}

}  // namespace weft::sm
