// Which registers have one value for a warp, and which instructions can therefore execute once for all of its
// threads (Lucas et al., Spatio-temporal SIMT and scalarization, 4.2 and Fig. 3).
//
// Everything is taken for scalar first. An instruction is not if what it does differs by thread (thread
// numbers, local memory, atomics, what works across lanes), or if it reads or writes a register that is not;
// what such an instruction writes is vector. The paper then makes those registers vector that are written
// between a branch with a vector guard and its point of reconvergence and live there. That is not enough: a
// register may be live for threads that stand elsewhere (parting.h says where), such as the old value that
// the other side of the branch still reads. So a register is vector if an instruction writes it that runs
// while it is live for others, and registers that survive this keep each other's rows (`kept`): a scalar
// that is dead for those who run is "resurrected" when the others go on.
#ifndef WEFT_PTX_SCALARS_H
#define WEFT_PTX_SCALARS_H

#include <string>
#include <vector>

#include "ptx/liveness.h"
#include "ptx/parting.h"
#include "ptx/reach.h"

namespace weft::ptx {

struct ScalarRule {
  Scalarization kind = Scalarization::kFull;
  std::vector<bool> waits;         // by number of a function: threads may wait for others in it
  std::vector<VirtualId> demoted;  // registers that are to be vector
};

// By number of the function, whether threads may wait in it for others, of the block or of the warp.
std::vector<bool> with_waits(const std::vector<const Draft*>& functions, const Reach& reach);

// Whether the kernel is so large that not even its webs are looked at: as many registers live at the ends of
// all blocks together.
bool is_beyond_scalars(const Liveness& liveness);
// Marks all as vector, since the kernel is too large.
void leave_without_scalars(Draft& draft);

// Marks the registers and instructions of a kernel, whose webs have been split (webs.h). A kernel that is too
// large to look at has no scalars: its sets would be too large, or the work is used up. Searches of one
// kernel, one after the other, share `work`.
KeptScalars find_scalars(Draft& draft, const FlowGraph& flow, const Liveness& liveness, const Reach& reach,
                         const ScalarRule& rule, ScalarWork& work);

// `at`: the PC that the text is to name.
std::string describe(const VectorReason& reason, Pc at);

}  // namespace weft::ptx

#endif
