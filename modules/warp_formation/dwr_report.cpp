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
    census.own[kLatBarrier] += census.ready - ready;
    census.ready = ready;
  }
  return census;
}

unsigned Dwr::ready_warps() const {
  unsigned n = 0;
  for (const auto& scheduler : schedulers_) n += scheduler.eligible.size();
  return n;
}

void Dwr::bind(statistics::Group& group) {
  stack_statistics_.bind(group);
  group.derived("lats", statistics::Quantity::kLevel, units::kInstructions,
                "large-warp-intensive instructions of the kernels run", [this] {
                  std::uint64_t n = 0;
                  for (const auto& [name, kernel] : kernels_) n += kernel.lats;
                  return static_cast<double>(n);
                });
  group.derived("ignored_lats", statistics::Quantity::kLevel, units::kInstructions,
                "large-warp-intensive instructions that were ever in the ignore list", [this] {
                  std::uint64_t n = 0;
                  for (const auto& [name, kernel] : kernels_) {
                    for (const bool ignored : kernel.ignored) n += ignored ? 1 : 0;
                  }
                  return static_cast<double>(n);
                });
  group.counter("lat_barriers", statistics::Unit("sub-warps"), "LAT barriers executed",
                statistics_.lat_barriers);
  group.gauge("lat_barrier", units::kThreads, "threads that wait before a large-warp-intensive instruction",
              [this] { return census().own[kLatBarrier]; });
  group.gauge("lat_executing", statistics::Unit("sub-warps"), "LAT barriers in their pipeline",
              [this] { return executing_.size(); });
  group.counter("lat_slots", statistics::Unit("issue slots"), "issue slots that LAT barriers took",
                statistics_.lat_slots);
  group.counter("lat_wait_cycles", units::kCycles,
                "cycles that sub-warps were locked at LAT barriers, without the latency",
                statistics_.lat_wait_cycles);
  group.counter("lat_timeouts", statistics::Unit("groups"),
                "partner groups released because they had waited for lat_timeout", statistics_.lat_timeouts);
  group.counter("ilt_hits", statistics::Unit("sub-warps"), "LAT barriers ignored because of the ignore list",
                statistics_.ilt_hits);
  group.counter("ilt_inserts", statistics::Unit("PCs"), "PCs put into the ignore list",
                statistics_.ilt_inserts);
  group.counter("ilt_evictions", statistics::Unit("PCs"), "PCs evicted from the ignore list",
                statistics_.ilt_evictions);
  group.counter(
      "ilt_releases", statistics::Unit("groups"),
      "partner groups released because a partner had passed a LAT that is ignored or not yet detected",
      statistics_.ilt_releases);
  group.counter("large_issues", units::kIssues,
                "LATs issued after the barrier had released them, alone or combined",
                statistics_.large_issues);
  group.counter("large_sub_warps", statistics::Unit("sub-warps"),
                "sub-warps of the LATs issued after the barrier", statistics_.large_sub_warps);
  group.ratio("average_large_issue", statistics::Unit("sub-warps"),
              "sub-warps per LAT issued after the barrier",
              {{&statistics_.large_sub_warps}, {&statistics_.large_issues}, 1, statistics::kNothing});
  const bool dynamic = options_.lats == LatDetection::kDynamic;
  if (dynamic) {
    group.counter("lats_detected", statistics::Unit("PCs"), "PCs put into the table of detected LATs",
                  statistics_.lats_detected);
    group.counter("lats_missed", statistics::Unit("sub-warps"),
                  "LATs that issued without a barrier because they were not yet detected",
                  statistics_.lats_missed);
    group.counter("lat_table_evictions", statistics::Unit("PCs"),
                  "PCs evicted from the table of detected LATs", statistics_.lat_table_evictions);
  }
  // [DWR IV.E]: valid bit, PC and lock bits per group; one more status bit per sub-warp.
  const auto pst = static_cast<double>(groups_.size() * (1 + 32 + partners_));
  const auto ilt = static_cast<double>(ignored_.bits());
  const auto status = static_cast<double>(table_.size());
  const auto lat_table = dynamic ? static_cast<double>(detected_.bits()) : 0.0;
  group.derived("pst_bits", statistics::Quantity::kLevel, units::kBits, "partner-synch table",
                [pst] { return pst; });
  group.derived("ilt_bits", statistics::Quantity::kLevel, units::kBits, "ignore-list table",
                [ilt] { return ilt; });
  group.derived("storage_bits", statistics::Quantity::kLevel, units::kBits,
                "the tables, and a status bit per sub-warp",
                [pst, ilt, status, lat_table] { return pst + ilt + status + lat_table; });
  stack_statistics_.bind_stacks(group, table_.size(), 64 + width_);
  const auto number = [](std::uint64_t n) { return [n] { return static_cast<double>(n); }; };
  statistics_.partner_synch.bind(group, "partner_synch", number(groups_.size()), number(1 + 32 + partners_));
  statistics_.ignore_list.bind(group, "ignore_list", number(options_.ilt_entries / options_.ilt_ways),
                               number(ignored_.bits() / (options_.ilt_entries / options_.ilt_ways)));
  if (!dynamic) return;
  const std::uint64_t sets = options_.lat_table_entries / options_.lat_table_ways;
  statistics_.lat_table.bind(group, "lat_table", number(sets), number(detected_.bits() / sets));
}

storage::Arrays Dwr::arrays(std::uint64_t stack_entries) const {
  storage::Arrays arrays;
  add(arrays, storage::ram("partner_synch", groups_.size(), 1 + kPcBits + partners_));
  const std::uint64_t sets = options_.ilt_entries / options_.ilt_ways;
  add(arrays,
      storage::tags("ignore_list", options_.ilt_entries, 1 + kPcBits - bits_for(sets), options_.ilt_ways));
  if (options_.lats == LatDetection::kDynamic) {
    const std::uint64_t rows = options_.lat_table_entries / options_.lat_table_ways;
    add(arrays, storage::tags("lat_table", options_.lat_table_entries, 1 + kPcBits - bits_for(rows),
                              options_.lat_table_ways));
  }
  add(arrays, storage::ram("status", table_.size(), 1));
  add(arrays, stack_array(table_.size(), stack_entries, width_).uncounted());
  return arrays;
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
  unsigned others = 0;
  ignored_.each([&](ptx::Pc key) {
    const ptx::Pc pc = key - key_of(0);
    if (key < key_of(0) || pc >= program_->code.size()) {
      ++others;
      return;
    }
    out << " pc " << pc << " (" << program_->place(pc) << ")";
  });
  if (others != 0) out << " and " << others << " of other kernels";
  out << "\n";
  return out.str();
}

}  // namespace weft::warp_formation
