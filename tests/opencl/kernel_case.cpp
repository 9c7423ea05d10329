#include "opencl/kernel_case.h"

#include <cmath>

namespace weft::opencl {
namespace {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

// Random bits, with the extremes of T among them.
template <class T>
std::vector<T> integers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random.next() >> (64 - 8 * sizeof(T)));
  const std::uint64_t extremes[] = {0, ~std::uint64_t{0}, std::uint64_t{1} << (8 * sizeof(T) - 1),
                                    (std::uint64_t{1} << (8 * sizeof(T) - 1)) - 1, 1};
  for (std::size_t i = 0; i < 5 && i < count; ++i) values[i * 7 % count] = static_cast<T>(extremes[i]);
  return values;
}

template <class T>
std::vector<T> reals(std::size_t count, std::uint64_t seed, double low, double high) {
  Random random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random.between(low, high));
  return values;
}

// Letters of a small alphabet, so that matches happen.
std::vector<char> letters(std::size_t count, std::uint64_t seed, unsigned alphabet) {
  Random random(seed);
  std::vector<char> text(count);
  for (char& letter : text) letter = static_cast<char>('a' + random.next() % alphabet);
  return text;
}

// As in particles.cl.
struct alignas(16) World {
  float force[4];
  std::uint64_t seed;
  std::uint16_t steps;
  float step;
  std::int32_t low[3];
};
struct alignas(16) Particle {
  float place[4], speed[4];
  std::int32_t bounces;
  std::uint8_t kind;
};

KernelCase particles() {
  std::vector<Particle> all(100);
  std::memset(static_cast<void*>(all.data()), 0, all.size() * sizeof(Particle));  // padding is compared too
  Random random(15);
  for (Particle& particle : all) {
    for (float& place : particle.place) place = static_cast<float>(random.between(-1, 5));
    for (float& speed : particle.speed) speed = static_cast<float>(random.between(-2, 2));
    particle.kind = static_cast<std::uint8_t>(random.next() % 5);
  }
  const World world{{0.0f, -9.81f, 0.125f, 0.0f}, 0x123456789abcdef0u, 20, 0.03125f, {-1, 0, -3}};
  return KernelCase("particles", {100, 1, 1}, {20, 1, 1}).buffer(all).value(world).zeros<std::uint64_t>(100);
}

KernelCase fft() {
  std::vector<float> twiddles;
  for (int k = 0; k < 32; ++k) {
    twiddles.push_back(static_cast<float>(std::cos(-2 * M_PI * k / 64)));
    twiddles.push_back(static_cast<float>(std::sin(-2 * M_PI * k / 64)));
  }
  return KernelCase("fft", {256, 1, 1}, {32, 1, 1})
      .buffer(reals<float>(1024, 8, -1, 1))
      .zeros<float>(1024)
      .buffer(twiddles);
}

KernelCase math_functions() {
  constexpr std::size_t kCount = 1024;
  // Twice what OpenCL allows one implementation; the kernel's comment has the table.
  const std::vector<double> ulps = {6, 6, 6, 6, 8, 8, 10, 10, 12, 8, 8, 32, 4, 4, 10, 4, 6, 0, 8, 32, 0, 0};
  return KernelCase("math_functions", {kCount, 1, 1}, {64, 1, 1})
      .buffer(reals<float>(kCount, 13, -20, 20))
      .floats_within(kCount * ulps.size(), ulps);
}

}  // namespace

std::vector<KernelCase> all_cases() {
  using std::int32_t;
  using std::uint16_t;
  using std::uint32_t;
  using std::uint64_t;
  using std::uint8_t;
  return {
      KernelCase("bit_tricks", {512, 1, 1}, {64, 1, 1})
          .buffer(integers<uint32_t>(512, 1))
          .zeros<uint32_t>(512 * 20),
      KernelCase("bitonic_sort", {1024, 1, 1}, {256, 1, 1})
          .buffer(integers<uint16_t>(1024, 2))
          .zeros<uint16_t>(1024)
          .zeros<uint16_t>(1024),
      KernelCase("compaction", {1024, 1, 1}, {128, 1, 1})
          .buffer(integers<int32_t>(1024, 3))
          .zeros<int32_t>(1024)
          .zeros<uint32_t>(8)
          .value<int32_t>(-500'000'000),
      KernelCase("dot_product", {64 * 20, 1, 1}, {64, 1, 1})
          .buffer(reals<float>(20 * 1000, 4, -3, 3))
          .buffer(reals<float>(20 * 1000, 5, -1, 2))
          .zeros<float>(20)
          .value<uint32_t>(1000),
      KernelCase("edit_distance", {16 * 24, 1, 1}, {24, 1, 1})
          .buffer(letters(16 * 2 * 48, 6, 4))
          .zeros<uint32_t>(16),
      fft(),
      KernelCase("hash", {2048, 1, 1}, {128, 1, 1})
          .buffer(integers<uint32_t>(2048, 7))
          .zeros<uint32_t>(2048)
          .zeros<uint64_t>(2048)
          .value<uint32_t>(5),
      KernelCase("histogram", {512, 1, 1}, {128, 1, 1})
          .buffer(integers<uint8_t>(10'000, 9))
          .value<uint32_t>(9'999)
          .zeros<uint32_t>(256)
          .buffer(std::vector<int32_t>{1000, -1000, 5})
          .zeros<uint32_t>(2),
      KernelCase("integer64", {256, 1, 1}, {32, 1, 1})
          .buffer(integers<uint64_t>(512, 10))
          .zeros<uint64_t>(256 * 6),
      KernelCase("mandelbrot", {64, 40, 1}, {16, 8, 1})
          .zeros<uint16_t>(64 * 40)
          .value(-2.1f)
          .value(1.2f)
          .value(0.0525f)
          .value<uint32_t>(300),
      math_functions(),
      KernelCase("matrix_product", {32, 32, 1}, {8, 8, 1})
          .buffer(reals<double>(32 * 32, 11, -10, 10))
          .buffer(reals<double>(32 * 32, 12, -10, 10))
          .zeros<double>(32 * 32)
          .value<int32_t>(32),
      KernelCase("median_filter", {48, 40, 1}, {16, 4, 1})
          .buffer(integers<uint8_t>(45 * 37, 14))
          .zeros<uint8_t>(45 * 37)
          .value<int32_t>(45)
          .value<int32_t>(37),
      KernelCase("monte_carlo", {320, 1, 1}, {32, 1, 1})
          .zeros<uint32_t>(1)
          .zeros<uint32_t>(320)
          .value<uint32_t>(50),
      particles(),
      KernelCase("polynomial", {512, 1, 1}, {64, 1, 1})
          .buffer(reals<double>(512, 16, -1000, 1000))
          .zeros<double>(512 * 4)
          .zeros<uint64_t>(512)
          .value(0.1),
      KernelCase("reduction", {640, 1, 1}, {128, 1, 1})
          .buffer(integers<int32_t>(5'001, 17))
          .zeros<uint64_t>(5)
          .local_bytes(128 * 8)
          .value<uint32_t>(5'001),
      KernelCase("scan", {1024, 1, 1}, {256, 1, 1})
          .buffer(integers<uint32_t>(1024, 18))
          .zeros<uint32_t>(1024)
          .zeros<uint32_t>(4),
      KernelCase("stencil", {64, 48, 1}, {32, 4, 1})
          .buffer(reals<float>(61 * 47, 19, 0, 100))
          .zeros<float>(61 * 47)
          .value<int32_t>(61)
          .value<int32_t>(47)
          .value(0.1f),
      KernelCase("string_search", {4096, 1, 1}, {64, 1, 1})
          .buffer(letters(4000, 20, 2))
          .value<uint32_t>(4000)
          .buffer(std::vector<char>{'a', 'b', 'b', 'a', 'b'})
          .value<uint32_t>(5)
          .zeros<uint8_t>(4000)
          .zeros<uint32_t>(1),
      KernelCase("transpose", {64, 16, 1}, {16, 4, 1})
          .buffer(integers<uint32_t>(60 * 50, 21))
          .zeros<uint32_t>(60 * 50)
          .value<uint32_t>(60)
          .value<uint32_t>(50),
      KernelCase("vectors", {128, 1, 1}, {32, 1, 1})
          .buffer(integers<uint8_t>(128 * 16, 22))
          .buffer(reals<float>(128 * 4, 23, -4, 4))
          .zeros<uint8_t>(128 * 16)
          .zeros<float>(128 * 4)
          .zeros<int32_t>(128 * 4),
  };
}

}  // namespace weft::opencl
