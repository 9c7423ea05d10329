// Census, statistics, tables and dump of variable_warps.
#include <sstream>

#include "warp_formation/powers.h"
#include "warp_formation/variable_warps.h"

namespace weft::warp_formation {

Census VariableWarps::census() const {
  Census census;
  for (std::size_t g = 0; g < gangs_.size(); ++g) {
    const Gang& gang = gangs_[g];
    if (gang.state == Gang::State::kFree) continue;
    each(gang.members, [&](unsigned k) {
      slice(warp_of(static_cast<Index>(g)), k).count(census, gang.state == Gang::State::kInFlight);
    });
  }
  return census;
}

WarpFormation::Next VariableWarps::next(unsigned context, Issue& issue) const {
  if (gang_at_[context] == kNone) return Next::kNone;
  fill(issue, context);
  return schedulers_[context % schedulers_.size()].eligible.has(context) ? Next::kOffered : Next::kHeld;
}

unsigned VariableWarps::ready_warps() const {
  unsigned n = 0;
  for (const auto& scheduler : schedulers_) n += scheduler.eligible.size();
  return n;
}

// An entry of a warp's gangs: whether it is used, its slice-warps, and the place that ready gangs are
// searched for.
storage::Array VariableWarps::gang_table() const {
  return storage::cam("gangs", gangs_.size(), 1 + slices_ + kPcBits + kDepthBits);
}

storage::Arrays VariableWarps::arrays(std::uint64_t stack_entries) const {
  storage::Arrays arrays;
  add(arrays, stack_array(slice_warps_.size(), stack_entries, size_ / slices_));
  add(arrays, gang_table());
  return arrays;
}

void VariableWarps::bind(statistics::Group& group) {
  Statistics& s = statistics_;
  stack_statistics_.bind(group);
  static constexpr statistics::Unit kSplits("splits");
  group.counter("control_splits", kSplits, "times that a gang split because its slice-warps parted",
                s.control_splits);
  group.counter("memory_splits", kSplits,
                "times that slice-warps left their gang because their data had come before those of others",
                s.memory_splits);
  group.counter("reformed", statistics::Unit("gangs"), "times that two gangs became one where they met",
                s.reformed);
  group.maximum("most_gangs", statistics::Unit("gangs"), "most gangs of a warp", s.most_gangs);
  group.counter("beside_issues", units::kIssues,
                "gangs that issued in the same cycle beside the first gang of their scheduler",
                s.beside_issues);
  group.histogram("gang_sizes", units::kIssues, "issues by slice-warps of the gang: bin b, of b",
                  s.issues_by_size);
  group.counter("context_waits", statistics::Unit("gangs"), "gangs that could run and found no context free",
                s.context_waits);
  group.gauge("split_warps", units::kWarps, "warps of more than one gang", [this] {
    std::uint64_t split = 0;
    for (const auto& warp : warps_) split += warp.live && warp.gangs > 1 ? 1 : 0;
    return split;
  });
  group.gauge("gangs", statistics::Unit("gangs"), "gangs of all warps", [this] {
    std::uint64_t gangs = 0;
    for (const auto& warp : warps_) gangs += warp.live ? warp.gangs : 0u;
    return gangs;
  });
  group.derived("storage_bits", statistics::Quantity::kLevel, units::kBits,
                "stacks of all slice-warps at their deepest, and the table of gangs", [this] {
                  return static_cast<double>(storage::counted_bits(arrays(stack_statistics_.deepest_stack)));
                });
  stack_statistics_.bind_stacks(group, slice_warps_.size(), stack_array(1, 1, size_ / slices_).bits);
  s.gangs.bind(
      group, "gangs", [this] { return static_cast<double>(gang_table().entries); },
      [this] { return static_cast<double>(gang_table().bits); });
}

void VariableWarps::describe(std::ostream& out, Index g) const {
  const Gang& gang = gangs_[g];
  const char* separator = " ";
  out << "  gang of slices";
  each(gang.members, [&](unsigned k) {
    out << separator << k;
    separator = ", ";
  });
  switch (gang.state) {
    case Gang::State::kInFlight:
      out << (gang.in_memory ? ": waits for memory" : ": instruction in flight");
      break;
    case Gang::State::kStands:
      out << (gang.at_barrier ? ": waits at a block barrier" : ": waits for other threads of its warp");
      break;
    default:
      out << (gang.context == kNone ? ": waits for a context" : ": can be issued");
  }
  out << "\n";
  each(gang.members, [&](unsigned k) {
    SbrWarp own = slice(warp_of(g), k);
    if (gang.state != Gang::State::kStands) own.stack.stand(gang.at.pc, gang.at.depth);
    own.describe_stack(out, size_, *program_);
  });
}

std::string VariableWarps::dump() const {
  std::ostringstream out;
  for (unsigned w = 0; w < warps(); ++w) {
    const Warp& warp = warps_[w];
    if (!warp.live) continue;
    out << "warp " << w << " (block slot " << warp.slot << ", threads " << warp.number * size_ << " to "
        << warp.number * size_ + size_ - 1 << "):\n";
    for (unsigned i = 0; i < slices_; ++i) {
      const auto g = static_cast<Index>(w * slices_ + i);
      if (gangs_[g].state != Gang::State::kFree) describe(out, g);
    }
  }
  return out.str();
}

}  // namespace weft::warp_formation
