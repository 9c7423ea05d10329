#include "check/checks.h"

#include <utility>

#include "common/number.h"
#include "weft/common/error.h"

namespace weft::check {

Options options_of(const std::vector<std::string>& names, std::uint64_t reports) {
  Options options;
  for (const std::string& name : names) {
    if (name != "memory" && name != "race" && name != "warp" && name != "scalar")
      throw InputError("--check", "found '" + name + "'; allowed: memory, race, warp, scalar");
    (name == "memory" ? options.memory
     : name == "race" ? options.race
     : name == "warp" ? options.warp
                      : options.scalar) = true;
  }
  options.reports = reports;
  return options;
}

Checks::Checks(const Options& options, std::uint64_t base, std::uint64_t bytes)
    : log_(options.reports), warp_(options.warp), gaps_(options.gaps()), base_(base) {
  require("reports of checks", options.reports, {1});
  if (options.memory) memory_.emplace(base, bytes, allocations_, log_);
  if (options.race) race_.emplace(base, bytes, allocations_, log_);
  if (options.warp) barriers_.emplace(log_);
  if (options.scalar) scalar_.emplace(log_);
  if (options.records_writes != nullptr) recorder_.emplace(options.records_writes, log_);
  if (options.scalar && options.compares_writes != nullptr)
    comparer_.emplace(options.compares_writes, options.ptx, log_);
}

void Checks::allocated(std::uint64_t address, std::uint64_t bytes, const std::string& name) {
  allocations_.allocated(address, bytes, name);
  if (memory_) memory_->allocated(address, bytes);
}

void Checks::allocated_by_kernel(std::uint64_t address, std::uint64_t bytes) {
  const ptx::Program& program = allocating_->program;
  allocations_.allocated_by_kernel(
      address, bytes,
      {program.name, allocating_pc_,
       program.name + ": pc " + std::to_string(allocating_pc_) + ", " + program.place(allocating_pc_)});
  if (memory_) memory_->allocated(address, bytes);
  if (race_) race_->allocated(address, bytes);
}

void Checks::result_written(unsigned sm, const execute::ResidentBlock& block, unsigned chunk, unsigned lane,
                            std::uint64_t offset, std::uint64_t bytes) {
  const std::uint32_t thread = block.thread_of(chunk, lane);
  if (memory_) memory_->result_written(sm, block, thread, offset, bytes);
}

void Checks::freed(std::uint64_t address) {
  const std::uint64_t bytes = allocations_.freed(address);
  if (memory_ && bytes != 0) memory_->freed(address, bytes);
}

void Checks::written(std::uint64_t address, std::uint64_t bytes) {
  if (memory_) memory_->written(address, bytes);
}

void Checks::reset() {
  allocations_.clear();
  log_.clear();
  if (memory_) memory_->reset();
  if (race_) race_->reset();
  if (barriers_) barriers_->reset();
  launches_ = done_ = 0;
}

const std::vector<Report>& Checks::reports() {
  reports_ = log_.reports();
  if (memory_ && launches_ == done_) {
    for (Report& leak : allocations_.leaks()) reports_.push_back(std::move(leak));
  }
  return reports_;
}

void Checks::kernel_started(const execute::Kernel& kernel, unsigned sms) {
  allocations_.launched();
  ++launches_;
  if (memory_) memory_->kernel_started(kernel, sms);
  if (race_) race_->kernel_started(kernel, sms);
  if (barriers_) barriers_->kernel_started(kernel, sms);
  if (scalar_) scalar_->kernel_started(kernel, sms);
  if (recorder_) recorder_->kernel_started(kernel);
  if (comparer_) comparer_->kernel_started(kernel, allocations_);
}

void Checks::instruction_done(const execute::ObservedInstruction& instruction) {
  if (scalar_) scalar_->done(instruction);
  if (recorder_) recorder_->done(instruction);
  if (comparer_) comparer_->done(instruction);
}

void Checks::launch_ended(const unsigned char* memory) {
  ++done_;
  if (recorder_) recorder_->kernel_ended(allocations_, memory, base_);
  if (comparer_) comparer_->kernel_ended(allocations_, memory, base_);
}

std::vector<std::string> Checks::not_compared() const {
  return comparer_ ? comparer_->left_out() : std::vector<std::string>();
}

void Checks::block_started(unsigned sm, const execute::ResidentBlock& block) {
  if (memory_) memory_->block_started(sm, block);
  if (race_) race_->block_started(sm, block);
  if (barriers_) barriers_->block_started(sm, block);
  if (scalar_) scalar_->block_started(sm, block);
}

std::uint32_t Checks::access(const execute::ObservedAccess& access) {
  const std::uint32_t allowed = memory_ ? memory_->access(access) : access.mask;
  if (race_) race_->access(access, allowed);
  return allowed;
}

void Checks::shuffle_from_outside(const execute::ObservedShuffle& shuffle) {
  if (!warp_) return;
  for (std::uint32_t rest = shuffle.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    log_.add("shuffle from outside", shuffle.kernel->program.name, shuffle.pc,
             [&] { return describe(shuffle, lane); });
  }
}

void Checks::members_absent(const execute::ObservedAbsence& absence) {
  if (!warp_) return;
  for (std::uint32_t rest = absence.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    log_.add("members absent", absence.kernel->program.name, absence.pc,
             [&] { return describe(absence, lane); });
  }
}

void Checks::ordered(const execute::ObservedOrder& order) {
  if (memory_) memory_->ordered(order);
  if (race_) race_->ordered(order);
}

void Checks::barrier_reached(const execute::ObservedArrival& arrival) {
  if (barriers_) barriers_->reached(arrival);
}

void Checks::barrier_arrived(unsigned sm, const execute::ResidentBlock& block, unsigned barrier,
                             unsigned chunk, std::uint32_t mask, bool waits) {
  if (race_) race_->barrier_arrived(sm, block, barrier, chunk, mask, waits);
}

void Checks::barrier_released(unsigned sm, const execute::ResidentBlock& block, unsigned barrier,
                              bool whole) {
  if (race_) race_->barrier_released(sm, block, barrier, whole);
  if (barriers_) barriers_->released(sm, block, barrier);
}

void Checks::warp_synchronised(unsigned sm, const execute::ResidentBlock& block, unsigned chunk,
                               std::uint32_t mask) {
  if (race_) race_->warp_synchronised(sm, block, chunk, mask);
}

}  // namespace weft::check
