// What printf, malloc and free of kernels work on: a bounded buffer of output, and the device heap.
#ifndef WEFT_RUNTIME_DEVICE_RUNTIME_H
#define WEFT_RUNTIME_DEVICE_RUNTIME_H

#include <cstdint>
#include <string>

#include "check/checks.h"
#include "execute/device_heap.h"
#include "execute/device_services.h"
#include "execute/print_buffer.h"
#include "weft/common/archive.h"
#include "weft/runtime/device_limits.h"

namespace weft::runtime {

class DeviceRuntime final : public execute::DeviceServices {
 public:
  static constexpr std::uint64_t kAlignment = execute::DeviceHeap::kAlignment;

  void set_printf_bytes(std::uint64_t bytes) { output_.set_most_bytes(bytes); }
  // The heap lies at [address, address + bytes); once, before the first kernel that uses it.
  void set_heap(std::uint64_t address, std::uint64_t bytes);
  // Tells `checks` what kernels allocate and free; nullptr: nobody.
  void observe(check::Checks* checks) { checks_ = checks; }
  bool has_heap() const { return has_heap_; }

  void print(const std::string& text) override { output_.print(text); }
  std::uint64_t allocate(std::uint64_t bytes) override;
  bool release(std::uint64_t address) override;

  // What was printed since the last call of this, in order.
  std::string take_output() { return output_.take(); }
  // Calls of printf whose output was given up because the buffer was full, since construction.
  std::uint64_t lost() const { return output_.lost(); }
  std::uint64_t heap_in_use() const { return heap_.in_use(); }
  void reset();
  // What kernels have printed, allocated and freed.
  void archive(Archive& archive) { archive(output_, has_heap_, heap_); }

 private:
  check::Checks* checks_ = nullptr;
  execute::PrintBuffer output_{DeviceLimits().printf_bytes};
  bool has_heap_ = false;
  execute::DeviceHeap heap_;
};

}  // namespace weft::runtime

#endif
