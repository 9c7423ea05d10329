// The load-store unit's coalescer: from the addresses of an instruction's lanes to requests for blocks.
#include <algorithm>

#include "sm/load_store_unit.h"
#include "weft/common/popcount.h"

namespace weft::sm {
namespace {

unsigned log2_of(std::uint64_t value) {
  return static_cast<unsigned>(__builtin_ctzll(value));
}

}  // namespace

void LoadStoreUnit::accept(std::uint16_t issue, const ptx::Instruction& in,
                           const warp_formation::ThreadGroup* groups, const execute::LaneAccess* accesses,
                           unsigned count, bool waits, const datapath::Times& times) {
  const std::uint32_t index = state_.instructions.take();
  ++state_.live_instructions;
  {
    Instruction& instruction = state_.instructions[index];
    instruction.issue = issue;
    instruction.waits = waits;
    instruction.addresses = times.addresses;
    instruction.live = true;
    instruction.surface = in.is_image() && in.space != ptx::Space::kTexture;
  }
  if (!observers_.any()) return coalesce_all(index, in, groups, accesses, count, times);
  const SmObserver::Requests before = accepted();
  coalesce_all(index, in, groups, accesses, count, times);
  const SmObserver::Requests now = accepted();
  observers_.tell(&SmObserver::requested, issue,
                  SmObserver::Requests{now.threads - before.threads, now.coalesced - before.coalesced,
                                       now.shared_accesses - before.shared_accesses,
                                       now.shared_conflict_cycles - before.shared_conflict_cycles});
}

void LoadStoreUnit::coalesce_all(std::uint32_t index, const ptx::Instruction& in,
                                 const warp_formation::ThreadGroup* groups,
                                 const execute::LaneAccess* accesses, unsigned count,
                                 const datapath::Times& times) {
  LaneWork work{times.lane, nullptr, 0, accesses, count};
  if (times.in_turn) {
    work.parts = times.parts;
    work.part_count = times.part_count;
    calendar_.begin(now_);
  }
  if (in.space == ptx::Space::kTexture) accept_texture(index, work);
  bool shared = false, elsewhere = false;
  for (unsigned i = 0; i < count; ++i) {
    const execute::LaneAccess& access = accesses[i];
    if (access.space == ptx::Space::kTexture) {
      accept_without_memory(index, access);
      continue;
    }
    if (i > 0 && accesses[i - 1].chunk == access.chunk && (accesses[i - 1].mask & access.mask) != 0) {
      state_.instructions[index].together = true;  // an element of several local words
    }
    if (access.space == ptx::Space::kShared) {
      shared = true;
      add_part(state_.instructions[index].shared_parts, access.chunk, access.mask);
    } else {
      if (access.space != ptx::Space::kParam && access.space != ptx::Space::kConst) {
        memory_threads_ += count_of(access.mask);
      }
      elsewhere = true;
      if (coalesced_places_ == 0) coalesce(index, in, access, access.mask, state_.instructions[index].first);
    }
  }
  if (elsewhere && coalesced_places_ != 0) coalesce_by_places(index, in, groups, accesses, count);
  if (image_ != nullptr) carry_writes(index);
  if (shared) {
    const bool atomic = in.op == ptx::Opcode::kAtom || in.op == ptx::Opcode::kRed;
    if (times.in_turn) {
      take_banks_in_turn(index, work, atomic, !elsewhere);
      if (!elsewhere) return;
    } else {
      banks_.each_access(accesses, count, groups, atomic,
                         [&](std::uint32_t cycles) { take_banks(index, cycles); });
    }
  }
  state_.instructions[index].current = state_.instructions[index].first;
  enqueue(index);
}

// The bytes of each block from the first to the last that the instruction has just written.
void LoadStoreUnit::carry_writes(std::uint32_t instruction) {
  for (std::uint32_t r = state_.instructions[instruction].first; r != kNone; r = state_.requests[r].next) {
    Request& request = state_.requests[r];
    const bool writes = request.target == Target::kWrite || request.target == Target::kAtomic;
    if (writes && request.system == kNone)
      request.carried = carried_.take(image_ + request.block + request.low, request.high - request.low);
  }
}

// Behind those whose addresses are known before its own.
void LoadStoreUnit::enqueue(std::uint32_t index) {
  state_.queue.push(index);
  const Cycle addresses = state_.instructions[index].addresses;
  std::size_t place = state_.queue.size() - 1;
  for (; place != 0; --place) {
    std::uint32_t& before = state_.queue.at(place - 1);
    if (state_.instructions[before].addresses <= addresses) return;
    std::swap(before, state_.queue.at(place));
  }
  if (state_.working == Hold::kPort) state_.busy_until = 0;  // it was the other one that was waited for
}

// A thread's word may come at once, and another of its instruction much later: they return together.
void LoadStoreUnit::take_banks_in_turn(std::uint32_t index, const LaneWork& work, bool atomic, bool beside) {
  const LaneCalendar::Taken taken = calendar_.shared(work, atomic);
  Instruction& instruction = state_.instructions[index];
  ++instruction.outstanding;
  state_.wheel.add(now_, taken.last + unit_latency(instruction), {Event::Kind::kShared, index});
  if (beside) {
    ++state_.beside;
    state_.wheel.add(now_, taken.last, {Event::Kind::kPlace, index});
  }
  ++shared_accesses_;
  shared_cycles_ += taken.cycles;
  shared_conflict_cycles_ += taken.conflicts;
  ++conflict_histogram_[std::min<std::size_t>(taken.conflicts + 1, conflict_histogram_.size() - 1)];
}

void LoadStoreUnit::take_banks(std::uint32_t index, std::uint32_t cycles) {
  Instruction& instruction = state_.instructions[index];
  if (instruction.shared_cycles == 0) ++instruction.outstanding;
  instruction.shared_cycles += cycles;
  ++shared_accesses_;
  shared_conflict_cycles_ += cycles - 1;
  ++conflict_histogram_[std::min<std::size_t>(cycles, conflict_histogram_.size() - 1)];
}

// Threads without a place in memory (queries, borders, outside of a surface) are answered in one cycle more.
void LoadStoreUnit::accept_without_memory(std::uint32_t index, const execute::LaneAccess& access) {
  Instruction& instruction = state_.instructions[index];
  if (instruction.shared_cycles == 0) ++instruction.outstanding;
  instruction.shared_cycles = 1;
  add_part(instruction.shared_parts, access.chunk, access.mask);
}

// Threads whose texels lie in several lines wait for all of them. The unit makes addresses for so many
// threads per cycle, four texels each.
void LoadStoreUnit::accept_texture(std::uint32_t index, const LaneWork& work) {
  Instruction& instruction = state_.instructions[index];
  instruction.texture = true;
  std::uint64_t texels = 0, threads = 0;
  std::uint32_t seen = 0;
  unsigned deepest = 1, depth = 0;
  for (unsigned i = 0; i < work.count; ++i) {
    const execute::LaneAccess& access = work.accesses[i];
    if (i == 0 || work.accesses[i - 1].chunk != access.chunk) seen = depth = 0;
    if ((seen & access.mask) != 0) instruction.together = true;
    threads += count_of(access.mask & ~seen);
    seen |= access.mask;
    deepest = std::max(deepest, ++depth);
    if (access.space == ptx::Space::kTexture) continue;
    texels += count_of(access.mask);
  }
  constexpr unsigned kTexelsPerPass = 4;
  const std::uint64_t rate = config_.texture.threads_per_cycle;
  const std::uint64_t passes = (deepest + kTexelsPerPass - 1) / kTexelsPerPass;
  if (work.parts == nullptr) {
    instruction.setup_cycles = static_cast<std::uint32_t>((threads + rate - 1) / rate * passes);
  } else if (threads != 0) {
    const LaneCalendar::Taken taken = calendar_.textures(work, static_cast<unsigned>(passes));
    instruction.addresses = taken.last - 1;  // the last texel's: the request goes on in the same cycle
    texture_cycles_ += taken.cycles;
  }
  texture_fetches_ += threads;
  texture_texels_ += texels;
}

void LoadStoreUnit::add_part(std::uint32_t& list, unsigned chunk, std::uint32_t mask) {
  for (std::uint32_t p = list; p != kNone; p = state_.parts[p].next) {
    if (state_.parts[p].chunk == chunk) {
      state_.parts[p].mask |= mask;
      return;
    }
  }
  const std::uint32_t part = state_.parts.take();
  state_.parts[part] = {mask, list, static_cast<std::uint16_t>(chunk)};
  list = part;
}

// Some neighbouring places of the warp after the other, each as if the others were not there.
void LoadStoreUnit::coalesce_by_places(std::uint32_t instruction, const ptx::Instruction& in,
                                       const warp_formation::ThreadGroup* groups,
                                       const execute::LaneAccess* accesses, unsigned count) {
  unsigned end = 0;
  for (unsigned i = 0; i < count; ++i) end = std::max(end, places_.end(groups[accesses[i].group]));
  for (unsigned first = 0; first < end; first += coalesced_places_) {
    std::uint32_t window = kNone;
    for (unsigned i = 0; i < count; ++i) {
      const execute::LaneAccess& access = accesses[i];
      if (access.space == ptx::Space::kShared || access.space == ptx::Space::kTexture) continue;
      const std::uint32_t lanes =
          access.mask & places_.within(groups[access.group], first, coalesced_places_);
      if (lanes != 0) window = coalesce(instruction, in, access, lanes, window);
    }
  }
}

// The aligned block of which one request serves all threads, as a shift.
unsigned LoadStoreUnit::block_shift_of(const ptx::Instruction& in, const execute::LaneAccess& access,
                                       Target target) const {
  switch (target) {
    case Target::kL1c:
      return std::max(log2_of(access.bytes), constant_shift_);
    case Target::kL1t:  // a request of a load that is no texture fetch is no larger than a line, either
      return in.space == ptx::Space::kTexture ? texture_shift_ : std::min(texture_shift_, block_shift_);
    default:
      return block_shift_;
  }
}

// Accesses of one window of threads to one aligned block become one request. `window`: the window's first
// request, or kNone; returns it.
std::uint32_t LoadStoreUnit::coalesce(std::uint32_t instruction, const ptx::Instruction& in,
                                      const execute::LaneAccess& access, std::uint32_t lanes,
                                      std::uint32_t window) {
  const std::uint64_t origin = access.space == ptx::Space::kParam ? state_.parameter_offset : 0;
  if (access.low >= execute::kSystemSpace) return coalesce_system(instruction, in, access, lanes, window);
  const Target target = target_of(in, access);
  const unsigned shift = block_shift_of(in, access, target);
  const std::uint64_t low = origin + access.low, high = origin + access.high;
  const bool one_block = low >> shift == high >> shift;  // the common case needs no loop over lanes
  if (one_block && lanes == access.mask) {
    const std::uint64_t block = low >> shift << shift;
    const std::uint32_t r = find_or_add(instruction, block, target, window);
    Request& request = state_.requests[r];
    request.low = static_cast<std::uint16_t>(std::min<std::uint64_t>(request.low, low - block));
    request.high =
        static_cast<std::uint16_t>(std::max<std::uint64_t>(request.high, high - block + access.bytes));
    request.lanes = static_cast<std::uint16_t>(request.lanes + count_of(lanes));
    add_part(state_.requests[r].parts, access.chunk, lanes);
    return window == kNone ? r : window;
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint64_t a = origin + access.address[lane];
    const std::uint64_t block = a >> shift << shift;
    const std::uint32_t r = find_or_add(instruction, block, target, window);
    if (window == kNone) window = r;
    Request& request = state_.requests[r];
    request.low = static_cast<std::uint16_t>(std::min<std::uint64_t>(request.low, a - block));
    request.high =
        static_cast<std::uint16_t>(std::max<std::uint64_t>(request.high, a - block + access.bytes));
    ++request.lanes;
    add_part(state_.requests[r].parts, access.chunk, 1u << lane);
  }
  return window;
}

LoadStoreUnit::Target LoadStoreUnit::target_of(const ptx::Instruction& in,
                                               const execute::LaneAccess& access) const {
  if (in.op == ptx::Opcode::kAtom || in.op == ptx::Opcode::kRed) return Target::kAtomic;
  if (in.op == ptx::Opcode::kSt || in.op == ptx::Opcode::kSust) return Target::kWrite;
  if (access.space == ptx::Space::kConst || access.space == ptx::Space::kParam) return Target::kL1c;
  const bool texture = in.space == ptx::Space::kTexture && config_.l1t.enabled;
  if (texture || (in.non_coherent && config_.nc_loads == NcLoads::kL1t)) return Target::kL1t;
  if (!config_.l1d.enabled || in.mode == ptx::Mode::kPastL1) return Target::kDirect;
  return Target::kL1d;
}

// The first-level cache holds whole lines, for loads that need not see what others write meanwhile.
LoadStoreUnit::Target LoadStoreUnit::system_target_of(const ptx::Instruction& in,
                                                      const execute::LaneAccess& access,
                                                      std::uint64_t block) const {
  if (in.op == ptx::Opcode::kSt) return Target::kWrite;
  if (in.op != ptx::Opcode::kLd) return Target::kAtomic;
  if (!config_.system_cached || !config_.l1d.enabled || in.fresh || in.mode == ptx::Mode::kPastL1)
    return Target::kDirect;
  const std::uint64_t bytes = config_.l1d.line_bytes, first = block / bytes * bytes;
  const bool whole = first >= access.window_first && first + (bytes - 1) <= access.window_last;
  return whole ? Target::kL1d : Target::kDirect;
}

// System memory: as device memory, but block by block of one window.
std::uint32_t LoadStoreUnit::coalesce_system(std::uint32_t instruction, const ptx::Instruction& in,
                                             const execute::LaneAccess& access, std::uint32_t lanes,
                                             std::uint32_t start) {
  for (std::uint32_t rest = lanes; rest != 0;) {
    const std::uint64_t block =
        access.address[static_cast<unsigned>(__builtin_ctz(rest))] >> block_shift_ << block_shift_;
    std::uint64_t low = UINT64_MAX, high = 0;
    std::uint32_t together = 0;
    for (std::uint32_t others = rest; others != 0; others &= others - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(others));
      const std::uint64_t offset = access.address[lane] - block;
      if (offset >> block_shift_ != 0) continue;
      together |= 1u << lane;
      low = std::min(low, offset);
      high = std::max(high, offset + access.bytes);
    }
    rest &= ~together;
    const std::uint32_t r =
        find_or_add(instruction, block, system_target_of(in, access, block), start, access.window_first);
    if (start == kNone) start = r;
    Request& request = state_.requests[r];
    request.low = static_cast<std::uint16_t>(std::min<std::uint64_t>(request.low, low));
    request.high = static_cast<std::uint16_t>(std::max<std::uint64_t>(request.high, high));
    request.lanes = static_cast<std::uint16_t>(request.lanes + count_of(together));
    if (request.system == kNone) request.system = system_.open(state_.instructions[instruction].issue, block);
    system_.join(request.system, access, together);
    add_part(state_.requests[r].parts, access.chunk, together);
  }
  return start;
}

// The request for `block` among those from `start` on, or a new one at the end of the instruction's list.
std::uint32_t LoadStoreUnit::find_or_add(std::uint32_t instruction, std::uint64_t block, Target target,
                                         std::uint32_t start, std::uint64_t window) {
  std::uint32_t last = kNone;
  for (std::uint32_t r = start; r != kNone; r = state_.requests[r].next) {
    const Request& other = state_.requests[r];
    if (other.block == block && other.target == target && other.window == window) return r;
    last = r;
  }
  const std::uint32_t r = state_.requests.take();
  Request& request = state_.requests[r];
  request.block = block;
  request.instruction = instruction;
  request.target = target;
  request.window = window;
  request.low = UINT16_MAX;
  if (target != Target::kL1c) ++coalesced_requests_;
  Instruction& owner = state_.instructions[instruction];
  ++owner.outstanding;
  if (owner.first == kNone) {
    owner.first = r;
    return r;
  }
  if (last == kNone) {
    for (last = owner.first; state_.requests[last].next != kNone;) last = state_.requests[last].next;
  }
  state_.requests[last].next = r;
  return r;
}

}  // namespace weft::sm
