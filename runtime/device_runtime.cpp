#include "runtime/device_runtime.h"

#include <algorithm>
#include <iterator>

#include "common/number.h"

namespace weft::runtime {

void check_limits(const DeviceLimits& limits) {
  require("stack of a thread", limits.stack_bytes, {0, DeviceLimits::kMostStack, 1, "bytes"});
  require("output of printf", limits.printf_bytes, {0, DeviceLimits::kMostPrintf, 1, "bytes"});
  require("device heap", limits.heap_bytes, {0, DeviceLimits::kMostHeap, 1, "bytes"});
}

void DeviceRuntime::set_heap(std::uint64_t address, std::uint64_t bytes) {
  has_heap_ = true;
  holes_.clear();
  live_.clear();
  heap_in_use_ = 0;
  if (bytes >= kAlignment) holes_[address] = bytes / kAlignment * kAlignment;
}

// CUDA's buffer is circular: what is newest stays.
void DeviceRuntime::print(const std::string& text) {
  if (text.empty()) return;
  output_.push_back(text);
  output_bytes_ += text.size();
  while (output_bytes_ > printf_bytes_) {
    output_bytes_ -= output_.front().size();
    output_.pop_front();
    ++lost_;
  }
}

std::string DeviceRuntime::take_output() {
  std::string text;
  text.reserve(output_bytes_);
  for (const std::string& part : output_) text += part;
  output_.clear();
  output_bytes_ = 0;
  return text;
}

// First fit, by address.
std::uint64_t DeviceRuntime::allocate(std::uint64_t bytes) {
  if (bytes == 0 || bytes > UINT64_MAX - 2 * kAlignment) return 0;
  // An access by one behind a round size would be to the next allocation.
  const std::uint64_t gap = checks_ != nullptr && checks_->gaps() ? kAlignment : 0;
  const std::uint64_t needed = (bytes + kAlignment - 1) / kAlignment * kAlignment + gap;
  const auto hole =
      std::find_if(holes_.begin(), holes_.end(), [&](const auto& h) { return h.second >= needed; });
  if (hole == holes_.end()) return 0;
  const auto [address, size] = *hole;
  holes_.erase(hole);
  if (size > needed) holes_[address + needed] = size - needed;
  live_[address] = needed;
  if (checks_ != nullptr) checks_->allocated_by_kernel(address, bytes);
  heap_in_use_ += needed;
  return address;
}

bool DeviceRuntime::release(std::uint64_t address) {
  const auto live = live_.find(address);
  if (live == live_.end()) return false;
  if (checks_ != nullptr) checks_->freed(address);
  std::uint64_t begin = address, bytes = live->second;
  heap_in_use_ -= bytes;
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

void DeviceRuntime::reset() {
  *this = DeviceRuntime();
}

}  // namespace weft::runtime
