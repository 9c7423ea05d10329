#include "silicon/cuda_machine.h"

namespace weft::test::silicon {

CudaMachine::CudaMachine(const Symbols& symbols) : driver_(symbols) {}

CudaMachine::~CudaMachine() = default;

const microbenchmarks::CudaDriver::Device& CudaMachine::device() const {
  return driver_.device();
}

void CudaMachine::set_optimisation(int level) {
  driver_.set_optimisation(level);
}

void CudaMachine::set_target(const std::string& target) {
  driver_.set_target(target);
}

std::uint64_t CudaMachine::allocate(std::uint64_t bytes) {
  return driver_.allocate(bytes);
}

void CudaMachine::write(std::uint64_t to, const void* from, std::uint64_t bytes) {
  driver_.write(to, from, bytes);
}

void CudaMachine::read(void* to, std::uint64_t from, std::uint64_t bytes) {
  driver_.read(to, from, bytes);
}

std::string CudaMachine::header() const {
  return driver_.header();
}

void CudaMachine::load(const std::string& text) {
  if (module_ != nullptr) driver_.unload(module_);
  module_ = nullptr;
  module_ = driver_.load(text);
}

std::uint64_t CudaMachine::variable(const std::string& name) {
  return driver_.variable(module_, name);
}

void CudaMachine::launch(unsigned blocks, unsigned threads,
                         const std::vector<std::vector<std::uint8_t>>& arguments) {
  driver_.start(module_, {blocks, threads, 0, arguments, "k"});
  try {
    driver_.wait();
  } catch (const microbenchmarks::ContextLost& fault) {
    module_ = nullptr;
    throw conformance::Lost(fault.what());
  }
}

}  // namespace weft::test::silicon
