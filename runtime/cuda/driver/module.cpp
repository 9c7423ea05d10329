// Modules, functions, launches, occupancy.
#include <algorithm>

#include "runtime/cuda/core/modules.h"
#include "runtime/cuda/core/properties.h"
#include "runtime/cuda/core/streams.h"
#include "runtime/cuda/driver/driver.h"

using namespace weft::cuda;

namespace {

CUmodule handle_of(Module& module) {
  return reinterpret_cast<CUmodule>(&module);
}

// The driver parses a module when it is loaded, so that its mistakes are this call's errors.
CUresult load(const char* name, CUmodule* module, const void* image, unsigned max_registers = 0) {
  return driver_call(name, [&](Context& c) {
    Module& loaded = c.modules().load(image);
    c.modules().place(loaded, max_registers);
    required(module) = handle_of(loaded);
  });
}

CUresult occupancy(const char* name, int* blocks, CUfunction function, int block, size_t dynamic_shared) {
  return driver_call(name, [&](Context& c) {
    if (block <= 0) fail(Error::kInvalidValue);
    required(blocks) = static_cast<int>(c.modules().blocks_per_sm(
        c.modules().function(function), static_cast<std::uint32_t>(block), dynamic_shared));
  });
}

}  // namespace

int weft::cuda::attribute_of(const FunctionAttributes& a, CUfunction_attribute attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return a.max_threads;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(a.shared_bytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return static_cast<int>(a.constant_bytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(a.local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return a.registers;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return a.ptx_version;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return a.binary_version;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return static_cast<int>(a.max_dynamic_shared);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return a.preferred_carveout;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return 0;
    default:
      fail(Error::kInvalidValue);
  }
}

void weft::cuda::set_attribute(Context& c, Function& function, CUfunction_attribute attribute, int value) {
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
    return Modules::set_preferred_carveout(function, value);
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) fail(Error::kInvalidValue);
  c.modules().set_most_dynamic_shared(function, value);
}

CUresult cuModuleLoad(CUmodule* module, const char* file) {
  return driver_call("cuModuleLoad", [&](Context& c) {
    if (file == nullptr) fail(Error::kInvalidValue);
    Module& loaded = c.modules().load_file(file);
    c.modules().place(loaded, 0);
    required(module) = handle_of(loaded);
  });
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load("cuModuleLoadData", module, image);
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, int* options,
                            void** values) {
  return load("cuModuleLoadDataEx", module, image, max_registers_of(count, options, values));
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load("cuModuleLoadFatBinary", module, image);
}
CUresult cuModuleUnload(CUmodule module) {
  return driver_call("cuModuleUnload", [&](Context& c) { c.modules().unload(c.modules().module(module)); });
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return driver_call("cuModuleGetFunction", [&](Context& c) {
    if (name == nullptr) fail(Error::kInvalidValue);
    required(function) = reinterpret_cast<CUfunction>(&c.modules().module(module).function(c, name));
  });
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return driver_call("cuModuleGetGlobal", [&](Context& c) {
    if (name == nullptr) fail(Error::kInvalidValue);
    std::uint64_t size = 0;
    const std::uint64_t found = c.modules().variable(c.modules().module(module), name, &size);
    if (address != nullptr) *address = found;
    if (bytes != nullptr) *bytes = size;
  });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return driver_call("cuFuncGetAttribute", [&](Context& c) {
    required(value) = attribute_of(c.modules().attributes(c.modules().function(function)), attribute);
  });
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return driver_call("cuFuncSetAttribute",
                     [&](Context& c) { set_attribute(c, c.modules().function(function), attribute, value); });
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
  return driver_call("cuFuncGetParamInfo", [&](Context& c) {
    c.modules().parameter(c.modules().function(function), index, offset, bytes);
  });
}
CUresult cuFuncSetCacheConfig(CUfunction function, int /*config*/) {
  return driver_call("cuFuncSetCacheConfig", [&](Context& c) { c.modules().function(function); });
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, int /*config*/) {
  return driver_call("cuFuncSetSharedMemConfig", [&](Context& c) { c.modules().function(function); });
}
CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return driver_call("cuFuncGetModule", [&](Context& c) {
    required(module) = handle_of(*c.modules().function(function).module);
  });
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  return driver_call("cuFuncGetName",
                     [&](Context& c) { required(name) = c.modules().function(function).name.c_str(); });
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  return driver_call("cuLaunchKernel", [&](Context& c) {
    Launch launch;
    launch.function = &c.modules().function(function);
    launch.grid = {grid_x, grid_y, grid_z};
    launch.block = {block_x, block_y, block_z};
    launch.dynamic_shared = shared_bytes;
    launch.arguments = parameters;
    launch.extra = parameters == nullptr ? extra : nullptr;
    c.streams().launch(launch, c.streams().stream(stream));
  });
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  return driver_call("cuLaunchKernelEx", [&](Context& c) {
    const CUlaunchConfig& how = required(config);
    Launch launch;
    launch.function = &c.modules().function(function);
    launch.grid = {how.gridDimX, how.gridDimY, how.gridDimZ};
    launch.block = {how.blockDimX, how.blockDimY, how.blockDimZ};
    launch.dynamic_shared = how.sharedMemBytes;
    launch.arguments = parameters;
    launch.extra = parameters == nullptr ? extra : nullptr;
    apply(c, reinterpret_cast<const cudaLaunchAttribute*>(how.attrs), how.numAttrs, launch);
    c.streams().launch(launch, c.streams().stream(how.hStream));
  });
}
CUresult cuLaunchCooperativeKernel(CUfunction /*function*/, unsigned /*grid_x*/, unsigned /*grid_y*/,
                                   unsigned /*grid_z*/, unsigned /*block_x*/, unsigned /*block_y*/,
                                   unsigned /*block_z*/, unsigned /*shared_bytes*/, CUstream /*stream*/,
                                   void** /*parameters*/) {
  return driver_call("cuLaunchCooperativeKernel", [](Context&) {
    fail(Error::kNotSupported, "grids whose blocks wait for each other are not provided");
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int block,
                                                     size_t dynamic_shared) {
  return occupancy("cuOccupancyMaxActiveBlocksPerMultiprocessor", blocks, function, block, dynamic_shared);
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int block,
                                                              size_t dynamic_shared, unsigned /*flags*/) {
  return occupancy("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", blocks, function, block,
                   dynamic_shared);
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks,
                                                 int /*block*/) {
  return driver_call("cuOccupancyAvailableDynamicSMemPerBlock", [&](Context& c) {
    if (blocks <= 0) fail(Error::kInvalidValue);
    required(bytes) =
        c.modules().most_dynamic_shared(c.modules().function(function), static_cast<unsigned>(blocks));
  });
}
// Without clusters each block is one by itself.
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
  return driver_call("cuOccupancyMaxActiveClusters", [&](Context& c) {
    const CUlaunchConfig& how = required(config);
    Launch launch;
    apply(c, reinterpret_cast<const cudaLaunchAttribute*>(how.attrs), how.numAttrs, launch);
    required(clusters) = static_cast<int>(c.modules().blocks_on_device(
        c.modules().function(function), how.blockDimX * how.blockDimY * how.blockDimZ, how.sharedMemBytes));
  });
}
CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function,
                                            const CUlaunchConfig* /*config*/) {
  return driver_call("cuOccupancyMaxPotentialClusterSize", [&](Context& c) {
    c.modules().function(function);
    required(blocks) = 1;
  });
}
// The block, in whole warps, with which most threads are resident; of several the largest.
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize shared_of, size_t dynamic_shared, int limit) {
  return driver_call("cuOccupancyMaxPotentialBlockSize", [&](Context& c) {
    Function& f = c.modules().function(function);
    int most = c.modules().attributes(f).max_threads;
    if (limit > 0) most = std::min(most, limit);
    constexpr int kWarp = static_cast<int>(kWarpSize);
    int best_threads = 0, best_blocks = 0, best_size = 0;
    for (int size = (most + kWarp - 1) / kWarp * kWarp; size > 0; size -= kWarp) {
      const int threads = std::min(size, most);
      const size_t shared = shared_of != nullptr ? shared_of(threads) : dynamic_shared;
      const auto blocks =
          static_cast<int>(c.modules().blocks_per_sm(f, static_cast<std::uint32_t>(threads), shared));
      if (blocks * threads <= best_threads) continue;
      best_threads = blocks * threads, best_blocks = blocks, best_size = threads;
    }
    required(block) = best_size;
    required(grid) = best_blocks * properties_of(c.config(), c.capability()).multiProcessorCount;
  });
}
