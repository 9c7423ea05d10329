// From a kernel's statements to a Program.
#include <algorithm>
#include <map>
#include <utility>

#include "ptx/allocation.h"
#include "ptx/assembly.h"
#include "ptx/convergence.h"
#include "ptx/flow.h"
#include "ptx/frontiers.h"
#include "ptx/liveness.h"
#include "ptx/lower.h"
#include "ptx/meeting.h"
#include "ptx/reach.h"
#include "ptx/saves.h"
#include "ptx/scalars.h"
#include "ptx/spill.h"
#include "ptx/syntax.h"
#include "ptx/webs.h"
#include "ptx/what_helps.h"
#include "weft/ptx/limits.h"
#include "weft/ptx/module.h"
#include "weft/ptx/named_registers.h"

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

// `whole`: before anything was spilled; `shared`: registers that all functions of the program have besides.
void check_registers(const Allocation& whole, const Fitted& fitted, const std::string& where,
                     std::uint32_t limit, std::uint32_t shared, bool spill) {
  if (whole.predicate_pressure > kMaxLivePredicates) {
    throw InputError(where, "found " + std::to_string(whole.predicate_pressure) +
                                " predicates live at once, at most " + std::to_string(kMaxLivePredicates) +
                                " are allowed");
  }
  if (fitted.fits) return;
  const auto rows = [](const Allocation& a) { return a.feasible ? a.registers : a.pressure; };
  std::string text = "the kernel needs " + std::string(whole.feasible ? "" : "at least ") +
                     std::to_string(rows(whole)) + " registers per thread, " +
                     std::to_string(rows(whole) - limit) + " more than the " + std::to_string(limit) +
                     " allowed";
  if (!spill) throw InputError(where, text + "; allowed with spilling: --set sm.registers_per_thread=0");
  const std::uint32_t least = rows(fitted.allocation);
  text += ", and " + std::to_string(least) + " after spilling all registers that can be spilled";
  if (least + shared <= DecodeOptions().max_registers) {
    text += "; allowed with --set sm.max_registers_per_thread=" +
            std::to_string(std::max(least + shared, kLeastRegisters));
  }
  throw InputError(where, text);
}

// What is known before of a program's kernel that is to have scalar registers.
struct ScalarPlan {
  Scalarization kind = Scalarization::kOff;
  std::vector<bool> waits;  // by number of a function: threads may wait for others in it
};

// One function on its way into the program.
struct Part {
  Draft draft;
  FlowGraph flow;
  Allocation allocation;
  std::uint64_t spilled_bytes = 0;
};

// A function that calls others is lowered twice: how large its frame is follows from what lives across its
// calls, and addresses in the frame from its size. With `area` its registers are spilled to `limit` before,
// so that what is in memory need not be saved.
Draft lower_function(FunctionSymbols& symbols, const Reach& reach, std::uint64_t spilled_bytes = 0,
                     std::uint32_t limit = 0, SpillArea* area = nullptr) {
  const auto lowered = [&](std::uint64_t saved_bytes) {
    Draft draft = lower_statements(symbols, reach, saved_bytes, spilled_bytes);
    if (area != nullptr && draft.frame.calls) {
      *area = {};
      fit_registers(draft, limit, kMaxLivePredicates, area);
    }
    return draft;
  };
  Draft draft = lowered(0);
  if (!draft.frame.calls) return draft;
  const FlowGraph flow = build_flow(draft);
  const SavePlan plan = plan_saves(draft, flow, find_liveness(draft, flow));
  draft = lowered(plan.bytes);
  insert_saves(draft, plan);
  return draft;
}

// Scalar registers beyond the limit become vector ones: first those that only vector instructions read, as
// nothing else becomes vector with them, and of these the ones that are live in most places.
std::vector<VirtualId> longest_scalars(const Draft& draft, const FlowGraph& flow, const Liveness& liveness,
                                       const KeptScalars& kept, std::size_t count) {
  std::vector<std::uint32_t> places(draft.registers.size(), 0);
  std::vector<bool> spreads(draft.registers.size(), false);
  LiveSet live(draft.registers.size());
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    liveness.live_out.enter(b, live);
    for (const VirtualId id : kept[b]) live.insert(id);
    for (Pc pc = flow.blocks[b].last + 1; pc-- > flow.blocks[b].first;) {
      for_each_write(draft.code[pc], [&](VirtualId id) { ++places[id]; });
      if (draft.code[pc].fixed.scalar)
        for_each_read(draft.code[pc], [&](VirtualId id) { spreads[id] = true; });
      step_back(draft.code[pc], live);
      for (const VirtualId id : live.list()) ++places[id];
    }
  }
  std::vector<VirtualId> scalars;
  for (VirtualId id = 0; id < draft.registers.size(); ++id) {
    if (draft.is_scalar(id) && places[id] != 0) scalars.push_back(id);
  }
  std::stable_sort(scalars.begin(), scalars.end(), [&](VirtualId a, VirtualId b) {
    return spreads[a] != spreads[b] ? spreads[b] : places[a] > places[b];
  });
  scalars.resize(std::min(scalars.size(), count));
  return scalars;
}

// By how many registers or predicates scalars exceed the limits, at least 1.
std::size_t excess_of(const FileUse& use, std::uint32_t limit) {
  const std::uint32_t rows = std::max(use.pressure, use.registers);
  return std::max({rows > limit ? rows - limit : 1u, use.predicate_pressure > kMaxLivePredicates
                                                         ? use.predicate_pressure - kMaxLivePredicates
                                                         : 1u});
}

// Finds the draft's scalar registers, fewer of them until they fit, and allocates all.
Fitted fit_with_scalars(Draft& draft, const Reach& reach, const ScalarPlan& plan, std::uint32_t limit,
                        SpillArea* area, ScalarWork& work) {
  if (plan.kind == Scalarization::kOff) return fit_registers(draft, limit, kMaxLivePredicates, area);
  bool is_beyond = false;
  {
    const FlowGraph flow = build_flow(draft);
    const Liveness liveness = find_liveness(draft, flow);
    is_beyond = is_beyond_scalars(liveness);
    if (!is_beyond) split_webs(draft, flow, liveness);
  }
  if (is_beyond) {
    leave_without_scalars(draft);
    return fit_registers(draft, limit, kMaxLivePredicates, area);
  }
  ScalarRule rule{plan.kind, plan.waits, {}};
  while (true) {
    const FlowGraph flow = build_flow(draft);
    const Liveness liveness = find_liveness(draft, flow);
    const KeptScalars kept = find_scalars(draft, flow, liveness, reach, rule, work);
    Fitted fitted = fit_registers(draft, limit, kMaxLivePredicates, area, kept);
    if (fitted.allocation.scalars_fit) return fitted;
    const std::vector<VirtualId> more =
        longest_scalars(draft, flow, liveness, kept, excess_of(fitted.allocation.scalar, limit));
    rule.demoted.insert(rule.demoted.end(), more.begin(), more.end());
  }
}

Part make_part(FunctionSymbols& symbols, const Reach& reach, std::uint32_t limit, std::uint32_t shared,
               bool spill, const ScalarPlan& plan) {
  Part part;
  part.draft = lower_function(symbols, reach);
  ScalarWork work;
  Fitted fitted = fit_with_scalars(part.draft, reach, plan, limit, nullptr, work);
  const Allocation whole = fitted.allocation;
  // Where the frame ends follows from what is spilled, and that does not depend on addresses: a second time
  // the same is spilled.
  const bool predicates_fit = whole.predicate_pressure <= kMaxLivePredicates;
  while (!fitted.fits && spill && predicates_fit) {
    SpillArea area;
    part.draft = lower_function(symbols, reach, part.spilled_bytes, limit, &area);
    fitted = fit_with_scalars(part.draft, reach, plan, limit, &area, work);
    if (!fitted.fits || area.bytes <= part.spilled_bytes) break;
    part.spilled_bytes = area.bytes;
    fitted.fits = false;
  }
  const ModuleText& text = *symbols.module().text;
  const Function& function = symbols.function();
  check_registers(whole, fitted,
                  text.where(function.name.at) + (function.is_entry ? ": kernel '" : ": function '") +
                      std::string(text.view(function.name)) + "'",
                  limit, shared, spill);
  part.flow = std::move(fitted.flow);
  part.allocation = std::move(fitted.allocation);
  return part;
}

ScalarPlan scalar_plan(const Reach& reach, Scalarization kind) {
  ScalarPlan plan{kind, {}};
  if (kind == Scalarization::kOff) return plan;
  std::vector<Draft> drafts;
  drafts.reserve(reach.functions.size());
  for (const auto& symbols : reach.functions) drafts.push_back(lower_function(*symbols, reach));
  std::vector<const Draft*> functions;
  functions.reserve(drafts.size());
  for (const Draft& draft : drafts) functions.push_back(&draft);
  plan.waits = with_waits(functions, reach);
  return plan;
}

// By PC of the program. What was added since, to spill, is vector like what it serves.
std::vector<std::string> vector_reasons(const Draft& draft, std::size_t size) {
  std::vector<std::string> result(size);
  std::vector<Pc> now(draft.why_vector.size(), 0);
  for (Pc pc = 0; pc < draft.code.size(); ++pc) {
    if (draft.code[pc].origin < now.size()) now[draft.code[pc].origin] = pc;
  }
  for (Pc pc = 0; pc < draft.code.size(); ++pc) {
    const DraftInstruction& d = draft.code[pc];
    if (d.origin < now.size()) {
      const VectorReason& reason = draft.why_vector[d.origin];
      result[pc] = describe(reason, now[reason.at]);
    } else if (d.fixed.spill) {
      result[pc] = describe({VectorReason::Kind::kLocal, {}, 0}, 0);
    }
  }
  return result;
}

// sm_90a: 90.
std::uint32_t target_of(const Module& module) {
  const std::size_t digits = module.target.find("sm_");
  std::uint32_t number = 0;
  if (digits == std::string::npos) return number;
  for (std::size_t i = digits + 3; i < module.target.size() && number < 1000; ++i) {
    const char c = module.target[i];
    if (c < '0' || c > '9') break;
    number = 10 * number + static_cast<std::uint32_t>(c - '0');
  }
  return number;
}

void count_spills(Program& program) {
  for (const Instruction& i : program.code) {
    if (!i.spill) continue;
    ++(i.op == Opcode::kLd ? program.spill_loads : program.spill_stores);
  }
}

// Collects where named registers are live, function by function and PC by PC.
class RegisterNames {
 public:
  explicit RegisterNames(std::vector<NamedRegister>& registers) : registers_(registers) {}

  void add(const Part& part, const Assembly& assembly, std::size_t function) {
    const Draft& draft = part.draft;
    const Liveness liveness = find_liveness(draft, part.flow);
    LiveSet live(draft.registers.size());
    std::vector<std::vector<NamedRegister::Place>> places(draft.registers.size());
    for (std::size_t b = 0; b < part.flow.blocks.size(); ++b) {
      liveness.live_out.enter(b, live);
      for (Pc pc = part.flow.blocks[b].last + 1; pc-- > part.flow.blocks[b].first;) {
        step_back(draft.code[pc], live);
        for (const VirtualId id : live.list()) {
          if (id < draft.names.size() && !draft.names[id].name.empty()) extend(places[id], pc);
        }
      }
    }
    for (VirtualId id = 0; id < places.size(); ++id) {
      if (places[id].empty()) continue;
      const std::uint16_t index = assembly.place_of(function, id);
      const Pc first = assembly.first_of(function);
      auto& all = of(draft.names[id]).places;
      for (const NamedRegister::Place& place : places[id])
        all.push_back({place.first + first, place.last + first, index});
    }
  }
  void finish() {
    for (NamedRegister& named : registers_) {
      std::stable_sort(named.places.begin(), named.places.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
    }
  }

 private:
  // PCs come downwards within a block.
  static void extend(std::vector<NamedRegister::Place>& places, Pc pc) {
    if (!places.empty() && places.back().first == pc + 1) {
      places.back().first = pc;
    } else {
      places.push_back({pc, pc, 0});
    }
  }
  NamedRegister& of(const RegisterName& called) {
    std::string name(called.name);
    if (called.component != 0) name += {'.', "xyzw"[called.component - 1]};
    const auto [at, is_new] = numbers_.try_emplace({name, called.type}, registers_.size());
    if (is_new) registers_.push_back({std::move(name), called.type, {}});
    return registers_[at->second];
  }

  std::vector<NamedRegister>& registers_;
  std::map<std::pair<std::string, Type>, std::size_t> numbers_;
};

}  // namespace

Draft lower(const Module& module, const Function& kernel, const Symbols& symbols) {
  const std::vector<LinkedModule> modules{{&module, &symbols}};
  const Linkage linkage(modules);
  Reach reach = find_reach(linkage, {0, &kernel});
  return lower_function(*reach.functions[0], reach);
}

namespace {

// `names`: where named registers lie, if it is not nullptr; `why` as in decode().
Program decode_with(const std::vector<LinkedModule>& modules, const std::string& kernel,
                    const DecodeOptions& options, std::vector<std::string>* why,
                    std::vector<NamedRegister>* names) {
  const Linkage linkage(modules);
  const FunctionReference reference = find_kernel(modules, kernel);
  if (reference.function->needs_clusters) {
    throw InputError(
        linkage.text(reference.module).where(reference.function->name.at),
        "kernel '" + kernel +
            "' needs clusters of several blocks (.reqnctapercluster), which Weft does not support" +
            std::string(kOlderCodeHelps));
  }
  const Reach reach = find_reach(linkage, reference);
  std::uint32_t limit = std::min(options.max_registers, kMaxRows);
  const std::uint32_t asked = reference.function->max_registers;  // .maxnreg
  if (options.spill && asked != 0) limit = std::min(limit, std::max(asked, kLeastRegisters));
  std::vector<Part> parts;
  std::vector<std::uint64_t> frames;
  for (const auto& symbols : reach.functions) {
    // The stack pointer and the link register are two registers more.
    const std::uint32_t shared = reach.functions[0]->calls_functions() ? kFixedRegisters : 0;
    if (limit < shared)
      throw InputError(kernel, "calls need more than " + std::to_string(limit) + " registers");
    // Device functions may be called by threads that have parted from others: all of theirs is vector.
    const ScalarPlan plan = parts.empty() ? scalar_plan(reach, options.scalarization) : ScalarPlan{};
    parts.push_back(make_part(*symbols, reach, limit - shared, shared, options.spill, plan));
    frames.push_back(parts.back().draft.frame.bytes);
  }

  std::vector<const Draft*> drafts;
  drafts.reserve(parts.size());
  for (const Part& part : parts) drafts.push_back(&part.draft);
  const std::vector<bool> barriers = functions_with(is_block_barrier, drafts, reach);
  for (Part& part : parts) {
    find_meeting_points(part.draft, barriers, reach, part.flow);
    rank_blocks(part.flow);
  }

  const std::vector<bool> polls = functions_with(is_poll, drafts, reach);
  Assembly assembly(kernel);
  for (const Part& part : parts) assembly.reserve(part.draft, part.allocation);
  assembly.lay_out();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const FunctionSymbols& symbols = *reach.functions[i];
    const std::string name(symbols.module().text->view(symbols.function().name));
    const std::vector<bool> here = places_with(is_poll, parts[i].draft, polls, reach);
    assembly.add(name, parts[i].draft, parts[i].flow, find_convergence(parts[i].draft, here, parts[i].flow));
  }
  for (const std::uint32_t number : reach.with_address) {
    const FunctionSymbols& symbols = *reach.functions[number];
    const auto& known = *modules[symbols.reference().module].symbols;
    const auto address = known.find(std::string(symbols.module().text->view(symbols.function().name)));
    if (address != known.end()) assembly.set_entry(address->second, number);
  }
  if (names != nullptr) {
    RegisterNames collected(*names);
    for (std::size_t i = 0; i < parts.size(); ++i) collected.add(parts[i], assembly, i);
    collected.finish();
  }
  Program program = assembly.finish();
  program.target = target_of(*modules[reference.module].module);
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
  count_spills(program);
  if (why != nullptr) *why = vector_reasons(parts[0].draft, program.code.size());
  if (options.scalarization != Scalarization::kOff) {
    DecodeOptions without = options;
    without.scalarization = Scalarization::kOff;
    program.unscalarized_registers = decode(modules, kernel, without).registers_per_thread;
  }
  for (const Part& part : parts) program.spill_bytes += part.spilled_bytes;
  const Function& function = *reference.function;
  program.required_threads = function.required_threads;
  program.min_blocks = function.min_blocks;
  program.max_threads = function.required_threads[0] ? function.required_threads : function.max_threads;
  return program;
}

}  // namespace

Program decode(const std::vector<LinkedModule>& modules, const std::string& kernel,
               const DecodeOptions& options, std::vector<std::string>* why) {
  return decode_with(modules, kernel, options, why, nullptr);
}

std::vector<NamedRegister> named_registers(const std::vector<LinkedModule>& modules,
                                           const std::string& kernel, const DecodeOptions& options) {
  std::vector<NamedRegister> registers;
  decode_with(modules, kernel, options, nullptr, &registers);
  return registers;
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
