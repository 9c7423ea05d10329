// Random kernels leave the same memory, and execute the same instructions, functionally, timed, and in the
// plain per-thread interpreter.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "equivalence/kernel_generator.h"
#include "interpreter/interpreter.h"
#include "platform/gpu_bench.h"
#include "weft/runtime/arguments.h"

namespace weft::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Case {
  std::uint32_t blocks, threads;
  std::uint64_t table, sums, end;  // byte offsets; the slots begin at 0
  Bytes memory;                    // before the launch
};

Case case_of(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Case c{};
  c.blocks = 1 + random() % 5;
  c.threads = 1 + random() % kMaxBlock;
  c.table = std::uint64_t{c.blocks} * c.threads * kSlotWords * 4;
  c.sums = c.table + kTableWords * 4;
  c.end = c.sums + kSums * 4;
  c.memory.resize(c.end, 0x5a);
  for (std::uint64_t i = c.table; i < c.sums; ++i) c.memory[i] = static_cast<std::uint8_t>(random());
  return c;
}

// The first launch after a reset is functional, the second one timed.
std::string compare(runtime::Device& device, std::uint64_t seed) {
  const Case c = case_of(seed);
  auto& module = device.load_module(random_kernel(seed), "random.ptx");
  const ptx::Program& program = device.program(module, "k");
  const auto base = device.allocate(c.end);
  const auto arguments = runtime::Arguments().add(base).add(base + c.table).add(base + c.sums);

  Bytes expected = c.memory;
  Launch launch;
  launch.program = &program;
  launch.grid = {c.blocks, 1, 1};
  launch.block = {c.threads, 1, 1};
  launch.parameters = runtime::lay_out(arguments, program);
  Interpreter interpreter(expected, base);
  interpreter.run(launch);

  for (const char* mode : {"functional", "timed"}) {
    device.copy_to(base, c.memory.data(), c.end);
    device.launch(module, "k", {c.blocks, 1, 1}, {c.threads, 1, 1}, arguments);
    device.synchronise();
    Bytes got(c.end);
    device.copy_from(got.data(), base, c.end);
    const auto [a, b] = std::mismatch(got.begin(), got.end(), expected.begin());
    if (a != got.end()) return std::string(mode) + ": byte " + std::to_string(a - got.begin()) + " differs";
  }
  const std::uint64_t functional = device.functional_counters().thread_instructions;
  if (functional != interpreter.thread_instructions()) {
    return std::to_string(functional) + " thread instructions, the interpreter " +
           std::to_string(interpreter.thread_instructions());
  }
  const std::uint64_t timed = device.gpu().totals().thread_instructions;
  return timed == functional ? "" : "timed " + std::to_string(timed) + " thread instructions";
}

TEST(RandomKernels, LeaveTheSameMemoryInEveryMode) {
  runtime::DeviceOptions options;
  options.functional.launches = 1;
  GpuBench bench({"sm.count=2", "dram.bytes=268435456"}, "gtx480", options);
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    ASSERT_EQ(compare(bench.device, seed), "") << "kernel of seed " << seed;
    bench.reset();
  }
}

}  // namespace
}  // namespace weft::test
