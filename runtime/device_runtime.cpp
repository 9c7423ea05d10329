#include "runtime/device_runtime.h"

#include "common/number.h"

namespace weft::runtime {

void check_limits(const DeviceLimits& limits) {
  require("stack of a thread", limits.stack_bytes, {0, DeviceLimits::kMostStack, 1, "bytes"});
  require("output of printf", limits.printf_bytes, {0, DeviceLimits::kMostPrintf, 1, "bytes"});
  require("device heap", limits.heap_bytes, {0, DeviceLimits::kMostHeap, 1, "bytes"});
}

void DeviceRuntime::set_heap(std::uint64_t address, std::uint64_t bytes) {
  has_heap_ = true;
  heap_ = execute::DeviceHeap(address, bytes);
}

std::uint64_t DeviceRuntime::allocate(std::uint64_t bytes) {
  // An access by one behind a round size would be to the next allocation.
  const std::uint64_t gap = checks_ != nullptr && checks_->gaps() ? kAlignment : 0;
  const std::uint64_t address = heap_.allocate(bytes, gap);
  if (address != 0 && checks_ != nullptr) checks_->allocated_by_kernel(address, bytes);
  return address;
}

bool DeviceRuntime::release(std::uint64_t address) {
  if (!heap_.release(address)) return false;
  if (checks_ != nullptr) checks_->freed(address);
  return true;
}

void DeviceRuntime::reset() {
  *this = DeviceRuntime();
}

}  // namespace weft::runtime
