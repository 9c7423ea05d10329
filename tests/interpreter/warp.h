// What threads of one warp that take part in a warp-level primitive get, thread by thread, after the rules of
// PTX ISA 9.0, sections 9.7.9 and 9.7.13. Shares nothing with modules/isa.
#ifndef WEFT_TESTS_INTERPRETER_WARP_H
#define WEFT_TESTS_INTERPRETER_WARP_H

#include <cstdint>
#include <map>

#include "weft/ptx/program.h"

namespace weft::test {

struct Participant {
  std::uint64_t a = 0;  // register contents; of vote: the predicate
  std::uint32_t b = 0, c = 0;
};
struct WarpResult {
  std::uint32_t d = 0;
  bool p = false;
};

// By lane. Every participant executes the same operation.
std::map<unsigned, WarpResult> evaluate_warp(const ptx::Instruction& in,
                                             const std::map<unsigned, Participant>& members);

}  // namespace weft::test

#endif
