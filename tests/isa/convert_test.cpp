// cvt between all pairs of types, against MPFR and __int128.
#include <gtest/gtest.h>

#include <cmath>

#include "isa/harness.h"
#include "isa/mpfr_oracle.h"

namespace weft::isa::test::convert_test {
namespace {

const std::vector<Type> kIntegers = {Type::kU8,  Type::kS8,  Type::kU16, Type::kS16,
                                     Type::kU32, Type::kS32, Type::kU64, Type::kS64};
const std::vector<Type> kFloats = {Type::kF32, Type::kF64};

Instruction cvt(Type to, Type from, Rounding rounding = Rounding::kDefault) {
  Instruction in = make(Opcode::kCvt, to);
  in.from = from;
  in.rounding = rounding;
  return in;
}

Wide smallest(Type type) {
  return is_signed_type(type) ? -(Wide{1} << (bits_of(type) - 1)) : Wide{0};
}
Wide largest(Type type) {
  return (Wide{1} << (bits_of(type) - (is_signed_type(type) ? 1 : 0))) - 1;
}
Wide clamp(Type type, Wide x) {
  return std::min(std::max(x, smallest(type)), largest(type));
}

TEST(Convert, BetweenIntegers) {
  for (const Type to : kIntegers) {
    for (const Type from : kIntegers) {
      Instruction in = cvt(to, from);
      check_random(
          in, to, {from},
          [=](const Bits& x) { return cell(to, static_cast<std::uint64_t>(integer(from, x[0]))); }, 2000);
      in.sat = true;
      check_random(
          in, to, {from},
          [=](const Bits& x) { return cell(to, static_cast<std::uint64_t>(clamp(to, integer(from, x[0])))); },
          2000);
    }
  }
}

TEST(Convert, IntegerToFloat) {
  for (const Type to : kFloats) {
    for (const Type from : kIntegers) {
      for (const Rounding rounding : {Rounding::kRn, Rounding::kRz, Rounding::kRm, Rounding::kRp}) {
        check_random(
            cvt(to, from, rounding), to, {from},
            [=](const Bits& x) {
              Number value(64), result(to == Type::kF32 ? 24 : 53);
              const Wide a = integer(from, x[0]);
              if (a < 0) {
                mpfr_set_si(value.get(), static_cast<long>(a), MPFR_RNDN);
              } else {
                mpfr_set_ui(value.get(), static_cast<unsigned long>(a), MPFR_RNDN);
              }
              const int ternary = mpfr_set(result.get(), value.get(), direction(rounding));
              return to_bits(result.get(), ternary, to, direction(rounding));
            },
            3000);
      }
    }
  }
}

double value_of(Type type, std::uint64_t bits) {
  return type == Type::kF32 ? as_float(bits) : as_double(bits);
}

double to_integral(Rounding rounding, double x) {
  switch (rounding) {
    case Rounding::kRni: {  // ties to even, without the host's rounding mode
      const double below = std::floor(x), rest = x - below;
      if (rest != 0.5) return std::copysign(rest < 0.5 ? below : below + 1, x);
      return std::copysign(std::fmod(below, 2) == 0 ? below : below + 1, x);
    }
    case Rounding::kRzi:
      return std::trunc(x);
    case Rounding::kRmi:
      return std::floor(x);
    case Rounding::kRpi:
      return std::ceil(x);
    default:
      return x;
  }
}

const std::vector<Rounding> kIntegral = {Rounding::kRni, Rounding::kRzi, Rounding::kRmi, Rounding::kRpi};

TEST(Convert, FloatToInteger) {
  for (const Type to : kIntegers) {
    for (const Type from : kFloats) {
      for (const Rounding rounding : kIntegral) {
        for (const bool ftz : {false, true}) {
          if (ftz && from == Type::kF64) continue;
          Instruction in = cvt(to, from, rounding);
          in.ftz = ftz;
          check_random(
              in, to, {from},
              [=](const Bits& bits) -> std::uint64_t {
                const double x =
                    to_integral(rounding, value_of(from, ftz ? flush_bits(from, bits[0]) : bits[0]));
                if (std::isnan(x)) {
                  const bool zero = from != Type::kF64 && bits_of(to) != 64;
                  return zero ? 0 : cell(to, std::uint64_t{1} << (bits_of(to) - 1));
                }
                const Wide bounded = x >= 0x1p100    ? Wide{1} << 100
                                     : x <= -0x1p100 ? -(Wide{1} << 100)
                                                     : static_cast<Wide>(x);
                return cell(to, static_cast<std::uint64_t>(clamp(to, bounded)));
              },
              4000);
        }
      }
    }
  }
  check_golden(cvt(Type::kS32, Type::kF32, Rounding::kRzi), Type::kS32, {Type::kF32},
               {{{bits(-1.9f)}, 0xffffffff},
                {{0x7fc00000}, 0},
                {{0x7f800000}, 0x7fffffff},
                {{0xff800000}, 0x80000000},
                {{bits(3e9f)}, 0x7fffffff}});
  check_golden(cvt(Type::kU32, Type::kF32, Rounding::kRni), Type::kU32, {Type::kF32},
               {{{bits(-0.5f)}, 0},
                {{bits(-7.0f)}, 0},
                {{bits(2.5f)}, 2},
                {{bits(3.5f)}, 4},
                {{bits(3e9f)}, 3000000000},
                {{bits(5e9f)}, 0xffffffff}});
  check_golden(cvt(Type::kU8, Type::kF32, Rounding::kRzi), Type::kU8, {Type::kF32},
               {{{bits(300.0f)}, 255}, {{bits(-3.0f)}, 0}});
  check_golden(cvt(Type::kS8, Type::kF32, Rounding::kRzi), Type::kS8, {Type::kF32},
               {{{bits(-300.0f)}, 0xffffff80}});
}

TEST(Convert, BetweenFloats) {
  for (const bool ftz : {false, true}) {
    for (const bool sat : {false, true}) {
      const auto finish = [=](Type type, std::uint64_t bits) {
        if (ftz && type == Type::kF32) bits = flush_bits(type, bits);
        return sat ? saturate_bits(type, bits) : bits;
      };
      Instruction in = cvt(Type::kF64, Type::kF32);
      in.ftz = ftz;
      in.sat = sat;
      check_random(in, Type::kF64, {Type::kF32}, [=](const Bits& x) {
        const std::uint64_t from = ftz ? flush_bits(Type::kF32, x[0]) : x[0];
        if (!is_nan_bits(Type::kF32, from))
          return finish(Type::kF64, bits(static_cast<double>(as_float(from))));
        const std::uint64_t nan =
            0x7ff8000000000000 | ((from & 0x7fffff) << 29) | ((from & 0x80000000) << 32);
        return finish(Type::kF64, nan);
      });
      for (const Rounding rounding : {Rounding::kRn, Rounding::kRz, Rounding::kRm, Rounding::kRp}) {
        in = cvt(Type::kF32, Type::kF64, rounding);
        in.ftz = ftz;
        in.sat = sat;
        check_random(in, Type::kF32, {Type::kF64}, [=](const Bits& x) {
          Number a(Type::kF64, x[0]), result(24);
          const int ternary = mpfr_set(result.get(), a.get(), direction(rounding));
          return finish(Type::kF32, to_bits(result.get(), ternary, Type::kF32, direction(rounding)));
        });
      }
    }
  }
}

TEST(Convert, ToIntegralFloats) {
  for (const Type type : kFloats) {
    for (const Rounding rounding : kIntegral) {
      check_random(cvt(type, type, rounding), type, {type}, [=](const Bits& x) -> std::uint64_t {
        if (is_nan_bits(type, x[0])) return type == Type::kF32 ? 0x7fffffff : x[0] | 0x0008000000000000;
        const double y = to_integral(rounding, value_of(type, x[0]));
        return type == Type::kF32 ? bits(static_cast<float>(y)) : bits(y);
      });
    }
  }
  Instruction in = cvt(Type::kF32, Type::kF32);
  in.sat = true;
  check_golden(
      in, Type::kF32, {Type::kF32},
      {{{bits(2.0f)}, bits(1.0f)}, {{bits(-2.0f)}, 0}, {{0x7fc00000}, 0}, {{bits(0.25f)}, bits(0.25f)}});
}

}  // namespace
}  // namespace weft::isa::test::convert_test
