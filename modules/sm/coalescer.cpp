#include "sm/coalescer.h"

#include <algorithm>

#include "execute/system_memory.h"
#include "weft/common/popcount.h"

namespace weft::sm {
namespace {

unsigned log2_of(std::uint64_t value) {
  return static_cast<unsigned>(__builtin_ctzll(value));
}

}  // namespace

Coalescer::Coalescer(const machine::SmConfig& config, MemoryRequests& requests, SystemAccesses& system)
    : config_(config),
      requests_(requests),
      system_(system),
      places_(static_cast<unsigned>(config.simd_width), config.home()),
      together_(static_cast<unsigned>(config.coalescer_places())),
      block_shift_(log2_of(config.coalescer.block_bytes)),
      texture_shift_(config.l1t.enabled ? log2_of(config.l1t.tags.line_bytes) : block_shift_),
      constant_shift_(config.constant_access == machine::ConstantAccess::kLine
                          ? log2_of(config.l1c.tags.line_bytes)
                          : 2),  // of a 32-bit word
      byte_masks_(config.l1d.enabled && config.l1d.fetches_lazily()) {}

void Coalescer::coalesce(std::uint32_t index, const ptx::Instruction& in,
                         const warp_formation::ThreadGroup* groups, const execute::LaneAccess* accesses,
                         unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const execute::LaneAccess& access = accesses[i];
    if (!goes_out(access)) continue;
    const bool constant = access.space == ptx::Space::kParam || access.space == ptx::Space::kConst;
    threads_ += constant ? 0 : count_of(access.mask);
    if (together_ == 0) add(index, in, access, access.mask, requests_.instruction(index).first);
  }
  if (together_ != 0) by_places(index, in, groups, accesses, count);
}

// Some neighbouring places of the warp after the other, each as if the others were not there.
void Coalescer::by_places(std::uint32_t index, const ptx::Instruction& in,
                          const warp_formation::ThreadGroup* groups, const execute::LaneAccess* accesses,
                          unsigned count) {
  unsigned end = 0;
  for (unsigned i = 0; i < count; ++i) end = std::max(end, places_.end(groups[accesses[i].group]));
  for (unsigned first = 0; first < end; first += together_) {
    std::uint32_t window = kNone;
    for (unsigned i = 0; i < count; ++i) {
      const execute::LaneAccess& access = accesses[i];
      if (!goes_out(access)) continue;
      const std::uint32_t lanes = access.mask & places_.within(groups[access.group], first, together_);
      if (lanes != 0) window = add(index, in, access, lanes, window);
    }
  }
}

// The aligned block of which one request serves all threads, as a shift.
unsigned Coalescer::block_shift_of(const ptx::Instruction& in, const execute::LaneAccess& access,
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
std::uint32_t Coalescer::add(std::uint32_t index, const ptx::Instruction& in,
                             const execute::LaneAccess& access, std::uint32_t lanes, std::uint32_t window) {
  if (access.low >= execute::kSystemSpace) return add_system(index, in, access, lanes, window);
  const std::uint64_t origin = access.space == ptx::Space::kParam ? parameter_offset_ : 0;
  const Target target = target_of(in, access);
  const unsigned shift = block_shift_of(in, access, target);
  const std::uint64_t low = origin + access.low, high = origin + access.high;
  const bool one_block = low >> shift == high >> shift;  // the common case needs no loop over lanes
  const bool masked = byte_masks_ && target == Target::kWrite;
  if (one_block && lanes == access.mask && !masked) {
    const std::uint64_t block = low >> shift << shift;
    const std::uint32_t r = find_or_add(index, block, target, window);
    touch(r, low - block, high - block + access.bytes, count_of(lanes));
    requests_.add_part(requests_.request(r).parts, access.chunk, lanes);
    return window == kNone ? r : window;
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint64_t a = origin + access.address[lane];
    const std::uint64_t block = a >> shift << shift;
    const std::uint32_t r = find_or_add(index, block, target, window);
    if (window == kNone) window = r;
    touch(r, a - block, a - block + access.bytes, 1);
    if (masked) requests_.request(r).written |= ((std::uint64_t{1} << access.bytes) - 1) << (a - block);
    requests_.add_part(requests_.request(r).parts, access.chunk, 1u << lane);
  }
  return window;
}

void Coalescer::touch(std::uint32_t r, std::uint64_t low, std::uint64_t high, unsigned lanes) {
  MemoryRequests::Request& request = requests_.request(r);
  request.low = static_cast<std::uint16_t>(std::min<std::uint64_t>(request.low, low));
  request.high = static_cast<std::uint16_t>(std::max<std::uint64_t>(request.high, high));
  request.lanes = static_cast<std::uint16_t>(request.lanes + lanes);
}

MemoryRequests::Target Coalescer::target_of(const ptx::Instruction& in,
                                            const execute::LaneAccess& access) const {
  if (in.op == ptx::Opcode::kAtom || in.op == ptx::Opcode::kRed) return Target::kAtomic;
  if (in.op == ptx::Opcode::kSt || in.op == ptx::Opcode::kSust) return Target::kWrite;
  if (access.space == ptx::Space::kConst || access.space == ptx::Space::kParam) return Target::kL1c;
  const bool texture = in.space == ptx::Space::kTexture && config_.l1t.enabled;
  if (texture || (in.non_coherent && config_.nc_loads == machine::NcLoads::kL1t)) return Target::kL1t;
  if (!config_.l1d.enabled || in.mode == ptx::Mode::kPastL1) return Target::kDirect;
  return Target::kL1d;
}

// The first-level cache holds whole lines, for loads that need not see what others write meanwhile.
MemoryRequests::Target Coalescer::system_target_of(const ptx::Instruction& in,
                                                   const execute::LaneAccess& access,
                                                   std::uint64_t block) const {
  if (in.op == ptx::Opcode::kSt) return Target::kWrite;
  if (in.op != ptx::Opcode::kLd) return Target::kAtomic;
  if (!config_.system_cached || !config_.l1d.enabled || in.fresh || in.mode == ptx::Mode::kPastL1)
    return Target::kDirect;
  const std::uint64_t bytes = config_.l1d.tags.line_bytes, first = block / bytes * bytes;
  const bool whole = first >= access.window_first && first + (bytes - 1) <= access.window_last;
  return whole ? Target::kL1d : Target::kDirect;
}

// System memory: as device memory, but block by block of one window.
std::uint32_t Coalescer::add_system(std::uint32_t index, const ptx::Instruction& in,
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
        find_or_add(index, block, system_target_of(in, access, block), start, access.window_first);
    if (start == kNone) start = r;
    touch(r, low, high, count_of(together));
    std::uint32_t& handle = requests_.request(r).system;
    if (handle == kNone) handle = system_.open(requests_.instruction(index).issue, block);
    system_.join(handle, access, together);
    requests_.add_part(requests_.request(r).parts, access.chunk, together);
  }
  return start;
}

// The one place where threads' addresses become a request. Caches, crossbar, L2 and DRAM see only the `block`
// of the request, so this is where addresses would be translated. (Fetches of instructions begin in
// front_end.cpp.)
std::uint32_t Coalescer::find_or_add(std::uint32_t index, std::uint64_t block, Target target,
                                     std::uint32_t start, std::uint64_t window) {
  bool made = false;
  const std::uint32_t r = requests_.find_or_add(index, block, target, start, window, made);
  if (made && target != Target::kL1c) ++made_;
  return r;
}

void Coalescer::bind(statistics::Group& group) {
  group.counter("memory_thread_instructions", units::kThreads,
                "threads' accesses to global and local memory (of a texture fetch: each texel)", threads_);
  group.counter("coalesced_requests", units::kRequests,
                "requests that the coalescer made of threads' accesses, before the caches", made_);
}

}  // namespace weft::sm
