// The listing of `weft ptx FILE`.
#include <cinttypes>
#include <cstdio>

#include "ptx/syntax.h"
#include "ptx/what_helps.h"
#include "weft/ptx/module.h"

namespace weft::ptx {
namespace {

std::string block_name(const Program& program, std::uint32_t block) {
  return block == program.blocks.size() ? "exit" : "B" + std::to_string(block);
}

std::string pc_name(Pc pc) {
  return pc == kNoPc ? "exit" : std::to_string(pc);
}

std::string meeting(const Instruction& i) {
  std::string text = "reconverges at " + pc_name(i.reconvergence);
  if (i.reconvergence != i.plain_reconvergence) text += ", plain: " + pc_name(i.plain_reconvergence);
  return text;
}

// A line of its own, above the instruction: what threads do at convergence barriers before they execute it.
std::string convergence(const Program& p, Pc pc) {
  static constexpr const char* kNames[] = {"leave", "wait", "join", "join at entry"};
  const ConvergenceBarriers& barriers = p.convergence;
  std::string text;
  for (std::uint32_t a = barriers.first[pc]; a < barriers.first[pc + 1]; ++a) {
    const BarrierAction& action = barriers.actions[a];
    text += (text.empty() ? "" : ", ") + std::string(kNames[static_cast<std::size_t>(action.kind)]) + " " +
            std::to_string(action.barrier) + (action.at_post_dominator ? "" : " (merge)");
  }
  return text.empty() ? text : "        convergence barriers: " + text + "\n";
}

std::string counts(const Program& p) {
  std::string text = "  " + std::to_string(p.code.size()) + " instructions, " +
                     std::to_string(p.blocks.size()) + " blocks; " + std::to_string(p.registers_per_thread) +
                     " registers (of " + std::to_string(p.virtual_registers) + " virtual), " +
                     std::to_string(p.predicates) + " predicates; bytes: " + std::to_string(p.shared_bytes) +
                     " shared" + (p.uses_dynamic_shared ? " and dynamic" : "") + ", " +
                     std::to_string(p.local_bytes) + " local" +
                     (p.recursive ? " and a stack for recursion" : "") + ", " +
                     std::to_string(p.parameter_bytes) + " parameters\n";
  if (p.spill_bytes != 0) {
    text += "  spilled: " + std::to_string(p.spill_bytes) + " bytes of local memory, " +
            std::to_string(p.spill_loads) + " loads, " + std::to_string(p.spill_stores) + " stores\n";
  }
  if (p.max_threads[0] != 0) {
    text += std::string(p.required_threads[0] != 0 ? "  exactly " : "  at most ") +
            std::to_string(p.max_threads[0]) + " x " + std::to_string(p.max_threads[1]) + " x " +
            std::to_string(p.max_threads[2]) + " threads per block\n";
  }
  for (const Parameter& parameter : p.parameters) {
    text += "  parameter +" + std::to_string(parameter.offset) + " ." + name_of(parameter.type) + " " +
            parameter.name + ", " + std::to_string(parameter.size) + " bytes\n";
  }
  return text;
}

std::string percent(double part, double whole) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", whole == 0 ? 0 : 100 * part / whole);
  return text;
}

std::string scalar_counts(const Program& p) {
  const ScalarCounts c = count_scalars(p);
  return "  scalar: " + std::to_string(c.scalar_instructions) + " of " + std::to_string(c.instructions) +
         " instructions (" + percent(c.scalar_instructions, c.instructions) +
         "); registers: " + std::to_string(p.registers_per_thread) + " per thread, " +
         std::to_string(p.scalars_per_warp) +
         " per warp; predicates: " + std::to_string(c.predicates_per_thread) + " per thread, " +
         std::to_string(p.scalar_predicates) + " per warp\n  a warp of 32 takes " +
         std::to_string(c.registers) + " registers, " + std::to_string(c.with_predicates) +
         " with predicates counted as such; without scalarization " +
         std::to_string(32 * p.unscalarized_registers) + "\n";
}

std::string listing(const ModuleText& text, const Program& program, const std::vector<std::string>* why) {
  std::string out;
  std::uint32_t previous_line = 0, previous_column = 0;
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    const BasicBlock& block = program.blocks[b];
    for (const FunctionCode& function : program.functions) {
      if (function.first != block.first) continue;
      out += "  function " + function.name + ": " + std::to_string(function.frame_bytes) +
             " bytes of the stack\n";
    }
    out += "  B" + std::to_string(b) + " ->";
    for (const std::uint32_t s : block.successors) out += " " + block_name(program, s);
    out += "   post-dominator " + block_name(program, block.post_dominator) + "\n";
    for (Pc pc = block.first; pc <= block.last; ++pc) {
      const Instruction& i = program.code[pc];
      char number[16];
      std::snprintf(number, sizeof number, "%6" PRIu32 "  ", pc);
      // One PTX instruction may have become several.
      const bool part = i.ptx.line == previous_line && i.ptx.column == previous_column;
      if (!i.spill) {
        previous_line = i.ptx.line;
        previous_column = i.ptx.column;
      }
      const std::uint32_t at = text.line_starts[i.ptx.line - 1] + i.ptx.column - 1;
      const bool implied = pc + 1 == program.code.size() && part && i.is_exit();
      out += convergence(program, pc);
      out += number;
      out += implied   ? "ret (end of the kernel)"
             : i.spill ? "  + " + std::string(name_of(i.op)) + " (spill)"
                       : (part ? "  + " + std::string(name_of(i.op)) : text.statement_text(at));
      if (i.op == Opcode::kCall && i.target != kNoPc) out += "   [to " + std::to_string(i.target) + "]";
      if (i.is_branch()) {
        out += "   [to " + std::to_string(i.target) + ", " + meeting(i) + "]";
      } else if (i.op == Opcode::kBrx) {
        out += "   [" + meeting(i) + "]";
      }
      if ((program.convergence.turns[pc] & Turn::kPolls) != 0) out += "   [next turn of a loop that polls]";
      if (why != nullptr) {
        const std::string& reason = (*why)[pc];
        out += i.scalar ? "   scalar" : "   vector: " + (reason.empty() ? "device function" : reason);
      }
      out += "\n";
    }
  }
  return out;
}

}  // namespace

ScalarCounts count_scalars(const Program& program) {
  constexpr std::uint32_t kWarp = 32;
  ScalarCounts c;
  c.instructions = static_cast<std::uint32_t>(program.code.size());
  for (const Instruction& i : program.code) c.scalar_instructions += i.scalar;
  c.predicates_per_thread = static_cast<std::uint32_t>(program.predicates - program.scalar_predicates);
  c.registers = kWarp * program.registers_per_thread + program.scalars_per_warp;
  c.with_predicates = c.registers + kWarp * c.predicates_per_thread + program.scalar_predicates;
  return c;
}

Symbols listing_symbols(const Module& module) {
  Symbols symbols;
  std::uint64_t address = 0x1000;
  for (const Variable& v : module.variables) {
    address = (address + v.align - 1) / v.align * v.align;
    if (v.space == Space::kGlobal || v.space == Space::kConst) symbols[v.name] = address;
    if (v.space != Space::kShared) address += v.size;
  }
  add_functions(module, 0, symbols);
  return symbols;
}

std::string describe(const Module& module, const DecodeOptions& options, std::vector<std::string>* refused,
                     const std::function<void(const Program&)>& test) {
  std::string out = module.file + ": PTX " + module.version + " for " + module.target + "\n";
  const Symbols symbols = listing_symbols(module);
  for (const Variable& v : module.variables) {
    static constexpr const char* kSpaces[] = {"generic", "global", "shared", "local",
                                              "const",   "param",  "tex"};
    out += "variable ." + std::string(kSpaces[static_cast<std::size_t>(v.space)]) + " ." + name_of(v.type) +
           " " + v.name + ", " + (v.size ? std::to_string(v.size) + " bytes" : "size given at launch") +
           (v.is_extern && v.size ? ", defined elsewhere" : "") + (v.managed ? ", managed" : "") + "\n";
  }
  bool is_told = false;  // what helps
  for (const std::string& kernel : module.kernels) {
    out += "kernel " + kernel + "\n";
    try {
      const bool scalar = options.scalarization != Scalarization::kOff;
      std::vector<std::string> why;
      const Program program = decode({{&module, &symbols}}, kernel, options, &why);
      if (test) test(program);
      out += counts(program) + (scalar ? scalar_counts(program) : "");
      out += listing(*module.text, program, scalar ? &why : nullptr);
    } catch (const InputError& error) {
      const std::string why = is_told ? without_older_code(error.what()) : error.what();
      is_told = is_told || names_older_code(why);
      out += "  cannot be executed: " + why + "\n";
      if (refused != nullptr) refused->push_back("kernel " + kernel + ": " + why);
    }
  }
  return out;
}

}  // namespace weft::ptx
