// Register allocation by colouring the interference graph.
#ifndef WEFT_PTX_ALLOCATION_H
#define WEFT_PTX_ALLOCATION_H

#include <vector>

#include "ptx/liveness.h"

namespace weft::ptx {

// Of the registers that each thread has, or of those that a warp has once.
struct FileUse {
  std::uint32_t rows = 0;       // 32-bit rows in use (highest + 1)
  std::uint32_t wide_rows = 0;  // of those, the first ones, which hold 64-bit registers
  std::uint32_t registers = 0;  // 32-bit registers that a machine needs, which may share between widths
  std::uint32_t predicates = 0;
  std::uint32_t pressure = 0;  // most rows live at one point: no allocation can do with fewer
  std::uint32_t predicate_pressure = 0;
};

struct Allocation : FileUse {
  FileUse scalar;
  std::vector<std::uint16_t> row;  // by VirtualId: first row of its file, or number of a predicate of it
  // false: pressure exceeds a limit, and nothing was allocated
  bool feasible = true;
  bool scalars_fit = true;  // of `scalar` alone
};

// Registers interfere where one is written while the other is live. Colours are given greedily in dominance
// order of the first writes, 64-bit registers on even rows, and once more with 64-bit registers first; the
// better one is kept: that counts the registers. Rows are given once more, with 64-bit registers on rows of
// their own: 32 lanes of 8 bytes lie across two rows, so a thread's 64-bit value would lie on other threads'
// 32-bit ones, and threads on different paths of a branch have different registers live.
//
// Scalar registers are coloured by themselves, in a file of their own with the same limits. One interferes
// also with those that are kept for other threads of the warp in the block that writes it.
Allocation allocate(const Draft& draft, const FlowGraph& flow, const Liveness& liveness,
                    std::uint32_t max_rows, std::uint32_t max_predicates, const KeptScalars& kept = {});

}  // namespace weft::ptx

#endif
