// What printf, malloc and free of kernels work on: a bounded buffer of output, and the device heap.
#ifndef WEFT_RUNTIME_DEVICE_RUNTIME_H
#define WEFT_RUNTIME_DEVICE_RUNTIME_H

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "check/checks.h"
#include "execute/device_services.h"
#include "weft/common/archive.h"
#include "weft/runtime/device_limits.h"

namespace weft::runtime {

class DeviceRuntime final : public execute::DeviceServices {
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
  // What kernels have printed, allocated and freed.
  void archive(Archive& archive) {
    archive(output_, output_bytes_, lost_, has_heap_, heap_in_use_, holes_, live_);
  }

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
