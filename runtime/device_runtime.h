// What printf, malloc and free of kernels work on: a bounded buffer of output, and the device heap.
#ifndef WEFT_RUNTIME_DEVICE_RUNTIME_H
#define WEFT_RUNTIME_DEVICE_RUNTIME_H

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "check/checks.h"
#include "ptx/limits.h"
#include "sm/device_services.h"

namespace weft::runtime {

// Limits as cudaDeviceSetLimit has them, in bytes.
struct DeviceLimits {
  static constexpr std::uint64_t kMostStack = ptx::kMaxLocalBytes;
  static constexpr std::uint64_t kMostPrintf = std::uint64_t{1} << 32;  // of the simulator's own memory
  static constexpr std::uint64_t kMostHeap = std::uint64_t{1} << 36;    // as device memory may have
  std::uint64_t stack_bytes = 1024;      // of a thread, where functions call themselves
  std::uint64_t printf_bytes = 1 << 20;  // output that is kept: older calls give way to newer ones
  std::uint64_t heap_bytes = 8 << 20;    // of malloc in kernels
};
// Throws InputError for a limit above its bound.
void check_limits(const DeviceLimits& limits);

class DeviceRuntime final : public sm::DeviceServices {
 public:
  static constexpr std::uint64_t kAlignment = 16;

  void set_printf_bytes(std::uint64_t bytes) { printf_bytes_ = bytes; }
  // The heap lies at [address, address + bytes); once, before the first kernel that uses it.
  void set_heap(std::uint64_t address, std::uint64_t bytes);
  // Tells `checks` what kernels allocate and free; nullptr: nobody.
  void observe(check::Checks* checks) { checks_ = checks; }
  bool has_heap() const { return has_heap_; }

  void print(const std::string& text) override;
  std::uint64_t allocate(std::uint64_t bytes) override;
  bool release(std::uint64_t address) override;

  // What was printed since the last call of this, in order.
  std::string take_output();
  // Calls of printf whose output was given up because the buffer was full, since construction.
  std::uint64_t lost() const { return lost_; }
  std::uint64_t heap_in_use() const { return heap_in_use_; }
  void reset();

 private:
  check::Checks* checks_ = nullptr;
  std::uint64_t printf_bytes_ = DeviceLimits().printf_bytes;
  std::deque<std::string> output_;
  std::uint64_t output_bytes_ = 0, lost_ = 0;
  bool has_heap_ = false;
  std::uint64_t heap_in_use_ = 0;
  std::map<std::uint64_t, std::uint64_t> holes_, live_;  // address -> bytes, multiples of kAlignment
};

}  // namespace weft::runtime

#endif
