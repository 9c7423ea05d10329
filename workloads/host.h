// What the workloads' host sides share: typed device arrays, input, kernel choice, comparison.
#ifndef WEFT_WORKLOADS_HOST_H
#define WEFT_WORKLOADS_HOST_H

#include <cstdint>
#include <string>
#include <vector>

#include "weft/runtime/device.h"
#include "workloads/workload.h"

namespace weft::workloads {

// The linear congruential generator of Numerical Recipes (2nd ed., section 7.1); its low bits are weak and
// dropped.
class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed) {}
  // Looks now and then whether the run was interrupted (Device::stop_if_interrupted): large inputs take long.
  Random(runtime::Device& device, std::uint32_t seed) : state_(seed), device_(&device) {}
  std::uint32_t next() {
    if (++count_ % kBetweenPolls == 0 && device_ != nullptr) device_->stop_if_interrupted();
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }

 private:
  static constexpr std::uint32_t kBetweenPolls = 1u << 20;
  std::uint32_t state_, count_ = 0;
  runtime::Device* device_ = nullptr;
};

// An array of T in device memory, freed with its owner.
template <class T>
class DeviceArray {
 public:
  DeviceArray(runtime::Device& device, std::size_t count)
      : device_(device), count_(count), address_(device.allocate(count * sizeof(T))) {}
  DeviceArray(runtime::Device& device, const std::vector<T>& values) : DeviceArray(device, values.size()) {
    write(values);
  }
  ~DeviceArray() { device_.free(address_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void write(const std::vector<T>& values) { device_.copy_to(address_, values.data(), count_ * sizeof(T)); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    device_.copy_from(values.data(), address_, count_ * sizeof(T));
    return values;
  }
  runtime::Address address() const { return address_; }

 private:
  runtime::Device& device_;
  std::size_t count_;
  runtime::Address address_;
};

// The kernel that `code` names, or the only one of the module. Throws InputError listing the module's
// kernels.
std::string kernel_of(const runtime::LoadedModule& module, const Code& code);

// As above where the module has several kernels of which one is the `usual`: the one that `code` names, else
// `usual` (as C or as C++ mangles it) if the module has it, else the only one.
std::string kernel_of(const runtime::LoadedModule& module, const Code& code, const std::string& usual);

// A workload of several kernels launches them by their names (extern "C" in the .cu) and calls this first:
// throws InputError if --kernel asked for one.
void takes_no_kernel(const Code& code);

// PTX of the workload `name` that was embedded when Weft was built, with the name of its compiler.
Code built_code(const std::string& name);

inline std::uint32_t blocks_for(std::uint64_t threads, std::uint64_t block) {
  return static_cast<std::uint32_t>((threads + block - 1) / block);
}

// The first place where `accept(i)` is false becomes the message; else "what: N values agree".
template <class Accept, class Describe>
Result compare(const std::string& what, std::size_t count, Accept accept, Describe describe) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!accept(i)) return {false, what + " differ first at " + std::to_string(i) + ": " + describe(i)};
  }
  return {true, what + ": " + std::to_string(count) + " values agree with the CPU"};
}

// Every value equal, bit for bit in the sense of ==.
template <class T>
Result compare_equal(const std::string& what, const std::vector<T>& got, const std::vector<T>& want) {
  return compare(
      what, want.size(), [&](std::size_t i) { return got[i] == want[i]; },
      [&](std::size_t i) { return "got " + std::to_string(got[i]) + ", want " + std::to_string(want[i]); });
}

}  // namespace weft::workloads

#endif
