#include "sm/executor.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "common/error.h"
#include "common/hex.h"
#include "isa/address_windows.h"

namespace weft::sm {
namespace {

using warp_formation::Groups;
using warp_formation::ThreadGroup;

// Words of a special register that is constant for a thread; lane by lane.
struct SpecialContext {
  const Kernel& kernel;
  const ResidentBlock& block;
  const Config& config;
  unsigned sm;
};

std::uint32_t special_value(ptx::Special special, const SpecialContext& c, std::uint32_t thread) {
  const auto& block = c.kernel.launch.block;
  const auto& grid = c.kernel.launch.grid;
  const std::uint32_t lane = thread % isa::kLanes;
  switch (special) {
    case ptx::Special::kTidX:
      return thread % block[0];
    case ptx::Special::kTidY:
      return thread / block[0] % block[1];
    case ptx::Special::kTidZ:
      return thread / block[0] / block[1];
    case ptx::Special::kNtidX:
      return block[0];
    case ptx::Special::kNtidY:
      return block[1];
    case ptx::Special::kNtidZ:
      return block[2];
    case ptx::Special::kCtaidX:
      return c.block.index[0];
    case ptx::Special::kCtaidY:
      return c.block.index[1];
    case ptx::Special::kCtaidZ:
      return c.block.index[2];
    case ptx::Special::kNctaidX:
      return grid[0];
    case ptx::Special::kNctaidY:
      return grid[1];
    case ptx::Special::kNctaidZ:
      return grid[2];
    case ptx::Special::kLaneid:
      return lane;
    case ptx::Special::kWarpid:
      return (c.block.first_chunk * isa::kLanes + thread) / isa::kLanes;
    case ptx::Special::kNwarpid:
      return static_cast<std::uint32_t>(c.config.max_warps);
    case ptx::Special::kSmid:
      return c.sm;
    case ptx::Special::kNsmid:
      return static_cast<std::uint32_t>(c.config.count);
    case ptx::Special::kLanemaskEq:
      return 1u << lane;
    case ptx::Special::kLanemaskLt:
      return (1u << lane) - 1;
    case ptx::Special::kLanemaskLe:
      return (2u << lane) - 1;
    case ptx::Special::kLanemaskGt:
      return ~((2u << lane) - 1);
    case ptx::Special::kLanemaskGe:
      return ~((1u << lane) - 1);
    case ptx::Special::kDynamicSharedSize:
      return static_cast<std::uint32_t>(c.kernel.launch.dynamic_shared);
    case ptx::Special::kTotalSharedSize:
      return static_cast<std::uint32_t>(c.kernel.own_shared_bytes);
    case ptx::Special::kReservedSharedBegin:
    case ptx::Special::kReservedShared0:
    case ptx::Special::kReservedShared1:
      return static_cast<std::uint32_t>(c.kernel.reserved_shared);
    case ptx::Special::kReservedSharedEnd:
      return static_cast<std::uint32_t>(c.kernel.reserved_shared + ReservedShared::kUsed);
    case ptx::Special::kReservedSharedCap:
      return static_cast<std::uint32_t>(c.kernel.reserved_shared + ReservedShared::kBytes);
    default:
      return 0;  // %gridid, %envreg: no value is promised
  }
}

unsigned first_lane(std::uint32_t mask) {
  return static_cast<unsigned>(__builtin_ctz(mask));
}

// Smallest and largest address of the active lanes, and the OR of all of them.
struct Span {
  std::uint64_t low = UINT64_MAX, high = 0, bits = 0;
};

Span span_of(const std::uint64_t* address, std::uint32_t mask) {
  Span span;
  if (mask == UINT32_MAX) {
    for (unsigned i = 0; i < isa::kLanes; ++i) {
      span.low = std::min(span.low, address[i]);
      span.high = std::max(span.high, address[i]);
      span.bits |= address[i];
    }
    return span;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t a = address[first_lane(rest)];
    span.low = std::min(span.low, a);
    span.high = std::max(span.high, a);
    span.bits |= a;
  }
  return span;
}

}  // namespace

std::uint64_t local_area_bytes(const Kernel& kernel, const Config& config) {
  const std::uint64_t words = (kernel.local_bytes + 3) / 4;
  return words * 4 * kernel.occupancy.blocks * kernel.chunks_per_block * isa::kLanes * config.count;
}

void check_addresses(const Kernel& kernel, const Config& config, std::uint64_t base, std::uint64_t bytes) {
  const dispatch::Launch& launch = kernel.launch;
  const auto require = [&](const char* what, std::uint64_t address, std::uint64_t needed) {
    const std::uint64_t offset = address - base;
    if (address >= base && offset <= bytes && needed <= bytes - offset && address % 4 == 0) return;
    throw InputError("kernel " + kernel.program.name,
                     std::string(what) + " is " + hex(address) + " for " + std::to_string(needed) +
                         " bytes; allowed are multiples of 4 in device memory, " + hex(base) + " to " +
                         hex(base + bytes));
  };
  const std::uint64_t local = local_area_bytes(kernel, config);
  if (local != 0 && launch.local_address == 0) {
    throw InputError("kernel " + kernel.program.name,
                     "has local variables, but the launch gives no device memory for them");
  }
  if (local != 0) require("local_address", launch.local_address, local);
  if (launch.parameter_address != 0)
    require("parameter_address", launch.parameter_address, launch.parameters.size());
  if (launch.code_address != 0)
    require("code_address", launch.code_address, kernel.program.code.size() * ptx::kInstructionBytes);
}

Executor::Executor(const Config& config, unsigned sm, double core_megahertz, RegisterFile& registers)
    : config_(config), sm_(sm), nanoseconds_per_cycle_(1e3 / core_megahertz), registers_(registers) {
  // Most accesses of one instruction: each group in three spaces, and local elements of up to four words
  // each.
  accesses_.resize(warp_formation::kMaxGroups * 6);
}

void Executor::start_kernel(const Kernel& kernel, const DeviceMemoryView& memory) {
  kernel_ = &kernel;
  memory_ = memory;
  const unsigned chunks = kernel.occupancy.blocks * kernel.chunks_per_block;
  positions_ = chunks * isa::kLanes;
  const std::uint64_t words_per_thread = (kernel.local_bytes + 3) / 4;
  const std::uint64_t local_area = words_per_thread * positions_ * 4;  // of one SM
  local_origin_ = kernel.launch.local_address - memory.base + sm_ * local_area;
  const bool inside = local_origin_ <= memory.bytes && local_area <= memory.bytes - local_origin_;
  local_bytes_ = inside ? kernel.local_bytes : 0;
  registers_.configure(kernel.program, chunks);
  shared_.configure(kernel.shared_bytes, kernel.occupancy.blocks);
  parameters_ = kernel.launch.parameters;
  parameters_.resize(parameters_.size() + 16, 0);  // vector loads may read whole elements at the end
}

void Executor::start_block(const ResidentBlock& block) {
  shared_.clear(block.slot);
  const SpecialContext context{*kernel_, block, config_, sm_};
  const auto& specials = kernel_->program.special_rows;
  for (unsigned chunk = 0; chunk < kernel_->chunks_per_block; ++chunk) {
    for (unsigned k = 0; k < specials.size(); ++k) {
      std::uint32_t* row = registers_.row(block.first_chunk + chunk, kernel_->program.register_rows + 2 * k);
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        row[lane] = special_value(specials[k], context, chunk * isa::kLanes + lane);
      }
    }
  }
  if (observer_ != nullptr) observer_->block_started(sm_, block);
}

std::uint64_t Executor::dynamic_value(ptx::Special special, std::uint64_t cycle) const {
  const auto nanoseconds = static_cast<std::uint64_t>(static_cast<double>(cycle) * nanoseconds_per_cycle_);
  switch (special) {
    case ptx::Special::kClockHi:
      return cycle >> 32;
    case ptx::Special::kGlobaltimer:
    case ptx::Special::kGlobaltimerLo:
      return nanoseconds;
    case ptx::Special::kGlobaltimerHi:
      return nanoseconds >> 32;
    default:
      return cycle;
  }
}

void Executor::arithmetic(const Operation& op, const Groups& groups, std::uint64_t cycle) {
  const ptx::Instruction& in = *op.instruction;
  alignas(64) std::uint64_t dynamic[isa::kLanes];
  for (const ThreadGroup& group : groups) {
    isa::Lanes lanes;
    lanes.active = guarded(in, group);
    if (lanes.active == 0) continue;
    std::uint32_t* base = registers_.chunk_base(group.chunk);
    for (unsigned i = 0; i < 4; ++i) {
      const Source& source = op.src[i];
      switch (source.kind) {
        case Source::Kind::kNone:
          break;
        case Source::Kind::kRow:
          lanes.src[i] = base + source.offset;
          break;
        case Source::Kind::kConstant:
          lanes.src[i] = source.constant;
          break;
        case Source::Kind::kPredicate: {
          const std::uint32_t bits = registers_.predicate(group.chunk, source.index);
          if (i < 3) lanes.predicate[i] = source.negated ? ~bits : bits;
          break;
        }
        case Source::Kind::kDynamic: {
          ++outside_uses_;
          const auto special = static_cast<ptx::Special>(source.index);
          const std::uint64_t value = dynamic_value(special, cycle);
          if (ptx::bytes_of(in.type) == 8) {
            std::fill(std::begin(dynamic), std::end(dynamic), value);
          } else {
            auto* words = reinterpret_cast<std::uint32_t*>(dynamic);
            std::fill(words, words + isa::kLanes, static_cast<std::uint32_t>(value));
          }
          lanes.src[i] = dynamic;
          break;
        }
      }
    }
    if (op.dst[0] >= 0) lanes.dst = base + op.dst[0];
    op.function(lanes);
    for (unsigned i = 0; i < 2; ++i) {
      if (op.dst_predicate[i] < 0) continue;
      std::uint32_t& bits = registers_.predicate(group.chunk, static_cast<unsigned>(op.dst_predicate[i]));
      bits = (bits & ~lanes.active) | (lanes.result[i] & lanes.active);
    }
  }
}

std::uint32_t Executor::scalar(const Source& source, const Groups& groups) const {
  const ThreadGroup& group = groups.data[0];
  const unsigned lane = first_lane(group.mask);
  if (source.kind == Source::Kind::kConstant) return static_cast<const std::uint32_t*>(source.constant)[0];
  if (source.kind == Source::Kind::kRow) return registers_.chunk_base(group.chunk)[source.offset + lane];
  return 0;
}

bool Executor::memory(const Operation& op, ptx::Pc pc, const Groups& groups, const ResidentBlock& block) {
  const ptx::Instruction& in = *op.instruction;
  access_count_ = 0;
  group_ = 0;
  if (observer_ != nullptr) refused_ = {};
  if (in.is_image()) return image(op, pc, groups, block) && goes_on();
  if (op.memory == nullptr) return copy(op, pc, groups, block) && goes_on();
  alignas(64) std::uint64_t address[isa::kLanes];
  for (const ThreadGroup& group : groups) {
    const std::uint32_t mask = guarded(in, group);
    group_ = static_cast<unsigned>(&group - groups.data);
    if (mask == 0) continue;
    addresses(op, group.chunk, address);
    bool done = false;
    switch (in.space) {
      case ptx::Space::kGeneric:
        done = generic(op, pc, group.chunk, mask, address, block);
        break;
      case ptx::Space::kLocal:
        done = local(op, pc, group.chunk, mask, address, block);
        break;
      default:
        done = access(op, pc, in.space, group.chunk, mask, address, block);
        break;
    }
    if (!done) return false;
  }
  return goes_on();
}

// The addresses of a memory instruction, of which op.src[0] is the base.
void Executor::addresses(const Operation& op, unsigned chunk, std::uint64_t* address) {
  const ptx::Instruction& in = *op.instruction;
  alignas(64) static constexpr std::uint64_t kZeros[isa::kLanes] = {};
  const void* const base = lanes_of(op.src[0], chunk);
  isa::addresses(base == nullptr ? kZeros : base, isa::address_kind(in), in.offset, address);
  if (in.space != ptx::Space::kConst) return;
  // Constant memory is part of device memory, whose addresses have 64 bits. An address that is none of them
  // was made modulo 2^32, as on hardware: it counts from the beginning of device memory.
  for (unsigned i = 0; i < isa::kLanes; ++i) {
    if (address[i] - memory_.base >= memory_.bytes)
      address[i] = memory_.base + static_cast<std::uint32_t>(address[i] - memory_.base);
  }
}

// Whether the observer lets the launch go on.
bool Executor::goes_on() {
  if (observer_ == nullptr || observer_->stop_reason().empty()) return true;
  fault_ = {FaultKind::kStopped, observer_->stop_reason()};
  return false;
}

// Asks the observer; threads that it refuses are noted.
std::uint32_t Executor::permitted(const Operation& op, ptx::Pc pc, ptx::Space space, unsigned chunk,
                                  std::uint32_t mask, const std::uint64_t* address,
                                  const ResidentBlock& block) {
  const Region where = region(space, block);
  using Kind = ObservedAccess::Kind;
  const ptx::Opcode opcode = op.instruction->op;
  const bool copies = op.memory == nullptr;  // from its own space to shared memory
  // Nobody knows what is allocated in system memory.
  const std::uint32_t unwatched =
      space == ptx::Space::kGlobal ? in_system(mask, address, op.element_bytes) : 0;
  mask &= ~unwatched;
  if (mask == 0) return unwatched;
  const Kind kind = opcode == ptx::Opcode::kLd || (copies && space != ptx::Space::kShared) ? Kind::kLoad
                    : opcode == ptx::Opcode::kSt || copies                                 ? Kind::kStore
                                                                                           : Kind::kAtomic;
  const std::uint32_t allowed =
      observer_->access({kind, kernel_, &op, pc, space, sm_, &block, chunk, mask, op.element_bytes, address,
                         where.base, registers_.chunk_base(chunk)});
  refused_[group_] |= mask & ~allowed;
  return (mask & allowed) | unwatched;
}

bool Executor::generic(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask,
                       const std::uint64_t* address, const ResidentBlock& block) {
  std::uint32_t in_shared = 0, in_local = 0;
  for (unsigned i = 0; i < isa::kLanes; ++i) {
    in_shared |= static_cast<std::uint32_t>(address[i] - isa::kSharedWindow < isa::kWindowBytes) << i;
    in_local |= static_cast<std::uint32_t>(address[i] - isa::kLocalWindow < isa::kWindowBytes) << i;
  }
  alignas(64) std::uint64_t offset[isa::kLanes];
  if ((in_shared & mask) != 0) {
    for (unsigned i = 0; i < isa::kLanes; ++i) offset[i] = address[i] - isa::kSharedWindow;
    if (!access(op, pc, ptx::Space::kShared, chunk, mask & in_shared, offset, block)) return false;
  }
  if ((in_local & mask) != 0) {
    // PTX ISA, "atom" and "red": generic addresses are of global or shared memory.
    if (op.instruction->op == ptx::Opcode::kAtom || op.instruction->op == ptx::Opcode::kRed) {
      const unsigned lane = first_lane(in_local & mask);
      return refuse_space(op, pc, chunk, lane, address[lane], block);
    }
    for (unsigned i = 0; i < isa::kLanes; ++i) offset[i] = address[i] - isa::kLocalWindow;
    if (!local(op, pc, chunk, mask & in_local, offset, block)) return false;
  }
  const std::uint32_t global = mask & ~(in_shared | in_local);
  return global == 0 || access(op, pc, ptx::Space::kGlobal, chunk, global, address, block);
}

const std::uint8_t* Executor::bytes_of(ptx::Space space, const ResidentBlock& block) const {
  if (space == ptx::Space::kTexture) return nullptr;
  if (space == ptx::Space::kParam) return parameters_.data();
  return space == ptx::Space::kShared ? shared_.bytes_of(block.slot) : memory_.image;
}

Executor::Region Executor::region(ptx::Space space, const ResidentBlock& block) {
  switch (space) {
    case ptx::Space::kShared: {
      const SharedStorage::Part part = shared_.part(block.slot);
      return {part.base, 0, part.bytes, "shared memory"};
    }
    case ptx::Space::kParam:
      return {parameters_.data(), 0, kernel_->launch.parameters.size(), "the kernel's parameters"};
    default:
      return {memory_.image, memory_.base, memory_.bytes,
              space == ptx::Space::kConst ? "constant memory" : "global memory"};
  }
}

bool Executor::access(const Operation& op, ptx::Pc pc, ptx::Space space, unsigned chunk, std::uint32_t mask,
                      const std::uint64_t* address, const ResidentBlock& block) {
  if (observer_ != nullptr) {
    mask = permitted(op, pc, space, chunk, mask, address, block);
    if (mask == 0) return true;
  }
  return reach(op, pc, space, chunk, mask, address, block);
}

bool Executor::reach(const Operation& op, ptx::Pc pc, ptx::Space space, unsigned chunk, std::uint32_t mask,
                     const std::uint64_t* address, const ResidentBlock& block) {
  std::uint8_t* base = nullptr;
  const LaneAccess* lanes = check(op, space, chunk, mask, address, block, base);
  if (lanes == nullptr) {
    if (space == ptx::Space::kGlobal && memory_.system != nullptr)
      return unified(op, pc, chunk, mask, address, block);
    return refuse(op, pc, space, chunk, mask, address, block);
  }
  transfer(space == ptx::Space::kShared ? op.shared_memory : op.memory, op, chunk, mask, base,
           lanes->address.data());
  return true;
}

LaneAccess* Executor::check(const Operation& op, ptx::Space space, unsigned chunk, std::uint32_t mask,
                            const std::uint64_t* address, const ResidentBlock& block, std::uint8_t*& base) {
  const auto [first_byte, low, bytes, what] = region(space, block);
  base = first_byte;
  const Span span = span_of(address, mask);
  const std::uint64_t size = op.element_bytes;
  const bool inside = span.low >= low && span.high - low + size <= bytes && span.high - low < bytes;
  if (!inside || (span.bits & (size - 1)) != 0) return nullptr;

  LaneAccess& lanes = record(space, chunk, mask, static_cast<std::uint32_t>(size));
  for (unsigned i = 0; i < isa::kLanes; ++i) lanes.address[i] = address[i] - low;
  lanes.low = span.low - low;
  lanes.high = span.high - low;
  if (low != 0) {
    const std::uint8_t* mapped = memory_.mapped;
    const std::uint64_t first = (span.low - low) >> memory_.page_shift;
    const std::uint64_t last = (span.high - low) >> memory_.page_shift;
    bool all = mapped[first] != 0 && mapped[last] != 0;
    if (last > first + 1) {
      for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        all = all && mapped[lanes.address[first_lane(rest)] >> memory_.page_shift] != 0;
      }
    }
    if (!all) return nullptr;
  }
  return &lanes;
}

isa::MemoryLanes Executor::memory_operands(const Operation& op, unsigned chunk) {
  std::uint32_t* const registers = registers_.chunk_base(chunk);
  isa::MemoryLanes lanes;
  for (unsigned i = 0; i < 4; ++i) {
    if (op.dst[i] >= 0) lanes.dst[i] = registers + op.dst[i];
    const Source& source = op.src[i + 1];
    if (source.kind == Source::Kind::kRow) {
      lanes.src[i] = registers + source.offset;
    } else if (source.kind == Source::Kind::kConstant) {
      lanes.src[i] = source.constant;
    }
  }
  return lanes;
}

void Executor::transfer(isa::MemoryFunction function, const Operation& op, unsigned chunk, std::uint32_t mask,
                        std::uint8_t* base, const std::uint64_t* offset) {
  isa::MemoryLanes lanes = memory_operands(op, chunk);
  lanes.base = base;
  lanes.offset = offset;
  lanes.active = mask;
  function(lanes);
}

std::uint64_t Executor::local_place(std::uint64_t word, unsigned chunk, unsigned lane) const {
  return local_origin_ + (word * positions_ + chunk * isa::kLanes + lane) * 4;
}

// Local memory is interleaved by 32-bit words, word-major, so that threads which access the same variable
// touch neighbouring addresses. An element of several words is gathered, handled, and scattered again.
bool Executor::local(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask,
                     const std::uint64_t* address, const ResidentBlock& block) {
  if (observer_ != nullptr) {
    mask = permitted(op, pc, ptx::Space::kLocal, chunk, mask, address, block);
    if (mask == 0) return true;
  }
  const std::uint64_t size = op.element_bytes;
  const std::uint64_t bytes = local_bytes_;
  const Span span = span_of(address, mask);
  if (span.high >= bytes || span.high + size > bytes || (span.bits & (size - 1)) != 0) {
    return refuse(op, pc, chunk, mask, address, 0, bytes, "the thread's local memory", block);
  }
  const auto place = [&](std::uint64_t word, unsigned lane) { return local_place(word, chunk, lane); };
  const auto words = static_cast<unsigned>((size + 3) / 4);
  for (unsigned w = 0; w < words; ++w) {
    LaneAccess& lanes = record(ptx::Space::kLocal, chunk, mask, 4);
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const unsigned lane = first_lane(rest);
      lanes.address[lane] = place(address[lane] / 4 + w, lane);
    }
    const Span touched = span_of(lanes.address.data(), mask);
    lanes.low = touched.low;
    lanes.high = touched.high;
  }
  alignas(64) std::uint8_t element[isa::kLanes][16] = {};
  alignas(64) std::uint64_t offset[isa::kLanes];
  for (unsigned lane = 0; lane < isa::kLanes; ++lane)
    offset[lane] = lane * 16 + (size < 4 ? address[lane] % 4 : 0);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    for (unsigned w = 0; w < words; ++w) {
      std::memcpy(element[lane] + 4 * w, memory_.image + place(address[lane] / 4 + w, lane), 4);
    }
  }
  transfer(op.memory, op, chunk, mask, element[0], offset);
  if (op.instruction->op == ptx::Opcode::kLd) return true;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    for (unsigned w = 0; w < words; ++w) {
      std::memcpy(memory_.image + place(address[lane] / 4 + w, lane), element[lane] + 4 * w, 4);
    }
  }
  return true;
}

LaneAccess& Executor::record(ptx::Space space, unsigned chunk, std::uint32_t mask, std::uint32_t bytes) {
  if (access_count_ == accesses_.size()) accesses_.emplace_back();
  LaneAccess& lanes = accesses_[access_count_++];
  lanes.space = space;
  lanes.staged = false;
  lanes.chunk = static_cast<std::uint16_t>(chunk);
  lanes.mask = mask;
  lanes.bytes = bytes;
  return lanes;
}

}  // namespace weft::sm
