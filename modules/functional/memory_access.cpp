#include "functional/memory_access.h"

#include <cstring>

namespace weft::functional {
namespace {

alignas(64) constexpr std::uint64_t kZeros[isa::kLanes] = {};

}  // namespace

void MemoryAccess::start_kernel(const execute::Kernel& kernel, const execute::DeviceMemoryView& memory) {
  kernel_ = &kernel;
  memory_ = memory;
  mapped_low_ = mapped_end_ = 0;
}

void MemoryAccess::start_block(const execute::ResidentBlock& block) {
  shared_ = executor_.region(ptx::Space::kShared, block);
  parameters_ = executor_.region(ptx::Space::kParam, block);
  device_ = executor_.region(ptx::Space::kGlobal, block);
}

bool MemoryAccess::access(const MicroOp& op, ptx::Pc pc, unsigned chunk, std::uint32_t active,
                          const execute::ResidentBlock& block) {
  const execute::Operation& operation = kernel_->operations[pc];
  const ptx::Instruction& in = *operation.instruction;
  const auto refer = [&] {
    const warp_formation::ThreadGroup group{active, static_cast<std::uint16_t>(chunk), 0, false};
    if (!executor_.memory(operation, pc, {&group, 1}, block)) return false;
    if (log_ != nullptr) log_->add(executor_, operation, block);
    return true;
  };
  if (!op.direct || by_executor_) return refer();
  const bool in_device = in.space != ptx::Space::kShared && in.space != ptx::Space::kParam;
  const execute::AddressSpaces::Region& region = in_device                         ? device_
                                                 : in.space == ptx::Space::kShared ? shared_
                                                                                   : parameters_;
  std::uint8_t* const base = reinterpret_cast<std::uint8_t*>(registers_.chunk_base(chunk));
  isa::MemoryLanes lanes;
  alignas(64) std::uint64_t offset[isa::kLanes];
  const void* const address = op.absolute ? kZeros : op.operand(0, base);
  const isa::AddressFunction spread = addresses_[static_cast<unsigned>(op.address)];
  const isa::AddressSpan span =
      spread(address, in.offset - static_cast<std::int64_t>(region.low), active, offset);
  const std::uint64_t size = operation.element_bytes;
  const bool inside = span.high < region.bytes && size <= region.bytes - span.high;
  if (!inside || (span.bits & (size - 1)) != 0) return refer();
  if (in_device && !is_mapped(span.low, span.high)) return refer();

  lanes.base = region.base;
  lanes.offset = offset;
  lanes.active = active;
  for (unsigned i = 0; i < op.data; ++i) {
    if (operation.dst[i] >= 0) lanes.dst[i] = base + operation.dst[i] * sizeof(std::uint32_t);
    const execute::Source& source = operation.src[i + 1];
    if (source.kind == execute::Source::Kind::kRow) {
      lanes.src[i] = base + source.offset * sizeof(std::uint32_t);
    } else if (source.kind == execute::Source::Kind::kConstant) {
      lanes.src[i] = source.constant;
    }
  }
  operation.memory(lanes);
  return true;
}

// Whether all pages from the one of `low` to the one of `last` are mapped. Remembers the last range found.
bool MemoryAccess::is_mapped(std::uint64_t low, std::uint64_t last) {
  if (low >= mapped_low_ && last < mapped_end_) return true;
  const std::uint64_t first = low >> memory_.page_shift, end_of_range = (last >> memory_.page_shift) + 1;
  if (std::memchr(memory_.mapped + first, 0, end_of_range - first) != nullptr) return false;
  const std::uint64_t pages = memory_.bytes >> memory_.page_shift;
  const void* const hole =
      end_of_range < pages ? std::memchr(memory_.mapped + end_of_range, 0, pages - end_of_range) : nullptr;
  const std::uint64_t end =
      hole == nullptr ? pages
                      : static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(hole) - memory_.mapped);
  std::uint64_t begin = first;
  while (begin > 0 && memory_.mapped[begin - 1] != 0) --begin;
  mapped_low_ = begin << memory_.page_shift;
  mapped_end_ = end << memory_.page_shift;
  return true;
}

}  // namespace weft::functional
