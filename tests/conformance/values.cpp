// Types by name, and random operands.
#include "conformance/words.h"

namespace weft::test::conformance {

std::optional<Type> parse_type(std::string_view word) {
  struct Name {
    const char* word;
    Type type;
  };
  static const Name names[] = {
      {"pred", {'p', 1, 1}},    {"b8", {'b', 8, 1}},    {"b16", {'b', 16, 1}},   {"b32", {'b', 32, 1}},
      {"b64", {'b', 64, 1}},    {"u8", {'u', 8, 1}},    {"u16", {'u', 16, 1}},   {"u32", {'u', 32, 1}},
      {"u64", {'u', 64, 1}},    {"s8", {'s', 8, 1}},    {"s16", {'s', 16, 1}},   {"s32", {'s', 32, 1}},
      {"s64", {'s', 64, 1}},    {"f16", {'f', 16, 1}},  {"f16x2", {'f', 16, 2}}, {"bf16", {'g', 16, 1}},
      {"bf16x2", {'g', 16, 2}}, {"f32", {'f', 32, 1}},  {"f64", {'f', 64, 1}},   {"u16x2", {'u', 16, 2}},
      {"s16x2", {'s', 16, 2}},  {"f32x2", {'f', 32, 2}}};
  for (const Name& name : names) {
    if (word == name.word) return name.type;
  }
  return std::nullopt;
}

namespace {

// Bits of the fraction and of the exponent.
struct Layout {
  unsigned fraction, exponent;
};
Layout layout_of(Type type) {
  if (type.kind == 'g') return {7, 8};
  if (type.bits == 16) return {10, 5};
  return type.bits == 32 ? Layout{23, 8} : Layout{52, 11};
}

// Numbers of all formats, in terms of the layout: zeros, subnormals, extremes, infinities, NaNs with
// payloads, numbers next to 1, to halves and to powers of two that are bounds of integer types.
std::uint64_t corner(Layout l, Random& random) {
  const std::uint64_t one = 1, infinity = ((one << l.exponent) - 1) << l.fraction,
                      quiet = one << (l.fraction - 1);
  const std::uint64_t bias = (one << (l.exponent - 1)) - 1, unit = bias << l.fraction;
  const std::uint64_t sign = (random() & 1) << (l.fraction + l.exponent);
  const std::uint64_t fraction = (one << l.fraction) - 1;
  switch (random() % 20) {
    case 0:
      return sign;
    case 1:
      return sign | infinity;
    case 2:
      return sign | infinity | quiet | (random() & fraction);  // quiet NaN
    case 3:
      return sign | infinity | std::max<std::uint64_t>(1, random() & fraction >> 1);  // signalling NaN
    case 4:
      return sign | infinity | fraction;
    case 5:
      return sign | 1;
    case 6:
      return sign | fraction;  // the largest subnormal
    case 7:
      return sign | (fraction + 1);  // the smallest normal number
    case 8:
      return sign | (infinity - 1);  // the largest finite number
    case 9:
      return sign | (random() & fraction);
    case 10:
      return sign | unit;
    case 11:
      return sign | (unit + random() % 3 - 1);
    case 12:
      return sign | (unit - (one << l.fraction));  // 0.5
    case 13:
      return sign | (unit - (one << l.fraction)) | (random() % 2);
    case 14:
      return sign | unit | quiet;  // 1.5, half of an integer
    case 15: {                     // n + 1/2 for small n, sometimes one unit beside it
      const unsigned digits = 1 + static_cast<unsigned>(random() % (l.fraction - 2));
      const std::uint64_t integer = (random() & fraction) >> (l.fraction - digits) << (l.fraction - digits);
      return (sign | (unit + (std::uint64_t{digits} << l.fraction)) | integer |
              one << (l.fraction - digits - 1)) +
             random() % 3 - 1;
    }
    case 16: {  // next to a bound of an integer type
      static const unsigned bounds[] = {7, 8, 15, 16, 31, 32, 63, 64};
      const std::uint64_t exponent = bias + bounds[random() % 8];
      if (exponent >= (one << l.exponent) - 1) return sign | (infinity - 1);
      return sign | ((exponent << l.fraction) + random() % 3 - 1);
    }
    case 17:
      return sign | ((one << l.exponent) - 2) << l.fraction;
    case 18:  // 2^k
      return sign | (random() % ((one << l.exponent) - 1)) << l.fraction;
    default:
      return sign | (random() % 64) << l.fraction | (random() & fraction);
  }
}

std::uint64_t random_float(Type type, Random& random) {
  const Layout l = layout_of(type);
  const std::uint64_t any = low_bits(type.bits, random());
  const std::uint64_t rest = any & ~(((std::uint64_t{1} << l.exponent) - 1) << l.fraction);
  const std::uint64_t bias = (std::uint64_t{1} << (l.exponent - 1)) - 1;
  const auto with = [&](std::uint64_t exponent) { return rest | exponent << l.fraction; };
  switch (random() % 6) {
    case 0:
      return corner(l, random);
    case 1:
      return any;
    case 2:  // of one magnitude, so that sums cancel and round
      return with(bias - 6 + random() % 12);
    case 3:  // subnormals and their neighbours
      return with(random() % std::min<std::uint64_t>(bias, l.fraction + 3));
    case 4: {  // few bits set, so that products and quotients are ties or exact
      const std::uint64_t mask = ~std::uint64_t{0} << (l.fraction - 1 - random() % (l.fraction / 2 + 1));
      return with(bias - 8 + random() % 16) & (mask | ~((std::uint64_t{1} << l.fraction) - 1));
    }
    default:  // from the range of narrower formats and of integers
      return with(std::min(2 * bias, bias - std::min<std::uint64_t>(bias, 150) + random() % 300));
  }
}

std::uint64_t random_integer(unsigned width, Random& random) {
  switch (random() % 5) {
    case 0: {
      const std::uint64_t power = std::uint64_t{1} << random() % width;
      return low_bits(width, power + random() % 3 - 1);  // around powers of two, extremes among them
    }
    case 1:
      return low_bits(width, random() % 70);
    case 2:
      return low_bits(width, ~(random() % 70));
    case 3:
      return low_bits(width, random() >> random() % 64);
    default:
      return low_bits(width, random());
  }
}

}  // namespace

std::uint64_t random_value(Type type, Random& random) {
  std::uint64_t value = 0;
  for (unsigned part = 0; part < type.parts; ++part) {
    value |= (type.is_float() ? random_float(type, random) : random_integer(type.bits, random))
             << (type.bits * part);
  }
  return value;
}

}  // namespace weft::test::conformance
