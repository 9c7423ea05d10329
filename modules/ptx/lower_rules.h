// One rule per shape of instruction: which draft instructions a PTX instruction becomes. lower.cpp has the
// table. Private to the module.
#ifndef WEFT_PTX_LOWER_RULES_H
#define WEFT_PTX_LOWER_RULES_H

#include "ptx/branches.h"
#include "ptx/calling_convention.h"
#include "ptx/draft_builder.h"
#include "ptx/operands.h"
#include "ptx/operation.h"
#include "ptx/reach.h"
#include "ptx/stack_frame.h"
#include "ptx/symbols.h"

namespace weft::ptx {

// A function that is being lowered (`f` in the rules): the parts that rules work with.
struct Lowering {
  Lowering(FunctionSymbols& function_symbols, const Reach& reach, std::uint64_t saved_bytes,
           std::uint64_t spilled_bytes);
  Lowering(const Lowering&) = delete;
  Lowering& operator=(const Lowering&) = delete;

  FunctionSymbols& symbols;
  const ModuleText& text;
  Draft draft;
  DraftBuilder code;
  StackFrame frame;
  Operands operands;
  Branches branches;
  CallingConvention calls;
};

// lower_plain.cpp: one instruction becomes one
void lower_plain(Lowering& f, const Operation& operation);
void lower_lookup(Lowering& f, const Operation& operation);  // lop3
void lower_carry(Lowering& f, const Operation& operation);
void lower_compare(Lowering& f, const Operation& operation);
void lower_hint(Lowering& f, const Operation& operation);
void lower_bare(Lowering& f, const Operation& operation);  // no operands

// lower_move.cpp
void lower_move(Lowering& f, const Operation& operation);

// lower_convert.cpp
void lower_convert(Lowering& f, const Operation& operation);
void lower_convert_two(Lowering& f, const Operation& operation);
void lower_convert_pack(Lowering& f, const Operation& operation);
void lower_convert_small(Lowering& f, const Operation& operation);

// lower_derived.cpp: one instruction becomes others
void lower_extremum(Lowering& f, const Operation& operation);
void lower_pairs(Lowering& f, const Operation& operation);
void lower_lookup_predicate(Lowering& f, const Operation& operation);
void lower_select_by_sign(Lowering& f, const Operation& operation);
void lower_extend(Lowering& f, const Operation& operation);

// lower_branch.cpp
void lower_branch(Lowering& f, const Operation& operation);
void lower_indexed_branch(Lowering& f, const Operation& operation);
void lower_call(Lowering& f, const Operation& operation);
void lower_exit(Lowering& f, const Operation& operation);

// lower_memory.cpp
void lower_load(Lowering& f, const Operation& operation);
void lower_store(Lowering& f, const Operation& operation);
void lower_atomic(Lowering& f, const Operation& operation);  // kAtomic, kReduce
void lower_copy_async(Lowering& f, const Operation& operation);
void lower_copy_wait(Lowering& f, const Operation& operation);
void lower_prefetch(Lowering& f, const Operation& operation);

// lower_image.cpp
void lower_texture(Lowering& f, const Operation& operation);
void lower_image_query(Lowering& f, const Operation& operation);
void lower_surface_load(Lowering& f, const Operation& operation);
void lower_surface_store(Lowering& f, const Operation& operation);

// lower_warp.cpp
void lower_warp(Lowering& f, const Operation& operation);
void lower_barrier(Lowering& f, const Operation& operation);

// lower_video.cpp
void lower_video(Lowering& f, const Operation& operation);

// lower_newer.cpp
void lower_policy(Lowering& f, const Operation& operation);
void lower_map_address(Lowering& f, const Operation& operation);
void lower_cluster_rank(Lowering& f, const Operation& operation);
void lower_cluster_wait(Lowering& f, const Operation& operation);
void lower_nothing(Lowering& f, const Operation& operation);
void lower_fence(Lowering& f, const Operation& operation);
void check_policy(Lowering& f, const Node& node);  // the operand of .L2::cache_hint

// lop3: the table says which function it is, so PTX wants it known beforehand.
void check_lookup_table(const Lowering& f, const Node& node);

}  // namespace weft::ptx

#endif
