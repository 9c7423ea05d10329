#include "runtime/cuda/core/launch_attributes.h"

#include <cstring>
#include <string>

#include "runtime/cuda/core/context.h"
#include "runtime/cuda/core/streams.h"

namespace weft::cuda {
namespace {

bool is_single(const uint3& blocks) {
  return blocks.x == 1 && blocks.y == 1 && blocks.z == 1;
}

std::string text_of(const uint3& size) {
  return std::to_string(size.x) + "x" + std::to_string(size.y) + "x" + std::to_string(size.z);
}

[[noreturn]] void refuse_cluster(const uint3& size) {
  fail(Error::kNotSupported, "clusters of thread blocks are not provided: found a cluster of " +
                                 text_of(size) + " blocks; allowed: 1x1x1, or no cluster attribute");
}

// CUDA runtime API, cudaAccessPolicyWindow: misses are never persisting.
void check(const cudaAccessPolicyWindow& window) {
  constexpr int kPersisting = 2;
  const bool valid = window.hitRatio >= 0 && window.hitRatio <= 1 && window.hitProp >= 0 &&
                     window.hitProp <= kPersisting && window.missProp >= 0 && window.missProp < kPersisting;
  if (!valid) fail(Error::kInvalidValue);
}

}  // namespace

void apply(Context& context, const cudaLaunchAttribute* attributes, unsigned count, Launch& launch) {
  if (count != 0 && attributes == nullptr) fail(Error::kInvalidValue);
  for (unsigned i = 0; i < count; ++i) {
    const cudaLaunchAttributeValue& value = attributes[i].val;
    switch (attributes[i].id) {
      case cudaLaunchAttributeClusterDimension:
        if (!is_single(value.clusterDim)) refuse_cluster(value.clusterDim);
        break;
      case cudaLaunchAttributePreferredClusterDimension:
        if (!is_single(value.preferredClusterDim)) refuse_cluster(value.preferredClusterDim);
        break;
      case cudaLaunchAttributeCooperative:
        if (value.cooperative != 0)
          fail(Error::kNotSupported, "grids whose blocks wait for each other are not provided");
        break;
      case cudaLaunchAttributeDeviceUpdatableKernelNode:
        fail(Error::kNotSupported, "CUDA graphs are not provided; launch the kernels in streams");
      // Both may happen later than they could: they are recorded when the kernel has ended.
      case cudaLaunchAttributeProgrammaticEvent:
        launch.events.push_back(&context.streams().event(value.programmaticEvent.event));
        break;
      case cudaLaunchAttributeLaunchCompletionEvent:
        launch.events.push_back(&context.streams().event(value.launchCompletionEvent.event));
        break;
      case cudaLaunchAttributeAccessPolicyWindow:
        check(value.accessPolicyWindow);
        break;
      case cudaLaunchAttributePreferredSharedMemoryCarveout:
        launch.preferred_carveout = static_cast<int>(value.sharedMemCarveout);
        if (launch.preferred_carveout < -1 || launch.preferred_carveout > 100) fail(Error::kInvalidValue);
        break;
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      case cudaLaunchAttributeProgrammaticStreamSerialization:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributeMemSyncDomainMap:
      case cudaLaunchAttributeMemSyncDomain:
      case cudaLaunchAttributeNvlinkUtilCentricScheduling:
        break;
      default:
        fail(Error::kInvalidValue);
    }
  }
}

std::uint64_t cluster_blocks(const cudaLaunchAttribute* attributes, unsigned count) {
  for (unsigned i = 0; i < count && attributes != nullptr; ++i) {
    const uint3& size = attributes[i].val.clusterDim;
    if (attributes[i].id == cudaLaunchAttributeClusterDimension)
      return is_single(size) ? 1 : std::uint64_t{size.x} * size.y * size.z;
  }
  return 1;
}

void set(Stream& stream, int attribute, const cudaLaunchAttributeValue& value) {
  StreamAttributes& kept = stream.attributes;
  switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow:
      check(value.accessPolicyWindow);
      kept.window = value.accessPolicyWindow;
      return;
    case cudaLaunchAttributeSynchronizationPolicy:
      if (value.syncPolicy < 1 || value.syncPolicy > 4) fail(Error::kInvalidValue);
      kept.synchronization = value.syncPolicy;
      return;
    case cudaLaunchAttributePriority:
      stream.priority = value.priority;
      return;
    case cudaLaunchAttributeMemSyncDomainMap:
      kept.domain_map = value;
      return;
    case cudaLaunchAttributeMemSyncDomain:
      kept.domain = value;
      return;
    default:
      fail(Error::kInvalidValue);
  }
}

cudaLaunchAttributeValue get(const Stream& stream, int attribute) {
  cudaLaunchAttributeValue value;
  std::memset(&value, 0, sizeof value);
  switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow:
      value.accessPolicyWindow = stream.attributes.window;
      return value;
    case cudaLaunchAttributeSynchronizationPolicy:
      value.syncPolicy = stream.attributes.synchronization;
      return value;
    case cudaLaunchAttributePriority:
      value.priority = stream.priority;
      return value;
    case cudaLaunchAttributeMemSyncDomainMap:
      return stream.attributes.domain_map;
    case cudaLaunchAttributeMemSyncDomain:
      return stream.attributes.domain;
    default:
      fail(Error::kInvalidValue);
  }
}

void copy_attributes(Stream& to, const Stream& from) {
  to.attributes = from.attributes;
  to.priority = from.priority;
}

}  // namespace weft::cuda
