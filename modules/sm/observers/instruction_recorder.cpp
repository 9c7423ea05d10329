#include "sm/observers/instruction_recorder.h"

namespace weft::sm {

void InstructionRecorder::count_in(InstructionProfile* profile) {
  profile_ = profile;
  if (profile == nullptr || attached_) return;
  sm_.attach(*this);
  attached_ = true;
}

void InstructionRecorder::charge_cycles() {
  if (kernel_ != nullptr) charges_.settle(sm_.core().account, kernel_->rest());
}

void InstructionRecorder::kernel_started(const KernelStart& start) {
  kernel_ = profile_ == nullptr ? nullptr : &profile_->of(start.kernel.launch.program);
  charges_.start(sm_.core().account);
  if (kernel_ == nullptr) return;
  kernel_->occupancy = start.kernel.occupancy;
  kernel_->threads = start.kernel.threads;
}

// Threads of a branch part where its guard holds for some of them only.
void InstructionRecorder::issued(const Issue& issue) {
  if (kernel_ == nullptr) return;
  InstructionCounts& counts = kernel_->counts[issue.flight.pc];
  of_[issue.id] = &counts;
  charges_.issued(issue.now, issue.scheduler, sm_.core().account, counts, kernel_->rest());
  const std::uint32_t threads = issue.flight.threads(), executed = issue.flight.executing_threads();
  ++counts.issues;
  counts.threads += threads;
  const unsigned width = sm_.core().warp_width();
  counts.places += width != 0 ? width : issue.times.active_beats * sm_.lanes();
  counts.executed += executed;
  counts.active_beats += issue.times.active_beats;
  counts.active_lanes += issue.times.active_lanes;
  if (issue.flight.op->instruction->is_branch() && executed != 0 && executed != threads) ++counts.parted;
}

void InstructionRecorder::requested(std::uint16_t id, const Requests& requests) {
  if (kernel_ == nullptr) return;
  InstructionCounts& counts = *of_[id];
  counts.memory_threads += requests.threads;
  counts.coalesced_requests += requests.coalesced;
  counts.shared_accesses += requests.shared_accesses;
  counts.shared_conflict_cycles += requests.shared_conflict_cycles;
}

void InstructionRecorder::sent(std::uint16_t id, std::uint64_t requests) {
  if (kernel_ != nullptr) of_[id]->data_requests += requests;
}

void InstructionRecorder::wrote_back() {
  if (kernel_ != nullptr) ++kernel_->rest().data_requests;
}

void InstructionRecorder::parted(const InFlight& flight) {
  if (kernel_ != nullptr) ++kernel_->counts[flight.pc].parted;
}

}  // namespace weft::sm
