#include "isa/mpfr_oracle.h"

#include <cmath>

namespace weft::isa::test {

Number::Number(Type type, std::uint64_t bits) {
  mpfr_init2(value_, type == Type::kF32 ? 24 : 53);
  if (type == Type::kF32) {
    mpfr_set_flt(value_, as_float(bits), MPFR_RNDN);
  } else {
    mpfr_set_d(value_, as_double(bits), MPFR_RNDN);
  }
}

mpfr_rnd_t direction(Rounding rounding) {
  switch (rounding) {
    case Rounding::kRz:
      return MPFR_RNDZ;
    case Rounding::kRm:
      return MPFR_RNDD;
    case Rounding::kRp:
      return MPFR_RNDU;
    default:
      return MPFR_RNDN;
  }
}

bool is_nan_bits(Type type, std::uint64_t bits) {
  return type == Type::kF32 ? std::isnan(as_float(bits)) : std::isnan(as_double(bits));
}

bool is_subnormal_bits(Type type, std::uint64_t bits) {
  return type == Type::kF32 ? std::fpclassify(as_float(bits)) == FP_SUBNORMAL
                            : std::fpclassify(as_double(bits)) == FP_SUBNORMAL;
}

std::uint64_t flush_bits(Type type, std::uint64_t bits) {
  if (!is_subnormal_bits(type, bits)) return bits;
  return type == Type::kF32 ? bits & 0x80000000 : bits & 0x8000000000000000;
}

std::uint64_t saturate_bits(Type type, std::uint64_t value) {
  const double x = type == Type::kF32 ? as_float(value) : as_double(value);
  if (std::isnan(x) || x <= 0) return 0;
  if (x >= 1) return type == Type::kF32 ? bits(1.0f) : bits(1.0);
  return value;
}

std::uint64_t to_bits(mpfr_t x, int ternary, Type type, mpfr_rnd_t mode) {
  if (mpfr_nan_p(x)) return default_nan(type);
  // The exponent range in which mpfr_subnormalize rounds as IEEE 754 does (MPFR manual, "Exceptions").
  const mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
  mpfr_set_emin(type == Type::kF32 ? -148 : -1073);
  mpfr_set_emax(type == Type::kF32 ? 128 : 1024);
  ternary = mpfr_check_range(x, ternary, mode);
  mpfr_subnormalize(x, ternary, mode);
  const std::uint64_t value = type == Type::kF32 ? bits(mpfr_get_flt(x, mode)) : bits(mpfr_get_d(x, mode));
  mpfr_set_emin(low);
  mpfr_set_emax(high);
  return value;
}

namespace {

unsigned operand_count(Opcode op) {
  switch (op) {
    case Opcode::kRcp:
    case Opcode::kSqrt:
      return 1;
    case Opcode::kFma:
    case Opcode::kMad:
      return 3;
    default:
      return 2;
  }
}

std::uint64_t rounded(const Instruction& in, const Bits& x) {
  const Type type = in.type;
  const mpfr_rnd_t mode = direction(in.rounding);
  Number a(type, x[0]), b(type, x[1]), c(type, x[2]), result(type == Type::kF32 ? 24 : 53);
  int ternary = 0;
  switch (in.op) {
    case Opcode::kAdd:
      ternary = mpfr_add(result.get(), a.get(), b.get(), mode);
      break;
    case Opcode::kSub:
      ternary = mpfr_sub(result.get(), a.get(), b.get(), mode);
      break;
    case Opcode::kMul:
      ternary = mpfr_mul(result.get(), a.get(), b.get(), mode);
      break;
    case Opcode::kDiv:
      ternary = mpfr_div(result.get(), a.get(), b.get(), mode);
      break;
    case Opcode::kFma:
    case Opcode::kMad:
      ternary = mpfr_fma(result.get(), a.get(), b.get(), c.get(), mode);
      break;
    case Opcode::kRcp:
      ternary = mpfr_ui_div(result.get(), 1, a.get(), mode);
      break;
    default:
      ternary = mpfr_sqrt(result.get(), a.get(), mode);
      break;
  }
  return to_bits(result.get(), ternary, type, mode);
}

}  // namespace

std::uint64_t exact_float(const Instruction& in, const Bits& operands) {
  Bits x = operands;
  const unsigned count = operand_count(in.op);
  for (unsigned n = 0; n < count; ++n) {
    if (in.ftz) x[n] = flush_bits(in.type, x[n]);
    if (in.type == Type::kF64 && is_nan_bits(in.type, x[n])) return x[n] | 0x0008000000000000;
  }
  for (unsigned n = count; n < x.size(); ++n) x[n] = 0;
  std::uint64_t result = rounded(in, x);
  if (in.ftz) result = flush_bits(in.type, result);
  return in.sat ? saturate_bits(in.type, result) : result;
}

}  // namespace weft::isa::test
