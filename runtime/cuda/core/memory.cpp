#include "runtime/cuda/core/memory.h"

#include <algorithm>
#include <iterator>

#include "runtime/cuda/core/backend.h"
#include "runtime/cuda/core/context.h"
#include "runtime/cuda/core/pools.h"
#include "runtime/cuda/core/streams.h"
#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"

namespace weft::cuda {
namespace {

constexpr std::uint64_t kHostAlignment = 4096;  // pinned memory begins with a page
constexpr std::uint64_t kMostHostBytes = std::uint64_t{1} << 40;

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}
std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
}
std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

}  // namespace

Memory::Memory(Context& context) : context_(context) {}
Memory::~Memory() = default;

std::uint64_t Memory::allocate(std::uint64_t bytes) {
  std::uint64_t address = 0;
  try {
    address = context_.backend().allocate(bytes);
  } catch (const runtime::OutOfDeviceMemory& error) {
    // Programs may look for the largest size that there is: one report tells them what there could be.
    if (error.device_bytes() <= suggested_) fail(Error::kOutOfMemory);
    suggested_ = error.device_bytes();
    fail(Error::kOutOfMemory, error.what());
  }
  blocks_[address] = {address, bytes, Kind::kDevice, 0, false, {}};
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
  void* const memory = context_.backend().allocate_shared(whole_pages(bytes));
  blocks_[address_of(memory)] = {address_of(memory), bytes, kind, flags, true, {}};
  ++shared_;
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
  if (block.shared) --shared_;
  context_.backend().free_shared(pointer(block.address), whole_pages(block.bytes));
  blocks_.erase(block.address);
}

void Memory::free(std::uint64_t address) {
  if (address == 0) return;
  context_.await_turn();  // before what is found can change
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) fail(Error::kInvalidValue);
  if (found->second.kind == Kind::kManaged) return free_on_host(found->second);
  if (found->second.kind != Kind::kDevice) fail(Error::kInvalidValue);
  context_.streams().synchronise();
  context_.backend().free(address);
  context_.pools().freed(address);
  used_ -= found->second.bytes;
  blocks_.erase(found);
}

void Memory::free_host(void* memory) {
  if (memory == nullptr) return;
  context_.await_turn();
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
  context_.backend().share(memory, bytes);
  blocks_[address] = {address, bytes, Kind::kRegistered, flags, true, {}};
  ++shared_;
}

void Memory::remove_host(void* memory) {
  context_.await_turn();
  const auto found = blocks_.find(address_of(memory));
  if (found == blocks_.end() || found->second.kind != Kind::kRegistered) fail(Error::kHostNotRegistered);
  context_.streams().synchronise();
  if (found->second.shared) {
    context_.backend().unshare(memory);
    --shared_;
  }
  blocks_.erase(found);
}

const Memory::Block* Memory::find(std::uint64_t address) const {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return nullptr;
  const Block& block = std::prev(after)->second;
  return address - block.address < std::max<std::uint64_t>(block.bytes, 1) ? &block : nullptr;
}

Memory::Block& Memory::block(std::uint64_t address) {
  const Block* found = find(address);
  if (found == nullptr) fail(Error::kInvalidValue);
  return blocks_.at(found->address);
}

bool Memory::is_device(std::uint64_t address) const {
  const std::uint64_t base = context_.config().sm.addresses.device_base;
  return address >= base && address - base < context_.config().dram.bytes;
}

void Memory::usage(std::uint64_t* free, std::uint64_t* total) {
  *total = context_.config().dram.bytes;
  *free = *total - std::min(used_ + context_.backend().reserved_bytes(), *total);
}

// Host memory that the program still uses stays until it gives it back; kernels see it no more.
void Memory::reset() {
  if (staging_ != nullptr) {
    context_.backend().free_shared(staging_, kStagingBytes);
    blocks_.erase(address_of(staging_));
    staging_ = nullptr;
  }
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    at->second.shared = false;
    at = at->second.kind == Kind::kDevice ? blocks_.erase(at) : std::next(at);
  }
  used_ = shared_ = 0;
}

}  // namespace weft::cuda
