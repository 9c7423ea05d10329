// A workload: kernels in PTX, deterministic input, a host side, and a CPU reference that checks the result.
//
//   auto workload = workloads::find("bfs");
//   workloads::Size values = workloads::values_of(*workload, "small,degree=4");
//   workloads::Result result = workload->run(device, values, workload->code());
#ifndef WEFT_WORKLOADS_WORKLOAD_H
#define WEFT_WORKLOADS_WORKLOAD_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weft/runtime/device.h"

namespace weft::workloads {

struct Option {
  std::string name;  // "n", "degree", "seed"
  std::uint64_t low = 0, high = UINT64_MAX;
  std::uint64_t multiple = 1;  // values are multiples of this
  std::string meaning;
};

// A value for every option of a workload, or a named set of such values.
using Size = std::map<std::string, std::uint64_t>;

// The kernels' PTX and where it comes from.
struct Code {
  std::string ptx;
  std::string file;  // for messages
  std::string compiler;
  std::string kernel;  // empty: the module's only kernel
};

struct Result {
  bool verified = false;
  std::string message;  // what was compared, and the first difference if there is one
};

class Workload {
 public:
  virtual ~Workload() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;
  virtual std::vector<Option> options() const = 0;
  // "small" (tests, under a second), "default", "large", and for each paper that measured the program one
  // with the grids and blocks that it prints: "dwr", "crown", "harp", "stsimt". Each has every option.
  virtual std::map<std::string, Size> sizes() const = 0;
  // By size: what it asks of the configuration, as "path=value", weaker than what the user sets. So the
  // occupancy is the paper's where our register allocator differs: "sm.registers_per_thread=20".
  virtual std::map<std::string, std::vector<std::string>> settings() const { return {}; }
  // Bytes of device memory that run() will ask for at least; 0: too few to matter on any machine.
  virtual std::uint64_t device_bytes(const Size& /*values*/) const { return 0; }
  // The PTX made from the workload's .cu when Weft was built.
  virtual Code code() const = 0;
  // Runs everything on the device and compares with the CPU. `values` has every option; `code` is code() or
  // another text whose kernel takes the same parameters.
  virtual Result run(runtime::Device& device, const Size& values, const Code& code) = 0;
};

// All workloads, in alphabetical order.
std::vector<std::unique_ptr<Workload>> all();
// Throws InputError that lists the known names.
std::unique_ptr<Workload> find(const std::string& name);

// "small", "n=1000,degree=4", "large,seed=7" or "" (the default size): a size, then changes to it. Throws
// InputError for unknown names and for values outside an option's range, saying what is allowed.
Size values_of(const Workload& workload, const std::string& text);

// Runs a workload at a size, after a look at whether the device has room for it (InputError).
Result run(Workload& workload, runtime::Device& device, const Size& values, const Code& code);

// Whether its inputs are generated, from the option "seed".
bool has_seed(const Workload& workload);

// The settings of the size that `text` begins with.
std::vector<std::string> settings_of(const Workload& workload, const std::string& text);

// Code read from a file. Throws InputError if it cannot be read. The compiler is taken from the comment that
// nvcc and clang leave at the top, else "unknown".
Code code_of_file(const std::string& path, const std::string& kernel);

// The PTX of a workload as nvcc made it (workloads/nvcc); none: that folder has no PTX of this name.
std::optional<Code> nvcc_code(const std::string& name);

}  // namespace weft::workloads

#endif
