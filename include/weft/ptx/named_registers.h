// Where the registers that a PTX text names lie in a decoded program, for debuggers.
//
// A register has a place only where its value will still be read. Elsewhere others may lie there.
#ifndef WEFT_PTX_NAMED_REGISTERS_H
#define WEFT_PTX_NAMED_REGISTERS_H

#include <cstdint>
#include <string>
#include <vector>

#include "weft/ptx/module.h"

namespace weft::ptx {

struct NamedRegister {
  std::string name;         // as in the text: "%r1", "%v.x"
  Type type = Type::kNone;  // as declared; kPred: a predicate
  // Before the instructions first to last, inclusive.
  struct Place {
    Pc first = 0, last = 0;
    std::uint16_t index = 0;  // first row, or number of the predicate
  };
  std::vector<Place> places;  // by `first`, ascending
};

// Those of the program that `decode` makes with the same arguments, in the order of their first places.
// Registers of several functions or scopes with one name and type are one entry.
std::vector<NamedRegister> named_registers(const std::vector<LinkedModule>& modules,
                                           const std::string& kernel, const DecodeOptions& options);

}  // namespace weft::ptx

#endif
