#include "common/demangle.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(FunctionName, IsWithoutWhatItTakesAndReturns) {
  EXPECT_EQ(demangled_name("_Z5scaleIfEvPT_i"), "void scale<float>(float*, int)");
  EXPECT_EQ(function_name("_Z5scaleIfEvPT_i"), "scale<float>");
  EXPECT_EQ(function_name("_Z6vecAddPKfS0_Pfi"), "vecAdd");
  EXPECT_EQ(function_name("_ZN3lib4spinEv"), "lib::spin");
  // A pointer to a function among the parameters.
  EXPECT_EQ(function_name("_Z5applyPFffEPf"), "apply");
}

TEST(FunctionName, OfAnythingElseIsWhatItWas) {
  for (const char* name : {"bfs", "", "_Zx", "a(b)", "void f(int)"}) EXPECT_EQ(function_name(name), name);
}

}  // namespace
}  // namespace weft
