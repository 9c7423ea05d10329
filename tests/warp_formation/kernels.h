// Kernels for a driven scheme: control flow only, since the driver decides what every guard says.
#ifndef WEFT_TESTS_WARP_FORMATION_KERNELS_H
#define WEFT_TESTS_WARP_FORMATION_KERNELS_H

#include <cstdint>
#include <string>

#include "weft/ptx/program.h"

namespace weft::warp_formation::test {

// The decoded kernel with this body. %p, %r<8> and %rd<4> are declared.
ptx::Program kernel(const std::string& body);

// A random control-flow graph: forward branches anywhere, guarded backward branches, loads; between parts
// that every thread comes out of, unless it ends there, a barrier, perhaps in a loop. Threads end by guarded
// exits and returns, and by branches to a return or to what goes before it. Same seed, same program.
ptx::Program random_kernel(std::uint64_t seed);

// Whether a guard of the random kernel holds for a thread: arbitrary, but the same for the same seed, false
// for backward branches from the third visit on, so that every thread comes to its end, and the same for all
// threads where a loop has a block barrier.
bool random_guard(std::uint64_t seed, const ptx::Program& program, unsigned thread, ptx::Pc pc,
                  unsigned visit);

}  // namespace weft::warp_formation::test

#endif
