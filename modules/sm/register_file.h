// Registers, predicates and pending bits of an SM's resident threads.
//
// Layout: [chunk of 32 positions][row][32 lanes], so one register of 32 neighbouring threads is one vector of
// 128 bytes (256 for a 64-bit pair). Pending bits belong to (thread, register): per chunk and scoreboard key
// one mask of 32 lanes, so that regrouping threads copies nothing.
#ifndef WEFT_SM_REGISTER_FILE_H
#define WEFT_SM_REGISTER_FILE_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "ptx/program.h"

namespace weft::sm {

class RegisterFile {
 public:
  static constexpr unsigned kLanes = 32;

  // Makes room for `chunks` chunks of threads of this kernel. Contents become zero.
  void configure(const ptx::Program& program, unsigned chunks) {
    words_per_chunk_ = std::size_t{program.rows} * kLanes;
    predicates_ = std::max<std::size_t>(1, program.predicates);
    keys_ = std::size_t{program.rows} + program.predicates;
    storage_.assign(words_per_chunk_ * chunks + kAlignment / 4, 0);
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    base_ = storage_.data() + ((kAlignment - address % kAlignment) % kAlignment) / 4;
    predicate_.assign(predicates_ * chunks, 0);
    pending_.assign(keys_ * chunks, 0);
    pending_load_.assign(keys_ * chunks, 0);
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
    image.registers.assign(base_, base_ + words_per_chunk_ * chunks());
    image.predicates = predicate_;
  }
  bool equals(const Image& image) const {
    return image.predicates == predicate_ && image.registers.size() == words_per_chunk_ * chunks() &&
           std::equal(image.registers.begin(), image.registers.end(), base_);
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

  // Threads of the chunk, within `mask`, for which one of the keys is pending.
  std::uint32_t pending(unsigned chunk, const std::uint16_t* keys, unsigned count) const {
    const std::uint32_t* bits = pending_.data() + keys_ * chunk;
    std::uint32_t any = 0;
    for (unsigned i = 0; i < count; ++i) any |= bits[keys[i]];
    return any;
  }
  // The same, for writes that come from loads.
  std::uint32_t pending_load(unsigned chunk, const std::uint16_t* keys, unsigned count) const {
    const std::uint32_t* bits = pending_load_.data() + keys_ * chunk;
    std::uint32_t any = 0;
    for (unsigned i = 0; i < count; ++i) any |= bits[keys[i]];
    return any;
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
  static constexpr std::size_t kAlignment = 64;
  std::size_t chunks() const { return predicate_.size() / predicates_; }
  std::vector<std::uint32_t> storage_;
  std::uint32_t* base_ = nullptr;
  std::vector<std::uint32_t> predicate_, pending_, pending_load_;
  std::size_t words_per_chunk_ = 0, predicates_ = 1, keys_ = 0;
};

}  // namespace weft::sm

#endif
