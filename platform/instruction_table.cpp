#include "platform/instruction_table.h"

#include <ostream>
#include <sstream>

#include "common/csv.h"

namespace weft {
namespace {

using ptx::Opcode;

const char* kind_of(const ptx::Instruction& in) {
  if (in.op == Opcode::kBra || in.op == Opcode::kBrx) return in.guard >= 0 ? "branch" : "jump";
  if (in.op == Opcode::kCall || in.op == Opcode::kReturn) return "call";
  if (in.is_exit()) return "exit";
  if (in.is_barrier()) return "barrier";
  if (in.op == Opcode::kAtom || in.op == Opcode::kRed) return "atomic";
  if (in.is_load()) return "load";
  if (in.is_memory()) return "store";
  return in.is_warp_primitive() ? "warp" : in.is_control() ? "control" : "arithmetic";
}

const char* space_of(const ptx::Instruction& in) {
  if (!in.is_memory()) return "";
  switch (in.space) {
    case ptx::Space::kGlobal:
      return "global";
    case ptx::Space::kShared:
      return "shared";
    case ptx::Space::kLocal:
      return "local";
    case ptx::Space::kParam:
      return "param";
    case ptx::Space::kConst:
      return "const";
    case ptx::Space::kTexture:
      return "texture";
    default:
      return "generic";
  }
}

std::string pc_text(ptx::Pc pc) {
  return pc == ptx::kNoPc ? "" : std::to_string(pc);
}

void write_place(std::ostream& out, const ptx::Program& program, const ptx::SourcePlace& place) {
  if (place.line != 0 && place.file < program.files.size()) {
    out << as_cell(program.files[place.file]) << "," << place.line << ",";
  } else {
    out << ",,";
  }
}

void write_counts(std::ostream& out, const sm::InstructionCounts& c) {
  out << c.issues << "," << c.threads << "," << c.places << "," << c.executed << "," << c.parted << ","
      << c.active_beats << "," << c.active_lanes << "," << c.memory_threads << "," << c.coalesced_requests
      << "," << c.data_requests << "," << c.shared_accesses << "," << c.shared_conflict_cycles;
  for (const std::uint64_t cycles : c.cycles) out << "," << cycles;
  out << "\n";
}

}  // namespace

std::string instruction_csv(const sm::InstructionProfile& profile) {
  std::ostringstream out;
  out << "kernel,program,pc,kind,space,target_pc,reconvergence_pc,ptx_file,ptx_line,source_file,source_line,"
         "warp_instructions,"
      << "thread_instructions,thread_places,executed_thread_instructions,parted,active_beats,active_lanes,"
      << "memory_thread_instructions,coalesced_requests,data_requests,shared_accesses,"
      << "shared_conflict_cycles";
  for (unsigned b = 0; b < warp_formation::kStalls; ++b)
    out << ",cycles_" << warp_formation::bucket_name(static_cast<warp_formation::Stall>(b));
  out << "\n";
  std::size_t number = 0;
  for (const sm::InstructionProfile::OfKernel& kernel : profile.kernels()) {
    const ptx::Program& program = *kernel.program;
    const std::string name = as_cell(program.name) + "," + std::to_string(number++) + ",";
    for (ptx::Pc pc = 0; pc < program.code.size(); ++pc) {
      const ptx::Instruction& in = program.code[pc];
      out << name << pc << "," << kind_of(in) << "," << space_of(in) << "," << pc_text(in.target) << ","
          << (in.is_branch() || in.op == Opcode::kBrx ? pc_text(in.reconvergence) : "") << ",";
      write_place(out, program, in.ptx);
      write_place(out, program, in.source);
      write_counts(out, kernel.counts[pc]);
    }
    out << name << ",,,,,,,,,";
    write_counts(out, kernel.counts.back());
  }
  return out.str();
}

}  // namespace weft
