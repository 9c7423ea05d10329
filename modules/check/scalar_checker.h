// Scalar instructions and registers: whether one value per warp is what each thread would have by itself.
//
// Beside each scalar register the checker keeps what every thread has written there itself: what the register
// would hold for it without scalarization.
//
//  - Before an instruction, each thread that reads a scalar register, or has it for its guard, must find its
//    own value there.
//  - Before a scalar instruction, its guard must be the same for all threads of the issue, and its operands,
//    addresses among them, for all that execute.
//
// While that holds, every instruction does for every thread what it would do without scalarization, at the
// same time: it writes the same values in the same order, and leaves the same memory. So nothing has to be
// run twice, and the order of atomics and races is no matter.
#ifndef WEFT_CHECK_SCALAR_CHECKER_H
#define WEFT_CHECK_SCALAR_CHECKER_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "check/report.h"
#include "execute/access_observer.h"

namespace weft::check {

class ScalarChecker {
 public:
  explicit ScalarChecker(ReportLog& log) : log_(log) {}

  void kernel_started(const execute::Kernel& kernel, unsigned sms);
  void block_started(unsigned sm, const execute::ResidentBlock& block);
  void starts(const execute::ObservedInstruction& o);
  void done(const execute::ObservedInstruction& o);

 private:
  using Observed = execute::ObservedInstruction;
  // What the threads of a chunk have written to a register themselves.
  struct Own {
    std::array<std::uint64_t, isa::kLanes> value{};
    std::uint32_t written = 0;  // by which, since they came
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::size_t at(const Observed& o, std::uint32_t slot) const {
    return (std::size_t{o.sm} * chunks_ + o.chunk) * slots_ + slot;
  }
  std::uint32_t slot_of(const ptx::Operand& operand) const;
  std::uint64_t value(const Observed& o, const ptx::Operand& operand, unsigned lane) const;
  void own_values(const Observed& o, const ptx::Operand& operand, std::uint32_t threads,
                  const std::string& name);
  void one_value(const Observed& o, const ptx::Operand& operand, std::uint32_t threads,
                 const std::string& name);
  void report(const Observed& o, unsigned lane, const std::string& text);

  ReportLog& log_;
  // Of the kernel.
  std::uint32_t chunks_ = 0, slots_ = 0;
  std::vector<std::uint32_t> slot_of_row_, slot_of_predicate_;  // kNone: not scalar
  std::vector<bool> wide_;                                      // rows
  std::vector<Own> own_;                                        // by SM, chunk, scalar register
};

}  // namespace weft::check

#endif
