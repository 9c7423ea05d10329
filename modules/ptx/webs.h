// Registers as webs. PTX of compilers is not in SSA form: one virtual register may hold several values that
// have nothing to do with each other. A web is a set of definitions and of the reads that they reach, joined
// where a read is reached by several definitions; what is known of one web need not hold for another one.
#ifndef WEFT_PTX_WEBS_H
#define WEFT_PTX_WEBS_H

#include "ptx/liveness.h"

namespace weft::ptx {

// Gives each web of a register a register of its own; the first one in the order of the text keeps the id.
// A guarded write keeps the old value where the guard does not hold, so it belongs to the web that it finds.
void split_webs(Draft& draft, const FlowGraph& flow, const Liveness& liveness);

}  // namespace weft::ptx

#endif
