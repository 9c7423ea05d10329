// The workloads' kernels as host functions.
#ifndef WEFT_TESTS_HOST_CUDA_KERNELS_H
#define WEFT_TESTS_HOST_CUDA_KERNELS_H

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "weft/dispatch/launch.h"

namespace weft::host_cuda {

// A variable of the kernel's module: where the host's copy lies.
struct HostVariable {
  void* data = nullptr;
  std::size_t bytes = 0;
};

struct HostKernel {
  // Runs a whole launch on the calling thread. Pointers among the parameters are used as they are.
  std::function<void(const dispatch::Launch&)> run;
  std::map<std::string, HostVariable> variables;
};

// By name in PTX. Throws std::runtime_error for a kernel that is not among them.
const HostKernel& host_kernel(const std::string& name);

}  // namespace weft::host_cuda

#endif
