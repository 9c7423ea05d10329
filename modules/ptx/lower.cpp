#include "ptx/lower.h"

#include <iterator>
#include <utility>

#include "ptx/lower_rules.h"

namespace weft::ptx {
namespace {

struct Rule {
  Shape shape;
  void (*lower)(Lowering& f, const Operation& operation);
};

// In the order of Shape, which is the index.
constexpr Rule kRules[] = {
    {Shape::kPlain, lower_plain},
    {Shape::kMove, lower_move},
    {Shape::kConvert, lower_convert},
    {Shape::kLookup, lower_lookup},
    {Shape::kCarry, lower_carry},
    {Shape::kConvertTwo, lower_convert_two},
    {Shape::kConvertPack, lower_convert_pack},
    {Shape::kConvertSmall, lower_convert_small},
    {Shape::kVideo, lower_video},
    {Shape::kPolicy, lower_policy},
    {Shape::kMapAddress, lower_map_address},
    {Shape::kClusterRank, lower_cluster_rank},
    {Shape::kClusterWait, lower_cluster_wait},
    {Shape::kEvent, lower_nothing},
    {Shape::kHint, lower_hint},
    {Shape::kPrefetch, lower_prefetch},
    {Shape::kExtremum, lower_extremum},
    {Shape::kPairs, lower_pairs},
    {Shape::kLookupPredicate, lower_lookup_predicate},
    {Shape::kSelectBySign, lower_select_by_sign},
    {Shape::kExtend, lower_extend},
    {Shape::kCompare, lower_compare},
    {Shape::kLoad, lower_load},
    {Shape::kStore, lower_store},
    {Shape::kAtomic, lower_atomic},
    {Shape::kReduce, lower_atomic},
    {Shape::kBranch, lower_branch},
    {Shape::kIndexedBranch, lower_indexed_branch},
    {Shape::kCall, lower_call},
    {Shape::kTrap, lower_bare},
    {Shape::kExit, lower_exit},
    {Shape::kBarrier, lower_barrier},
    {Shape::kWarp, lower_warp},
    {Shape::kCopyAsync, lower_copy_async},
    {Shape::kCopyWait, lower_copy_wait},
    {Shape::kFence, lower_fence},
    {Shape::kTexture, lower_texture},
    {Shape::kImageQuery, lower_image_query},
    {Shape::kSurfaceLoad, lower_surface_load},
    {Shape::kSurfaceStore, lower_surface_store},
};

constexpr bool has_every_shape() {
  for (std::size_t i = 0; i < std::size(kRules); ++i) {
    if (kRules[i].shape != static_cast<Shape>(i)) return false;
  }
  return std::size(kRules) == static_cast<std::size_t>(Shape::kSurfaceStore) + 1;
}
static_assert(has_every_shape());

void lower_instruction(Lowering& f, const Statement& statement) {
  const Operation operation = read_operation(f.text, statement);
  f.code.begin(statement);
  f.operands.begin(statement);
  if (statement.guard.length != 0) {
    Node node;
    node.text = statement.guard;
    const Operands::Register guard = f.operands.need_register(node);
    f.operands.check_type(node, guard.type, Type::kPred);
    f.code.set_guard(guard.id, statement.guard_negated);
  }
  kRules[static_cast<std::size_t>(operation.shape)].lower(f, operation);
}

}  // namespace

Lowering::Lowering(FunctionSymbols& function_symbols, const Reach& reach, std::uint64_t saved_bytes,
                   std::uint64_t spilled_bytes)
    : symbols(function_symbols),
      text(*symbols.module().text),
      code(symbols.module(), symbols.function(), draft),
      frame(code, draft.frame, reach.frame_alignment),
      operands(symbols, code, frame),
      branches(code, draft, symbols.labels()),
      calls(symbols, reach.numbers, code, frame, operands, branches) {
  draft.frame = lay_out_frame(symbols, reach.frame_alignment, saved_bytes, spilled_bytes);
}

Draft lower_statements(FunctionSymbols& symbols, const Reach& reach, std::uint64_t saved_bytes,
                       std::uint64_t spilled_bytes) {
  Lowering f(symbols, reach, saved_bytes, spilled_bytes);
  const Function& function = symbols.function();
  if (function.is_entry) lay_out_parameters(f.text, function, f.draft.parameters, f.draft.parameter_bytes);
  symbols.rewind();
  f.calls.begin_function();
  std::uint32_t next_label = 0;
  for (std::uint32_t s = function.first; s < function.first + function.count; ++s) {
    const Statement& statement = f.text.statements[s];
    switch (statement.kind) {
      case Statement::Kind::kOpen:
        symbols.enter();
        break;
      case Statement::Kind::kClose:
        symbols.leave();
        break;
      case Statement::Kind::kLabel:
        f.branches.place(next_label++);
        break;
      case Statement::Kind::kDeclaration:
      case Statement::Kind::kPrototype:
      case Statement::Kind::kTargets:
        break;
      case Statement::Kind::kLocation:
        f.code.set_source_place(f.text.locations[statement.first]);
        break;
      case Statement::Kind::kInstruction:
        lower_instruction(f, statement);
        break;
    }
  }
  f.calls.end_function();
  f.branches.finish();
  return std::move(f.draft);
}

}  // namespace weft::ptx
