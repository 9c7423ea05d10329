// Conditions of breakpoints, as GDB compiles them.
#include "debugger/agent_expression.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace weft::debugger {
namespace agent_expression_test {

class SomeThread final : public ThreadView {
 public:
  std::optional<std::uint64_t> register_value(std::uint64_t number) const override {
    return number == 17 ? std::optional<std::uint64_t>(37) : std::nullopt;
  }
  std::optional<std::uint64_t> memory(std::uint64_t address, unsigned bytes) const override {
    return address == 0x1000 ? std::optional<std::uint64_t>(0x1122334455667788u >> (64 - 8 * bytes))
                             : std::nullopt;
  }
};

std::optional<std::uint64_t> value(const std::string& code) {
  return AgentExpression(code).value(SomeThread());
}

std::string code(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

// reg 17, const8 37, equal, end
TEST(AgentExpressions, CompareARegister) {
  EXPECT_EQ(value(code({0x26, 0, 17, 0x22, 37, 0x13, 0x27})), 1u);
  EXPECT_EQ(value(code({0x26, 0, 17, 0x22, 36, 0x13, 0x27})), 0u);
}

TEST(AgentExpressions, ReadMemory) {
  EXPECT_EQ(value(code({0x23, 0x10, 0, 0x19, 0x27})), 0x11223344u);
  EXPECT_EQ(value(code({0x23, 0x20, 0, 0x19, 0x27})), std::nullopt);
}

TEST(AgentExpressions, Compute) {
  EXPECT_EQ(value(code({0x22, 7, 0x22, 3, 0x03, 0x27})), 4u);
  EXPECT_EQ(value(code({0x22, 0xff, 0x16, 8, 0x27})), ~0ull);              // sign extension
  EXPECT_EQ(value(code({0x22, 0xff, 0x16, 8, 0x22, 1, 0x14, 0x27})), 1u);  // -1 < 1
  EXPECT_EQ(value(code({0x22, 0xff, 0x16, 8, 0x22, 1, 0x15, 0x27})), 0u);  // without signs it is not
  EXPECT_EQ(value(code({0x22, 1, 0x22, 2, 0x22, 3, 0x33, 0x27})), 2u);     // 1 2 3 -> 3 1 2
  EXPECT_EQ(value(code({0x22, 5, 0x28, 0x02, 0x27})), 10u);                // dup, add
}

// if_goto over a constant.
TEST(AgentExpressions, Jump) {
  EXPECT_EQ(value(code({0x22, 1, 0x20, 0, 8, 0x22, 9, 0x27, 0x22, 4, 0x27})), 4u);
}

TEST(AgentExpressions, FailWithoutHarm) {
  EXPECT_EQ(value(""), std::nullopt);
  EXPECT_EQ(value(code({0x27})), std::nullopt);                          // an empty stack
  EXPECT_EQ(value(code({0x22, 1, 0x22, 0, 0x05, 0x27})), std::nullopt);  // divided by 0
  EXPECT_EQ(value(code({0x21, 0, 0})), std::nullopt);                    // for ever
  EXPECT_EQ(value(code({0x21, 0xff, 0xff})), std::nullopt);              // beyond the end
  EXPECT_EQ(value(code({0x22, 1, 0x28, 0x21, 0, 2})), std::nullopt);     // a stack without end
  EXPECT_EQ(value(code({0x26, 0, 99, 0x27})), std::nullopt);
  std::mt19937 random(3);
  for (int round = 0; round < 5000; ++round) {
    std::string noise;
    for (std::size_t i = random() % 30; i > 0; --i) noise += static_cast<char>(random() % 0x34);
    value(noise);
  }
}

}  // namespace agent_expression_test
}  // namespace weft::debugger
