#include "isa/harness.h"

#include <sstream>

namespace weft::isa::test {

unsigned bits_of(Type type) {
  switch (type) {
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
      return 8;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBf16:
      return 16;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
      return 64;
    case Type::kPred:
      return 1;
    default:
      return 32;
  }
}

Wide integer(Type type, std::uint64_t bits) {
  const unsigned width = bits_of(type);
  const bool is_signed = type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64;
  Wide result = width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
  if (is_signed && ((result >> (width - 1)) & 1) != 0) result -= Wide{1} << width;
  return result;
}

std::string name(const Instruction& in) {
  std::ostringstream text;
  text << "opcode " << int(in.op) << " type " << int(in.type) << " from " << int(in.from) << " rounding "
       << int(in.rounding) << " compare " << int(in.compare) << " combine " << int(in.combine) << " width "
       << int(in.width) << " atomic " << int(in.atomic) << (in.ftz ? " ftz" : "") << (in.sat ? " sat" : "")
       << (in.approx ? " approx" : "") << (in.full ? " full" : "");
  return text.str();
}

}  // namespace weft::isa::test
