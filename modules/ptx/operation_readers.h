// One reader per group of instructions: the modifiers after the mnemonic, in the order of PTX ISA 9.0,
// chapter 9, fill the Operation. Private to the module.
#ifndef WEFT_PTX_OPERATION_READERS_H
#define WEFT_PTX_OPERATION_READERS_H

#include <algorithm>
#include <initializer_list>

#include "ptx/modifiers.h"
#include "ptx/operation.h"

namespace weft::ptx {

// The types of the operands, in PTX order.
inline void signature(Operation& o, Type destination, std::initializer_list<Type> sources) {
  o.destination = destination;
  o.source_count = static_cast<std::uint8_t>(sources.size());
  std::copy(sources.begin(), sources.end(), o.sources.begin());
}

inline bool take_rounding(Modifiers& m, Instruction& i) {
  return m.take({{"rn", Rounding::kRn}, {"rz", Rounding::kRz}, {"rm", Rounding::kRm}, {"rp", Rounding::kRp}},
                i.rounding);
}

inline void check_flush(Modifiers& m, const Instruction& i, Type type) {
  if (i.ftz && !is_in(type, set_of(Type::kF32) | kF16s)) m.illegal(".ftz needs .f32, .f16 or .f16x2");
}

// operation_arithmetic.cpp
void read_add(Modifiers& m, Operation& o);  // add, sub, addc, subc
void read_mul(Modifiers& m, Operation& o);
void read_mad(Modifiers& m, Operation& o);  // mad, madc
void read_fma(Modifiers& m, Operation& o);
void read_div(Modifiers& m, Operation& o);
void read_rem(Modifiers& m, Operation& o);
void read_negate(Modifiers& m, Operation& o);    // neg, abs
void read_extremum(Modifiers& m, Operation& o);  // min, max
void read_copysign(Modifiers& m, Operation& o);
void read_root(Modifiers& m, Operation& o);         // rcp, sqrt, rsqrt
void read_approximate(Modifiers& m, Operation& o);  // sin, cos, lg2, ex2, tanh

// operation_logic.cpp
void read_setp(Modifiers& m, Operation& o);
void read_set(Modifiers& m, Operation& o);
void read_testp(Modifiers& m, Operation& o);
void read_selp(Modifiers& m, Operation& o);
void read_shift(Modifiers& m, Operation& o);  // shl, shr
void read_logic(Modifiers& m, Operation& o);  // and, or, xor
void read_not(Modifiers& m, Operation& o);    // not, cnot
void read_mov(Modifiers& m, Operation& o);
void read_cvt(Modifiers& m, Operation& o);
void read_bitfield(Modifiers& m, Operation& o);  // bfi, bfe
void read_count(Modifiers& m, Operation& o);     // popc, clz
void read_brev(Modifiers& m, Operation& o);
void read_branch(Modifiers& m, Operation& o);
void read_indexed_branch(Modifiers& m, Operation& o);
void read_call(Modifiers& m, Operation& o);
void read_trap(Modifiers& m, Operation& o);  // also brkpt
void read_exit(Modifiers& m, Operation& o);  // ret, exit

// operation_special.cpp
void read_prmt(Modifiers& m, Operation& o);
void read_lop3(Modifiers& m, Operation& o);
void read_shf(Modifiers& m, Operation& o);
void read_bfind(Modifiers& m, Operation& o);
void read_bmsk(Modifiers& m, Operation& o);
void read_fns(Modifiers& m, Operation& o);
void read_video(Modifiers& m, Operation& o);  // vadd2 .. vmax4
void read_nanosleep(Modifiers& m, Operation& o);
void read_sad(Modifiers& m, Operation& o);
void read_mul24(Modifiers& m, Operation& o);        // mul24, mad24
void read_dot_product(Modifiers& m, Operation& o);  // dp2a, dp4a

// operation_warp.cpp
void read_shfl(Modifiers& m, Operation& o);
void read_vote(Modifiers& m, Operation& o);
void read_match(Modifiers& m, Operation& o);
void read_redux(Modifiers& m, Operation& o);
void read_activemask(Modifiers& m, Operation& o);
void read_elect(Modifiers& m, Operation& o);
void read_barrier(Modifiers& m, Operation& o);  // bar, barrier, bar.warp.sync

// operation_memory.cpp
void read_load(Modifiers& m, Operation& o);
void read_uniform_load(Modifiers& m, Operation& o);  // ldu
void read_store(Modifiers& m, Operation& o);
void read_atomic(Modifiers& m, Operation& o);           // atom, red
void read_convert_address(Modifiers& m, Operation& o);  // cvta
void read_fence(Modifiers& m, Operation& o);            // membar, fence
void read_copy_async(Modifiers& m, Operation& o);       // cp.async

// operation_image.cpp
void read_texture(Modifiers& m, Operation& o);      // tex
void read_gather(Modifiers& m, Operation& o);       // tld4
void read_image_query(Modifiers& m, Operation& o);  // txq, suq
void read_surface(Modifiers& m, Operation& o);      // suld, sust

// operation_derived.cpp: what is executed by other instructions
void read_slct(Modifiers& m, Operation& o);
void read_szext(Modifiers& m, Operation& o);
void read_cvt_pack(Modifiers& m, Operation& o);
void read_prefetch(Modifiers& m, Operation& o);  // prefetch, prefetchu
void read_applypriority(Modifiers& m, Operation& o);
void read_isspacep(Modifiers& m, Operation& o);
// operation_video.cpp
void read_video_scalar(Modifiers& m, Operation& o);    // vadd, vsub, vabsdiff, vmin, vmax
void read_video_shift(Modifiers& m, Operation& o);     // vshl, vshr
void read_video_set(Modifiers& m, Operation& o);       // vset
void read_video_multiply(Modifiers& m, Operation& o);  // vmad

// operation_newer.cpp
void read_policy(Modifiers& m, Operation& o);  // createpolicy
void read_map_address(Modifiers& m, Operation& o);
void read_cluster_rank(Modifiers& m, Operation& o);
void read_cluster_barrier(Modifiers& m, Operation& o);  // behind barrier.cluster
void read_discard(Modifiers& m, Operation& o);
void read_grid_dependency(Modifiers& m, Operation& o);
void read_performance_event(Modifiers& m, Operation& o);
void read_register_limit(Modifiers& m, Operation& o);

// "u16x2" or "s16x2" of add, min, max, if it is next.
bool take_pair(Modifiers& m, Operation& o, Opcode op);

}  // namespace weft::ptx

#endif
