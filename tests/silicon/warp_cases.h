// Kernels of instructions across lanes and threads, for which tests/conformance has no oracle of its own:
// their results on a real GPU are the oracle.
#ifndef WEFT_TESTS_SILICON_WARP_CASES_H
#define WEFT_TESTS_SILICON_WARP_CASES_H

#include "conformance/case.h"

namespace weft::test::silicon {

// Of shuffles, votes, matches, reductions, barriers with a reduction, and registers that name lanes.
std::vector<std::string> warp_opcodes();
// Those of one of them; an empty list for other opcodes. The first runs in whole warps, the second, where
// there is one, in the threads of which the last operand is odd.
std::vector<conformance::Case> warp_cases(const std::string& opcode);

}  // namespace weft::test::silicon

#endif
