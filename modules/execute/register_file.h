// Registers, predicates and pending bits of an SM's resident threads.
//
// Layout: [chunk of 32 positions][row][32 lanes], so one register of 32 neighbouring threads is one vector of
// 128 bytes (256 for a 64-bit pair). Pending bits belong to (thread, register): per chunk and scoreboard key
// one mask of 32 lanes, so that regrouping threads copies nothing.
#ifndef WEFT_EXECUTE_REGISTER_FILE_H
#define WEFT_EXECUTE_REGISTER_FILE_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "weft/ptx/program.h"

namespace weft::execute {

class RegisterFile {
 public:
  static constexpr unsigned kLanes = 32;

  // Makes room for `chunks` chunks of threads of this kernel.
  void configure(const ptx::Program& program, unsigned chunks) {
    words_per_chunk_ = std::size_t{program.rows} * kLanes;
    predicates_ = std::max<std::size_t>(1, program.predicates);
    keys_ = std::size_t{program.rows} + program.predicates;
    const std::size_t words = words_per_chunk_ * chunks + kAlignment / 4;
    if (words > capacity_) {
      storage_.reset(new std::uint32_t[words]);  // not cleared: `begin` clears what is used
      capacity_ = words;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.get());
    base_ = storage_.get() + ((kAlignment - address % kAlignment) % kAlignment) / 4;
    used_.assign(chunks, false);
    predicate_.assign(predicates_ * chunks, 0);
    pending_.assign(keys_ * chunks, 0);
    pending_load_.assign(keys_ * chunks, 0);
  }

  // Threads come to these chunks. The first of a kernel find zeros.
  void begin(unsigned first_chunk, unsigned chunks) {
    for (unsigned chunk = first_chunk; chunk < first_chunk + chunks; ++chunk) {
      if (used_[chunk]) continue;
      used_[chunk] = true;
      std::fill_n(chunk_base(chunk), words_per_chunk_, 0);
    }
  }

  // The first lane of a register row of a chunk.
  std::uint32_t* row(unsigned chunk, unsigned row) { return chunk_base(chunk) + std::size_t{row} * kLanes; }
  std::uint32_t* chunk_base(unsigned chunk) { return base_ + words_per_chunk_ * chunk; }
  std::uint32_t& predicate(unsigned chunk, unsigned number) {
    return predicate_[predicates_ * chunk + number];
  }

  // All registers and predicates, to compare with later.
  struct Image {
    std::vector<std::uint32_t> registers, predicates;
  };
  void save(Image& image) const {
    image.registers.assign(words_per_chunk_ * used_.size(), 0);
    for (std::size_t chunk = 0; chunk < used_.size(); ++chunk) {
      const std::uint32_t* const registers = base_ + words_per_chunk_ * chunk;
      if (used_[chunk]) std::copy_n(registers, words_per_chunk_, &image.registers[words_per_chunk_ * chunk]);
    }
    image.predicates = predicate_;
  }
  bool equals(const Image& image) const {
    if (image.predicates != predicate_ || image.registers.size() != words_per_chunk_ * used_.size())
      return false;
    for (std::size_t chunk = 0; chunk < used_.size(); ++chunk) {
      const std::uint32_t* const before = &image.registers[words_per_chunk_ * chunk];
      const std::uint32_t* const registers = base_ + words_per_chunk_ * chunk;
      const bool same =
          used_[chunk] ? std::equal(before, before + words_per_chunk_, registers)
                       : std::all_of(before, before + words_per_chunk_, [](auto word) { return word == 0; });
      if (!same) return false;
    }
    return true;
  }

  // A hash of all registers and predicates of one thread.
  std::uint64_t hash(unsigned chunk, unsigned lane) const {
    constexpr std::uint64_t kPrime = 0x100000001b3;  // FNV-1a, a register at a time
    std::uint64_t hash = 0xcbf29ce484222325;
    const std::uint32_t* registers = base_ + words_per_chunk_ * chunk + lane;
    for (std::size_t row = 0; row < words_per_chunk_ / kLanes; ++row)
      hash = (hash ^ registers[row * kLanes]) * kPrime;
    for (std::size_t p = 0; p < predicates_; ++p)
      hash = (hash ^ (predicate_[predicates_ * chunk + p] >> lane & 1)) * kPrime;
    return hash;
  }

  // Whether one of the keys is pending for a thread of the chunk within `mask`.
  bool pending(unsigned chunk, std::uint32_t mask, const std::uint16_t* keys, unsigned count) const {
    return any_of(pending_.data() + keys_ * chunk, mask, keys, count);
  }
  // The same, for writes that come from loads.
  bool pending_load(unsigned chunk, std::uint32_t mask, const std::uint16_t* keys, unsigned count) const {
    return any_of(pending_load_.data() + keys_ * chunk, mask, keys, count);
  }
  // Threads of the chunk within `mask` for which one of the keys is pending.
  std::uint32_t pending_threads(unsigned chunk, std::uint32_t mask, const std::uint16_t* keys,
                                unsigned count) const {
    std::uint32_t threads = 0;
    for (unsigned i = 0; i < count; ++i) threads |= pending_[keys_ * chunk + keys[i]];
    return threads & mask;
  }
  void mark(unsigned chunk, std::uint32_t mask, const std::uint16_t* keys, unsigned count, bool load) {
    for (unsigned i = 0; i < count; ++i) {
      pending_[keys_ * chunk + keys[i]] |= mask;
      if (load) pending_load_[keys_ * chunk + keys[i]] |= mask;
    }
  }
  void clear(unsigned chunk, std::uint32_t mask, const std::uint16_t* keys, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      pending_[keys_ * chunk + keys[i]] &= ~mask;
      pending_load_[keys_ * chunk + keys[i]] &= ~mask;
    }
  }

 private:
  static bool any_of(const std::uint32_t* bits, std::uint32_t mask, const std::uint16_t* keys,
                     unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      if ((bits[keys[i]] & mask) != 0) return true;
    }
    return false;
  }
  static constexpr std::size_t kAlignment = 64;
  std::unique_ptr<std::uint32_t[]> storage_;
  std::size_t capacity_ = 0;  // of it, in words
  std::uint32_t* base_ = nullptr;
  std::vector<bool> used_;  // by chunk: threads have come to it since `configure`
  std::vector<std::uint32_t> predicate_, pending_, pending_load_;
  std::size_t words_per_chunk_ = 0, predicates_ = 1, keys_ = 0;
};

}  // namespace weft::execute

#endif
