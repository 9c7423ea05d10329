// Device memory, and host memory that CUDA knows of. What an address is follows from the address: device
// memory begins at `addresses.device_base` of the configuration.
#ifndef WEFT_RUNTIME_CUDA_CORE_MEMORY_H
#define WEFT_RUNTIME_CUDA_CORE_MEMORY_H

#include <cstdint>
#include <map>

#include "weft/cuda_structures.h"
#include "weft/runtime/areas.h"

namespace weft::cuda {

class Context;

// One end of a copy, and its size. The image of an end is that of an Array.
using End = runtime::Area;
using Box = runtime::Box;
// The part that begins at byte x of row y of slice z.
End part_of(const End& end, std::uint64_t x, std::uint64_t y, std::uint64_t z);

class Memory {
 public:
  enum class Kind { kDevice, kPinned, kRegistered, kManaged };
  // What the program has said of managed memory (hints.h).
  struct Hints {
    bool read_mostly = false, device_accesses = false, host_accesses = false;
    cudaMemLocation preferred{}, prefetched{};
  };
  struct Block {
    std::uint64_t address = 0, bytes = 0;
    Kind kind = Kind::kDevice;
    unsigned flags = 0;
    bool shared = false;  // host memory that kernels see
    Hints hints{};
  };
  // As cudaMallocPitch aligns rows: no row shares a texture line or a coalesced access with another.
  static constexpr std::uint64_t kPitchAlignment = 512;

  static constexpr std::uint64_t kStagingBytes = std::uint64_t{4} << 20;

  explicit Memory(Context& context);
  ~Memory();

  // Fail with kOutOfMemory.
  std::uint64_t allocate(std::uint64_t bytes);
  std::uint64_t allocate_pitched(std::uint64_t width, std::uint64_t rows, std::uint64_t* pitch);
  void* allocate_host(std::uint64_t bytes, unsigned flags);
  // Memory that the host and kernels use by the same address, as they do all of these blocks.
  void* allocate_managed(std::uint64_t bytes, unsigned flags);
  // Pinned memory of kStagingBytes through which copies of other host memory go.
  void* staging();
  // Under which address kernels see host memory: its own. Fails with kInvalidValue if it is none that they
  // see.
  std::uint64_t device_address(const void* memory);
  // 0: nothing happens. Fail with kInvalidValue if no block begins there. Wait for the device, as all that
  // frees.
  void free(std::uint64_t address);
  void free_host(void* memory);
  // Memory of the program's own. Fails with kHostRegistered if it overlaps a known block.
  void add_host(void* memory, std::uint64_t bytes, unsigned flags);
  void remove_host(void* memory);

  // The block that contains the address; nullptr: none that this knows of.
  const Block* find(std::uint64_t address) const;
  Block& block(std::uint64_t address);  // fails with kInvalidValue
  bool is_device(std::uint64_t address) const;
  bool is_shared() const {
    return shared_ != (staging_ != nullptr ? 1 : 0);
  }  // kernels see memory of the program
  void usage(std::uint64_t* free, std::uint64_t* total);

  void reset();

 private:
  void* allocate_on_host(std::uint64_t bytes, Kind kind, unsigned flags);
  void free_on_host(const Block& block);

  Context& context_;
  void* staging_ = nullptr;
  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t suggested_ = 0;  // as the device's size, in the last report of memory that was too small
  std::uint64_t used_ = 0;       // device bytes
  std::uint64_t shared_ = 0;     // blocks that kernels see
};

}  // namespace weft::cuda

#endif
