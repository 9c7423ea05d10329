// A small whole GPU for tests of the SM and of the platform: PTX in, cycles and statistics out.
//
//   GpuBench bench({"sm.count=1"});
//   bench.load(looped_kernel("add.u32 %r1, %r1, 1;"));
//   bench.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(out).add(10u));   // core cycles
//
// One per process: SystemC elaborates once. `apart` runs what needs more than one.
#ifndef WEFT_TESTS_PLATFORM_GPU_BENCH_H
#define WEFT_TESTS_PLATFORM_GPU_BENCH_H

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"

namespace weft::test {

// A module with one kernel "k". %p<16>, %rs<16>, %r<64>, %rd<32>, %f<16>, %fd<16> are declared.
std::string kernel_text(const std::string& parameters, const std::string& body);

// k(.u64 out, .u32 turns, .u64 start): runs `body` in a loop, `turns` times; before it %rd1 = out, %r2 =
// %tid.x, %rd3 = start and then `prologue`. Thread t then writes %r1 to out[t]. The body leaves %r62, %r63,
// %p15, %rd1 and %r2 alone.
std::string looped_kernel(const std::string& body, const std::string& prologue = "");
std::string repeated(unsigned count, const std::string& text);

class GpuBench {
 public:
  // `overrides` of the configuration named first.
  explicit GpuBench(const std::vector<std::string>& overrides = {}, const std::string& config = "gtx480",
                    const runtime::DeviceOptions& options = {});

  void load(const std::string& ptx);
  // Core cycles that the launch took.
  std::uint64_t run(const dispatch::Dim3& grid, const dispatch::Dim3& block,
                    const runtime::Arguments& arguments);
  // A looped kernel: core cycles that one more turn takes in the steady state.
  double cycles_per_turn(const std::string& ptx, const dispatch::Dim3& block, std::uint64_t start = 0);
  // What one more copy of `instructions` in the body of a loop costs, in core cycles.
  double cycles_per_copy(const std::string& instructions, const dispatch::Dim3& block,
                         std::uint64_t start = 0, const std::string& prologue = "");

  // Device::reset, which also forgets the loaded kernel.
  void reset();
  runtime::Address words(const std::vector<std::uint32_t>& values);
  runtime::Address zeros(std::uint64_t bytes);
  std::vector<std::uint32_t> read(runtime::Address from, std::size_t words) const;

  nlohmann::ordered_json statistics();
  // A counter of the SMs, summed over all of them.
  double sum_over_sms(statistics::Path path);
  double sum_over_sms(const char* name) { return sum_over_sms(statistics::Path{name}); }

  runtime::Device device;

 private:
  std::string text_;
  runtime::LoadedModule* module_ = nullptr;
  runtime::Address out_ = 0;
};

// "harp-fermi" or, with another scheme than its own, "harp-fermi+harp": every configuration, and every other
// scheme on three of them.
std::vector<std::string> machine_names();
// Where a test of one of these adds its overrides and names its configuration.
std::string config_of(const std::string& machine);
std::vector<std::string> overrides_of(const std::string& machine, std::vector<std::string> overrides);
// The machine's name as part of a test's name.
std::string test_name_of(std::string machine);

// Runs `body` in a child process and returns its text. A test fails if the child does.
std::string apart(const std::function<std::string()>& body);

}  // namespace weft::test

#endif
