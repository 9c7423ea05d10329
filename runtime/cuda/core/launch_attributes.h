// Attributes of launches (cudaLaunchKernelEx, cuLaunchKernelEx) and of streams. Most are hints about how
// hardware is used, which change nothing here; those that change what a kernel may do are refused unless they
// ask for what every launch has. Both interfaces number and lay them out alike.
#ifndef WEFT_RUNTIME_CUDA_CORE_LAUNCH_ATTRIBUTES_H
#define WEFT_RUNTIME_CUDA_CORE_LAUNCH_ATTRIBUTES_H

#include <cstdint>

#include "weft/cuda_structures.h"

namespace weft::cuda {

class Context;
struct Launch;
struct Stream;

// What a stream remembers, and tells.
struct StreamAttributes {
  cudaAccessPolicyWindow window{};
  int synchronization = 1;  // cudaSyncPolicyAuto
  cudaLaunchAttributeValue domain_map{}, domain{};
};

// Adds to the launch what its attributes ask for. Fails with kNotSupported and a report for blocks in
// clusters, and for those that wait for each other; with kInvalidValue for what is no attribute of a launch.
void apply(Context& context, const cudaLaunchAttribute* attributes, unsigned count, Launch& launch);
// Blocks in a cluster, as the attributes have it; 1 if they say nothing.
std::uint64_t cluster_blocks(const cudaLaunchAttribute* attributes, unsigned count);

// Fail with kInvalidValue for what is no attribute of a stream.
void set(Stream& stream, int attribute, const cudaLaunchAttributeValue& value);
cudaLaunchAttributeValue get(const Stream& stream, int attribute);
void copy_attributes(Stream& to, const Stream& from);

}  // namespace weft::cuda

#endif
