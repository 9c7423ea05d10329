// Device functions from nvcc's PTX: what must come out is computed here by plain C++.
#include "features/feature.h"

namespace weft::test {
namespace {

using ::testing::HasSubstr;

// Wraps around as int does on the GPU.
std::int32_t wrap(std::int64_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

std::int32_t mix(std::int32_t a, unsigned char b, long long c) {
  return wrap(std::int64_t{a} * 31 + b - wrap(c >> 3));
}

std::int32_t outer(int n) {
  std::int32_t sum = 0;
  for (int i = 0; i < n; ++i) {
    sum = wrap(std::int64_t{sum} + mix(sum, static_cast<unsigned char>(i), static_cast<long long>(i) << 20));
  }
  return sum;
}

std::int32_t noinline_call(int t) {
  signed char tag[5], from[5];
  for (int i = 0; i < 5; ++i) from[i] = static_cast<signed char>('a' + i + t % 7);
  const int by = t % 3;
  for (int i = 0; i < 5; ++i) tag[i] = static_cast<signed char>(from[4 - i] + by);
  const double mass = t * 0.5 * 2 + by;
  std::int32_t result = t + by + static_cast<int>(mass * 4);
  for (const signed char c : tag) result = wrap(std::int64_t{result} * 3 + c);
  if (t % 5 < 2) {
    result = wrap(std::int64_t{result} + outer(t % 11));
  } else {
    result = wrap(std::int64_t{result} - wrap(std::int64_t{outer(t % 4)} + mix(t, 200, -t)));
  }
  return wrap(std::int64_t{result} + (t % 2 == 0 ? 1000 : -1000));
}

TEST(Calls, NoinlineFunctionsAndStructsByValue) {
  Feature feature("noinline_call");
  EXPECT_EQ(feature.run("noinline_call", 3, 96), expected(288, noinline_call));
}

std::int32_t leaf(std::int32_t x) {
  return wrap(std::int64_t{x} * x - 3);
}

std::int32_t choose(int which, std::int32_t x) {
  switch (which) {
    case 0:
      return x + 17;
    case 1:
      return leaf(x);
    case 2:
      return x ^ 0x55;
    case 3:
      return wrap((std::int64_t{x} + leaf(x + 1)) * 7);
    case 4:
      return x * 7;
    case 5:
      return -x;
    case 6:
      return leaf(leaf(x & 15));
    case 7:
      return x >> 2;
    case 8:
      return x % 13;
    case 9:
      return 1 << (x & 7);
    default:
      return which;
  }
}

TEST(Calls, SwitchInANoinlineFunction) {
  Feature feature("switch_noinline");
  EXPECT_EQ(feature.run("switch_noinline", 2, 128), expected(256, [](int t) {
              std::int32_t sum = 0;
              for (int i = 0; i < 3; ++i) sum = wrap(std::int64_t{sum} * 5 + choose((t + i * 4) % 12, t + i));
              return sum;
            }));
}

int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
std::int32_t path(int n, int seed) {
  std::array<std::int32_t, 4> visited{};
  for (int i = 0; i < 4; ++i) visited[static_cast<std::size_t>(i)] = wrap(std::int64_t{seed} * (i + 1) + n);
  const std::int32_t below = n == 0 ? 1 : path(n - 1, visited[static_cast<std::size_t>(n & 3)] & 63);
  std::int32_t sum = below;
  for (int i = 0; i < 4; ++i) {
    sum = wrap(std::int64_t{sum} * 3 + visited[static_cast<std::size_t>((i + below) & 3)]);
  }
  return sum;
}
std::int32_t recursion(int t) {
  std::int64_t result = fibonacci(t % 9);
  if (t % 3 != 0) result += 1000 * ackermann(t % 3, t % 4);
  result += 100000 * (t % 10 % 2 == 0 ? 1 : 0);
  return wrap(result) ^ path(t % 5, t);
}

TEST(Calls, Recursion) {
  Feature feature("recursion");
  EXPECT_TRUE(feature.device.program(feature.module, "recursion").recursive);
  EXPECT_EQ(feature.run("recursion", 2, 96), expected(192, recursion));
}

// Under the other dependence model, with warps of other sizes.
TEST(Calls, RecursionOnABarrelMachine) {
  Feature feature("recursion", {"sm.dependence=barrel", "warp_formation.warp_size=64"});
  EXPECT_EQ(feature.run("recursion", 2, 96), expected(192, recursion));
}

TEST(Calls, LocalArrays) {
  Feature feature("local_array");
  constexpr std::uint32_t kThreads = 64;
  std::vector<std::int32_t> order(16);
  for (int i = 0; i < 16; ++i) order[static_cast<std::size_t>(i)] = i * 5 % 16;
  const auto out = feature.device.allocate(kThreads * 4), in = feature.device.allocate(64);
  feature.device.copy_to(in, order.data(), 64);
  feature.device.launch(feature.module, "local_array", {1, 1, 1}, {kThreads, 1, 1},
                        runtime::Arguments().add(out).add(in));
  feature.device.synchronise();
  std::vector<std::int32_t> got(kThreads);
  feature.device.copy_from(got.data(), out, kThreads * 4);
  EXPECT_EQ(got, expected(kThreads, [&](int t) {
              std::array<std::int64_t, 16> values{};
              for (std::size_t i = 0; i < 16; ++i) values[i] = static_cast<std::int64_t>(i) * t;
              for (std::size_t i = 0; i < 16; ++i) {
                const auto at = static_cast<std::size_t>(order[(i + static_cast<std::size_t>(t)) % 16]);
                values[at] += values[i * 3 % 16] - static_cast<std::int64_t>(i);
              }
              std::int32_t sum = 0;
              for (int i = 0; i < t % 17; ++i) {
                sum = wrap(std::int64_t{sum} * 2 + values[static_cast<std::size_t>(i)]);
              }
              return sum;
            }));
}

std::int32_t function(int which, std::int32_t x) {
  return which == 0 ? 2 * x : which == 1 ? x * x : -x;
}

TEST(Calls, FunctionPointersAndVirtualFunctions) {
  Feature feature("function_pointer");
  EXPECT_EQ(feature.run("function_pointer", 2, 96), expected(192, [](int t) {
              std::int32_t result = function(t % 3, t);
              std::int32_t x = t;
              for (int i = 0; i < t % 4; ++i) x = function(t / 3 % 3, x & 1023) + i;
              result = result * 3 + x;
              const int k = t % 5, size = t + t * 7 % 3;
              const int area[3] = {size * k, size * size + k, -(size - k) * (size - k)};
              return result * 3 + area[t * 7 % 3];
            }));
}

TEST(Calls, TheClocksGoForward) {
  Feature feature("clock");
  constexpr std::uint32_t kThreads = 64;
  const auto out = feature.device.allocate(kThreads * 32);
  feature.device.launch(feature.module, "clocks", {1, 1, 1}, {kThreads, 1, 1}, runtime::Arguments().add(out));
  feature.device.synchronise();
  std::vector<std::uint64_t> got(4 * kThreads);
  feature.device.copy_from(got.data(), out, kThreads * 32);
  const double nanoseconds_per_cycle = 1e3 / feature.device.gpu().config().clocks.core_mhz;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    std::uint32_t x = t;
    for (int i = 0; i < 100; ++i) x = x * 1664525u + 1013904223u;
    EXPECT_EQ(got[4 * t + 3], x);
    const std::uint64_t cycles = got[4 * t];
    // nvcc makes one multiply-add of the hundred; its result goes to memory before the barrier.
    EXPECT_GE(cycles, feature.device.gpu().config().sm.latency_of(ptx::Latency::kIntMul).cycles);
    EXPECT_LT(cycles, 100'000u);
    EXPECT_LE(got[4 * t + 1], cycles) << "read inside of the other two";
    EXPECT_GT(got[4 * t + 1], 0u);
    EXPECT_NEAR(static_cast<double>(got[4 * t + 2]), static_cast<double>(cycles) * nanoseconds_per_cycle,
                200 * nanoseconds_per_cycle);
  }
}

}  // namespace
}  // namespace weft::test
