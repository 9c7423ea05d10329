#include "runtime/cuda/core/hints.h"

#include "runtime/cuda/core/error.h"

namespace weft::cuda {
namespace {

int id_of(const cudaMemLocation& place) {
  switch (place.type) {
    case cudaMemLocationTypeDevice:
      return place.id;
    case cudaMemLocationTypeNone:
      return cudaInvalidDeviceId;
    default:
      return cudaCpuDeviceId;
  }
}

}  // namespace

cudaMemLocation location_of(int device) {
  if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, 0};
  return {cudaMemLocationTypeDevice, device};
}

void prefetch(Memory& memory, std::uint64_t address, cudaMemLocation to) {
  memory.block(address).hints.prefetched = to;
}

void advise(Memory& memory, std::uint64_t address, int advice, cudaMemLocation place) {
  Memory::Hints& hints = memory.block(address).hints;
  bool& accesses = place.type == cudaMemLocationTypeDevice ? hints.device_accesses : hints.host_accesses;
  switch (advice) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
      hints.read_mostly = advice == cudaMemAdviseSetReadMostly;
      return;
    case cudaMemAdviseSetPreferredLocation:
      hints.preferred = place;
      return;
    case cudaMemAdviseUnsetPreferredLocation:
      hints.preferred = {};
      return;
    case cudaMemAdviseSetAccessedBy:
    case cudaMemAdviseUnsetAccessedBy:
      accesses = advice == cudaMemAdviseSetAccessedBy;
      return;
    default:
      fail(Error::kInvalidValue);
  }
}

void tell_range(Memory& memory, void* data, std::size_t bytes, int attribute, std::uint64_t address) {
  if (data == nullptr || bytes == 0 || bytes % sizeof(int) != 0) fail(Error::kInvalidValue);
  const Memory::Hints& hints = memory.block(address).hints;
  int* out = static_cast<int*>(data);
  if (attribute == cudaMemRangeAttributeAccessedBy) {
    int* const end = out + bytes / sizeof(int);
    if (hints.device_accesses && out != end) *out++ = 0;
    if (hints.host_accesses && out != end) *out++ = cudaCpuDeviceId;
    while (out != end) *out++ = cudaInvalidDeviceId;
    return;
  }
  if (bytes != sizeof(int)) fail(Error::kInvalidValue);
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
      *out = hints.read_mostly ? 1 : 0;
      return;
    case cudaMemRangeAttributePreferredLocation:
      *out = id_of(hints.preferred);
      return;
    case cudaMemRangeAttributeLastPrefetchLocation:
      *out = id_of(hints.prefetched);
      return;
    case cudaMemRangeAttributePreferredLocationType:
      *out = hints.preferred.type;
      return;
    case cudaMemRangeAttributePreferredLocationId:
      *out = hints.preferred.id;
      return;
    case cudaMemRangeAttributeLastPrefetchLocationType:
      *out = hints.prefetched.type;
      return;
    case cudaMemRangeAttributeLastPrefetchLocationId:
      *out = hints.prefetched.id;
      return;
    default:
      fail(Error::kInvalidValue);
  }
}

}  // namespace weft::cuda
