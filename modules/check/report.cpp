#include "check/report.h"

#include <sstream>

#include "isa/isa.h"
#include "sm/executor.h"

namespace weft::check {

void ReportLog::add(const std::string& kind, const std::string& kernel, ptx::Pc pc,
                    const std::function<std::string()>& text) {
  const auto [place, is_new] = places_.try_emplace({kernel, pc}, reports_.size());
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

std::uint32_t thread_of(const sm::ObservedAccess& access, unsigned lane) {
  return (access.chunk - access.block->first_chunk) * isa::kLanes + lane;
}

std::uint64_t block_of(const sm::Kernel& kernel, const sm::ResidentBlock& block) {
  return number_in(kernel.launch.grid, block.index);
}

std::uint64_t number_in(const dispatch::Dim3& grid, const dispatch::Dim3& index) {
  return index[0] + std::uint64_t{grid[0]} * (index[1] + std::uint64_t{grid[1]} * index[2]);
}

std::string thread_name(const sm::Kernel& kernel, std::uint64_t block, std::uint32_t thread) {
  const auto& size = kernel.launch.block;
  const auto& grid = kernel.launch.grid;
  std::ostringstream out;
  out << "thread (" << thread % size[0] << "," << thread / size[0] % size[1] << ","
      << thread / size[0] / size[1] << ") of block (" << block % grid[0] << "," << block / grid[0] % grid[1]
      << "," << block / grid[0] / grid[1] << ")";
  return out.str();
}

std::string describe(const sm::ObservedAccess& access, unsigned lane) {
  const ptx::Program& program = access.kernel->program;
  std::ostringstream out;
  out << program.name << ": "
      << thread_name(*access.kernel, block_of(*access.kernel, *access.block), thread_of(access, lane))
      << ", pc " << access.pc << ", " << program.place(access.pc) << ": "
      << verb_of(*access.operation->instruction) << " of " << access.bytes << " bytes";
  return out.str();
}

}  // namespace weft::check
