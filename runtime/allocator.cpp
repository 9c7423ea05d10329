#include "runtime/allocator.h"

#include <algorithm>
#include <iterator>

#include "common/hex.h"
#include "weft/common/error.h"

namespace weft::runtime {

std::uint64_t Allocator::taken_by(std::uint64_t bytes) const {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment + gap_;
}

Allocator::Allocator(std::uint64_t base, std::uint64_t bytes, std::uint64_t gap) : base_(base), gap_(gap) {
  if (bytes >= kAlignment) holes_[base] = bytes / kAlignment * kAlignment;
}

std::uint64_t Allocator::allocate(std::uint64_t bytes) {
  if (bytes == 0) throw InputError("device memory", "an allocation of 0 bytes; allowed: 1 or more");
  // Rounding up could wrap around for sizes close to 2^64; no hole is that large.
  const bool possible = bytes <= largest_hole();
  const std::uint64_t needed = possible ? taken_by(bytes) : 0;
  const auto hole = std::find_if(holes_.begin(), holes_.end(),
                                 [&](const auto& candidate) { return candidate.second >= needed; });
  if (!possible || hole == holes_.end()) {
    throw InputError("device memory",
                     "asked for " + std::to_string(bytes) + " bytes; free: " + std::to_string(free_bytes()) +
                         " bytes, of which " + std::to_string(largest_hole()) + " are contiguous");
  }
  const auto [address, size] = *hole;
  holes_.erase(hole);
  if (size > needed) holes_[address + needed] = size - needed;
  live_[address] = bytes;
  return address;
}

Allocator::Hole Allocator::release(std::uint64_t address) {
  const auto live = live_.find(address);
  if (live == live_.end()) {
    throw InputError("device memory", "no allocation starts at " + hex(address));
  }
  const Range added{address, taken_by(live->second)};
  Range hole = added;
  live_.erase(live);

  const auto after = holes_.lower_bound(address);
  if (after != holes_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == address) {
      hole = {before->first, before->second + hole.bytes};
      holes_.erase(before);
    }
  }
  if (after != holes_.end() && after->first == hole.address + hole.bytes) {
    hole.bytes += after->second;
    holes_.erase(after);
  }
  holes_[hole.address] = hole.bytes;
  return {added, hole};
}

bool Allocator::contains(std::uint64_t address, std::uint64_t bytes) const {
  auto next = live_.upper_bound(address);
  if (next == live_.begin()) return false;
  const auto& [first, size] = *std::prev(next);
  const std::uint64_t offset = address - first;
  return offset <= size && bytes <= size - offset;
}

std::uint64_t Allocator::free_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& hole : holes_) sum += hole.second;
  return sum;
}

std::uint64_t Allocator::largest_hole() const {
  std::uint64_t largest = 0;
  for (const auto& hole : holes_) largest = std::max(largest, hole.second);
  return largest;
}

std::uint64_t Allocator::end_of_live() const {
  if (live_.empty()) return base_;
  const auto& [address, bytes] = *live_.rbegin();
  return address + taken_by(bytes);
}

}  // namespace weft::runtime
