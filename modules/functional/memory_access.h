// Loads, stores and atomics of one warp, without a record of where the lanes went.
//
// What is inside its space, aligned and mapped goes straight to the lane function; everything else (generic
// and local addresses, faults, observed runs) goes through execute::Executor, so that there is one rule for
// what is allowed.
#ifndef WEFT_FUNCTIONAL_MEMORY_ACCESS_H
#define WEFT_FUNCTIONAL_MEMORY_ACCESS_H

#include <array>
#include <cstdint>

#include "execute/executor.h"
#include "functional/micro_op.h"
#include "functional/spin_detector.h"
#include "isa/address_span.h"

namespace weft::functional {

class MemoryAccess {
 public:
  MemoryAccess(execute::Executor& executor, execute::RegisterFile& registers)
      : executor_(executor),
        registers_(registers),
        addresses_{isa::find_addresses(isa::AddressKind::kWide), isa::find_addresses(isa::AddressKind::kLow),
                   isa::find_addresses(isa::AddressKind::kNarrow)} {}

  // Observed accesses all go through the executor, and so do those whose stores are noted.
  void set_observed(bool observed) {
    observed_ = observed;
    by_executor_ = observed_ || log_ != nullptr;
  }
  void note_stores(WriteLog* log) {
    log_ = log;
    by_executor_ = observed_ || log_ != nullptr;
  }
  void start_kernel(const execute::Kernel& kernel, const execute::DeviceMemoryView& memory);
  void start_block(const execute::ResidentBlock& block);

  // False: a fault, explained by Executor::fault.
  bool access(const MicroOp& op, ptx::Pc pc, unsigned chunk, std::uint32_t active,
              const execute::ResidentBlock& block);

 private:
  bool is_mapped(std::uint64_t low, std::uint64_t last);

  execute::Executor& executor_;
  execute::RegisterFile& registers_;
  const std::array<isa::AddressFunction, 3> addresses_;  // by isa::AddressKind
  const execute::Kernel* kernel_ = nullptr;
  execute::DeviceMemoryView memory_;
  execute::AddressSpaces::Region shared_, parameters_, device_;
  bool observed_ = false, by_executor_ = false;
  WriteLog* log_ = nullptr;
  std::uint64_t mapped_low_ = 0, mapped_end_ = 0;  // a range of device memory known to be mapped
};

}  // namespace weft::functional

#endif
