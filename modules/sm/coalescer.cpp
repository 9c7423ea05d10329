// The load-store unit's coalescer: from the addresses of an instruction's lanes to requests for blocks.
#include <algorithm>

#include "sm/load_store_unit.h"

namespace weft::sm {
namespace {

unsigned log2_of(std::uint64_t value) {
  return static_cast<unsigned>(__builtin_ctzll(value));
}

}  // namespace

void LoadStoreUnit::accept(std::uint16_t issue, const ptx::Instruction& in, const LaneAccess* accesses,
                           unsigned count, bool waits) {
  const std::uint32_t index = instructions_.take();
  ++live_instructions_;
  {
    Instruction& instruction = instructions_[index];
    instruction.issue = issue;
    instruction.waits = waits;
    instruction.live = true;
    instruction.surface = in.is_image() && in.space != ptx::Space::kTexture;
  }
  if (in.space == ptx::Space::kTexture) accept_texture(index, accesses, count);
  for (unsigned i = 0; i < count; ++i) {
    const LaneAccess& access = accesses[i];
    if (access.space == ptx::Space::kTexture) {
      accept_without_memory(index, access);
      continue;
    }
    if (i > 0 && accesses[i - 1].chunk == access.chunk && (accesses[i - 1].mask & access.mask) != 0) {
      instructions_[index].together = true;  // an element of several local words
    }
    if (access.space == ptx::Space::kShared) {
      Instruction& instruction = instructions_[index];
      std::uint32_t cycles = banks_.cycles(access);
      if (in.op == ptx::Opcode::kAtom || in.op == ptx::Opcode::kRed) {
        cycles = std::max<std::uint32_t>(cycles, static_cast<std::uint32_t>(__builtin_popcount(access.mask)));
      }
      if (instruction.shared_cycles == 0) ++instruction.outstanding;
      instruction.shared_cycles += cycles;
      add_part(instruction.shared_parts, access.chunk, access.mask);
      ++shared_accesses_;
      shared_conflict_cycles_ += cycles - 1;
      ++conflict_histogram_[std::min<std::size_t>(cycles, conflict_histogram_.size() - 1)];
    } else {
      if (access.space != ptx::Space::kParam && access.space != ptx::Space::kConst) {
        memory_threads_ += static_cast<unsigned>(__builtin_popcount(access.mask));
      }
      coalesce(index, in, access, access.space == ptx::Space::kParam ? parameter_offset_ : 0);
    }
  }
  instructions_[index].current = instructions_[index].first;
  queue_.push(index);
}

// Threads without a place in memory (queries, borders, outside of a surface) are answered in one cycle more.
void LoadStoreUnit::accept_without_memory(std::uint32_t index, const LaneAccess& access) {
  Instruction& instruction = instructions_[index];
  if (instruction.shared_cycles == 0) ++instruction.outstanding;
  instruction.shared_cycles = 1;
  add_part(instruction.shared_parts, access.chunk, access.mask);
}

// Threads whose texels lie in several lines wait for all of them. The unit makes addresses for so many
// threads per cycle, four texels each.
void LoadStoreUnit::accept_texture(std::uint32_t index, const LaneAccess* accesses, unsigned count) {
  Instruction& instruction = instructions_[index];
  instruction.texture = true;
  std::uint64_t texels = 0, threads = 0;
  std::uint32_t seen = 0;
  unsigned deepest = 1, depth = 0;
  for (unsigned i = 0; i < count; ++i) {
    const LaneAccess& access = accesses[i];
    if (i == 0 || accesses[i - 1].chunk != access.chunk) seen = depth = 0;
    if ((seen & access.mask) != 0) instruction.together = true;
    threads += static_cast<unsigned>(__builtin_popcount(access.mask & ~seen));
    seen |= access.mask;
    deepest = std::max(deepest, ++depth);
    if (access.space == ptx::Space::kTexture) continue;
    texels += static_cast<unsigned>(__builtin_popcount(access.mask));
  }
  constexpr unsigned kTexelsPerPass = 4;
  const std::uint64_t rate = config_.texture.threads_per_cycle;
  const std::uint64_t passes = (deepest + kTexelsPerPass - 1) / kTexelsPerPass;
  instruction.setup_cycles = static_cast<std::uint32_t>((threads + rate - 1) / rate * passes);
  texture_fetches_ += threads;
  texture_texels_ += texels;
}

void LoadStoreUnit::add_part(std::uint32_t& list, unsigned chunk, std::uint32_t mask) {
  for (std::uint32_t p = list; p != kNone; p = parts_[p].next) {
    if (parts_[p].chunk == chunk) {
      parts_[p].mask |= mask;
      return;
    }
  }
  const std::uint32_t part = parts_.take();
  parts_[part] = {mask, list, static_cast<std::uint16_t>(chunk)};
  list = part;
}

// Accesses of one window of threads to one aligned block become one request. Constants are broadcast word by
// word, so their block is the element.
void LoadStoreUnit::coalesce(std::uint32_t instruction, const ptx::Instruction& in, const LaneAccess& access,
                             std::uint64_t origin) {
  const bool constant = access.space == ptx::Space::kConst || access.space == ptx::Space::kParam;
  const Target target = target_of(in, access);
  const bool system = access.low >= kSystemSpace;
  if (system && access.staged) return coalesce_staged(instruction, access, target);
  const unsigned shift = constant                           ? log2_of(access.bytes)
                         : in.space == ptx::Space::kTexture ? texture_shift_
                                                            : block_shift_;
  const std::uint64_t low = origin + access.low, high = origin + access.high;
  const bool one_block = low >> shift == high >> shift;  // the common case needs no loop over lanes
  const std::uint64_t width = config_.coalescer.width_threads;
  const bool windows = width != 0 && width < isa::kLanes && !constant;
  const std::uint32_t known = width != 0 ? kNone : instructions_[instruction].first;
  if (one_block && !windows) {
    const std::uint64_t block = low >> shift << shift;
    const std::uint32_t r = find_or_add(instruction, block, target, known);
    Request& request = requests_[r];
    request.low = static_cast<std::uint16_t>(std::min<std::uint64_t>(request.low, low - block));
    request.high =
        static_cast<std::uint16_t>(std::max<std::uint64_t>(request.high, high - block + access.bytes));
    request.lanes = static_cast<std::uint16_t>(request.lanes + __builtin_popcount(access.mask));
    add_part(requests_[r].parts, access.chunk, access.mask);
    if (system && requests_[r].system == kNone) {
      requests_[r].system = listener_.open_system(instructions_[instruction].issue, access,
                                                  static_cast<unsigned>(__builtin_ctz(access.mask)));
    }
    return;
  }
  std::uint32_t start = known;
  std::uint64_t window = UINT64_MAX;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    if (windows && lane / width != window) {
      window = lane / width;
      start = kNone;
    }
    const std::uint64_t a = origin + access.address[lane];
    const std::uint64_t block = a >> shift << shift;
    const std::uint32_t r = find_or_add(instruction, block, target, start);
    if (start == kNone) start = r;
    Request& request = requests_[r];
    request.low = static_cast<std::uint16_t>(std::min<std::uint64_t>(request.low, a - block));
    request.high =
        static_cast<std::uint16_t>(std::max<std::uint64_t>(request.high, a - block + access.bytes));
    ++request.lanes;
    if (system && request.system == kNone)
      request.system = listener_.open_system(instructions_[instruction].issue, access, lane);
    add_part(requests_[r].parts, access.chunk, 1u << lane);
  }
}

// System memory is cached by the first level only where the configuration says so.
LoadStoreUnit::Target LoadStoreUnit::target_of(const ptx::Instruction& in, const LaneAccess& access) const {
  if (in.op == ptx::Opcode::kAtom || in.op == ptx::Opcode::kRed) return Target::kAtomic;
  if (in.op == ptx::Opcode::kSt || in.op == ptx::Opcode::kSust) return Target::kWrite;
  if (access.space == ptx::Space::kConst || access.space == ptx::Space::kParam) return Target::kL1c;
  if (access.low >= kSystemSpace && (!config_.system_cached || access.staged)) return Target::kDirect;
  if ((in.non_coherent || in.space == ptx::Space::kTexture) && config_.l1t.enabled) return Target::kL1t;
  if (!config_.l1d.enabled || in.mode == ptx::Mode::kPastL1) return Target::kDirect;
  return Target::kL1d;
}

// Without direct access each thread has a request of its own, of just its bytes.
void LoadStoreUnit::coalesce_staged(std::uint32_t instruction, const LaneAccess& access, Target target) {
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint32_t r = find_or_add(instruction, access.address[lane], target, kNone);
    Request& request = requests_[r];
    request.low = 0;
    request.high = static_cast<std::uint16_t>(access.bytes);
    request.lanes = 1;
    request.exact = true;
    request.system = listener_.open_system(instructions_[instruction].issue, access, lane);
    add_part(requests_[r].parts, access.chunk, 1u << lane);
  }
}

// The request for `block` among those from `start` on, or a new one at the end of the instruction's list.
std::uint32_t LoadStoreUnit::find_or_add(std::uint32_t instruction, std::uint64_t block, Target target,
                                         std::uint32_t start) {
  std::uint32_t last = kNone;
  for (std::uint32_t r = start; r != kNone; r = requests_[r].next) {
    if (requests_[r].block == block && requests_[r].target == target) return r;
    last = r;
  }
  const std::uint32_t r = requests_.take();
  Request& request = requests_[r];
  request.block = block;
  request.instruction = instruction;
  request.target = target;
  request.low = UINT16_MAX;
  Instruction& owner = instructions_[instruction];
  ++owner.outstanding;
  if (owner.first == kNone) {
    owner.first = r;
    return r;
  }
  if (last == kNone) {
    for (last = owner.first; requests_[last].next != kNone;) last = requests_[last].next;
  }
  requests_[last].next = r;
  return r;
}

}  // namespace weft::sm
