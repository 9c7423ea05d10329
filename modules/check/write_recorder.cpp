#include "check/write_recorder.h"

#include <algorithm>

namespace weft::check {
namespace {

bool reads_sm_number(const ptx::Program& program, const ptx::Operand& operand) {
  if (operand.kind != ptx::Operand::Kind::kRow || operand.index < program.register_rows) return false;
  return program.special_rows[(operand.index - program.register_rows) / 2u] == ptx::Special::kSmid;
}

// Why what the instruction does depends on what other threads have done before; empty: it does not.
std::string order_of(const ptx::Program& program, const ptx::Instruction& in) {
  if (in.op == ptx::Opcode::kAtom) return "an atomic returns what it found";
  if (in.op == ptx::Opcode::kRed && ptx::is_float(in.type)) return "an atomic adds in floating point";
  if (in.op == ptx::Opcode::kActivemask || in.needs_original_warp())
    return std::string(name_of(in.op)) + " is among the threads that execute together";
  if (in.op == ptx::Opcode::kSystem && in.system == ptx::SystemCall::kAllocate)
    return "malloc gives an address";
  for (const ptx::Operand& operand : in.src) {
    if (operand.kind == ptx::Operand::Kind::kDynamic) return "the time is read";
    if (reads_sm_number(program, operand)) return "the number of the SM is read";
  }
  return "";
}

std::uint64_t count_of(const ReportLog& log) {
  std::uint64_t count = 0;
  for (const Report& report : log.reports()) count += report.count;
  return count;
}

}  // namespace

void WriteRecorder::kernel_started(const execute::Kernel& kernel) {
  program_ = &kernel.program;
  launch_ = {};
  launch_.kernel = kernel.program.name;
  // What is saved across a call, and where a function's frame lies, differs with the registers.
  if (!kernel.program.functions.empty()) launch_.unlike = "it calls functions, whose frames differ";
  launch_.threads.resize(kernel.launch.blocks() * kernel.threads);
  reports_before_ = count_of(log_);
}

void WriteRecorder::starts(const execute::ObservedInstruction& o) {
  if (!launch_.unlike.empty() || o.executing == 0) return;
  const ptx::Program& program = o.kernel->program;
  const std::string order = order_of(program, program.code[o.pc]);
  if (!order.empty()) launch_.unlike = order + ", " + program.place(o.pc);
}

void WriteRecorder::done(const execute::ObservedInstruction& o) {
  if (!launch_.unlike.empty()) return;
  visit_writes(o, [this](std::uint64_t thread, unsigned /*lane*/, std::size_t /*result*/,
                         const RegisterWrite& write) { launch_.threads[thread].push_back(write); });
}

std::string WriteRecorder::found_last() const {
  const auto& reports = log_.reports();
  const auto of_this = std::find_if(reports.rbegin(), reports.rend(),
                                    [&](const Report& report) { return report.kernel == launch_.kernel; });
  return of_this == reports.rend() ? "found by a check" : of_this->kind + ", " + program_->place(of_this->pc);
}

void WriteRecorder::kernel_ended(const AllocationLog& allocations, const unsigned char* memory,
                                 std::uint64_t base) {
  if (launch_.unlike.empty() && count_of(log_) != reports_before_) launch_.unlike = found_last();
  if (!launch_.unlike.empty()) launch_.threads.clear();
  launch_.image = allocations.of_host();
  for (ImagePart& part : launch_.image) part.hash = hash_of(memory + (part.address - base), part.bytes);
  launch_.write(file_);
  launch_ = {};
}

}  // namespace weft::check
