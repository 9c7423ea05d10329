// From a kernel's statements to a Program.
#include "ptx/allocation.h"
#include "ptx/flow.h"
#include "ptx/limits.h"
#include "ptx/liveness.h"
#include "ptx/module.h"
#include "ptx/syntax.h"

namespace weft::ptx {
namespace {

const Function& find_kernel(const Module& module, const std::string& name) {
  const ModuleText& text = *module.text;
  for (const Function& function : text.functions) {
    if (function.is_entry && function.has_body && text.view(function.name) == name) return function;
  }
  std::string known;
  for (const std::string& kernel : module.kernels) known += (known.empty() ? "" : ", ") + kernel;
  throw InputError(module.file, "no kernel '" + name + "'; " +
                                    (known.empty() ? "the module has none" : "the module has " + known));
}

void check_registers(const Allocation& allocation, const std::string& where, std::uint32_t limit) {
  if (allocation.predicate_pressure > kMaxLivePredicates) {
    throw InputError(where, "found " + std::to_string(allocation.predicate_pressure) +
                                " predicates live at once, at most " + std::to_string(kMaxLivePredicates) +
                                " are allowed");
  }
  const std::uint32_t needed = allocation.feasible ? allocation.registers : allocation.pressure;
  if (needed <= limit) return;
  throw InputError(where,
                   "the kernel needs " + std::string(allocation.feasible ? "" : "at least ") +
                       std::to_string(needed) + " registers per thread, " + std::to_string(needed - limit) +
                       " more than the " + std::to_string(limit) +
                       " allowed; Weft does not spill, so compile with fewer (-maxrregcount) or allow more");
}

// Puts row and predicate numbers in place of virtual registers.
class Finisher {
 public:
  Finisher(const Draft& draft, const Allocation& allocation, Program& program)
      : draft_(draft), allocation_(allocation), program_(program) {}

  Instruction finish(const DraftInstruction& draft) const {
    Instruction i = draft.fixed;
    for (std::size_t k = 0; k < i.src.size(); ++k) {
      if (draft.src[k] == kNoRegister) continue;
      i.src[k].index = index(draft.src[k]);
      // Special registers never change, so nothing ever waits for them.
      if (draft.src[k] < kFirstSpecial) add(i.reads, i.read_count, key(i.src[k]));
    }
    for (std::size_t k = 0; k < i.dst.size(); ++k) {
      if (draft.dst[k] == kNoRegister) continue;
      i.dst[k].index = index(draft.dst[k]);
      add(i.writes, i.write_count, key(i.dst[k]));
    }
    if (draft.guard != kNoRegister) {
      i.guard = static_cast<std::int16_t>(allocation_.row[draft.guard]);
      add(i.reads, i.read_count, static_cast<std::uint16_t>(program_.rows + i.guard));
    }
    return i;
  }

 private:
  std::uint16_t index(VirtualId id) const {
    if (id >= kFirstSpecial)
      return static_cast<std::uint16_t>(program_.register_rows + 2 * (id - kFirstSpecial));
    return allocation_.row[id];
  }
  std::uint16_t key(const Operand& operand) const {
    const bool predicate = operand.kind == Operand::Kind::kPredicate;
    return static_cast<std::uint16_t>(predicate ? program_.rows + operand.index : operand.index);
  }
  template <class Keys>
  static void add(Keys& keys, std::uint8_t& count, std::uint16_t key) {
    for (std::uint8_t k = 0; k < count; ++k) {
      if (keys[k] == key) return;
    }
    keys[count++] = key;
  }

  const Draft& draft_;
  const Allocation& allocation_;
  Program& program_;
};

}  // namespace

Program decode(const Module& module, const std::string& kernel, const Symbols& symbols,
               const DecodeOptions& options) {
  const ModuleText& text = *module.text;
  const Function& function = find_kernel(module, kernel);
  Draft draft = lower(module, function, symbols);
  FlowGraph flow = build_flow(draft);
  const Liveness liveness = find_liveness(draft, flow);
  const std::uint32_t limit = std::min(options.max_registers, kMaxRows);
  const Allocation allocation = allocate(draft, flow, liveness, limit, kMaxLivePredicates);
  check_registers(allocation, text.where(function.name.at) + ": kernel '" + kernel + "'", limit);

  Program program;
  program.name = kernel;
  program.register_rows = static_cast<std::uint16_t>((allocation.rows + 1) & ~1u);
  program.rows = static_cast<std::uint16_t>(program.register_rows + 2 * draft.specials.size());
  program.predicates = static_cast<std::uint16_t>(allocation.predicates);
  program.registers_per_thread = allocation.registers;
  program.virtual_registers = draft.named_registers;
  program.special_rows = draft.specials;
  const Finisher finisher(draft, allocation, program);
  program.code.reserve(draft.code.size());
  for (const DraftInstruction& instruction : draft.code) program.code.push_back(finisher.finish(instruction));
  for (const BasicBlock& block : flow.blocks) {
    Instruction& last = program.code[block.last];
    if (last.is_branch() && block.post_dominator != flow.blocks.size()) {
      last.reconvergence = flow.blocks[block.post_dominator].first;
    }
  }
  program.blocks = std::move(flow.blocks);
  program.constants = std::move(draft.constants);
  program.files = std::move(draft.files);
  program.shared_bytes = draft.shared_bytes;
  program.local_bytes = draft.local_bytes;
  program.uses_dynamic_shared = draft.uses_dynamic_shared;
  program.parameters = std::move(draft.parameters);
  program.parameter_bytes = draft.parameter_bytes;
  program.max_threads = function.required_threads[0] ? function.required_threads : function.max_threads;
  return program;
}

}  // namespace weft::ptx
