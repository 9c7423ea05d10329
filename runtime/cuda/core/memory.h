// Device memory, host memory that CUDA knows of, and copies between all of them. What an address is follows
// from the address: device memory begins at kDeviceBase.
#ifndef WEFT_RUNTIME_CUDA_CORE_MEMORY_H
#define WEFT_RUNTIME_CUDA_CORE_MEMORY_H

#include <cstdint>
#include <map>
#include <vector>

namespace weft::cuda {

class Context;
struct Array;

// One end of a copy of up to three dimensions.
struct End {
  std::uint64_t address = 0;  // unless array: of the first byte, host or device
  std::uint64_t pitch = 0;    // bytes from row to row
  std::uint64_t slice = 0;    // bytes from slice to slice
  Array* array = nullptr;
  std::uint64_t x = 0;  // array: where the copy begins: bytes, rows, slices
  std::uint32_t y = 0, z = 0;
};
struct Box {
  std::uint64_t width = 0;  // bytes
  std::uint64_t height = 1, depth = 1;
};

class Memory {
 public:
  enum class Kind { kDevice, kPinned, kRegistered, kManaged };
  struct Block {
    std::uint64_t address = 0, bytes = 0;
    Kind kind = Kind::kDevice;
    unsigned flags = 0;
    bool shared = false;  // host memory that kernels see
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
  bool is_device(std::uint64_t address) const;
  void usage(std::uint64_t* free, std::uint64_t* total);

  // At once, in the order of calls; fail with kInvalidValue for a range outside of device allocations.
  void copy(const End& to, const End& from, const Box& box);
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  // `value` is repeated: `bytes_of_value` 1, 2 or 4.
  void fill(const End& to, const Box& box, std::uint32_t value, unsigned bytes_of_value);

  void reset();

 private:
  void copy_row(const End& to, const End& from, std::uint64_t row, std::uint64_t slice, std::uint64_t bytes);
  void read(const End& from, std::uint64_t row, std::uint64_t slice, std::uint64_t bytes, void* to);
  void write(const End& to, std::uint64_t row, std::uint64_t slice, std::uint64_t bytes, const void* from);

  void* allocate_on_host(std::uint64_t bytes, Kind kind, unsigned flags);
  void free_on_host(const Block& block);

  Context& context_;
  void* staging_ = nullptr;
  std::uint64_t next_host_;  // where host memory is looked for, so that addresses are the same in each run
  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t used_ = 0;             // device bytes
  std::vector<std::uint8_t> scratch_;  // a row
};

}  // namespace weft::cuda

#endif
