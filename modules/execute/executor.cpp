#include "execute/executor.h"

#include "execute/lane_bits.h"
#include "execute/special_registers.h"

namespace weft::execute {

Executor::Executor(const machine::SmConfig& config, unsigned sm, double core_megahertz,
                   RegisterFile& registers)
    : config_(config),
      sm_(sm),
      registers_(registers),
      operands_(registers),
      spaces_(sm),
      faults_(spaces_),
      watch_(sm, operands_, spaces_, faults_),
      arithmetic_(core_megahertz, operands_),
      system_(operands_, spaces_, record_, faults_),
      memory_(operands_, spaces_, record_, watch_, faults_, system_),
      copies_(operands_, spaces_, record_, watch_, faults_),
      images_(operands_, spaces_, record_, watch_, faults_),
      primitives_(operands_, watch_),
      calls_(operands_, faults_),
      device_calls_(operands_, spaces_, watch_, faults_) {}

void Executor::start_kernel(const Kernel& kernel, const DeviceMemoryView& memory) {
  kernel_ = &kernel;
  registers_.configure(kernel.program, kernel.occupancy.resident * kernel.chunks_per_block);
  spaces_.start_kernel(kernel, memory);
  faults_.start_kernel(kernel);
  watch_.start_kernel(kernel);
  record_.clear();
  arithmetic_.start_kernel();
  memory_.start_kernel();
  images_.start_kernel();
  device_calls_.start_kernel();
}

void Executor::start_block(const ResidentBlock& block) {
  spaces_.start_block(block);
  registers_.begin(block.first_chunk, kernel_->chunks_per_block);
  fill_special_registers(*kernel_, block, config_, sm_, registers_);
  watch_.start_block(block);
}

void Executor::reset() {
  kernel_ = nullptr;
  spaces_.reset();
  faults_.reset();
  watch_.reset();
  record_.clear();
}

warp_formation::ThreadGroup Executor::first_of(const ptx::Instruction& in,
                                               const warp_formation::ThreadGroup& group) const {
  warp_formation::ThreadGroup first = group;
  first.mask = operands_.guarded(in, group);
  first.mask &= ~first.mask + 1;
  return first;
}

void Executor::arithmetic_once(const Operation& op, const warp_formation::ThreadGroup& group,
                               std::uint32_t warp, std::uint64_t cycle) {
  const warp_formation::ThreadGroup first = first_of(*op.instruction, group);
  if (first.mask == 0) return;
  arithmetic_.run(op, {&first, 1}, cycle);
  operands_.broadcast(op, group.chunk, first_lane(first.mask), warp);
}

bool Executor::memory_once(const Operation& op, ptx::Pc pc, const warp_formation::ThreadGroup& group,
                           std::uint32_t warp, const ResidentBlock& block) {
  const warp_formation::ThreadGroup first = first_of(*op.instruction, group);
  if (!memory(op, pc, {&first, 1}, block)) return false;
  if (first.mask != 0) operands_.broadcast(op, group.chunk, first_lane(first.mask), warp);
  return true;
}

bool Executor::memory(const Operation& op, ptx::Pc pc, const warp_formation::Groups& groups,
                      const ResidentBlock& block) {
  record_.clear();
  watch_.begin();
  const bool done = op.instruction->is_image() ? images_.run(op, pc, groups, block)
                    : op.memory == nullptr     ? copies_.run(op, pc, groups, block)
                                               : memory_.run(op, pc, groups, block);
  return done && watch_.goes_on();
}

}  // namespace weft::execute
