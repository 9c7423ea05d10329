// The registry of datapaths, and the key `datapath.kind`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datapath/datapath.h"
#include "weft/common/error.h"
#include "weft/platform/gpu_config.h"

namespace weft::datapath {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

TEST(Registry, KnowsSpatial) {
  EXPECT_NE(create(Config{"spatial"}, Machine()), nullptr);
}

TEST(Registry, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_THAT(
      [] { create(Config{"quantum"}, Machine()); },
      Throws<InputError>(Property(&InputError::what, AllOf(HasSubstr("/datapath/kind"), HasSubstr("quantum"),
                                                           HasSubstr("known: "), HasSubstr("spatial")))));
  EXPECT_THAT(
      [] { load_config("gtx480", {"datapath.kind=quantum"}); },
      Throws<InputError>(Property(&InputError::what, AllOf(HasSubstr("quantum"), HasSubstr("spatial")))));
  GpuConfig config = load_config("gtx480");
  config.sm.datapath.kind = "quantum";
  EXPECT_THAT(
      [&] { static_cast<void>(config.checked("gpu")); },
      Throws<InputError>(Property(&InputError::what, AllOf(HasSubstr("/datapath/kind"), HasSubstr("quantum"),
                                                           HasSubstr("spatial")))));
}

}  // namespace
}  // namespace weft::datapath
