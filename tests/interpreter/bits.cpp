#include "interpreter/bits.h"

#include <cstring>

namespace weft::test {

using ptx::Type;

unsigned width_of(Type type) {
  switch (type) {
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
    case Type::kE2m1x2:
      return 8;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBf16:
    case Type::kE4m3x2:
    case Type::kE5m2x2:
    case Type::kE2m3x2:
    case Type::kE3m2x2:
    case Type::kUe8m0x2:
      return 16;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
    case Type::kF32x2:
      return 64;
    default:
      return 32;
  }
}

bool is_signed_integer(Type type) {
  return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64;
}

bool is_half(Type type) {
  return type == Type::kF16 || type == Type::kF16x2 || type == Type::kBf16 || type == Type::kBf16x2;
}

bool is_floating(Type type) {
  return type == Type::kF32 || type == Type::kF64 || type == Type::kF32x2;
}

std::uint64_t low_bits(std::uint64_t value, unsigned width) {
  return width >= 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

Integer number(Type type, std::uint64_t bits) {
  const unsigned width = width_of(type);
  const Integer value = low_bits(bits, width);
  const bool negative = is_signed_integer(type) && ((bits >> (width - 1)) & 1) != 0;
  return negative ? value - (Integer{1} << width) : value;
}

std::uint64_t in_register(Type type, std::uint64_t value) {
  if (width_of(type) == 64) return value;
  return low_bits(static_cast<std::uint64_t>(number(type, value)), 32);
}

float float_of(std::uint64_t bits) {
  const auto word = static_cast<std::uint32_t>(bits);
  float x;
  std::memcpy(&x, &word, sizeof x);
  return x;
}

double double_of(std::uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

std::uint64_t bits_of(float x) {
  std::uint32_t word;
  std::memcpy(&word, &x, sizeof word);
  return word;
}

std::uint64_t bits_of(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

}  // namespace weft::test
