#include "common/polynomial_hash.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace weft {
namespace {

// Long division over GF(2), bit by bit.
std::uint64_t divided(std::uint64_t number, std::uint64_t polynomial) {
  unsigned degree = 0;
  while (polynomial >> (degree + 1) != 0) ++degree;
  for (unsigned bit = 63; bit >= degree && bit < 64; --bit)
    if ((number >> bit & 1) != 0) number ^= polynomial << (bit - degree);
  return number;
}

TEST(PolynomialHash, HasAnIrreduciblePolynomialOfEachDegree) {
  for (unsigned bits = 1; bits <= PolynomialHash::kMostBits; ++bits) {
    const std::uint64_t polynomial = PolynomialHash::kPolynomials[bits - 1];
    EXPECT_EQ(polynomial >> bits, 1u) << bits;
    for (std::uint64_t factor = 2; factor >> (bits / 2 + 1) == 0 && factor < polynomial; ++factor)
      EXPECT_NE(divided(polynomial, factor), 0u) << polynomial << " = " << factor << " times another";
  }
}

TEST(PolynomialHash, IsTheRemainderOfALongDivision) {
  std::mt19937_64 random(5);
  for (unsigned bits = 1; bits <= PolynomialHash::kMostBits; ++bits) {
    const PolynomialHash hash(bits);
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t number = random() >> random() % 64;
      EXPECT_EQ(hash.remainder(number), divided(number, PolynomialHash::kPolynomials[bits - 1]));
    }
  }
}

// 2^bits numbers at a distance that is a power of two go to all places.
TEST(PolynomialHash, SpreadsEveryPowerOfTwo) {
  for (const unsigned bits : {1u, 4u, 5u, 6u, 10u}) {
    const PolynomialHash hash(bits);
    for (unsigned distance = 0; distance + bits < 64; ++distance) {
      std::set<std::uint64_t> places;
      for (std::uint64_t i = 0; i < std::uint64_t{1} << bits; ++i)
        places.insert(hash.remainder(i << distance));
      EXPECT_EQ(places.size(), std::size_t{1} << bits) << bits << " bits, distance 2^" << distance;
    }
  }
}

// What GPGPU-Sim 4.2 (hashing.cc) prints for these upper bits with the index 5.
TEST(PolynomialHash, IsThatOfGpgpuSim) {
  struct Case {
    unsigned places;
    std::uint64_t upper, hashed;
  };
  for (const Case& c : {Case{16, 0x1, 6},
                        {32, 0x1, 0},
                        {64, 0x1, 6},
                        {16, 0x2, 3},
                        {32, 0x2, 15},
                        {64, 0x2, 3},
                        {16, 0x123, 5},
                        {32, 0x123, 7},
                        {64, 0x123, 55},
                        {16, 0x7ff, 10},
                        {32, 0x7ff, 15},
                        {64, 0x7ff, 39},
                        {16, 0xabc, 15},
                        {32, 0xabc, 31},
                        {64, 0xabc, 6},
                        {16, 0x1fff, 9},
                        {32, 0x1fff, 7},
                        {64, 0x1fff, 14}}) {
    const PolynomialHash hash(static_cast<unsigned>(__builtin_ctz(c.places)));
    EXPECT_EQ(hash.remainder(c.upper * c.places + 5), c.hashed)
        << c.places << " places, upper bits " << c.upper;
  }
}

}  // namespace
}  // namespace weft
