#include "check/barrier_checker.h"

#include <algorithm>
#include <sstream>

#include "common/hex.h"

namespace weft::check {

void BarrierChecker::kernel_started(const execute::Kernel& kernel, unsigned sms) {
  slots_per_sm_ = kernel.occupancy.resident;
  warps_ = kernel.chunks_per_block;
  slots_.resize(std::size_t{sms} * slots_per_sm_);
}

void BarrierChecker::block_started(unsigned sm, const execute::ResidentBlock& block) {
  slot_of(sm, block).assign(std::size_t{kBarriers} * warps_, First());
}

void BarrierChecker::released(unsigned sm, const execute::ResidentBlock& block, unsigned barrier) {
  const auto first = slot_of(sm, block).begin() + static_cast<std::ptrdiff_t>(std::size_t{barrier} * warps_);
  std::fill(first, first + static_cast<std::ptrdiff_t>(warps_), First());
}

void BarrierChecker::reached(const execute::ObservedArrival& arrival) {
  First& first =
      slot_of(arrival.sm, *arrival.block)[arrival.barrier * warps_ + arrival.block->warp_of(arrival.chunk)];
  if (first.pc == ptx::kNoPc) {
    first = {arrival.pc, arrival.mask};
    return;
  }
  const ptx::Program& program = arrival.kernel->program;
  if (first.pc == arrival.pc) {
    first.mask |= arrival.mask;
    return;
  }
  if (!program.code[arrival.pc].uniform && !program.code[first.pc].uniform) return;
  for (std::uint32_t rest = arrival.mask; rest != 0; rest &= rest - 1) {
    log_.add("barrier in divergent code", program.name, arrival.pc, [&] {
      std::ostringstream out;
      out << describe(arrival, static_cast<unsigned>(__builtin_ctz(rest))) << "aligned barrier "
          << arrival.barrier << " in divergent code: threads " << hex(first.mask)
          << " of the same warp arrived from pc " << first.pc << ", " << program.place(first.pc);
      return out.str();
    });
  }
}

}  // namespace weft::check
