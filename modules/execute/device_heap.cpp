#include "execute/device_heap.h"

#include <algorithm>
#include <iterator>

namespace weft::execute {

DeviceHeap::DeviceHeap(std::uint64_t address, std::uint64_t bytes) {
  if (bytes >= kAlignment) holes_[address] = bytes / kAlignment * kAlignment;
}

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes, std::uint64_t gap) {
  if (bytes == 0 || bytes > UINT64_MAX - 2 * kAlignment) return 0;
  const std::uint64_t needed = (bytes + kAlignment - 1) / kAlignment * kAlignment + gap;
  const auto hole =
      std::find_if(holes_.begin(), holes_.end(), [&](const auto& h) { return h.second >= needed; });
  if (hole == holes_.end()) return 0;
  const auto [address, size] = *hole;
  holes_.erase(hole);
  if (size > needed) holes_[address + needed] = size - needed;
  live_[address] = needed;
  in_use_ += needed;
  return address;
}

bool DeviceHeap::release(std::uint64_t address) {
  const auto live = live_.find(address);
  if (live == live_.end()) return false;
  std::uint64_t begin = address, bytes = live->second;
  in_use_ -= bytes;
  live_.erase(live);
  const auto after = holes_.lower_bound(begin);
  if (after != holes_.end() && after->first == begin + bytes) {
    bytes += after->second;
    holes_.erase(after);
  }
  const auto next = holes_.lower_bound(begin);
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      begin = before->first;
      bytes += before->second;
      holes_.erase(before);
    }
  }
  holes_[begin] = bytes;
  return true;
}

}  // namespace weft::execute
