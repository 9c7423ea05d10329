#include "check/report.h"

#include <sstream>

#include "common/hex.h"
#include "isa/isa.h"

namespace weft::check {
namespace {

// "kernel: thread (1,0,0) of block (0,0,0), pc 7, file.cu:12 (kernel.ptx:40:3): ", of an access or a shuffle.
template <class Observed>
std::string place_of(const Observed& what, const execute::ResidentBlock& block, unsigned lane) {
  const ptx::Program& program = what.kernel->program;
  std::ostringstream out;
  out << program.name << ": "
      << thread_name(*what.kernel, block_of(*what.kernel, block), block.thread_of(what.chunk, lane))
      << ", pc " << what.pc << ", " << program.place(what.pc) << ": ";
  return out.str();
}

}  // namespace

void ReportLog::add(const std::string& kind, const std::string& kernel, ptx::Pc pc,
                    const std::function<std::string()>& text, bool comparison) {
  const auto [place, is_new] = places_.try_emplace({kernel, pc, comparison}, reports_.size());
  if (!is_new) {
    ++reports_[place->second].count;
    return;
  }
  reports_.push_back({kind, kernel, pc, text(), 1});
  if (reports_.size() < most_) return;
  stop_reason_ = "stopped by --check after " + std::to_string(reports_.size()) + " reports";
}

void ReportLog::clear() {
  reports_.clear();
  places_.clear();
  stop_reason_.clear();
}

std::string verb_of(const ptx::Instruction& in) {
  switch (in.op) {
    case ptx::Opcode::kLd:
      return "load";
    case ptx::Opcode::kSt:
      return "store";
    case ptx::Opcode::kCopyAsync:
      return "copy";
    case ptx::Opcode::kTex:
    case ptx::Opcode::kTld4:
      return "texture fetch";
    case ptx::Opcode::kSuld:
      return "surface load";
    case ptx::Opcode::kSust:
      return "surface store";
    default:
      return "atomic";
  }
}

std::uint32_t thread_of(const execute::ObservedAccess& access, unsigned lane) {
  return access.block.thread_of(access.chunk, lane);
}

std::uint64_t block_of(const execute::Kernel& kernel, const execute::ResidentBlock& block) {
  return number_in(kernel.launch.grid, block.index);
}

std::uint64_t number_in(const dispatch::Dim3& grid, const dispatch::Dim3& index) {
  return index[0] + std::uint64_t{grid[0]} * (index[1] + std::uint64_t{grid[1]} * index[2]);
}

std::string thread_name(const execute::Kernel& kernel, std::uint64_t block, std::uint32_t thread) {
  const auto& size = kernel.launch.block;
  const auto& grid = kernel.launch.grid;
  std::ostringstream out;
  out << "thread (" << thread % size[0] << "," << thread / size[0] % size[1] << ","
      << thread / size[0] / size[1] << ") of block (" << block % grid[0] << "," << block / grid[0] % grid[1]
      << "," << block / grid[0] / grid[1] << ")";
  return out.str();
}

std::string place(const execute::ObservedInstruction& instruction, unsigned lane) {
  return place_of(instruction, *instruction.block, lane);
}

std::string describe(const execute::ObservedAccess& access, unsigned lane) {
  return place_of(access, access.block, lane) + verb_of(*access.op.instruction) + " of " +
         std::to_string(access.bytes) + " bytes";
}

std::string describe(const execute::ObservedShuffle& shuffle, unsigned lane) {
  const unsigned from = shuffle.from[lane];
  const std::uint32_t thread = shuffle.block->thread_of(shuffle.chunk, from);
  std::ostringstream out;
  out << place_of(shuffle, *shuffle.block, lane) << "shfl reads lane " << from << " of its warp, ";
  if (thread >= shuffle.block->threads) {
    out << "which does not exist in the block";
  } else if (!shuffle.names_members) {
    out << "which does not execute the instruction together with it";
  } else if ((shuffle.members >> from & 1) != 0) {
    out << "which has exited";
  } else {
    out << "which its member mask " << hex(shuffle.members) << " does not name";
  }
  out << ": the value is undefined; Weft gives 0";
  return out.str();
}

std::string describe(const execute::ObservedArrival& arrival, unsigned lane) {
  return place_of(arrival, *arrival.block, lane);
}

std::string describe(const execute::ObservedAbsence& absence, unsigned lane) {
  std::ostringstream out;
  out << place_of(absence, *absence.block, lane) << name_of(absence.kernel->program.code[absence.pc].op)
      << " with member mask " << hex(absence.members) << " executes without " << hex(absence.absent)
      << ", which wait at a reconvergence point or a barrier of the block for threads that execute it";
  return out.str();
}

}  // namespace weft::check
