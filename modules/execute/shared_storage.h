// Shared memory of an SM's resident blocks.
//
// What a block may access follows from what is there: part() hands out bytes of the storage only, whatever
// sizes were asked for.
#ifndef WEFT_EXECUTE_SHARED_STORAGE_H
#define WEFT_EXECUTE_SHARED_STORAGE_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "weft/common/error.h"
#include "weft/machine/sm_config.h"

namespace weft::execute {

class SharedStorage {
 public:
  struct Part {
    std::uint8_t* base = nullptr;
    std::uint64_t bytes = 0;
  };

  // Makes room for `blocks` blocks of `bytes` bytes each. Contents become zero. Throws InputError for blocks
  // larger than a machine may have.
  void configure(std::uint64_t bytes, std::uint32_t blocks) {
    if (bytes > machine::kMostSharedBytes) {
      throw InputError("shared memory", "a block of " + std::to_string(bytes) + " bytes; allowed: up to " +
                                            std::to_string(machine::kMostSharedBytes));
    }
    bytes_ = bytes;
    stride_ = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    storage_.assign(stride_ * blocks, 0);
  }
  void clear(unsigned slot) {
    const Part block = part(slot);
    std::fill(block.base, block.base + block.bytes, std::uint8_t{0});
  }
  Part part(unsigned slot) {
    const std::size_t begin = stride_ * slot;
    if (begin >= storage_.size()) return {};  // there is no such slot, or no shared memory
    return {storage_.data() + begin, bytes_};
  }
  // The same to look at; nullptr: there is no such slot.
  const std::uint8_t* bytes_of(unsigned slot) const {
    const std::size_t begin = stride_ * slot;
    return begin < storage_.size() ? storage_.data() + begin : nullptr;
  }

 private:
  static constexpr std::uint64_t kAlignment = 64;
  std::vector<std::uint8_t> storage_;  // stride_ bytes per slot
  std::uint64_t bytes_ = 0;            // of a block; at most stride_
  std::size_t stride_ = 0;
};

}  // namespace weft::execute

#endif
