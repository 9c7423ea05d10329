#include "isa/harness.h"

#include <sstream>

namespace weft::isa::test {

std::string name(const Instruction& in) {
  std::ostringstream text;
  text << "opcode " << int(in.op) << " type " << int(in.type) << " from " << int(in.from) << " rounding "
       << int(in.rounding) << " compare " << int(in.compare) << " combine " << int(in.combine) << " width "
       << int(in.width) << " atomic " << int(in.atomic) << (in.ftz ? " ftz" : "") << (in.sat ? " sat" : "")
       << (in.approx ? " approx" : "") << (in.full ? " full" : "");
  return text.str();
}

}  // namespace weft::isa::test
