// A program that keeps registers in local memory leaves the memory image of the one that has them all.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "equivalence/campaign.h"
#include "equivalence/matrix_kernels.h"
#include "interpreter/interpreter.h"
#include "weft/ptx/module.h"
#include "weft/warp_formation/scheme.h"

namespace weft::test::spill_test {
namespace {

constexpr std::uint64_t kBase = 0x1'0000'0000;

// What the interpreter leaves of the kernel with so many registers.
std::vector<std::uint8_t> image(const RandomKernel& kernel, std::uint32_t registers, bool& spills) {
  const std::size_t slots = std::size_t{kernel.blocks} * kernel.threads * kSlotWords;
  std::vector<std::uint32_t> words(slots + kTableWords + kSums);
  std::iota(words.begin(), words.end(), 12345u);
  std::vector<std::uint8_t> memory(words.size() * 4);
  std::memcpy(memory.data(), words.data(), memory.size());
  const ptx::Module module = ptx::parse(kernel.text, "k.ptx");
  ptx::Symbols symbols;
  ptx::add_functions(module, 0, symbols);
  const ptx::Program program = ptx::decode(module, "k", symbols, {registers, true});
  EXPECT_LE(program.registers_per_thread, registers);
  spills = program.spill_bytes != 0;
  const std::array<std::uint64_t, 3> arguments{kBase, kBase + slots * 4, kBase + (slots + kTableWords) * 4};
  std::vector<std::uint8_t> parameters(sizeof arguments);
  std::memcpy(parameters.data(), arguments.data(), sizeof arguments);
  Interpreter(memory, kBase).run({&program, {kernel.blocks, 1, 1}, {kernel.threads, 1, 1}, parameters, 0});
  return memory;
}

TEST(Spill, RandomKernelsWithFewRegistersLeaveTheSameMemory) {
  unsigned spilled = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    Choices choices(seed);
    const RandomKernel kernel = random_kernel(choices);
    bool spills = false;
    const auto expected = image(kernel, 255, spills);
    for (const std::uint32_t registers : {16u, 17u, 20u, 24u}) {
      ASSERT_EQ(image(kernel, registers, spills), expected)
          << "seed " << seed << ", " << registers << " registers\n"
          << kernel.text;
      spilled += spills ? 1 : 0;
    }
  }
  EXPECT_GT(spilled, 120u);
}

class SpillOnGpu : public ::testing::TestWithParam<Machine> {};

TEST_P(SpillOnGpu, LeavesTheInterpretersMemory) {
  Campaign campaign(GetParam());
  for (std::uint64_t seed = 1000; seed < 1006; ++seed) {
    Choices choices(seed);
    const RandomKernel kernel = random_kernel(choices);
    ASSERT_EQ(campaign.difference(kernel, seed), "") << "seed " << seed << "\n" << kernel.text;
  }
  EXPECT_GT(campaign.spilled_kernels(), 2u);
}

std::vector<Machine> machines() {
  std::vector<Machine> list;
  for (const auto& scheme : warp_formation::scheme_names()) {
    list.push_back({"gtx480", scheme, "scoreboard", 32, 0, 16});
    list.push_back({"harp-fermi", scheme, "barrel", 32, 0, 18});
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Schemes, SpillOnGpu, ::testing::ValuesIn(machines()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace weft::test::spill_test
