#include "check/memory_checker.h"

#include <algorithm>
#include <sstream>

#include "common/hex.h"

namespace weft::check {
namespace {

constexpr const char* kOutOfBounds = "out of bounds";
constexpr const char* kUseAfterFree = "use after free";
constexpr const char* kMisaligned = "misaligned";
constexpr const char* kUnderWay = "copy under way";
constexpr const char* kUninitialised = "uninitialised read";

// Room for one bit per byte, in whole words, and one more for elements at the end.
std::uint64_t shadow_bytes(std::uint64_t bytes) {
  return bytes / 64 * 8 + 16;
}

}  // namespace

void MemoryChecker::Bits::fill(std::uint64_t offset, std::uint64_t count, bool value) {
  const auto apply = [&](std::uint64_t word, std::uint64_t bits) {
    words[word] = value ? words[word] | bits : words[word] & ~bits;
  };
  const std::uint64_t end = std::min(offset + count, bytes);
  while (offset < end) {
    const std::uint64_t in_word = std::min<std::uint64_t>(64 - offset % 64, end - offset);
    apply(offset / 64, (in_word == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << in_word) - 1)
                           << (offset % 64));
    offset += in_word;
  }
}

MemoryChecker::MemoryChecker(std::uint64_t base, std::uint64_t bytes, const AllocationLog& allocations,
                             ReportLog& log)
    : base_(base),
      allocations_(allocations),
      log_(log),
      accessible_memory_(shadow_bytes(bytes)),
      written_memory_(shadow_bytes(bytes)),
      accessible_{reinterpret_cast<std::uint64_t*>(accessible_memory_.data()), bytes},
      written_{reinterpret_cast<std::uint64_t*>(written_memory_.data()), bytes} {}

void MemoryChecker::allocated(std::uint64_t address, std::uint64_t bytes) {
  accessible_.fill(address - base_, bytes, true);
  written_.fill(address - base_, bytes, false);
}

void MemoryChecker::freed(std::uint64_t address, std::uint64_t bytes) {
  accessible_.fill(address - base_, bytes, false);
}

void MemoryChecker::written(std::uint64_t address, std::uint64_t bytes) {
  written_.fill(address - base_, bytes, true);
}

void MemoryChecker::reset() {
  accessible_memory_.reset();
  written_memory_.reset();
  slots_.clear();
}

MemoryChecker::Slot& MemoryChecker::slot_of(unsigned sm, const execute::ResidentBlock& block) {
  return slots_[sm * slots_per_sm_ + block.slot];
}

void MemoryChecker::kernel_started(const execute::Kernel& kernel, unsigned sms) {
  slots_per_sm_ = kernel.occupancy.resident;
  slots_.resize(std::size_t{sms} * slots_per_sm_);
  shared_bytes_ = kernel.shared_bytes;
  own_shared_bytes_ = kernel.own_shared_bytes;
  local_bytes_ = kernel.local_bytes;
  local_words_ = (local_bytes_ + 63) / 64 + 1;
}

void MemoryChecker::block_started(unsigned sm, const execute::ResidentBlock& block) {
  Slot& slot = slot_of(sm, block);
  slot.shared.assign((shared_bytes_ + 63) / 64 + 1, 0);
  // The system software has set up its own part.
  Bits{slot.shared.data(), shared_bytes_}.fill(own_shared_bytes_, shared_bytes_ - own_shared_bytes_, true);
  slot.copies.start(block.threads, shared_bytes_);
  slot.local.assign(local_bytes_ == 0 ? 0 : local_words_ * block.threads, 0);
}

std::uint32_t MemoryChecker::access(const execute::ObservedAccess& access) {
  std::uint32_t allowed = access.mask;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    bool fine = true;
    switch (access.space) {
      case ptx::Space::kShared: {
        Bits written{slot_of(access.sm, access.block).shared.data(), shared_bytes_};
        fine = check_lane(access, lane, written, nullptr, access.address[lane]);
        if (fine) check_copies(access, lane, slot_of(access.sm, access.block).copies);
        break;
      }
      case ptx::Space::kLocal: {
        Bits written{slot_of(access.sm, access.block).local.data() + local_words_ * thread_of(access, lane),
                     local_bytes_};
        fine = check_lane(access, lane, written, nullptr, access.address[lane]);
        break;
      }
      case ptx::Space::kParam:
        break;  // its bounds are tested in every run, and the host writes all of it
      default:
        fine = check_lane(access, lane, written_, &accessible_, access.address[lane] - base_);
        break;
    }
    if (!fine) allowed &= ~(1u << lane);
  }
  return allowed;
}

// Copies that overlap are left to their program.
void MemoryChecker::check_copies(const execute::ObservedAccess& access, unsigned lane,
                                 CopiesUnderWay& copies) {
  if (access.op.instruction->op == ptx::Opcode::kCopyAsync) {
    copies.copy(thread_of(access, lane), access.address[lane], access.bytes);
  } else if (copies.touches(access.address[lane], access.bytes)) {
    log_.add(kUnderWay, access.kernel->program.name, access.pc, [&] {
      return describe(access, lane) +
             " before the thread has waited for an asynchronous copy that writes there (cp.async.wait_group, "
             ".wait_all): " +
             place(access, lane);
    });
  }
}

void MemoryChecker::ordered(const execute::ObservedOrder& order) {
  const ptx::Instruction& in = order.kernel->program.code[order.pc];
  if (in.op == ptx::Opcode::kMembar) return;
  CopiesUnderWay& copies = slot_of(order.sm, *order.block).copies;
  const std::uint32_t first = order.block->thread_of(order.chunk, 0);
  for (std::uint32_t rest = order.mask; rest != 0; rest &= rest - 1)
    copies.order(first + static_cast<std::uint32_t>(__builtin_ctz(rest)), in);
}

void MemoryChecker::result_written(unsigned sm, const execute::ResidentBlock& block, std::uint32_t thread,
                                   std::uint64_t offset, std::uint64_t bytes) {
  Bits written{slot_of(sm, block).local.data() + local_words_ * thread, local_bytes_};
  written.fill(offset, bytes, true);
}

// Whether the access may happen.
bool MemoryChecker::check_lane(const execute::ObservedAccess& access, unsigned lane, Bits& written,
                               const Bits* accessible, std::uint64_t offset) {
  const std::uint64_t size = access.bytes;
  if ((access.address[lane] & (size - 1)) != 0) {
    report(kMisaligned, access, lane);
    return false;
  }
  const bool inside = offset < written.bytes && size <= written.bytes - offset;
  if (!inside || (accessible != nullptr && !accessible->all(offset, size))) {
    const bool freed = accessible != nullptr && allocations_.is_freed(access.address[lane]);
    report(freed ? kUseAfterFree : kOutOfBounds, access, lane);
    return false;
  }
  using Kind = execute::ObservedAccess::Kind;
  // A register that was never written may be spilled too; that is no access of the program's.
  const bool spill = access.op.instruction->spill;
  if (access.kind != Kind::kStore && !spill && !written.all(offset, size))
    report(kUninitialised, access, lane);
  if (access.kind != Kind::kLoad) written.set(offset, size);
  return true;
}

void MemoryChecker::report(const char* kind, const execute::ObservedAccess& access, unsigned lane) {
  log_.add(kind, access.kernel->program.name, access.pc,
           [&] { return describe(access, lane) + ", " + kind + ": " + place(access, lane); });
}

std::string MemoryChecker::place(const execute::ObservedAccess& access, unsigned lane) const {
  const std::uint64_t address = access.address[lane];
  if (access.space != ptx::Space::kShared && access.space != ptx::Space::kLocal)
    return allocations_.place(address);
  const bool shared = access.space == ptx::Space::kShared;
  std::ostringstream out;
  out << hex(address) << " in "
      << (shared ? "the block's shared memory of " : "the thread's local memory of ")
      << (shared ? shared_bytes_ : local_bytes_) << " bytes";
  return out.str();
}

}  // namespace weft::check
