// A datapath of the tests' own, "serial": one lane that runs one thread per cycle, and room for one block.
// All that SIMD groups never do: results and addresses that come thread by thread, and times that depend on
// who is in the issue.
#include <algorithm>
#include <vector>

#include "datapath/datapath.h"

namespace weft::datapath::test {
namespace {

class Serial final : public Datapath {
 public:
  explicit Serial(const Setting& setting) : Datapath(warp_formation::kChunk), machine_(setting.machine) {}

  void reset(Cycle /*now*/) override {
    free_ = 0;
    held_ = false;
  }

  RegisterFit fit(const BlockRegisters& registers) const override {
    const std::uint64_t needed = registers.threads * registers.per_thread;
    return {needed <= machine_.registers ? 1u : 0u, needed};
  }
  bool can_hold(unsigned /*slot*/, const BlockRegisters& registers) const override {
    return !held_ && fit(registers).blocks != 0;
  }
  void hold(const Block& /*block*/, const BlockRegisters& /*registers*/) override { held_ = true; }
  void release(const Block& /*block*/) override { held_ = false; }

  Cycle earliest(Cycle now, unsigned /*scheduler*/, const Demand& /*demand*/,
                 const Issue& /*issue*/) const override {
    return std::max(now, free_);
  }

  Times start(Cycle now, unsigned /*scheduler*/, const Demand& demand, const Issue& issue,
              const std::uint32_t* executing) override {
    const ptx::Instruction& in = *demand.instruction;
    const Cycle latency = in.is_control()  ? machine_.branch_cycles
                          : in.is_memory() ? machine_.pipeline_depth
                                           : machine_.pipeline_depth + demand.latency - 1;
    Times times;
    parts_.clear();
    Cycle at = now;
    for (unsigned g = 0; g < issue.groups.count; ++g) {
      times.active_lanes += static_cast<unsigned>(__builtin_popcount(issue.groups.data[g].mask));
      for (std::uint32_t rest = executing[g]; rest != 0; rest &= rest - 1)
        parts_.push_back({at++ + latency, 1u << g, rest & (~rest + 1)});
    }
    if (parts_.empty()) parts_.push_back({at++ + latency, 0, 0});
    free_ = at;
    times.end = parts_.back().ready;
    times.addresses = at - 1;
    times.active_beats = times.active_lanes;
    times.parts = parts_.data();
    times.part_count = static_cast<std::uint32_t>(parts_.size());
    return times;
  }

  Cycle next_free(Cycle now) const override { return free_ > now ? free_ : kNever; }

 private:
  const Machine machine_;
  Cycle free_ = 0;
  bool held_ = false;
  std::vector<Part> parts_;
};

WEFT_REGISTER_PART(part<Serial>("serial", "one lane that runs one thread per cycle"))

}  // namespace
}  // namespace weft::datapath::test
