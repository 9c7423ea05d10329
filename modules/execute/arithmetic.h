// Arithmetic of the lanes of each group, and the registers whose value changes with time (%clock and
// %globaltimer).
#ifndef WEFT_EXECUTE_ARITHMETIC_H
#define WEFT_EXECUTE_ARITHMETIC_H

#include <cstdint>

#include "execute/kernel.h"
#include "execute/operands.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::execute {

class Arithmetic {
 public:
  Arithmetic(double core_megahertz, const Operands& operands)
      : nanoseconds_per_cycle_(1e3 / core_megahertz), operands_(operands) {}

  void start_kernel() { clock_reads_ = 0; }
  // `cycle`: the core cycle.
  void run(const Operation& op, const warp_formation::Groups& groups, std::uint64_t cycle);
  // How often this kernel has looked at the time.
  std::uint64_t clock_reads() const { return clock_reads_; }

 private:
  std::uint64_t time(ptx::Special special, std::uint64_t cycle) const;

  const double nanoseconds_per_cycle_;
  const Operands& operands_;
  std::uint64_t clock_reads_ = 0;
};

}  // namespace weft::execute

#endif
