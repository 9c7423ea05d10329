#include "runtime/cuda/core/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "platform/gpu_config.h"
#include "runtime/cuda/core/context.h"
#include "runtime/cuda/core/images.h"
#include "runtime/cuda/core/streams.h"
#include "runtime/device.h"

namespace weft::cuda {
namespace {

constexpr std::uint64_t kHostAlignment = 4096;                 // pinned memory begins with a page
constexpr std::uint64_t kHostMemory = std::uint64_t{1} << 37;  // behind the largest device memory
constexpr std::uint64_t kMostHostBytes = std::uint64_t{1} << 40;
constexpr std::uint64_t kLongestRow = std::uint64_t{1} << 20;  // bytes that a copy moves at a time

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}
std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

// A contiguous box is one long row.
bool is_contiguous(const End& end, const Box& box) {
  return end.array == nullptr && (box.height == 1 || end.pitch == box.width) &&
         (box.depth == 1 || end.slice == box.width * box.height);
}

std::uint64_t place(const End& end, std::uint64_t row, std::uint64_t slice) {
  return end.address + row * end.pitch + slice * end.slice;
}

}  // namespace

Memory::Memory(Context& context) : context_(context), next_host_(kHostMemory) {}
Memory::~Memory() = default;

std::uint64_t Memory::allocate(std::uint64_t bytes) {
  std::uint64_t address = 0;
  try {
    address = context_.device().allocate(bytes);
  } catch (const InputError&) {
    fail(Error::kOutOfMemory);
  }
  blocks_[address] = {address, bytes, Kind::kDevice, 0};
  used_ += bytes;
  return address;
}

std::uint64_t Memory::allocate_pitched(std::uint64_t width, std::uint64_t rows, std::uint64_t* pitch) {
  std::uint64_t padded = 0, bytes = 0;
  if (__builtin_add_overflow(width, kPitchAlignment - 1, &padded)) fail(Error::kOutOfMemory);
  padded = padded / kPitchAlignment * kPitchAlignment;
  if (__builtin_mul_overflow(padded, rows, &bytes)) fail(Error::kOutOfMemory);
  if (width == 0 || rows == 0) fail(Error::kInvalidValue);
  *pitch = padded;
  return allocate(bytes);
}

void* Memory::allocate_on_host(std::uint64_t bytes, Kind kind, unsigned flags) {
  if (bytes == 0) fail(Error::kInvalidValue);
  if (bytes > kMostHostBytes) fail(Error::kOutOfMemory);
  const std::uint64_t whole = (bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
  void* memory = MAP_FAILED;
  for (const int fixed : {MAP_FIXED_NOREPLACE, 0}) {
    if (memory != MAP_FAILED) break;
    memory =
        mmap(pointer(next_host_), whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  }
  if (memory == MAP_FAILED) fail(Error::kOutOfMemory);
  next_host_ += whole;
  context_.device().share(memory, whole);
  blocks_[address_of(memory)] = {address_of(memory), bytes, kind, flags, true};
  return memory;
}

void* Memory::allocate_host(std::uint64_t bytes, unsigned flags) {
  return allocate_on_host(bytes, Kind::kPinned, flags);
}

void* Memory::allocate_managed(std::uint64_t bytes, unsigned flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) fail(Error::kInvalidValue);
  return allocate_on_host(bytes, Kind::kManaged, flags);
}

void* Memory::staging() {
  if (staging_ == nullptr) staging_ = allocate_on_host(kStagingBytes, Kind::kPinned, 0);
  return staging_;
}

std::uint64_t Memory::device_address(const void* memory) {
  const Block* block = find(address_of(memory));
  if (block == nullptr || !block->shared) fail(Error::kInvalidValue);
  return address_of(memory);
}

void Memory::free_on_host(const Block& block) {
  context_.streams().synchronise();
  if (block.shared) context_.device().unshare(pointer(block.address));
  munmap(pointer(block.address), (block.bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment);
  blocks_.erase(block.address);
}

void Memory::free(std::uint64_t address) {
  if (address == 0) return;
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) fail(Error::kInvalidValue);
  if (found->second.kind == Kind::kManaged) return free_on_host(found->second);
  if (found->second.kind != Kind::kDevice) fail(Error::kInvalidValue);
  context_.streams().synchronise();
  context_.device().free(address);
  used_ -= found->second.bytes;
  blocks_.erase(found);
}

void Memory::free_host(void* memory) {
  if (memory == nullptr) return;
  const auto found = blocks_.find(address_of(memory));
  if (found == blocks_.end() || found->second.kind != Kind::kPinned) fail(Error::kInvalidValue);
  free_on_host(found->second);
}

void Memory::add_host(void* memory, std::uint64_t bytes, unsigned flags) {
  const std::uint64_t address = address_of(memory);
  if (memory == nullptr || bytes == 0 || bytes > UINT64_MAX - address) fail(Error::kInvalidValue);
  const auto next = blocks_.lower_bound(address);
  const bool overlaps = (next != blocks_.end() && next->first < address + bytes) || find(address) != nullptr;
  if (overlaps) fail(Error::kHostRegistered);
  context_.device().share(memory, bytes);
  blocks_[address] = {address, bytes, Kind::kRegistered, flags, true};
}

void Memory::remove_host(void* memory) {
  const auto found = blocks_.find(address_of(memory));
  if (found == blocks_.end() || found->second.kind != Kind::kRegistered) fail(Error::kHostNotRegistered);
  context_.streams().synchronise();
  if (found->second.shared) context_.device().unshare(memory);
  blocks_.erase(found);
}

const Memory::Block* Memory::find(std::uint64_t address) const {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return nullptr;
  const Block& block = std::prev(after)->second;
  return address - block.address < std::max<std::uint64_t>(block.bytes, 1) ? &block : nullptr;
}

bool Memory::is_device(std::uint64_t address) const {
  return address >= kDeviceBase && address - kDeviceBase < context_.config().gddr5.bytes;
}

void Memory::usage(std::uint64_t* free, std::uint64_t* total) {
  *total = context_.config().gddr5.bytes;
  *free = *total - std::min(used_, *total);
}

void Memory::read(const End& from, std::uint64_t row, std::uint64_t slice, std::uint64_t bytes, void* to) {
  if (from.array != nullptr) {
    return context_.images().read(*from.array, from.x, static_cast<std::uint32_t>(from.y + row),
                                  static_cast<std::uint32_t>(from.z + slice), bytes, to);
  }
  const std::uint64_t address = place(from, row, slice);
  if (!is_device(address)) {
    std::memcpy(to, pointer(address), bytes);
    return;
  }
  context_.device().copy_from(to, address, bytes);
}

void Memory::write(const End& to, std::uint64_t row, std::uint64_t slice, std::uint64_t bytes,
                   const void* from) {
  if (to.array != nullptr) {
    return context_.images().write(*to.array, to.x, static_cast<std::uint32_t>(to.y + row),
                                   static_cast<std::uint32_t>(to.z + slice), bytes, from);
  }
  const std::uint64_t address = place(to, row, slice);
  if (!is_device(address)) {
    std::memcpy(pointer(address), from, bytes);
    return;
  }
  context_.device().copy_to(address, from, bytes);
}

// Between a host and a device without a detour.
void Memory::copy_row(const End& to, const End& from, std::uint64_t row, std::uint64_t slice,
                      std::uint64_t bytes) {
  const bool from_host = from.array == nullptr && !is_device(from.address);
  const bool to_host = to.array == nullptr && !is_device(to.address);
  if (from_host) return write(to, row, slice, bytes, pointer(place(from, row, slice)));
  if (to_host) return read(from, row, slice, bytes, pointer(place(to, row, slice)));
  scratch_.resize(bytes);
  read(from, row, slice, bytes, scratch_.data());
  write(to, row, slice, bytes, scratch_.data());
}

void Memory::copy(const End& to, const End& from, const Box& box) {
  if (box.width == 0 || box.height == 0 || box.depth == 0) return;
  try {
    if (is_contiguous(to, box) && is_contiguous(from, box)) {
      return copy(to.address, from.address, box.width * box.height * box.depth);
    }
    for (std::uint64_t slice = 0; slice < box.depth; ++slice) {
      for (std::uint64_t row = 0; row < box.height; ++row) copy_row(to, from, row, slice, box.width);
    }
  } catch (const InputError&) {
    fail(Error::kInvalidValue);
  }
}

void Memory::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (to == 0 || from == 0) fail(Error::kInvalidValue);
  const bool between_devices = is_device(to) && is_device(from);
  try {
    if (!between_devices) {
      if (!is_device(to) && !is_device(from)) {
        std::memmove(pointer(to), pointer(from), bytes);
        return;
      }
      return copy_row({to}, {from}, 0, 0, bytes);
    }
    if (to == from) return;
    // Ranges that overlap: as memmove does. A piece goes through the scratch row as a whole.
    const bool upwards = to < from;
    const std::uint64_t pieces = (bytes + kLongestRow - 1) / kLongestRow;
    for (std::uint64_t i = 0; i < pieces; ++i) {
      const std::uint64_t offset = (upwards ? i : pieces - 1 - i) * kLongestRow;
      copy_row({to + offset}, {from + offset}, 0, 0, std::min(kLongestRow, bytes - offset));
    }
  } catch (const InputError&) {
    fail(Error::kInvalidValue);
  }
}

void Memory::fill(const End& to, const Box& box, std::uint32_t value, unsigned bytes_of_value) {
  if (box.width == 0 || box.height == 0 || box.depth == 0) return;
  if (to.address % bytes_of_value != 0 || box.width % bytes_of_value != 0) fail(Error::kInvalidValue);
  const bool contiguous = is_contiguous(to, box);
  const Box rows = contiguous ? Box{box.width * box.height * box.depth} : box;
  const bool same_bytes = bytes_of_value == 1;
  std::vector<std::uint8_t> row(same_bytes ? 0 : rows.width);
  for (std::uint64_t i = 0; i < row.size(); ++i)
    row[i] = static_cast<std::uint8_t>(value >> 8 * (i % bytes_of_value));
  try {
    for (std::uint64_t slice = 0; slice < rows.depth; ++slice) {
      for (std::uint64_t y = 0; y < rows.height; ++y) {
        const std::uint64_t address = place(to, y, slice);
        if (!same_bytes) {
          write(to, y, slice, rows.width, row.data());
        } else if (is_device(address)) {
          context_.device().fill(address, static_cast<std::uint8_t>(value), rows.width);
        } else if (find(address) != nullptr) {
          std::memset(pointer(address), static_cast<int>(value & 0xff), rows.width);
        } else {
          fail(Error::kInvalidValue);
        }
      }
    }
  } catch (const InputError&) {
    fail(Error::kInvalidValue);
  }
}

// Host memory that the program still uses stays until it gives it back; kernels see it no more.
void Memory::reset() {
  if (staging_ != nullptr) {
    munmap(staging_, kStagingBytes);
    blocks_.erase(address_of(staging_));
    staging_ = nullptr;
  }
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    at->second.shared = false;
    at = at->second.kind == Kind::kDevice ? blocks_.erase(at) : std::next(at);
  }
  used_ = 0;
}

}  // namespace weft::cuda
