// Memory pools: from which allocations in streams (cudaMallocAsync) come.
//
// A pool keeps nothing: what is freed goes back to the device at once, in the order of calls, and the device
// is waited for. So the bytes that a pool has reserved are those in use, a release threshold has no effect,
// and there is never anything to trim. Attributes are kept and told all the same.
#ifndef WEFT_RUNTIME_CUDA_CORE_POOLS_H
#define WEFT_RUNTIME_CUDA_CORE_POOLS_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "weft/cuda_structures.h"

namespace weft::cuda {

class Context;

// What cudaMemPool_t and CUmemoryPool point at.
struct Pool {
  std::uint64_t most = UINT64_MAX;  // bytes in use at a time
  int reuse[3] = {1, 1, 1};  // cudaMemPoolReuse...: follow events, opportunistic, internal dependencies
  std::uint64_t release_threshold = 0;
  std::uint64_t used = 0, used_high = 0, reserved_high = 0;  // bytes
};

class Pools {
 public:
  explicit Pools(Context& context) : context_(context) {}

  // Fails with kInvalidValue, or kNotSupported and a report for memory that is not the device's own, or that
  // other processes are to share.
  Pool& create(const cudaMemPoolProps& properties);
  // Allocations stay until they are freed. The default pool cannot be destroyed: kInvalidValue.
  void destroy(Pool& pool);
  Pool& pool(const void* handle);  // fails with kInvalidValue
  Pool& default_pool();
  // The one of allocations that name none.
  Pool& current();
  void set_current(Pool& pool) { current_ = &pool; }
  // The pool of a place: the device's. Fails with kInvalidValue for other places and kinds.
  void check_place(const cudaMemLocation* place, int allocation_type) const;

  // Fails with kOutOfMemory.
  std::uint64_t allocate(std::uint64_t bytes, Pool& pool);
  void freed(std::uint64_t address);  // whatever it was

  // `value`: an int or 64 bits, as the attribute is. Fail with kInvalidValue.
  void set(Pool& pool, int attribute, const void* value);
  void get(const Pool& pool, int attribute, void* value) const;
  // The device always reads and writes: nothing else may be asked for.
  void set_access(const Pool& pool, const cudaMemAccessDesc* list, std::size_t count) const;
  int access(const Pool& pool, const cudaMemLocation* place) const;

  void reset();

 private:
  struct Allocation {
    std::uint64_t bytes = 0;
    std::shared_ptr<Pool> pool;
  };
  Context& context_;
  std::unordered_map<const void*, std::shared_ptr<Pool>> pools_;
  Pool* default_ = nullptr;
  Pool* current_ = nullptr;
  std::unordered_map<std::uint64_t, Allocation> allocations_;  // by address
};

}  // namespace weft::cuda

#endif
