// Integers of any type as numbers of 128 bits.
#ifndef WEFT_TESTS_CONFORMANCE_INTEGERS_H
#define WEFT_TESTS_CONFORMANCE_INTEGERS_H

#include "conformance/words.h"

namespace weft::test::conformance {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

inline Wide lowest(Type t) {
  return t.is_signed() ? -(Wide{1} << (t.bits - 1)) : Wide{0};
}
inline Wide highest(Type t) {
  return t.is_signed() ? (Wide{1} << (t.bits - 1)) - 1 : (Wide{1} << t.bits) - 1;
}
// The number that the bits stand for.
inline Wide number(Type t, std::uint64_t bits) {
  const Wide value = low_bits(t.bits, bits);
  return t.is_signed() && value > highest(t) ? value - (Wide{1} << t.bits) : value;
}
// The low bits of a number.
inline std::uint64_t wrap(Type t, Wide value) {
  return low_bits(t.bits, static_cast<std::uint64_t>(value));
}
inline Wide clamp(Type t, Wide value) {
  return std::clamp(value, lowest(t), highest(t));
}
inline bool is_integer(Type t) {
  return t.kind == 'u' || t.kind == 's';
}

}  // namespace weft::test::conformance

#endif
