#include "execute/address_spaces.h"

#include <cstring>

#include "execute/lane_bits.h"
#include "execute/system_memory.h"

namespace weft::execute {

void AddressSpaces::start_kernel(const Kernel& kernel, const DeviceMemoryView& memory) {
  state_ = State();
  state_.memory = memory;
  state_.map = kernel.addresses;
  start_local(kernel);
  state_.shared.configure(kernel.shared_bytes, kernel.occupancy.resident);
  state_.parameters = kernel.launch.parameters;
  state_.parameter_bytes = state_.parameters.size();
  // Vector loads may read whole elements at the end.
  state_.parameters.resize(state_.parameters.size() + 16, 0);
}

void AddressSpaces::start_local(const Kernel& kernel) {
  if (kernel.local_bytes == 0) return;
  const std::uint64_t area = local_area_bytes(kernel);
  state_.local_origin = kernel.launch.local_address - state_.memory.base;
  const std::uint64_t bytes = state_.memory.bytes;
  if (state_.local_origin > bytes || area > bytes - state_.local_origin) return;
  state_.local_bytes = kernel.local_bytes;
  state_.positions = kernel.sms * kernel.chunks_per_sm() * isa::kLanes;
  for (unsigned slot = 0; slot < kernel.occupancy.resident; ++slot) {
    for (unsigned chunk = 0; chunk < kernel.chunks_per_block; ++chunk) {
      const std::uint64_t block = std::uint64_t{slot} * kernel.sms + sm_;  // among those of all SMs
      state_.first_position.push_back((block * kernel.chunks_per_block + chunk) * isa::kLanes);
    }
  }
}

AddressSpaces::Region AddressSpaces::region(ptx::Space space, const ResidentBlock& block) {
  switch (space) {
    case ptx::Space::kShared: {
      const SharedStorage::Part part = state_.shared.part(block.slot);
      return {part.base, 0, part.bytes, "shared memory"};
    }
    case ptx::Space::kParam:
      return {state_.parameters.data(), 0, state_.parameter_bytes, "the kernel's parameters"};
    default:
      return {state_.memory.image, state_.memory.base, state_.memory.bytes,
              space == ptx::Space::kConst ? "constant memory" : "global memory"};
  }
}

const std::uint8_t* AddressSpaces::bytes_of(ptx::Space space, const ResidentBlock& block) const {
  if (space == ptx::Space::kTexture) return nullptr;
  if (space == ptx::Space::kParam) return state_.parameters.data();
  return space == ptx::Space::kShared ? state_.shared.bytes_of(block.slot) : state_.memory.image;
}

isa::AddressSpan AddressSpaces::addresses(const ptx::Instruction& in, const void* base, std::uint32_t mask,
                                          std::uint64_t* address) const {
  alignas(64) static constexpr std::uint64_t kZeros[isa::kLanes] = {};
  const isa::AddressFunction spread = spread_[static_cast<unsigned>(isa::address_kind(in))];
  const isa::AddressSpan span = spread(base == nullptr ? kZeros : base, in.offset, mask, address);
  if (in.space != ptx::Space::kConst) return span;
  // Constant memory is part of device memory, whose addresses have 64 bits. An address that is none of them
  // was made modulo 2^32, as on hardware: it counts from the beginning of device memory.
  const DeviceMemoryView& memory = state_.memory;
  if (span.low >= memory.base && span.high - memory.base < memory.bytes) return span;
  for (unsigned i = 0; i < isa::kLanes; ++i) {
    if (address[i] - memory.base >= memory.bytes)
      address[i] = memory.base + static_cast<std::uint32_t>(address[i] - memory.base);
  }
  return span_of(address, mask);
}

LaneAccess* AddressSpaces::record(const Access& access, AccessRecord& record, std::uint8_t*& base) {
  const auto [first_byte, low, bytes, name] = region(access.space, access.block);
  base = first_byte;
  const isa::AddressSpan span = access.span != nullptr ? *access.span : span_of(access.address, access.mask);
  const std::uint64_t size = access.op.element_bytes;
  const bool inside = span.low >= low && span.high - low + size <= bytes && span.high - low < bytes;
  if (!inside || (span.bits & (size - 1)) != 0) return nullptr;
  if (low != 0) {  // device memory
    const std::uint8_t* const mapped = state_.memory.mapped;
    const unsigned shift = state_.memory.page_shift;
    const std::uint64_t first = (span.low - low) >> shift;
    const std::uint64_t last = (span.high - low) >> shift;
    bool all = mapped[first] != 0 && mapped[last] != 0;
    if (last > first + 1) {
      for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1)
        all = all && mapped[(access.address[first_lane(rest)] - low) >> shift] != 0;
    }
    if (!all) return nullptr;
  }
  LaneAccess& lanes =
      record.add(access.space, access.chunk, access.group, access.mask, static_cast<std::uint32_t>(size));
  for (unsigned i = 0; i < isa::kLanes; ++i) lanes.address[i] = access.address[i] - low;
  lanes.low = span.low - low;
  lanes.high = span.high - low;
  return &lanes;
}

AddressSpaces::Windows AddressSpaces::windows_of(const std::uint64_t* address) const {
  Windows lanes;
  const std::uint64_t shared = state_.map.shared_base, local = state_.map.local_base;
  const std::uint64_t bytes = state_.map.window_bytes;
  for (unsigned i = 0; i < isa::kLanes; ++i) {
    lanes.shared |= static_cast<std::uint32_t>(address[i] - shared < bytes) << i;
    lanes.local |= static_cast<std::uint32_t>(address[i] - local < bytes) << i;
  }
  return lanes;
}

std::uint32_t AddressSpaces::in_system(std::uint32_t mask, const std::uint64_t* address,
                                       std::uint64_t size) const {
  const SystemMemory* const system = state_.memory.system;
  if (system == nullptr || system->empty()) return 0;
  std::uint32_t lanes = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    if (system->contains(address[lane], size)) lanes |= 1u << lane;
  }
  return lanes;
}

std::uint8_t* AddressSpaces::word_at(std::uint64_t address, unsigned bytes, const Thread& thread) {
  if (address % bytes != 0) return nullptr;
  const DeviceMemoryView& memory = state_.memory;
  const machine::AddressWindows& map = state_.map;
  if (address - map.shared_base < map.window_bytes) {
    const std::uint64_t offset = address - map.shared_base;
    const SharedStorage::Part shared = state_.shared.part(thread.block.slot);
    return offset + bytes <= shared.bytes ? shared.base + offset : nullptr;
  }
  if (address - map.local_base < map.window_bytes) {
    const std::uint64_t offset = address - map.local_base;
    if (offset + bytes > state_.local_bytes) return nullptr;
    return memory.image + local_place(offset / 4, thread.chunk, thread.lane) + offset % 4;
  }
  const std::uint64_t offset = address - memory.base;
  if (address < memory.base || offset >= memory.bytes || memory.bytes - offset < bytes) return nullptr;
  return is_mapped(offset) ? memory.image + offset : nullptr;
}

bool AddressSpaces::read(std::uint64_t address, unsigned bytes, std::uint64_t& value, const Thread& thread) {
  value = 0;
  // Local memory is interleaved by words, so larger values are read word by word.
  for (unsigned done = 0; done < bytes; done += 4) {
    const unsigned part = bytes < 4 ? bytes : 4;
    const std::uint8_t* const from = word_at(address + done, part, thread);
    if (from == nullptr) return false;
    std::memcpy(reinterpret_cast<std::uint8_t*>(&value) + done, from, part);
  }
  return true;
}

void AddressSpaces::write_local(std::uint64_t offset, unsigned bytes, std::uint64_t value,
                                const Thread& thread) {
  for (unsigned done = 0; done < bytes; done += 4) {
    std::memcpy(state_.memory.image + local_place((offset + done) / 4, thread.chunk, thread.lane),
                reinterpret_cast<const std::uint8_t*>(&value) + done, 4);
  }
}

}  // namespace weft::execute
