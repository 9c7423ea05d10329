#include "runtime/cuda/core/pools.h"

#include <algorithm>
#include <cstring>

#include "runtime/cuda/core/context.h"
#include "runtime/cuda/core/memory.h"

namespace weft::cuda {
namespace {

bool is_device(const cudaMemLocation& place) {
  return place.type == cudaMemLocationTypeDevice && place.id == 0;
}

template <class T>
T read(const void* value) {
  T result;
  std::memcpy(&result, value, sizeof result);
  return result;
}

}  // namespace

Pool& Pools::create(const cudaMemPoolProps& properties) {
  if (properties.location.type == cudaMemLocationTypeDevice && properties.location.id != 0)
    fail(Error::kInvalidDevice);
  if (properties.handleTypes != 0)
    fail(Error::kNotSupported, "device memory belongs to one process; allowed: a pool without handle types");
  const bool managed = properties.allocType == cudaMemAllocationTypeManaged;
  if (managed || (properties.allocType == cudaMemAllocationTypePinned && !is_device(properties.location))) {
    fail(Error::kNotSupported,
         "a pool of host or managed memory is not provided; use cudaMallocHost or cudaMallocManaged");
  }
  if (properties.allocType != cudaMemAllocationTypePinned) fail(Error::kInvalidValue);
  auto pool = std::make_shared<Pool>();
  if (properties.maxSize != 0) pool->most = properties.maxSize;
  Pool& result = *pool;
  pools_.emplace(pool.get(), std::move(pool));
  return result;
}

void Pools::destroy(Pool& pool) {
  if (&pool == default_) fail(Error::kInvalidValue);
  if (&pool == current_) current_ = nullptr;
  pools_.erase(&pool);
}

Pool& Pools::pool(const void* handle) {
  const auto found = pools_.find(handle);
  if (found == pools_.end()) fail(Error::kInvalidValue);
  return *found->second;
}

Pool& Pools::default_pool() {
  if (default_ == nullptr) {
    auto pool = std::make_shared<Pool>();
    default_ = pool.get();
    pools_.emplace(default_, std::move(pool));
  }
  return *default_;
}

Pool& Pools::current() {
  return current_ != nullptr ? *current_ : default_pool();
}

void Pools::check_place(const cudaMemLocation* place, int allocation_type) const {
  if (place == nullptr || allocation_type != cudaMemAllocationTypePinned || !is_device(*place))
    fail(Error::kInvalidValue);
}

std::uint64_t Pools::allocate(std::uint64_t bytes, Pool& pool) {
  if (bytes > pool.most - std::min(pool.most, pool.used)) fail(Error::kOutOfMemory);
  const std::uint64_t address = context_.memory().allocate(bytes);
  pool.used += bytes;
  pool.used_high = std::max(pool.used_high, pool.used);
  pool.reserved_high = std::max(pool.reserved_high, pool.used);
  allocations_[address] = {bytes, pools_.at(&pool)};
  return address;
}

void Pools::freed(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return;
  found->second.pool->used -= found->second.bytes;
  allocations_.erase(found);
}

void Pools::set(Pool& pool, int attribute, const void* value) {
  if (value == nullptr) fail(Error::kInvalidValue);
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
      pool.reuse[attribute - cudaMemPoolReuseFollowEventDependencies] = read<int>(value) != 0 ? 1 : 0;
      return;
    case cudaMemPoolAttrReleaseThreshold:
      pool.release_threshold = read<std::uint64_t>(value);
      return;
    // A high-water mark begins anew; it takes no other value.
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      if (read<std::uint64_t>(value) != 0) fail(Error::kInvalidValue);
      (attribute == cudaMemPoolAttrUsedMemHigh ? pool.used_high : pool.reserved_high) = pool.used;
      return;
    default:
      fail(Error::kInvalidValue);
  }
}

void Pools::get(const Pool& pool, int attribute, void* value) const {
  if (value == nullptr) fail(Error::kInvalidValue);
  const auto tell = [value](std::uint64_t number) { std::memcpy(value, &number, sizeof number); };
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
      std::memcpy(value, &pool.reuse[attribute - cudaMemPoolReuseFollowEventDependencies], sizeof(int));
      return;
    case cudaMemPoolAttrReleaseThreshold:
      return tell(pool.release_threshold);
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      return tell(pool.used);
    case cudaMemPoolAttrReservedMemHigh:
      return tell(pool.reserved_high);
    case cudaMemPoolAttrUsedMemHigh:
      return tell(pool.used_high);
    default:
      fail(Error::kInvalidValue);
  }
}

void Pools::set_access(const Pool& /*pool*/, const cudaMemAccessDesc* list, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    if (list == nullptr) fail(Error::kInvalidValue);
    if (list[i].location.type == cudaMemLocationTypeDevice && list[i].location.id != 0)
      fail(Error::kInvalidDevice);
    if (!is_device(list[i].location) || list[i].flags != cudaMemAccessFlagsProtReadWrite)
      fail(Error::kInvalidValue);
  }
}

int Pools::access(const Pool& /*pool*/, const cudaMemLocation* place) const {
  if (place == nullptr || !is_device(*place)) fail(Error::kInvalidValue);
  return cudaMemAccessFlagsProtReadWrite;
}

void Pools::reset() {
  pools_.clear();
  allocations_.clear();
  default_ = current_ = nullptr;
}

}  // namespace weft::cuda
