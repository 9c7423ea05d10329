// HARP and CROWN: statistics, and the tables in words.
#include <sstream>

#include "warp_formation/powers.h"
#include "warp_formation/reincarnating_warps.h"
#include "weft/warp_formation/likely_convergence.h"

namespace weft::warp_formation {

// Identifier of a thread without its lane: HARP Table 7 takes log2(threads) - log2(lanes).
unsigned ReincarnatingWarps::thread_bits() const {
  unsigned bits = 0;
  while ((lanes_.width() << bits) < geometry_.threads) ++bits;
  return bits;
}

// PC, one thread per lane, two bits of status.
std::uint64_t ReincarnatingWarps::second_level_bits() const {
  return config_.second_level * (32 + std::uint64_t{lanes_.width()} * thread_bits() + 2);
}

std::uint64_t ReincarnatingWarps::storage_bits() const {
  return barriers_.bits(thread_bits()) + second_level_bits() +
         ready_lookup_.bits(lanes_.width(), thread_bits()) +
         waiting_lookup_.bits(lanes_.width(), thread_bits());
}

// HARP Table 7, CROWN slide 49. What is searched for is stored twice: as keys, which no statistic counts, and
// as data.
storage::Arrays ReincarnatingWarps::arrays(std::uint64_t /*stack_entries*/) const {
  const std::uint64_t width = lanes_.width();
  const std::uint64_t thread = thread_bits();
  const std::uint64_t threads = kPcBits + width * thread;  // of a warp, with its PC
  const std::uint64_t entries = config_.barrier_entries;
  const std::uint64_t ways = config_.barrier_ways;
  const std::uint64_t kind = likely_ ? 1 : 0;  // of the entry: at a likely-convergence point
  storage::Arrays arrays;
  storage::Ports ports;
  ports.read_write = config_.barrier_ports;
  const auto searched = [&](const char* part, std::uint64_t tag, std::uint64_t data, std::uint64_t copies) {
    add(arrays, storage::tags(part, entries, tag, ways).with_ports(ports).with_copies(copies).uncounted());
    add(arrays, storage::ram(part, entries, data, ways).with_ports(ports).with_copies(copies));
  };
  if (config_.barrier_layout == BarrierLayout::kLanes) {
    searched("barrier_lanes", thread, thread + 1, width);
    searched("barrier_pcs", 1 + kPcBits, kPcBits + kind, 1);
  } else {
    searched("barriers", threads + width, threads + width + kind, 1);
  }
  const std::uint64_t links = config_.barrier_span == BarrierSpan::kLinked ? bits_for(entries) : 0;
  add(arrays, storage::ram("barrier_links", entries, links).counted_by("link_storage_bits"));
  add(arrays, storage::ram("second_level", config_.second_level, threads + 2));
  const auto lookup = [&](const char* part, std::uint64_t slots) {
    add(arrays, storage::cam(part, slots, threads).uncounted());
    add(arrays, storage::ram(part, slots, threads));
  };
  lookup("ready_lookup", config_.ready_lookup);
  lookup("waiting_lookup", config_.waiting_lookup);
  return arrays;
}

void ReincarnatingWarps::bind(statistics::Group& group) {
  Counters& c = counters_;
  auto& b = barriers_.counters();
  group.counter("divergent_branches", units::kBranches, "branches after which threads of a warp diverge",
                c.divergent_branches);
  group.counter("uniform_branches", units::kBranches, "branches after which a warp stays together",
                c.uniform_branches);
  group.counter("bar_in_divergence", statistics::Unit("barriers"),
                "arrivals at a block barrier of a warp whose threads are expected at a reconvergence point "
                "(undefined in CUDA)",
                c.bar_in_divergence);
  group.counter("barrier_reserved", units::kThreads, "threads registered at a re-convergence barrier",
                b.reserved);
  group.counter("barrier_missed", units::kThreads, "threads that found their set of barriers full", b.missed);
  group.counter("barrier_entries_opened", units::kEntries, "entries taken for re-convergence barriers",
                b.opened);
  group.counter("barrier_multiset", statistics::Unit("divergences"),
                "divergences that took entries in several sets", b.multiset);
  group.counter("barrier_conflicts", statistics::Unit("commits"),
                "commits whose threads were in more sets of a bank of the barriers than it has ports",
                b.conflicts);
  group.counter("barrier_conflict_cycles", units::kCycles, "further cycles that these took",
                b.conflict_cycles);
  group.counter("reincarnations", units::kWarps,
                "warps reincarnated when all threads had reached their barrier", c.reincarnations);
  group.counter("reincarnated_threads", units::kThreads, "threads of reincarnated warps",
                c.reincarnated_threads);
  group.counter(
      "lone_departures", statistics::Unit("departures"),
      "times that threads left a reconvergence point without others, which waited at block barriers",
      c.lone_departures);
  bind_likely(group, [this](auto&& visit) { visit(barriers_); });
  statistics::Group& ready_lookup = group.group("ready_lookup");
  ready_lookup.counter("merges", statistics::Unit("merges"),
                       "times that diverged threads joined a warp of the Ready-Lookup", c.ready_merges);
  ready_lookup.counter("merged_threads", units::kThreads, "threads that did", c.ready_merged_threads);
  ready_lookup.counter("bypasses", units::kWarps, "diverged warps that found the Ready-Lookup full",
                       c.ready_bypasses);
  ready_lookup.counter("departures", units::kWarps, "warps that left the Ready-Lookup",
                       ready_lookup_.departures());
  ready_lookup.counter("residence", units::kCycles, "cycles that these had spent there, summed",
                       ready_lookup_.residence());
  ready_lookup.gauge("warps", units::kWarps, "warps that it holds", [this] { return ready_lookup_.size(); });
  ready_lookup.maximum("peak", units::kWarps, "most warps that the Ready-Lookup held", ready_lookup_.peak());
  statistics::Group& waiting_lookup = group.group("waiting_lookup");
  waiting_lookup.counter("merges", statistics::Unit("merges"),
                         "times that a warp joined another one at the same load", c.waiting_merges);
  waiting_lookup.counter("merged_threads", units::kThreads, "threads that did", c.waiting_merged_threads);
  waiting_lookup.counter("bypasses", units::kWarps, "warps that found the Waiting-Lookup full",
                         c.waiting_bypasses);
  waiting_lookup.counter("evictions", units::kWarps, "warps evicted from the Waiting-Lookup", c.evictions);
  waiting_lookup.counter("departures", units::kWarps, "warps that left the Waiting-Lookup",
                         waiting_lookup_.departures());
  waiting_lookup.counter("residence", units::kCycles, "cycles that these had spent there, summed",
                         waiting_lookup_.residence());
  waiting_lookup.gauge("warps", units::kWarps, "warps that it holds",
                       [this] { return waiting_lookup_.size(); });
  waiting_lookup.maximum("peak", units::kWarps, "most warps that the Waiting-Lookup held",
                         waiting_lookup_.peak());
  statistics::Group& transitions = group.group("transitions");
  transitions.counter("lookup_to_second", units::kWarps, "from a lookup table to the Second-Level",
                      c.lookup_to_second);
  transitions.counter("barrier_to_second", units::kWarps, "from a re-convergence barrier to the Second-Level",
                      c.barrier_to_second);
  transitions.counter("second_to_first", units::kWarps, "from the Second-Level to a First-Level",
                      c.second_to_first);
  transitions.counter("first_to_waiting", units::kWarps, "from a First-Level towards the Waiting-Lookup",
                      c.first_to_waiting);
  statistics::Group& second_level = group.group("second_level");
  second_level.gauge("warps", units::kWarps, "warps outside of the lookup tables", [this] {
    return warps_.size() - free_warps_.size() - ready_lookup_.size() - waiting_lookup_.size();
  });
  second_level.maximum("peak", units::kWarps, "most warps outside of the lookup tables", c.second_level_peak);
  second_level.counter("spills", units::kWarps, "warps that entered a full Second-Level", c.spills);
  group.gauge("at_barriers", units::kThreads, "threads that wait at re-convergence barriers",
              [this] { return barriers_.waiting(); });
  group.gauge("barrier_entries", units::kEntries, "re-convergence barrier entries in use",
              [this] { return barriers_.in_use(); });
  group.maximum("barrier_peak", units::kEntries, "most re-convergence barrier entries in use", b.peak);
  group.derived("storage_bits", statistics::Quantity::kLevel, units::kBits,
                "data of the tables: barriers, Second-Level, lookups (tags and links apart)",
                [this] { return static_cast<double>(storage_bits()); });
  group.derived("link_storage_bits", statistics::Quantity::kLevel, units::kBits,
                "storage that the links of barrier entries add",
                [this] { return static_cast<double>(barriers_.link_bits()); });
  const auto table = [&](TableAccesses& uses, const char* name, std::size_t rows, std::uint64_t bits) {
    uses.bind(
        group, name, [rows] { return static_cast<double>(rows); },
        [rows, bits] {
          const std::uint64_t of_row = rows == 0 ? 0 : bits / rows;
          return static_cast<double>(of_row);
        });
  };
  table(b.uses, "barriers", barriers_.entries(), barriers_.bits(thread_bits()));
  table(c.second_level, "second_level", config_.second_level, second_level_bits());
  table(ready_lookup_.uses(), "ready_lookup", ready_lookup_.entries(),
        ready_lookup_.bits(lanes_.width(), thread_bits()));
  table(waiting_lookup_.uses(), "waiting_lookup", waiting_lookup_.entries(),
        waiting_lookup_.bits(lanes_.width(), thread_bits()));
}

std::string ReincarnatingWarps::describe(Index w) const {
  switch (warps_[w].state) {
    case State::kFree:
    case State::kCount:
      break;
    case State::kReady:
      return "waits in the Second-Level";
    case State::kFirst:
      return "can be issued";
    case State::kInFlight:
      return "instruction in flight";
    case State::kWaiting:
      return "waits for memory";
    case State::kLookupWait:
      return "waits for memory in the Waiting-Lookup";
    case State::kLookupDone:
      return "leaves the Waiting-Lookup";
    case State::kReturning:
      return "returns to the Second-Level";
    case State::kRevived:
      return "is born again";
    case State::kLookup:
      return "is held in the Ready-Lookup, slot " + std::to_string(warps_[w].lookup_slot);
    case State::kBarrier:
      return "waits at barrier " + std::to_string(warps_[w].barrier);
    case State::kSync:
      return "waits for threads of the original warp";
  }
  return "";
}

std::string ReincarnatingWarps::dump() const {
  std::ostringstream out;
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const Warp& warp = warps_[w];
    if (warp.state == State::kFree) continue;
    out << "warp " << w << " (block slot " << warp.slot << "): " << describe(static_cast<Index>(w))
        << " at pc " << warp.pc << " (" << program_->place(warp.pc) << "), threads";
    for (unsigned lane = 0; lane < lanes_.width(); ++lane) {
      if ((warp.threads.mask >> lane & 1) != 0) {
        out << " " << lanes_.position(warp.threads.row[lane], lane);
      } else {
        out << " -";
      }
    }
    out << "\n";
  }
  out << barriers_.dump();
  std::string text = out.str();
  if (text.empty()) return text;
  return text + "storage: " + std::to_string(storage_bits() / 8) + " bytes of tables, " +
         std::to_string(barriers_.link_bits() / 8) + " of links\n";
}

}  // namespace weft::warp_formation
