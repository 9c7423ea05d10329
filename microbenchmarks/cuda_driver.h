// The CUDA driver API of a real GPU, looked up at run time: neither building nor running needs a CUDA
// toolkit.
#ifndef WEFT_MICROBENCHMARKS_CUDA_DRIVER_H
#define WEFT_MICROBENCHMARKS_CUDA_DRIVER_H

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::microbenchmarks {

// Finds a function of the driver API by name; nullptr: there is none.
using Symbols = std::function<void*(const char* name)>;
// Those of a library such as libcuda.so.1. Throws std::runtime_error if it cannot be opened.
Symbols open_library(const std::string& path);

// A kernel faulted: the memory and the modules of the context are gone, and a new context is in place.
class ContextLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// CUdevice_attribute
enum class DeviceAttribute : int {
  kThreadsPerBlock = 1,
  kCoreKilohertz = 13,
  kSms = 16,
  kL2Bytes = 38,
  kThreadsPerSm = 39,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kSharedBytesPerBlock = 97,  // at most, on demand
};

class CudaDriver {
 public:
  using Module = void*;
  struct Device {
    std::string name;        // "NVIDIA H200"
    std::string capability;  // "9.0"
    int driver = 0;          // 12080: version 12.8
  };
  struct Extent {
    unsigned x = 1, y = 1, z = 1;
    // NOLINTNEXTLINE(google-explicit-constructor): most are a line
    Extent(unsigned along_x = 1, unsigned along_y = 1, unsigned along_z = 1)
        : x(along_x), y(along_y), z(along_z) {}
  };
  struct Launch {
    Extent blocks, threads;
    std::uint64_t dynamic_shared = 0;
    std::vector<std::vector<std::uint8_t>> arguments;
    std::string kernel = "k";
  };

  // The first device. Throws std::runtime_error, naming the function that failed.
  explicit CudaDriver(const Symbols& symbols);
  ~CudaDriver();
  const Device& device() const;
  int attribute(DeviceAttribute attribute) const;
  // Level of the driver's compiler for modules loaded from now on: 0 to 4. Without it the driver chooses.
  void set_optimisation(int level);
  // .target of modules: "sm_60"; else that of the device.
  void set_target(const std::string& target);
  // .version, the newest that the driver reads, and .target.
  std::string header() const;

  std::uint64_t allocate(std::uint64_t bytes);
  void free(std::uint64_t address);
  void write(std::uint64_t to, const void* from, std::uint64_t bytes);
  void read(void* to, std::uint64_t from, std::uint64_t bytes);
  Module load(const std::string& text);
  void unload(Module module);
  std::uint64_t variable(Module module, const std::string& name);
  // Whether the compiler has kept the variable.
  bool has_variable(Module module, const std::string& name) const;
  // After the launches before it.
  void start(Module module, const Launch& launch);
  // Throws ContextLost.
  void wait();

 private:
  struct Functions;
  void use_context();

  std::unique_ptr<Functions> functions_;
  int ordinal_ = 0;  // the device's handle
  Device device_;
  std::string target_;  // "sm_90"
  int optimisation_ = -1;
};

}  // namespace weft::microbenchmarks

#endif
