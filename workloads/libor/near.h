// Numbers with a bound of how far a computation in floats may lie from them: running error analysis (Higham,
// Accuracy and Stability of Numerical Algorithms, 2nd edition, section 3.3). Each operation adds what its
// operands' errors make of it, to first order and second, and its own rounding.
#ifndef WEFT_WORKLOADS_LIBOR_NEAR_H
#define WEFT_WORKLOADS_LIBOR_NEAR_H

#include <cmath>

namespace weft::workloads {

constexpr double kUnit = 1.0 / (1 << 24);  // half a unit in the last place of 1.0f

struct Near {
  double value = 0, error = 0;
};

// `roundings`: of kUnit each.
inline Near rounded(double value, double error, double roundings = 1) {
  return {value, error + roundings * kUnit * (std::abs(value) + error)};
}
inline Near operator+(Near a, Near b) {
  return rounded(a.value + b.value, a.error + b.error);
}
inline Near operator-(Near a, Near b) {
  return rounded(a.value - b.value, a.error + b.error);
}
inline Near operator*(Near a, Near b) {
  return rounded(a.value * b.value,
                 std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error);
}
// div.approx.f32 errs by up to two units in the last place (PTX ISA, div): at most four of kUnit. b may not
// be 0.
inline Near operator/(Near a, Near b) {
  const double least = std::abs(b.value) - b.error, quotient = a.value / b.value;
  return rounded(quotient, (a.error + std::abs(quotient) * b.error) / least, 4);
}
// ex2.approx(x log2 e): the product rounds, as does the constant; ex2.approx errs by 2^-22 (PTX ISA, ex2).
inline Near exponential(Near x) {
  const double value = std::exp(x.value), argument = x.error + 3 * kUnit * (std::abs(x.value) + x.error);
  return {value, value * (std::expm1(argument) + std::exp(argument) / (1 << 22))};
}

}  // namespace weft::workloads

#endif
