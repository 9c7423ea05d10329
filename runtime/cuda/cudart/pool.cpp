// Memory pools, and what is told of ranges of managed memory.
#include "runtime/cuda/core/hints.h"
#include "runtime/cuda/core/pools.h"
#include "runtime/cuda/core/streams.h"
#include "runtime/cuda/cudart/cudart.h"

using namespace weft::cuda;

namespace {

cudaMemPool_t pool_handle(Pool& pool) {
  return reinterpret_cast<cudaMemPool_t>(&pool);
}

}  // namespace

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return runtime_call("cudaDeviceGetDefaultMemPool", [&](Context& c) {
    require_device(device);
    required(pool) = pool_handle(c.pools().default_pool());
  });
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return runtime_call("cudaDeviceGetMemPool", [&](Context& c) {
    require_device(device);
    required(pool) = pool_handle(c.pools().current());
  });
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return runtime_call("cudaDeviceSetMemPool", [&](Context& c) {
    require_device(device);
    c.pools().set_current(c.pools().pool(pool));
  });
}
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* place, int type) {
  return runtime_call("cudaMemGetDefaultMemPool", [&](Context& c) {
    c.pools().check_place(place, type);
    required(pool) = pool_handle(c.pools().default_pool());
  });
}
cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* place, int type) {
  return runtime_call("cudaMemGetMemPool", [&](Context& c) {
    c.pools().check_place(place, type);
    required(pool) = pool_handle(c.pools().current());
  });
}
cudaError_t cudaMemSetMemPool(cudaMemLocation* place, int type, cudaMemPool_t pool) {
  return runtime_call("cudaMemSetMemPool", [&](Context& c) {
    c.pools().check_place(place, type);
    c.pools().set_current(c.pools().pool(pool));
  });
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return runtime_call("cudaMemPoolCreate", [&](Context& c) {
    required(pool);
    *pool = pool_handle(c.pools().create(required(properties)));
  });
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return runtime_call("cudaMemPoolDestroy", [&](Context& c) { c.pools().destroy(c.pools().pool(pool)); });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t /*least*/) {
  return runtime_call("cudaMemPoolTrimTo", [&](Context& c) { c.pools().pool(pool); });
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void* value) {
  return runtime_call("cudaMemPoolSetAttribute",
                      [&](Context& c) { c.pools().set(c.pools().pool(pool), attribute, value); });
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attribute, void* value) {
  return runtime_call("cudaMemPoolGetAttribute",
                      [&](Context& c) { c.pools().get(c.pools().pool(pool), attribute, value); });
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, std::size_t count) {
  return runtime_call("cudaMemPoolSetAccess",
                      [&](Context& c) { c.pools().set_access(c.pools().pool(pool), list, count); });
}
cudaError_t cudaMemPoolGetAccess(int* flags, cudaMemPool_t pool, cudaMemLocation* place) {
  return runtime_call("cudaMemPoolGetAccess",
                      [&](Context& c) { required(flags) = c.pools().access(c.pools().pool(pool), place); });
}
cudaError_t cudaMallocFromPoolAsync(void** memory, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return runtime_call("cudaMallocFromPoolAsync", [&](Context& c) {
    c.streams().stream(stream);
    Pool& from = c.pools().pool(pool);
    required(memory) = bytes == 0 ? nullptr : reinterpret_cast<void*>(c.pools().allocate(bytes, from));
  });
}
cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
  return runtime_call("cudaMallocAsync", [&](Context& c) {
    c.streams().stream(stream);
    Pool& from = c.pools().current();
    required(memory) = bytes == 0 ? nullptr : reinterpret_cast<void*>(c.pools().allocate(bytes, from));
  });
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t /*stream*/) {
  return cudaFree(memory);
}

cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t data_bytes, int attribute, const void* memory,
                                     std::size_t /*bytes*/) {
  return runtime_call("cudaMemRangeGetAttribute", [&](Context& c) {
    tell_range(c.memory(), data, data_bytes, attribute, address_of(memory));
  });
}
cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes, int* attributes,
                                      std::size_t count, const void* memory, std::size_t /*bytes*/) {
  return runtime_call("cudaMemRangeGetAttributes", [&](Context& c) {
    for (std::size_t i = 0; i < count; ++i) {
      tell_range(c.memory(), (&required(data))[i], (&required(data_bytes))[i], (&required(attributes))[i],
                 address_of(memory));
    }
  });
}
