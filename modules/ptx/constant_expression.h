#ifndef WEFT_PTX_CONSTANT_EXPRESSION_H
#define WEFT_PTX_CONSTANT_EXPRESSION_H

#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/syntax.h"

namespace weft::ptx {

// Constant expressions by operator precedence (PTX ISA 4.6). Integers are 64-bit; an operation is unsigned
// when one operand is. Errors are thrown without a place; the builder adds it.
class ExpressionStack {
 public:
  struct Error {
    const char* what;
  };
  enum class Operator : std::uint8_t {
    kBarrier,
    kNegate,
    kPlus,
    kNot,
    kComplement,
    kToSigned,
    kToUnsigned,
    kMultiply,
    kDivide,
    kRemainder,
    kAdd,
    kSubtract,
    kShiftLeft,
    kShiftRight,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kEqual,
    kNotEqual,
    kAnd,
    kXor,
    kOr,
    kLogicalAnd,
    kLogicalOr
  };
  void begin() { operators_.push_back(Operator::kBarrier); }
  void push(Number value) { values_.push_back(value); }
  void prefix(Operator op) { operators_.push_back(op); }
  void binary(Operator op);
  void end();       // reduces to one value and drops the barrier
  void question();  // reduces the condition, keeps the barrier
  void choose();    // condition, a, b -> one of them
  Number pop();

 private:
  void reduce_while(int at_least);
  void reduce();
  std::vector<Number> values_;
  std::vector<Operator> operators_;
};

// The value of one literal token. Throws ExpressionStack::Error.
Number literal_value(std::string_view token);

}  // namespace weft::ptx

#endif
