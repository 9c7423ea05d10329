#include "weft/runtime/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weft/common/error.h"

namespace weft::runtime::arguments_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

// (u8 flag, u64 data, b8 pair[3])
ptx::Program program() {
  ptx::Program program;
  program.name = "k";
  program.parameters = {{"flag", ptx::Type::kU8, 0, 1, 1},
                        {"data", ptx::Type::kU64, 8, 8, 8},
                        {"pair", ptx::Type::kB8, 16, 3, 1}};
  program.parameter_bytes = 19;
  return program;
}

TEST(Arguments, LieAtTheOffsetsOfTheParameterList) {
  const auto block = lay_out(Arguments()
                                 .add(std::uint8_t{0xab})
                                 .add(std::uint64_t{0x0807060504030201})
                                 .add_bytes({0x11, 0x12, 0x13}),
                             program());
  EXPECT_THAT(block, ElementsAre(0xab, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13));
}

TEST(Arguments, OfAWrongNumberAreRefusedWithTheSignature) {
  EXPECT_THAT([] { lay_out(Arguments().add(std::uint8_t{1}), program()); },
              Throws<InputError>(Property(&InputError::what,
                                          AllOf(HasSubstr("kernel k: got 1 arguments; the kernel takes 3"),
                                                HasSubstr("(u8 flag, u64 data, b8 pair[3])")))));
}

TEST(Arguments, OfAWrongSizeAreRefusedWithTheirIndex) {
  const auto wrong = Arguments().add(std::uint8_t{1}).add(std::uint32_t{2}).add_bytes({1, 2, 3});
  EXPECT_THAT([&] { lay_out(wrong, program()); },
              Throws<InputError>(
                  Property(&InputError::what, HasSubstr("argument 1 has 4 bytes; parameter data has 8"))));
}

}  // namespace
}  // namespace weft::runtime::arguments_test
