#include "sm/front_end.h"

#include <algorithm>

namespace weft::sm {
namespace {

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

}  // namespace

FrontEnd::FrontEnd(const machine::SmConfig& config, unsigned contexts)
    : InstructionBuffers(contexts),
      config_(config),
      reports_(contexts),
      state_(contexts),
      cache_(config.l1i, contexts) {}  // every context may wait for one line

void FrontEnd::reset() {
  if (state_.untouched && state_.codes.empty()) return;
  state_.codes.clear();
  empty_buffers();
  cache_.reset();
}

void FrontEnd::empty_buffers() {
  if (state_.untouched) return;
  std::vector<Code> codes = std::move(state_.codes);
  buffers_.assign(buffers_.size(), Buffer());
  state_ = State(static_cast<unsigned>(reports_.size()));
  state_.codes = std::move(codes);
  for (const Report& report : reports_) {
    if (report.waiting != nullptr) report.waiting->add(report.number);
  }
}

// Lines are named by addresses. Where other code has taken the place of what was there, as when a module has
// been unloaded, they would be taken for its lines: then the cache is emptied.
void FrontEnd::keep_lines_of(const Code& code) {
  for (const Code& known : state_.codes) {
    if (known.kernel == code.kernel && known.offset == code.offset &&
        known.instructions == code.instructions) {
      return;
    }
    if (known.offset >= code.end() || code.offset >= known.end()) continue;
    cache_.tags().reset();
    state_.codes.clear();
    break;
  }
  state_.codes.push_back(code);
}

void FrontEnd::start_kernel(std::uint32_t instructions, std::uint64_t code_offset,
                            const std::string& kernel) {
  const bool keeps = config_.l1i.kept && !cache_.has_fetches();
  if (keeps) {
    empty_buffers();
    keep_lines_of({kernel, code_offset, instructions});
  } else {
    reset();
  }
  state_.instructions = instructions;
  state_.last_fetch.assign(instructions, 0);
  state_.fetch_number = 0;
  state_.code_offset = code_offset;
}

// Of the table's contexts 64 x word .. 64 x word + 63.
void FrontEnd::follow(warp_formation::ContextTable& table, unsigned first, unsigned word) {
  std::uint64_t& changed = table.changed()[word];
  for (std::uint64_t rest = changed; rest != 0; rest &= rest - 1) {
    const unsigned local = word * 64 + static_cast<unsigned>(__builtin_ctzll(rest));
    Buffer& b = buffers_[first + local];
    b.wanted = table.pc(local);
    if (b.wanted != ptx::kNoPc) state_.untouched = false;
    if (b.count != 0 && b.first != b.wanted) {
      b.count = 0;
      ++flushes_;
    }
    consider(first + local);
  }
  changed = 0;
}

void FrontEnd::report_to(warp_formation::ContextSet& waiting, std::uint32_t& changed, unsigned first,
                         const std::vector<std::uint32_t>& marks) {
  for (unsigned c = 0; c < marks.size(); ++c) {
    reports_[first + c] = {&waiting, &changed, marks[c], static_cast<std::uint16_t>(c)};
    waiting.add(c);
  }
}

void FrontEnd::consider(unsigned context) {
  const Buffer& b = buffers_[context];
  if (const Report& report = reports_[context]; report.waiting != nullptr) {
    if (b.count != 0 && b.first == b.wanted) {
      if (report.waiting->has(report.number)) {
        report.waiting->remove(report.number);
        *report.changed |= report.mark;
      }
    } else {
      report.waiting->add(report.number);
    }
  }
  const bool room = b.count == 0 || b.count + config_.fetch_width <= config_.instruction_buffer;
  const ptx::Pc next = b.count == 0 ? b.wanted : b.first + b.count;
  if (next < state_.instructions && !b.fetching && room) {
    put(state_.needs, context);
  } else {
    drop(state_.needs, context);
  }
}

void FrontEnd::consume(unsigned context) {
  Buffer& b = buffers_[context];
  --b.count;
  b.wanted = ++b.first;  // until the scheme says otherwise
  consider(context);
}

void FrontEnd::arrive(Cycle now) {
  if (state_.next_arrival > now) return;
  state_.next_arrival = kNever;
  each(state_.arriving, [&](unsigned c) {
    Buffer& b = buffers_[c];
    if (b.arrival > now) {
      state_.next_arrival = std::min(state_.next_arrival, b.arrival);
      return;
    }
    drop(state_.arriving, c);
    b.fetching = false;
    if (b.wanted != ptx::kNoPc) {
      if (b.count == 0 && b.fetch_pc == b.wanted) b.first = b.fetch_pc;
      if (b.first + b.count == b.fetch_pc) b.count = static_cast<std::uint8_t>(b.count + b.fetch_count);
      if (b.count != 0 && b.first != b.wanted) b.count = 0;  // the warp went elsewhere meanwhile
    }
    consider(c);
  });
}

// Round robin: the first context after the last one served. One needs a fetch.
unsigned FrontEnd::next_to_fetch() const {
  const auto number = [](std::size_t w, std::uint64_t word) {
    return static_cast<unsigned>(w * 64) + static_cast<unsigned>(__builtin_ctzll(word));
  };
  const std::vector<std::uint64_t>& needs = state_.needs;
  const unsigned from = state_.last + 1;
  for (std::size_t w = from / 64; w < needs.size(); ++w) {
    const std::uint64_t word = w == from / 64 ? needs[w] & ~std::uint64_t{0} << (from % 64) : needs[w];
    if (word != 0) return number(w, word);
  }
  std::size_t w = 0;
  while (needs[w] == 0) ++w;
  return number(w, needs[w]);
}

std::uint64_t FrontEnd::fetch(Cycle now, bool can_miss) {
  const unsigned chosen = next_to_fetch();

  Buffer& b = buffers_[chosen];
  const ptx::Pc pc = b.count == 0 ? b.wanted : b.first + b.count;
  const std::uint64_t address = state_.code_offset + std::uint64_t{pc} * ptx::kInstructionBytes;
  const cache::Line line = cache_.tags().sector_of(address);
  const std::uint64_t line_bytes = config_.l1i.tags.line_bytes;
  const std::uint64_t left_in_line = config_.l1i.enabled
                                         ? (line_bytes - address % line_bytes) / ptx::kInstructionBytes
                                         : config_.fetch_width;  // without a cache there are no lines
  const FirstLevel::Probe found = cache_.probe(line, line);
  std::uint64_t to_fetch = kNoLine;
  if (!found.hit) {
    if (found.waits(can_miss ? 1 : 0)) {
      state_.blocked = true;
      return kNoLine;
    }
    cache_.take(found, chosen);
    if (!found.merges) to_fetch = address / line_bytes * line_bytes;
    b.missing = true;
  } else {
    cache_.touch(found);
    b.arrival = now + config_.l1i.latency;
    state_.next_arrival = std::min(state_.next_arrival, b.arrival);
    put(state_.arriving, chosen);
  }
  ++fetches_;
  ++state_.fetch_number;
  if (state_.last_fetch[pc] != 0) {
    for (std::size_t span = 0; span < kSpans.size(); ++span) {
      if (state_.fetch_number - state_.last_fetch[pc] > kSpans[span]) continue;
      ++redundant_[span];
      break;
    }
  }
  state_.last_fetch[pc] = state_.fetch_number;
  b.fetching = true;
  b.fetch_pc = pc;
  b.fetch_count = static_cast<std::uint8_t>(
      std::min<std::uint64_t>({config_.fetch_width, left_in_line, std::uint64_t{state_.instructions} - pc}));
  state_.last = chosen;
  drop(state_.needs, chosen);
  return to_fetch;
}

void FrontEnd::fill(Cycle now, std::uint64_t line_address) {
  const cache::Line line = cache_.tags().sector_of(line_address);
  cache_.fill(now, line, line, [&](std::uint32_t c) {
    Buffer& b = buffers_[c];
    b.missing = false;
    b.arrival = now + 1;
    state_.next_arrival = std::min(state_.next_arrival, b.arrival);
    put(state_.arriving, c);
  });
}

Cycle FrontEnd::next_event(Cycle now) const {
  return wants() && !state_.blocked ? now + 1 : state_.next_arrival;
}

void FrontEnd::bind(statistics::Group& group) {
  group.counter("fetches", units::kFetches, "fetches of instructions into an instruction buffer", fetches_);
  group.counter("flushes", statistics::Unit("flushes"), "instruction buffers emptied by a jump", flushes_);
  group.counter("redundant_16", units::kFetches,
                "fetches from a PC from which one of the last 16 fetches was", redundant_[0]);
  group.counter("redundant_32", units::kFetches,
                "fetches from a PC from which one of the last 32 fetches was, but none of the last 16",
                redundant_[1]);
  group.counter("redundant_64", units::kFetches,
                "fetches from a PC from which one of the last 64 fetches was, but none of the last 32",
                redundant_[2]);
  cache_.bind(group.group("l1i"), false);
}

}  // namespace weft::sm
