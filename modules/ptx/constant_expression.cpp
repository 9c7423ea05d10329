#include "ptx/constant_expression.h"

#include <charconv>
#include <cstring>
#include <limits>

namespace weft::ptx {
namespace {

using Operator = ExpressionStack::Operator;
using Kind = Number::Kind;

bool is_prefix(Operator op) {
  return op >= Operator::kNegate && op <= Operator::kToUnsigned;
}

// C's precedences, high binds tight.
int precedence(Operator op) {
  switch (op) {
    case Operator::kBarrier:
      return 0;
    case Operator::kMultiply:
    case Operator::kDivide:
    case Operator::kRemainder:
      return 10;
    case Operator::kAdd:
    case Operator::kSubtract:
      return 9;
    case Operator::kShiftLeft:
    case Operator::kShiftRight:
      return 8;
    case Operator::kLess:
    case Operator::kLessEqual:
    case Operator::kGreater:
    case Operator::kGreaterEqual:
      return 7;
    case Operator::kEqual:
    case Operator::kNotEqual:
      return 6;
    case Operator::kAnd:
      return 5;
    case Operator::kXor:
      return 4;
    case Operator::kOr:
      return 3;
    case Operator::kLogicalAnd:
      return 2;
    case Operator::kLogicalOr:
      return 1;
    default:
      return 11;
  }
}

bool floating(Number n) {
  return n.kind == Kind::kF32 || n.kind == Kind::kF64;
}

double real(Number n) {
  if (n.kind == Kind::kF64) {
    double value;
    std::memcpy(&value, &n.bits, sizeof value);
    return value;
  }
  if (n.kind == Kind::kF32) {
    float value;
    const auto bits = static_cast<std::uint32_t>(n.bits);
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  return n.kind == Kind::kSigned ? static_cast<double>(static_cast<std::int64_t>(n.bits))
                                 : static_cast<double>(n.bits);
}

Number from_real(double value) {
  Number result{Kind::kF64, 0};
  std::memcpy(&result.bits, &value, sizeof value);
  return result;
}

Number truth(bool value) {
  return {Kind::kSigned, value ? 1u : 0u};
}
bool is_true(Number n) {
  return floating(n) ? real(n) != 0 : n.bits != 0;
}

template <class T>
Number compare_or_logic(Operator op, T a, T b) {
  switch (op) {
    case Operator::kLess:
      return truth(a < b);
    case Operator::kLessEqual:
      return truth(a <= b);
    case Operator::kGreater:
      return truth(a > b);
    case Operator::kGreaterEqual:
      return truth(a >= b);
    case Operator::kEqual:
      return truth(a == b);
    case Operator::kNotEqual:
      return truth(a != b);
    case Operator::kLogicalAnd:
      return truth(a != T{} && b != T{});
    case Operator::kLogicalOr:
      return truth(a != T{} || b != T{});
    default:
      throw ExpressionStack::Error{"this operator needs integers"};
  }
}

Number binary_real(Operator op, double a, double b) {
  switch (op) {
    case Operator::kMultiply:
      return from_real(a * b);
    case Operator::kDivide:
      return from_real(a / b);
    case Operator::kAdd:
      return from_real(a + b);
    case Operator::kSubtract:
      return from_real(a - b);
    default:
      return compare_or_logic(op, a, b);
  }
}

Number binary_integer(Operator op, Number a, Number b) {
  // The usual conversions of 4.6.1: signed only if both are; shifts take the left operand's kind.
  const bool is_signed = a.kind == Kind::kSigned && b.kind == Kind::kSigned;
  const Kind kind = is_signed ? Kind::kSigned : Kind::kUnsigned;
  const auto sa = static_cast<std::int64_t>(a.bits), sb = static_cast<std::int64_t>(b.bits);
  switch (op) {
    case Operator::kMultiply:
      return {kind, a.bits * b.bits};
    case Operator::kDivide:
    case Operator::kRemainder: {
      if (b.bits == 0) throw ExpressionStack::Error{"division by zero in a constant expression"};
      const bool quotient = op == Operator::kDivide;
      if (!is_signed) return {kind, quotient ? a.bits / b.bits : a.bits % b.bits};
      if (sb == -1) return {kind, quotient ? 0 - a.bits : 0};  // INT64_MIN / -1 wraps
      return {kind, static_cast<std::uint64_t>(quotient ? sa / sb : sa % sb)};
    }
    case Operator::kAdd:
      return {kind, a.bits + b.bits};
    case Operator::kSubtract:
      return {kind, a.bits - b.bits};
    case Operator::kShiftLeft:
      return {a.kind, b.bits > 63 ? 0 : a.bits << b.bits};
    case Operator::kShiftRight: {
      const std::uint64_t by = b.bits > 63 ? 63 : b.bits;
      if (a.kind == Kind::kSigned) return {a.kind, static_cast<std::uint64_t>(sa >> by)};
      return {a.kind, b.bits > 63 ? 0 : a.bits >> by};
    }
    case Operator::kAnd:
      return {kind, a.bits & b.bits};
    case Operator::kXor:
      return {kind, a.bits ^ b.bits};
    case Operator::kOr:
      return {kind, a.bits | b.bits};
    default:
      return is_signed ? compare_or_logic(op, sa, sb) : compare_or_logic(op, a.bits, b.bits);
  }
}

Number unary(Operator op, Number a) {
  if (floating(a)) {
    if (op == Operator::kPlus) return a;
    if (op == Operator::kNegate) {  // keeps the kind, so that -0f3F800000 stays a single
      a.bits ^= a.kind == Kind::kF32 ? 1ull << 31 : 1ull << 63;
      return a;
    }
    if (op == Operator::kNot) return truth(!is_true(a));
    throw ExpressionStack::Error{"this operator needs an integer"};
  }
  switch (op) {
    case Operator::kNegate:
      return {a.kind, 0 - a.bits};
    case Operator::kNot:
      return truth(a.bits == 0);
    case Operator::kComplement:
      return {a.kind, ~a.bits};
    case Operator::kToSigned:
      return {Kind::kSigned, a.bits};
    case Operator::kToUnsigned:
      return {Kind::kUnsigned, a.bits};
    default:
      return a;
  }
}

}  // namespace

void ExpressionStack::reduce() {
  const Operator op = operators_.back();
  operators_.pop_back();
  const Number b = pop();
  if (is_prefix(op)) {
    push(unary(op, b));
    return;
  }
  const Number a = pop();
  push(floating(a) || floating(b) ? binary_real(op, real(a), real(b)) : binary_integer(op, a, b));
}

void ExpressionStack::reduce_while(int at_least) {
  while (precedence(operators_.back()) >= at_least) reduce();
}

void ExpressionStack::binary(Operator op) {
  reduce_while(precedence(op));
  operators_.push_back(op);
}

void ExpressionStack::end() {
  reduce_while(1);
  operators_.pop_back();
}

void ExpressionStack::question() {
  reduce_while(1);
}

void ExpressionStack::choose() {
  const Number otherwise = pop(), chosen = pop(), condition = pop();
  push(is_true(condition) ? chosen : otherwise);
}

Number ExpressionStack::pop() {
  const Number value = values_.back();
  values_.pop_back();
  return value;
}

Number literal_value(std::string_view token) {
  const char letter = token.size() > 1 && token[0] == '0' ? token[1] : '\0';
  if (letter == 'f' || letter == 'F' || letter == 'd' || letter == 'D') {
    const bool single = letter == 'f' || letter == 'F';
    if (token.size() != (single ? 10u : 18u)) {
      throw ExpressionStack::Error{single ? "0f needs exactly 8 hexadecimal digits"
                                          : "0d needs exactly 16 hexadecimal digits"};
    }
    Number number{single ? Kind::kF32 : Kind::kF64, 0};
    std::from_chars(token.data() + 2, token.data() + token.size(), number.bits, 16);
    return number;
  }
  const bool hexadecimal = letter == 'x' || letter == 'X';
  if (!hexadecimal && token.find_first_of(".eE") != std::string_view::npos) {
    double value = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (error == std::errc::result_out_of_range)
      throw ExpressionStack::Error{"the number is out of double's range"};
    return from_real(value);
  }
  Number number;
  if (token.back() == 'U') {
    number.kind = Kind::kUnsigned;
    token.remove_suffix(1);
  }
  int base = 10;
  if (hexadecimal || letter == 'b' || letter == 'B') {
    base = hexadecimal ? 16 : 2;
    token.remove_prefix(2);
  } else if (token.size() > 1 && token[0] == '0') {
    base = 8;
  }
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number.bits, base);
  if (error == std::errc::result_out_of_range)
    throw ExpressionStack::Error{"the integer needs more than 64 bits"};
  if (end != token.data() + token.size()) throw ExpressionStack::Error{"an octal number has digits 0 to 7"};
  // 4.5.1: signed when it fits, else unsigned.
  if (number.bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    number.kind = Kind::kUnsigned;
  }
  return number;
}

}  // namespace weft::ptx
