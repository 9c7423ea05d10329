// From a kernel's statements to a Program.
#include "ptx/allocation.h"
#include "ptx/assembly.h"
#include "ptx/flow.h"
#include "ptx/limits.h"
#include "ptx/liveness.h"
#include "ptx/meeting.h"
#include "ptx/module.h"
#include "ptx/reach.h"
#include "ptx/saves.h"
#include "ptx/syntax.h"

namespace weft::ptx {
namespace {

FunctionReference find_kernel(const std::vector<LinkedModule>& modules, const std::string& name) {
  std::string known;
  for (std::uint32_t m = 0; m < modules.size(); ++m) {
    const ModuleText& text = *modules[m].module->text;
    for (const Function& function : text.functions) {
      if (function.is_entry && function.has_body && text.view(function.name) == name) return {m, &function};
    }
    for (const std::string& kernel : modules[m].module->kernels)
      known += (known.empty() ? "" : ", ") + kernel;
  }
  const std::string file = modules.empty() ? "" : modules[0].module->file;
  throw InputError(file, "no kernel '" + name + "'; " +
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

// One function on its way into the program.
struct Part {
  Draft draft;
  FlowGraph flow;
  Allocation allocation;
};

// A function that calls others is lowered twice: how large its frame is follows from what lives across its
// calls, and addresses in the frame from its size.
Draft lower_function(FunctionSymbols& symbols, const Reach& reach) {
  Draft draft = Lowering(symbols, reach.numbers, reach.frame_alignment, 0).run();
  if (!draft.frame.calls) return draft;
  const FlowGraph flow = build_flow(draft);
  const SavePlan plan = plan_saves(draft, flow, find_liveness(draft, flow));
  draft = Lowering(symbols, reach.numbers, reach.frame_alignment, plan.bytes).run();
  insert_saves(draft, plan);
  return draft;
}

Part make_part(FunctionSymbols& symbols, const Reach& reach, std::uint32_t limit) {
  Part part;
  part.draft = lower_function(symbols, reach);
  part.flow = build_flow(part.draft);
  const Liveness liveness = find_liveness(part.draft, part.flow);
  part.allocation = allocate(part.draft, part.flow, liveness, limit, kMaxLivePredicates);
  const ModuleText& text = *symbols.module().text;
  const Function& function = symbols.function();
  check_registers(part.allocation,
                  text.where(function.name.at) + (function.is_entry ? ": kernel '" : ": function '") +
                      std::string(text.view(function.name)) + "'",
                  limit);
  return part;
}

}  // namespace

Draft lower(const Module& module, const Function& kernel, const Symbols& symbols) {
  const std::vector<LinkedModule> modules{{&module, &symbols}};
  const Linkage linkage(modules);
  Reach reach = find_reach(linkage, {0, &kernel});
  return lower_function(*reach.functions[0], reach);
}

Program decode(const std::vector<LinkedModule>& modules, const std::string& kernel,
               const DecodeOptions& options) {
  const Linkage linkage(modules);
  const FunctionReference reference = find_kernel(modules, kernel);
  const Reach reach = find_reach(linkage, reference);
  const std::uint32_t limit = std::min(options.max_registers, kMaxRows);
  std::vector<Part> parts;
  std::vector<std::uint64_t> frames;
  for (const auto& symbols : reach.functions) {
    // The stack pointer and the link register are two registers more.
    const std::uint32_t shared = reach.functions[0]->calls_functions() ? kFixedRegisters : 0;
    if (limit < shared)
      throw InputError(kernel, "calls need more than " + std::to_string(limit) + " registers");
    parts.push_back(make_part(*symbols, reach, limit - shared));
    frames.push_back(parts.back().draft.frame.bytes);
  }

  std::vector<const Draft*> drafts;
  for (const Part& part : parts) drafts.push_back(&part.draft);
  const std::vector<bool> barriers = with_block_barriers(drafts, reach);
  for (Part& part : parts) find_meeting_points(part.draft, barriers, reach, part.flow);

  Assembly assembly(kernel);
  for (const Part& part : parts) assembly.reserve(part.draft, part.allocation);
  assembly.lay_out();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const FunctionSymbols& symbols = *reach.functions[i];
    const std::string name(symbols.module().text->view(symbols.function().name));
    assembly.add(name, parts[i].draft, parts[i].flow);
  }
  for (const std::uint32_t number : reach.with_address) {
    const FunctionSymbols& symbols = *reach.functions[number];
    const auto& known = *modules[symbols.reference().module].symbols;
    const auto address = known.find(std::string(symbols.module().text->view(symbols.function().name)));
    if (address != known.end()) assembly.set_entry(address->second, number);
  }
  Program program = assembly.finish();
  const StackDepth depth = stack_depth(reach, frames);
  program.shared_bytes = reach.shared->bytes;
  program.uses_dynamic_shared = reach.uses_dynamic_shared;
  program.local_bytes = depth.bytes;
  program.recursive = depth.recursive;
  if (program.local_bytes > kMaxLocalBytes) {
    throw InputError(linkage.text(reference.module).where(reference.function->name.at),
                     "kernel '" + kernel + "' and the functions that it calls need " +
                         std::to_string(program.local_bytes) + " bytes of local memory per thread, at most " +
                         std::to_string(kMaxLocalBytes) + " are allowed");
  }
  const Function& function = *reference.function;
  program.required_threads = function.required_threads;
  program.max_threads = function.required_threads[0] ? function.required_threads : function.max_threads;
  return program;
}

Program decode(const Module& module, const std::string& kernel, const Symbols& symbols,
               const DecodeOptions& options) {
  return decode(std::vector<LinkedModule>{{&module, &symbols}}, kernel, options);
}

std::uint64_t add_functions(const Module& module, std::uint64_t first, Symbols& symbols) {
  const ModuleText& text = *module.text;
  for (const Function& function : text.functions) {
    if (function.is_entry || !function.has_body) continue;
    if (first >= kMaxFunctions) {
      throw InputError(text.where(function.name.at), "more than " + std::to_string(kMaxFunctions) +
                                                         " device functions in the modules of a device");
    }
    symbols[std::string(text.view(function.name))] = kFunctionBase + kFunctionStride * first++;
  }
  return first;
}

}  // namespace weft::ptx
