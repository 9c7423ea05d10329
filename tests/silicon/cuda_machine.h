// A real GPU behind the CUDA driver API, which is looked up at run time: building needs no CUDA.
#ifndef WEFT_TESTS_SILICON_CUDA_MACHINE_H
#define WEFT_TESTS_SILICON_CUDA_MACHINE_H

#include "conformance/machine.h"

namespace weft::test::silicon {

// Finds a function of the driver API by name; nullptr: there is none.
using Symbols = std::function<void*(const char* name)>;
// Those of a library such as libcuda.so.1. Throws std::runtime_error if it cannot be opened.
Symbols open_library(const std::string& path);

struct Device {
  std::string name;        // "NVIDIA H200"
  std::string capability;  // "9.0"
  int driver = 0;          // 12080: version 12.8
};

class CudaMachine : public conformance::Machine {
 public:
  // The first device. Throws std::runtime_error, naming the function that failed.
  explicit CudaMachine(const Symbols& symbols);
  ~CudaMachine() override;
  const Device& device() const;
  // Level of the driver's compiler for modules loaded from now on: 0 to 4. Without it the driver chooses.
  void set_optimisation(int level);
  // .target of modules: "sm_60"; else that of the device.
  void set_target(const std::string& target);

  std::uint64_t allocate(std::uint64_t bytes) override;
  void write(std::uint64_t to, const void* from, std::uint64_t bytes) override;
  void read(void* to, std::uint64_t from, std::uint64_t bytes) override;
  std::string header() const override;
  void load(const std::string& text) override;
  std::uint64_t variable(const std::string& name) override;
  void launch(unsigned blocks, unsigned threads,
              const std::vector<std::vector<std::uint8_t>>& arguments) override;

 private:
  struct Driver;
  std::unique_ptr<Driver> driver_;
};

}  // namespace weft::test::silicon

#endif
