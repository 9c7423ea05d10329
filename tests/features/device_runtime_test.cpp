// printf, malloc, free, assert, trap, brkpt and the ends of a stack, from nvcc's PTX.
#include <cstdio>

#include "features/feature.h"

namespace weft::test {
namespace {

using ::testing::HasSubstr;

template <class... Values>
std::string formatted(const char* format, Values... values) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)) + 1, '\0');
  std::snprintf(text.data(), text.size(), format, values...);
#pragma GCC diagnostic pop
  text.pop_back();
  return text;
}

// What the C library of the host prints for the arguments of printf.cu.
std::string line_of(int t, unsigned threads) {
  return formatted("thread %2d of %u: %5.2f %s%c|%-6x|%08lld|%e|%%|%hd|%p\n", t, threads, t * 0.75, "str",
                   'A' + t, static_cast<unsigned>(t) * 1000u, -1234567890123ll - t, 1.0 / (t + 1),
                   static_cast<short>(70000 + t),
                   reinterpret_cast<void*>(0x1234ull + static_cast<unsigned>(t)));
}

TEST(DeviceRuntime, PrintsInOrder) {
  Feature feature("printf");
  const auto returned = feature.run("print", 1, 32);
  // Threads 3 and 19 are of one warp and print with one instruction; 5 and 6 come later in the program.
  EXPECT_EQ(feature.device.take_output(),
            line_of(3, 32) + line_of(19, 32) + "nothing to say\n" + "    42|2.500|left    |\n");
  EXPECT_EQ(feature.device.take_output(), "") << "taken once";
  EXPECT_EQ(returned[3], 10) << "printf of CUDA returns the number of its arguments";
  EXPECT_EQ(returned[5], 0);
  EXPECT_EQ(returned[6], 6);
  EXPECT_EQ(returned[4], -7);
}

TEST(DeviceRuntime, TheOldestOutputGivesWay) {
  runtime::DeviceOptions options;
  options.limits.printf_bytes = 50;
  Feature feature("printf", {}, options);
  feature.run("print", 1, 32);
  // 15 and 24 bytes fit into 50, a line of thread 19 (over 70) does not.
  EXPECT_EQ(feature.device.take_output(), "nothing to say\n    42|2.500|left    |\n");
}

std::int32_t list_sum(int t) {
  std::int32_t sum = 0;
  for (int i = t % 6; i >= 0; --i) sum = sum * 2 + t + i;
  return sum + 1000000;
}

TEST(DeviceRuntime, MallocAndFree) {
  Feature feature("device_heap");
  EXPECT_EQ(feature.run("device_heap", 4, 64), expected(256, list_sum));
  EXPECT_EQ(feature.device.heap_in_use(), 0u);
}

// Four threads take 64 bytes each from a heap that has room for three: one gets null, and freeing that is
// allowed.
TEST(DeviceRuntime, AFullHeapGivesNull) {
  runtime::DeviceOptions options;
  options.limits.heap_bytes = 192;
  Feature feature("device_heap", {}, options);
  // Thread 2 got an address and frees it twice; with room for two it would have got null.
  EXPECT_THAT(fault_of([&] { feature.run("free_twice", 1, 4); }), HasSubstr("thread (2,0,0)"));
}

TEST(DeviceRuntime, FreeingNullIsAllowed) {
  runtime::DeviceOptions options;
  options.limits.heap_bytes = 128;
  Feature feature("device_heap", {}, options);
  EXPECT_EQ(feature.run("free_twice", 1, 4)[0], 1);
  EXPECT_EQ(feature.device.heap_in_use(), 0u);
}

TEST(DeviceRuntime, FreeingTwiceFaults) {
  Feature feature("device_heap");
  const std::string text = fault_of([&] { feature.run("free_twice", 1, 4); });
  EXPECT_THAT(text, HasSubstr("free of 0x"));
  EXPECT_THAT(text, HasSubstr("thread (2,0,0) of block (0,0,0)"));
  EXPECT_THAT(text, HasSubstr("device_heap.cu:"));
}

TEST(DeviceRuntime, AssertionsFault) {
  Feature feature("assertion");
  EXPECT_EQ(feature.run("assertion", 1, 4), expected(4, [](int) { return 1; }));
  const std::string text =
      fault_of([&] { feature.run("assertion", 1, 40, expected(40, [](int t) { return t % 36; })); });
  EXPECT_THAT(text, HasSubstr("thread (9,0,0) of block (0,0,0)"));
  EXPECT_THAT(text,
              HasSubstr("assertion.cu:5: void assertion(int *): assertion `out[threadIdx.x] != 9` failed"));
}

TEST(DeviceRuntime, TrapsFault) {
  Feature feature("assertion");
  EXPECT_EQ(feature.run("trapped", 1, 4), expected(4, [](int) { return 1; }));
  const std::string text =
      fault_of([&] { feature.run("trapped", 1, 40, expected(40, [](int t) { return t == 5 ? 9 : 0; })); });
  EXPECT_THAT(text, HasSubstr("thread (5,0,0) of block (0,0,0)"));
  EXPECT_THAT(text, HasSubstr("trap"));
  EXPECT_THAT(text, HasSubstr("assertion.cu:10"));
}

TEST(DeviceRuntime, BreakpointsFaultWithoutADebugger) {
  Feature feature("assertion");
  EXPECT_THAT(fault_of([&] { feature.run("breakpoint", 1, 1, {9}); }), HasSubstr("brkpt: a breakpoint"));
}

TEST(DeviceRuntime, ACallOfNoFunctionFaults) {
  Feature feature("assertion");
  const std::string text = fault_of([&] { feature.run("wild_call", 1, 2, {4, 5}); });
  EXPECT_THAT(text, HasSubstr("thread (0,0,0)"));
  EXPECT_THAT(text, HasSubstr("call of 0x1004, which is not the address of a function"));
}

TEST(DeviceRuntime, EndlessRecursionOverflowsTheStack) {
  Feature feature("assertion");
  EXPECT_EQ(feature.run("deep", 1, 2, {1, 2}), (std::vector<std::int32_t>{1, 2}));
  const std::string text = fault_of([&] { feature.run("deep", 1, 2, {1, 9}); });
  EXPECT_THAT(text, HasSubstr("thread (1,0,0)"));
  EXPECT_THAT(text, HasSubstr("1024 bytes"));
  EXPECT_THAT(text, HasSubstr("overflow the thread's stack"));
}

}  // namespace
}  // namespace weft::test
