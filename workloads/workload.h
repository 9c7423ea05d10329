// A workload: kernels in PTX, deterministic input, a host side, and a CPU reference that checks the result.
#ifndef WEFT_WORKLOADS_WORKLOAD_H
#define WEFT_WORKLOADS_WORKLOAD_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace weft::workloads {

struct Option {
  std::string name;         // "n", "degree", "seed"
  std::uint64_t value = 0;  // default
  std::uint64_t low = 1, high = UINT64_MAX;
  std::string meaning;
};

// Named sizes are sets of option values: "small" (tests, under a second), "default", "large".
using Size = std::map<std::string, std::uint64_t>;

struct Result {
  bool verified = false;
  std::string message;      // what was compared, and the first difference if there is one
};

class Workload {
 public:
  virtual ~Workload() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;
  virtual std::vector<Option> options() const = 0;
  virtual std::map<std::string, Size> sizes() const = 0;
  // Kernels' PTX, as built by clang, or another text with the same kernels (--ptx).
  virtual std::string ptx() const = 0;
  // Runs everything on the device and compares with the CPU. `values` has every option.
  virtual Result run(runtime::Device& device, const Size& values) = 0;
};

// All workloads by name, in alphabetical order.
std::vector<std::unique_ptr<Workload>> all();
// Throws InputError that lists the known names.
std::unique_ptr<Workload> find(const std::string& name);

}  // namespace weft::workloads

#endif
