// Random kernels on a whole GPU against the per-thread interpreter; a kernel that fails is made small.
//
//   const Machine machine{"gtx480", "dwf", "barrel", 32};
//   Campaign campaign(machine);
//   const Failure failure = campaign.run(seed);
//   if (failure) FAIL() << failure.report;
#ifndef WEFT_TESTS_EQUIVALENCE_CAMPAIGN_H
#define WEFT_TESTS_EQUIVALENCE_CAMPAIGN_H

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "equivalence/kernel_generator.h"
#include "weft/runtime/device.h"

namespace weft::test {

struct Machine {
  std::string config, scheme, dependence;
  unsigned warp_size = 32;
  std::uint64_t tables = 0;    // seed of the scheme's own configuration; 0: as it is
  unsigned max_registers = 0;  // sm.max_registers_per_thread; 0: as the configuration says
  // All clocks run at 700 MHz: a kernel takes the same time whenever it begins. Else their edges lie
  // otherwise at each reset.
  bool one_clock = false;
  std::vector<std::string> settings = {};  // more of the configuration
  std::string name = {};                   // of these, in the name of its test
};
void PrintTo(const Machine& machine, std::ostream* out);
// "dwf_gtx480_32_barrel": the name of its test.
std::string test_name(const Machine& machine);

// The command that runs the kernel of this seed on this machine.
std::string how_to_repeat(const Machine& machine, std::uint64_t seed);

struct Failure {
  std::string what;    // of the kernel that the seed gives
  std::string report;  // what, where, how to repeat it, and the smallest kernel that fails
  RandomKernel smallest;
  explicit operator bool() const { return !what.empty(); }
};

// One per process, as SystemC elaborates once.
class Campaign {
 public:
  // `mutate` falsifies the kernel's text for the GPU only: a test of this class sees its failures.
  explicit Campaign(const Machine& machine, std::function<std::string(const std::string&)> mutate = nullptr);

  // The kernel of this seed on both.
  Failure run(std::uint64_t seed);
  // What differs, or is thrown; empty if they agree. The GPU is reset first. The seed is that of the table.
  std::string difference(const RandomKernel& kernel, std::uint64_t seed);
  // Seconds after which a failing kernel is small enough.
  void set_seconds_to_shrink(double seconds) { seconds_to_shrink_ = seconds; }

  std::uint64_t thread_instructions() const { return thread_instructions_; }
  unsigned spilled_kernels() const { return spilled_kernels_; }
  // Instructions that executed once for a warp.
  std::uint64_t scalar_instructions() const { return scalar_instructions_; }

 private:
  std::string compare(const RandomKernel& kernel, std::uint64_t seed);

  const Machine machine_;
  const std::function<std::string(const std::string&)> mutate_;
  runtime::Device device_;
  double seconds_to_shrink_ = 120;
  std::uint64_t thread_instructions_ = 0, scalar_instructions_ = 0;
  unsigned spilled_kernels_ = 0;
};

}  // namespace weft::test

#endif
