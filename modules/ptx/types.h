// Names of types and sizes of declarations.
#ifndef WEFT_PTX_TYPES_H
#define WEFT_PTX_TYPES_H

#include <string_view>

#include "ptx/syntax.h"

namespace weft::ptx {

// "u32" -> kU32; kNone for a word that names no type that Weft knows.
Type type_of(std::string_view word);

// The unsigned integer that has the type's bits.
Type unsigned_of(Type type);

// Bytes of one element of an array, a vector counting as one element.
std::uint64_t element_bytes(const Declaration& declaration);
std::uint64_t natural_alignment(const Declaration& declaration);

// Length of the identifier at the beginning of `text`.
std::size_t identifier_length(std::string_view text);

inline std::uint64_t align_up(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) & ~(align - 1);
}

}  // namespace weft::ptx

#endif
