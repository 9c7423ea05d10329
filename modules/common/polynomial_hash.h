// A number modulo an irreducible polynomial over GF(2): spreads addresses over 2^bits places (Rau:
// Pseudo-randomly interleaved memory, ISCA 1991).
//
// Aligned runs of 2^bits consecutive numbers go to all places, one each, and so do 2^bits numbers at any
// distance that is a power of two. The remainder is linear: remainder(a ^ b) = remainder(a) ^ remainder(b),
// and numbers below 2^bits are their own remainder. So it is their exclusive or with the upper bits' hash.
#ifndef WEFT_COMMON_POLYNOMIAL_HASH_H
#define WEFT_COMMON_POLYNOMIAL_HASH_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft {

class PolynomialHash {
 public:
  static constexpr unsigned kMostBits = 16;
  // The primitive polynomial of each degree from 1 on, bit i for x^i (Peterson, Weldon: Error-Correcting
  // Codes, 1972). Those of degrees 4 to 6 are the ones of GPGPU-Sim's hash.
  static constexpr std::array<std::uint32_t, kMostBits> kPolynomials = {
      0x3,   0x7,   0xb,   0x13,   0x25,   0x43,   0x83,   0x11d,
      0x211, 0x409, 0x805, 0x1053, 0x201b, 0x4443, 0x8003, 0x1100b};

  // 1 to kMostBits bits.
  explicit PolynomialHash(unsigned bits) {
    const std::uint32_t polynomial = kPolynomials[bits - 1];
    std::uint32_t power = 1;  // x^i modulo the polynomial
    for (std::size_t i = 0; i < 4 * parts_.size(); ++i) {
      for (std::size_t digit = 0; digit < 16; ++digit)
        if ((digit >> i % 4 & 1) != 0) parts_[i / 4][digit] ^= static_cast<std::uint16_t>(power);
      power <<= 1;
      if ((power >> bits) != 0) power ^= polynomial;
    }
  }

  std::uint64_t remainder(std::uint64_t number) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; number != 0; number >>= 4, ++i) sum ^= parts_[i][number & 15];
    return sum;
  }

 private:
  std::array<std::array<std::uint16_t, 16>, 16> parts_{};  // of each hexadecimal digit
};

}  // namespace weft

#endif
