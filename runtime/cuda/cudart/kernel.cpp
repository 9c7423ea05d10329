// Launches, attributes of kernels, occupancy.
#include <cstring>

#include "runtime/cuda/core/modules.h"
#include "runtime/cuda/core/streams.h"
#include "runtime/cuda/cudart/cudart.h"

using namespace weft::cuda;

namespace {

cudaError_t launch(const char* name, const void* symbol_or_handle, dim3 grid, dim3 block, void** arguments,
                   std::size_t shared_bytes, cudaStream_t stream,
                   const cudaLaunchAttribute* attributes = nullptr, unsigned count = 0) {
  return runtime_call(name, [&](Context& c) {
    Launch launch;
    launch.function = &function_of(c, symbol_or_handle);
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared = shared_bytes;
    launch.arguments = arguments;
    apply(c, attributes, count, launch);
    c.streams().launch(launch, c.streams().stream(stream));
  });
}

cudaError_t kernel_handle(const char* name, void** handle, const void* symbol) {
  return runtime_call(name, [&](Context& c) { required(handle) = &function_of_symbol(c, symbol); });
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return launch("cudaLaunchKernel", function, grid, block, arguments, shared_bytes, stream);
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  // Without a handle __cudaGetKernel has said why.
  if (kernel == nullptr && last_error() != cudaSuccess) return last_error();
  return launch("kernel launch", kernel, grid, block, arguments, shared_bytes, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  if (config == nullptr) return last_error() = cudaErrorInvalidValue;
  return launch("cudaLaunchKernelExC", function, config->gridDim, config->blockDim, arguments,
                config->dynamicSmemBytes, config->stream, config->attrs, config->numAttrs);
}
cudaError_t cudaLaunchCooperativeKernel(const void* /*function*/, dim3 /*grid*/, dim3 /*block*/,
                                        void** /*arguments*/, std::size_t /*shared_bytes*/,
                                        cudaStream_t /*stream*/) {
  return runtime_call("cudaLaunchCooperativeKernel", [](Context&) {
    fail(Error::kNotSupported, "grids whose blocks wait for each other are not provided");
  });
}

// nvcc calls this while it launches a kernel, and takes what it cannot report for the launch's error.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* symbol) {
  return kernel_handle("kernel launch", reinterpret_cast<void**>(kernel), symbol);
}
cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* symbol) {
  return kernel_handle("cudaGetKernel", reinterpret_cast<void**>(kernel), symbol);
}
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return kernel_handle("cudaGetFuncBySymbol", reinterpret_cast<void**>(function), symbol);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return runtime_call("cudaFuncGetAttributes", [&](Context& c) {
    const FunctionAttributes a = c.modules().attributes(function_of(c, function));
    cudaFuncAttributes& out = required(attributes);
    std::memset(&out, 0, sizeof out);
    out.sharedSizeBytes = a.shared_bytes;
    out.constSizeBytes = a.constant_bytes;
    out.localSizeBytes = a.local_bytes;
    out.maxThreadsPerBlock = a.max_threads;
    out.numRegs = a.registers;
    out.ptxVersion = a.ptx_version;
    out.binaryVersion = a.binary_version;
    out.maxDynamicSharedSizeBytes = static_cast<int>(a.max_dynamic_shared);
    out.preferredShmemCarveout = a.preferred_carveout;
  });
}
cudaError_t cudaFuncSetAttribute(const void* function, int attribute, int value) {
  return runtime_call("cudaFuncSetAttribute", [&](Context& c) {
    constexpr int kPreferredCarveout = 9;
    Function& f = function_of(c, function);
    if (attribute == kPreferredCarveout) return Modules::set_preferred_carveout(f, value);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) fail(Error::kInvalidValue);
    c.modules().set_most_dynamic_shared(f, value);
  });
}
cudaError_t cudaFuncSetCacheConfig(const void* function, int /*config*/) {
  return runtime_call("cudaFuncSetCacheConfig", [&](Context& c) { function_of(c, function); });
}
cudaError_t cudaFuncSetSharedMemConfig(const void* function, int /*config*/) {
  return runtime_call("cudaFuncSetSharedMemConfig", [&](Context& c) { function_of(c, function); });
}
cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return runtime_call("cudaFuncGetName",
                      [&](Context& c) { required(name) = function_of(c, function).name.c_str(); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                   int block, std::size_t dynamic_shared,
                                                                   unsigned /*flags*/) {
  return runtime_call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Context& c) {
    if (block <= 0) fail(Error::kInvalidValue);
    required(blocks) = static_cast<int>(c.modules().blocks_per_sm(
        function_of(c, function), static_cast<std::uint32_t>(block), dynamic_shared));
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block,
                                                          std::size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block, dynamic_shared, 0);
}
// What is left of an SM's shared memory for each of that many blocks.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks,
                                                      int /*block*/) {
  return runtime_call("cudaOccupancyAvailableDynamicSMemPerBlock", [&](Context& c) {
    if (blocks <= 0) fail(Error::kInvalidValue);
    required(bytes) =
        c.modules().most_dynamic_shared(function_of(c, function), static_cast<unsigned>(blocks));
  });
}
// Without clusters each block is one by itself.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
  return runtime_call("cudaOccupancyMaxActiveClusters", [&](Context& c) {
    const cudaLaunchConfig_t& how = required(config);
    Launch launch;
    apply(c, how.attrs, how.numAttrs, launch);
    required(clusters) = static_cast<int>(c.modules().blocks_on_device(
        function_of(c, function), how.blockDim.x * how.blockDim.y * how.blockDim.z, how.dynamicSmemBytes));
  });
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                 const cudaLaunchConfig_t* /*config*/) {
  return runtime_call("cudaOccupancyMaxPotentialClusterSize", [&](Context& c) {
    function_of(c, function);
    required(blocks) = 1;
  });
}
