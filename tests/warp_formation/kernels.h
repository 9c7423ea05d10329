// Kernels for a driven scheme: control flow only, since the driver decides what every guard says.
#ifndef WEFT_TESTS_WARP_FORMATION_KERNELS_H
#define WEFT_TESTS_WARP_FORMATION_KERNELS_H

#include <cstdint>
#include <string>

#include "ptx/program.h"

namespace weft::warp_formation::test {

// The decoded kernel with this body. %p, %r<8> and %rd<4> are declared.
ptx::Program kernel(const std::string& body);

// A random control-flow graph: forward branches anywhere, guarded backward branches, guarded exits, loads;
// between parts of which every thread comes out, a block barrier. Same seed, same program.
ptx::Program random_kernel(std::uint64_t seed);

// Whether a guard of the random kernel holds for a thread: arbitrary, but the same for the same seed, and
// false for backward branches from the third visit on, so that every thread comes to its end.
bool random_guard(std::uint64_t seed, const ptx::Program& program, unsigned thread, ptx::Pc pc,
                  unsigned visit);

}  // namespace weft::warp_formation::test

#endif
