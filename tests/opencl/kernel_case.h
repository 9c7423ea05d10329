// An OpenCL kernel with its work and its arguments, for two engines to run: what both are given, and how
// close their results must be.
#ifndef WEFT_TESTS_OPENCL_KERNEL_CASE_H
#define WEFT_TESTS_OPENCL_KERNEL_CASE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace weft::opencl {

using Bytes = std::vector<std::uint8_t>;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

struct Argument {
  enum class Kind { kBuffer, kValue, kLocal };
  Kind kind = Kind::kValue;
  Bytes bytes;            // a buffer's initial content; a value
  std::size_t local = 0;  // bytes of local memory
  // Of a buffer of floats that need not agree exactly: units in the last place by which they may differ, one
  // for each of as many equal parts of the buffer. Empty: all bytes are equal.
  std::vector<double> ulps;
};

struct KernelCase {
  std::string name;                                            // of the kernel and of its file
  std::array<std::size_t, 3> global{1, 1, 1}, local{1, 1, 1};  // work-items in all; of a work-group
  std::vector<Argument> arguments;

  KernelCase(std::string kernel, std::array<std::size_t, 3> work, std::array<std::size_t, 3> group)
      : name(std::move(kernel)), global(work), local(group) {}

  template <class T>
  KernelCase& buffer(const std::vector<T>& initial) {
    arguments.push_back({Argument::Kind::kBuffer, bytes_of(initial), 0, {}});
    return *this;
  }
  template <class T>
  KernelCase& zeros(std::size_t count) {
    return buffer(std::vector<T>(count));
  }
  KernelCase& floats_within(std::size_t count, std::vector<double> ulps) {
    zeros<float>(count);
    arguments.back().ulps = std::move(ulps);
    return *this;
  }
  template <class T>
  KernelCase& value(const T& value) {
    arguments.push_back({Argument::Kind::kValue, bytes_of(std::vector<T>{value}), 0, {}});
    return *this;
  }
  KernelCase& local_bytes(std::size_t bytes) {
    arguments.push_back({Argument::Kind::kLocal, {}, bytes, {}});
    return *this;
  }
};

// Every kernel of tests/opencl/kernels.
std::vector<KernelCase> all_cases();

}  // namespace weft::opencl

#endif
