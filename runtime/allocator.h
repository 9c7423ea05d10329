// Device memory addresses: first fit over a free list that joins neighbours, so freeing everything gives one
// hole. Knows nothing of the memory itself.
#ifndef WEFT_RUNTIME_ALLOCATOR_H
#define WEFT_RUNTIME_ALLOCATOR_H

#include <cstdint>
#include <map>

namespace weft::runtime {

struct Range {
  std::uint64_t address = 0, bytes = 0;
};

class Allocator {
 public:
  static constexpr std::uint64_t kAlignment = 256;  // as CUDA's cudaMalloc guarantees

  // Addresses from `base` (aligned) to base + bytes. Behind each allocation stay `gap` bytes free, a multiple
  // of kAlignment.
  Allocator(std::uint64_t base, std::uint64_t bytes, std::uint64_t gap = 0);

  // Throws InputError if `bytes` is 0 or no hole is large enough (what was asked, what is free).
  std::uint64_t allocate(std::uint64_t bytes);
  // What becomes free, and the hole that now contains it. Throws InputError if `address` is not the start of
  // a live allocation.
  struct Hole {
    Range added, all;
  };
  Hole release(std::uint64_t address);

  // Whether the range lies inside one live allocation.
  bool contains(std::uint64_t address, std::uint64_t bytes) const;
  std::uint64_t free_bytes() const;
  std::uint64_t largest_hole() const;
  // Behind the last live allocation: from there on nothing is taken.
  std::uint64_t end_of_live() const;

 private:
  // What an allocation takes.
  std::uint64_t taken_by(std::uint64_t bytes) const;

  std::uint64_t base_;
  std::uint64_t gap_;
  std::map<std::uint64_t, std::uint64_t> holes_;  // address -> bytes, multiples of kAlignment
  std::map<std::uint64_t, std::uint64_t> live_;   // address -> bytes as asked for
};

}  // namespace weft::runtime

#endif
