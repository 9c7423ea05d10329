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
    loaded.limit_registers(max_registers);
    loaded.loaded(c);
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

CUresult cuModuleLoad(CUmodule* module, const char* file) {
  return driver_call("cuModuleLoad", [&](Context& c) {
    if (file == nullptr) fail(Error::kInvalidValue);
    Module& loaded = c.modules().load_file(file);
    loaded.loaded(c);
    required(module) = handle_of(loaded);
  });
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load("cuModuleLoadData", module, image);
}
// Of the options one changes the program: the most registers of a thread. Others concern messages and
// optimisation, which Weft does not do.
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, int* options,
                            void** values) {
  unsigned max_registers = 0;
  for (unsigned i = 0; i < count && options != nullptr && values != nullptr; ++i) {
    if (options[i] != CU_JIT_MAX_REGISTERS) continue;
    max_registers = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i]));
  }
  return load("cuModuleLoadDataEx", module, image, max_registers);
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
    const FunctionAttributes a = c.modules().attributes(c.modules().function(function));
    switch (attribute) {
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        required(value) = a.max_threads;
        break;
      case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        required(value) = static_cast<int>(a.shared_bytes);
        break;
      case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        required(value) = static_cast<int>(a.constant_bytes);
        break;
      case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        required(value) = static_cast<int>(a.local_bytes);
        break;
      case CU_FUNC_ATTRIBUTE_NUM_REGS:
        required(value) = a.registers;
        break;
      case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        required(value) = a.ptx_version;
        break;
      case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        required(value) = a.binary_version;
        break;
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        required(value) = static_cast<int>(a.max_dynamic_shared);
        break;
      case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        required(value) = 0;
        break;
      default:
        fail(Error::kInvalidValue);
    }
  });
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return driver_call("cuFuncSetAttribute", [&](Context& c) {
    Function& f = c.modules().function(function);
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) return;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) fail(Error::kInvalidValue);
    c.modules().set_most_dynamic_shared(f, value);
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
    required(grid) = best_blocks * properties_of(c.config(), c.settings().capability).multiProcessorCount;
  });
}
