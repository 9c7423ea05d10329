// What the engine refuses rather than executing it wrongly.
#include "functional/micro_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"
#include "weft/common/error.h"
#include "weft/ptx/module.h"

namespace weft::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

TEST(MicroOps, KnowWhatTheEngineExecutes) {
  ptx::Program program = ptx::decode(
      ptx::parse(
          kernel_text("", "bar.sync 0; membar.gl; mov.u32 %r1, %tid.x; sqrt.approx.f32 %f1, %f1; ret;"),
          "k.ptx"),
      "k", {});
  EXPECT_NO_THROW(functional::check(program));
  program.code[0].op = ptx::Opcode::kCvta;  // a control instruction that there is not
  EXPECT_THAT(
      [&] { functional::check(program); },
      Throws<InputError>(Property(&InputError::what, AllOf(HasSubstr("k.ptx:"), HasSubstr("instruction cvta"),
                                                           HasSubstr("not executable without timing")))));
  program.code[0].op = ptx::Opcode::kBar;
  EXPECT_NO_THROW(functional::check(program));
  program.code[1].op = ptx::Opcode::kCvta;
  program.code[1].unit = ptx::Unit::kControl;
  EXPECT_THROW(functional::check(program), InputError);
}

}  // namespace
}  // namespace weft::test
