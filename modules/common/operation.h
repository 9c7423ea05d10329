// Classes of operations: what statistics count apart, and what takes an energy of its own.
#ifndef WEFT_COMMON_OPERATION_H
#define WEFT_COMMON_OPERATION_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft {

// What an instruction does in a lane. Integers and moves are told apart by width, where 64 bits take the lane
// twice.
enum class Operation : std::uint8_t {
  kInteger,  // sums, logic, shifts, compares, conversions
  kInteger64,
  kIntegerMultiply,
  kIntegerMultiply64,
  kIntegerDivide,
  kHalf,
  kFloatAdd,
  kFloatMultiply,
  kFloatFma,
  kFloatDivide,
  kDoubleAdd,
  kDoubleMultiply,
  kDoubleDivide,
  kSpecial,  // special-function units
  kMove,
  kMove64,
  kWarp,     // across lanes: shuffles, votes
  kMemory,   // the address
  kControl,  // branches, calls, barriers
  kCount
};
inline constexpr std::size_t kOperations = static_cast<std::size_t>(Operation::kCount);
// As statistics and energies have them.
inline constexpr std::array<const char*, kOperations> kOperationNames = {"integer",
                                                                         "integer_64",
                                                                         "integer_multiply",
                                                                         "integer_multiply_64",
                                                                         "integer_divide",
                                                                         "half",
                                                                         "float_add",
                                                                         "float_multiply",
                                                                         "float_fma",
                                                                         "float_divide",
                                                                         "double_add",
                                                                         "double_multiply",
                                                                         "double_divide",
                                                                         "special",
                                                                         "move",
                                                                         "move_64",
                                                                         "warp",
                                                                         "memory",
                                                                         "control"};

}  // namespace weft

#endif
