// The registry of datapaths, and the key `datapath.kind`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datapath/datapath.h"
#include "weft/common/error.h"
#include "weft/platform/gpu_config.h"

namespace weft::datapath {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

TEST(Registry, KnowsSpatial) {
  EXPECT_THAT(names(), Contains("spatial"));
  EXPECT_NE(create(Config{"spatial"}, Machine()), nullptr);
}

TEST(Registry, RefusesADuplicateName) {
  const auto again = [] {
    register_datapath("spatial", [](const Config&, const Machine&) { return nullptr; });
  };
  EXPECT_THAT(again, Throws<std::logic_error>(Property(&std::logic_error::what, HasSubstr("spatial"))));
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
