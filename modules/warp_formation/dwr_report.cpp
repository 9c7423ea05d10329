// Dynamic warp resizing: census, statistics, dump.
#include <sstream>

#include "warp_formation/dwr.h"

namespace weft::warp_formation {

Census Dwr::census() const {
  Census census;
  for (const auto& warp : warps_) {
    if (!warp.live) continue;
    const std::uint64_t ready = census.ready;
    warp.count(census);
    if (warp.at_lat != AtLat::kExecuting && warp.at_lat != AtLat::kLocked) continue;
    census.lat_barrier += census.ready - ready;
    census.ready = ready;
  }
  return census;
}

unsigned Dwr::ready_warps() const {
  unsigned n = 0;
  for (const auto& scheduler : schedulers_) n += scheduler.eligible.size();
  return n;
}

void Dwr::bind(statistics::Registry& registry, const std::string& prefix) {
  stack_statistics_.bind(registry, prefix);
  const auto counter = [&](const char* name, const char* unit, const char* meaning, std::uint64_t& value) {
    registry.counter(prefix + "." + name, unit, meaning, value);
  };
  const auto derived = [&](const char* name, const char* unit, const char* meaning,
                           std::function<double()> value) {
    registry.derived(prefix + "." + name, unit, meaning, std::move(value));
  };
  derived("lats", "instructions", "large-warp-intensive instructions of the kernels run", [this] {
    std::uint64_t n = 0;
    for (const auto& [name, kernel] : kernels_) n += kernel.lats;
    return static_cast<double>(n);
  });
  derived("ignored_lats", "instructions", "of them, those that were ever in the ignore list", [this] {
    std::uint64_t n = 0;
    for (const auto& [name, kernel] : kernels_) {
      for (const bool ignored : kernel.ignored) n += ignored ? 1 : 0;
    }
    return static_cast<double>(n);
  });
  counter("lat_barriers", "sub-warps", "LAT barriers executed", statistics_.lat_barriers);
  counter("lat_slots", "issue slots", "issue slots that LAT barriers took", statistics_.lat_slots);
  counter("lat_wait_cycles", "cycles", "that sub-warps were locked at LAT barriers, the latency not included",
          statistics_.lat_wait_cycles);
  counter("lat_timeouts", "groups", "partner groups let go because they had waited for lat_timeout",
          statistics_.lat_timeouts);
  counter("ilt_hits", "sub-warps", "LAT barriers ignored because of the ignore list", statistics_.ilt_hits);
  counter("ilt_inserts", "PCs", "PCs put into the ignore list", statistics_.ilt_inserts);
  counter("ilt_evictions", "PCs", "PCs that made room for another one there", statistics_.ilt_evictions);
  counter("large_issues", "issues", "LATs issued after the barrier had let them go, alone or combined",
          statistics_.large_issues);
  counter("large_sub_warps", "sub-warps", "sub-warps in those issues", statistics_.large_sub_warps);
  derived("average_large_issue", "sub-warps", "sub-warps of a LAT issue that the barrier let go", [this] {
    return static_cast<double>(statistics_.large_sub_warps) / static_cast<double>(statistics_.large_issues);
  });
  // [DWR IV.E]: valid bit, PC and lock bits per group; one more status bit per sub-warp.
  const auto pst = static_cast<double>(groups_.size() * (1 + 32 + partners_));
  const auto ilt = static_cast<double>(ignored_.bits());
  const auto status = static_cast<double>(table_.size());
  derived("pst_bits", "bits", "partner-synch table", [pst] { return pst; });
  derived("ilt_bits", "bits", "ignore-list table", [ilt] { return ilt; });
  derived("storage_bits", "bits", "both tables, and a status bit per sub-warp",
          [pst, ilt, status] { return pst + ilt + status; });
}

std::string Dwr::dump() const {
  std::ostringstream out;
  const auto list = [&](Partners partners) {
    const char* separator = " ";
    for (Partners rest = partners; rest != 0; rest &= rest - 1, separator = ", ")
      out << separator << __builtin_ctzll(rest);
  };
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    if (group.live == 0) continue;
    out << "partner group " << g << ":";
    if (group.valid) {
      out << " LAT barrier at pc " << group.pc << " (" << program_->place(group.pc) << "), locked sub-warps";
      list(group.lock);
      const Partners missing =
          ~(group.lock | group.parked | group.absent) & (~Partners{0} >> (64 - partners_));
      out << "; not there:";
      list(missing);
    } else {
      out << " no LAT barrier";
    }
    if (group.parked != 0) {
      out << "; at other barriers:";
      list(group.parked);
    }
    out << "\n";
    for (std::size_t c = g * partners_; c < (g + 1) * partners_; ++c) {
      const SubWarp& warp = warps_[c];
      if (!warp.live) continue;
      if (warp.at_lat == AtLat::kExecuting) out << "  executes a LAT barrier: ";
      if (warp.at_lat == AtLat::kLocked) out << "  locked at a LAT barrier: ";
      warp.describe(out, static_cast<unsigned>(c), width_, *program_);
    }
  }
  out << "ignore list:";
  ignored_.each([&](ptx::Pc pc) { out << " pc " << pc << " (" << program_->place(pc) << ")"; });
  out << "\n";
  return out.str();
}

}  // namespace weft::warp_formation
