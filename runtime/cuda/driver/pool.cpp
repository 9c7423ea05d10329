// Memory pools, and hints about managed memory.
#include "runtime/cuda/core/hints.h"
#include "runtime/cuda/core/memory.h"
#include "runtime/cuda/core/pools.h"
#include "runtime/cuda/core/streams.h"
#include "runtime/cuda/driver/driver.h"

using namespace weft::cuda;

namespace {

CUmemoryPool pool_handle(Pool& pool) {
  return reinterpret_cast<CUmemoryPool>(&pool);
}
const cudaMemLocation* place_of(const CUmemLocation* location) {
  return reinterpret_cast<const cudaMemLocation*>(location);
}
static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps) &&
                  sizeof(CUmemLocation) == sizeof(cudaMemLocation) &&
                  sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc),
              "both interfaces lay them out alike");

}  // namespace

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return driver_call("cuDeviceGetDefaultMemPool", [&](Context& c) {
    require_device(device);
    required(pool) = pool_handle(c.pools().default_pool());
  });
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return driver_call("cuDeviceGetMemPool", [&](Context& c) {
    require_device(device);
    required(pool) = pool_handle(c.pools().current());
  });
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return driver_call("cuDeviceSetMemPool", [&](Context& c) {
    require_device(device);
    c.pools().set_current(c.pools().pool(pool));
  });
}
CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* place, int type) {
  return driver_call("cuMemGetDefaultMemPool", [&](Context& c) {
    c.pools().check_place(place_of(place), type);
    required(pool) = pool_handle(c.pools().default_pool());
  });
}
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* place, int type) {
  return driver_call("cuMemGetMemPool", [&](Context& c) {
    c.pools().check_place(place_of(place), type);
    required(pool) = pool_handle(c.pools().current());
  });
}
CUresult cuMemSetMemPool(CUmemLocation* place, int type, CUmemoryPool pool) {
  return driver_call("cuMemSetMemPool", [&](Context& c) {
    c.pools().check_place(place_of(place), type);
    c.pools().set_current(c.pools().pool(pool));
  });
}
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return driver_call("cuMemPoolCreate", [&](Context& c) {
    required(pool);
    *pool = pool_handle(c.pools().create(reinterpret_cast<const cudaMemPoolProps&>(required(properties))));
  });
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return driver_call("cuMemPoolDestroy", [&](Context& c) { c.pools().destroy(c.pools().pool(pool)); });
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t /*least*/) {
  return driver_call("cuMemPoolTrimTo", [&](Context& c) { c.pools().pool(pool); });
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value) {
  return driver_call("cuMemPoolSetAttribute",
                     [&](Context& c) { c.pools().set(c.pools().pool(pool), attribute, value); });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void* value) {
  return driver_call("cuMemPoolGetAttribute",
                     [&](Context& c) { c.pools().get(c.pools().pool(pool), attribute, value); });
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* list, size_t count) {
  return driver_call("cuMemPoolSetAccess", [&](Context& c) {
    c.pools().set_access(c.pools().pool(pool), reinterpret_cast<const cudaMemAccessDesc*>(list), count);
  });
}
CUresult cuMemPoolGetAccess(int* flags, CUmemoryPool pool, CUmemLocation* place) {
  return driver_call("cuMemPoolGetAccess", [&](Context& c) {
    required(flags) = c.pools().access(c.pools().pool(pool), place_of(place));
  });
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool, CUstream stream) {
  return driver_call("cuMemAllocFromPoolAsync", [&](Context& c) {
    if (bytes == 0) fail(Error::kInvalidValue);
    c.streams().stream(stream);
    required(address) = c.pools().allocate(bytes, c.pools().pool(pool));
  });
}
CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  return driver_call("cuMemAllocAsync", [&](Context& c) {
    if (bytes == 0) fail(Error::kInvalidValue);
    c.streams().stream(stream);
    required(address) = c.pools().allocate(bytes, c.pools().current());
  });
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream /*stream*/) {
  return cuMemFree_v2(address);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr memory, size_t /*bytes*/, CUmemLocation place, unsigned /*flags*/,
                               CUstream stream) {
  return driver_call("cuMemPrefetchAsync", [&](Context& c) {
    c.streams().stream(stream);
    prefetch(c.memory(), memory, {place.type, place.id});
  });
}
CUresult cuMemAdvise_v2(CUdeviceptr memory, size_t /*bytes*/, int advice, CUmemLocation place) {
  return driver_call("cuMemAdvise",
                     [&](Context& c) { advise(c.memory(), memory, advice, {place.type, place.id}); });
}
CUresult cuMemRangeGetAttribute(void* data, size_t data_bytes, int attribute, CUdeviceptr memory,
                                size_t /*bytes*/) {
  return driver_call("cuMemRangeGetAttribute",
                     [&](Context& c) { tell_range(c.memory(), data, data_bytes, attribute, memory); });
}
CUresult cuMemRangeGetAttributes(void** data, size_t* data_bytes, int* attributes, size_t count,
                                 CUdeviceptr memory, size_t /*bytes*/) {
  return driver_call("cuMemRangeGetAttributes", [&](Context& c) {
    for (size_t i = 0; i < count; ++i) {
      tell_range(c.memory(), (&required(data))[i], (&required(data_bytes))[i], (&required(attributes))[i],
                 memory);
    }
  });
}
