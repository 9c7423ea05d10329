// A real GPU behind the CUDA driver API (microbenchmarks/cuda_driver.h) as a machine of conformance cases.
#ifndef WEFT_TESTS_SILICON_CUDA_MACHINE_H
#define WEFT_TESTS_SILICON_CUDA_MACHINE_H

#include "conformance/machine.h"
#include "microbenchmarks/cuda_driver.h"

namespace weft::test::silicon {

using microbenchmarks::open_library;
using microbenchmarks::Symbols;

class CudaMachine : public conformance::Machine {
 public:
  // The first device. Throws std::runtime_error, naming the function that failed.
  explicit CudaMachine(const Symbols& symbols);
  ~CudaMachine() override;
  const microbenchmarks::CudaDriver::Device& device() const;
  void set_optimisation(int level);
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
  microbenchmarks::CudaDriver driver_;
  microbenchmarks::CudaDriver::Module module_ = nullptr;
};

}  // namespace weft::test::silicon

#endif
