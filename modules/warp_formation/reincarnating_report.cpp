// HARP and CROWN: statistics, and the tables in words.
#include <sstream>

#include "warp_formation/reincarnating_warps.h"

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

void ReincarnatingWarps::bind(statistics::Registry& registry, const std::string& prefix) {
  const auto count = [&](const char* name, const char* unit, const char* meaning, std::uint64_t& value) {
    registry.counter(prefix + "." + name, unit, meaning, value);
  };
  Counters& c = counters_;
  auto& b = barriers_.counters();
  count("divergent_branches", "branches", "branches after which threads of a warp part",
        c.divergent_branches);
  count("uniform_branches", "branches", "branches that keep a warp together", c.uniform_branches);
  count("bar_in_divergence", "barriers",
        "arrivals at a block barrier of a warp whose threads are expected at a reconvergence point "
        "(undefined in CUDA)",
        c.bar_in_divergence);
  count("barrier_reserved", "threads", "threads registered at a re-convergence barrier", b.reserved);
  count("barrier_missed", "threads", "threads that found their set of barriers full", b.missed);
  count("barrier_entries_opened", "entries", "entries taken for re-convergence barriers", b.opened);
  count("barrier_multiset", "divergences", "divergences that took entries in several sets", b.multiset);
  count("reincarnations", "warps", "warps born again when all threads had reached their barrier",
        c.reincarnations);
  count("reincarnated_threads", "threads", "threads of these warps", c.reincarnated_threads);
  count(
      "lone_departures", "departures",
      "times that threads went on from a reconvergence point without others, which waited at block barriers",
      c.lone_departures);
  count("ready_lookup.merges", "merges", "times that diverged threads joined a warp of the Ready-Lookup",
        c.ready_merges);
  count("ready_lookup.merged_threads", "threads", "threads that did", c.ready_merged_threads);
  count("ready_lookup.bypasses", "warps", "diverged warps that found the Ready-Lookup full",
        c.ready_bypasses);
  count("ready_lookup.departures", "warps", "warps that left the Ready-Lookup", ready_lookup_.departures());
  count("ready_lookup.residence", "cycles", "cycles that these had spent there, summed",
        ready_lookup_.residence());
  count("ready_lookup.peak", "warps", "most warps that the Ready-Lookup held", ready_lookup_.peak());
  count("waiting_lookup.merges", "merges", "times that a warp joined another one at the same load",
        c.waiting_merges);
  count("waiting_lookup.merged_threads", "threads", "threads that did", c.waiting_merged_threads);
  count("waiting_lookup.bypasses", "warps", "warps that found the Waiting-Lookup full", c.waiting_bypasses);
  count("waiting_lookup.evictions", "warps", "warps that made room in the Waiting-Lookup", c.evictions);
  count("waiting_lookup.departures", "warps", "warps that left the Waiting-Lookup",
        waiting_lookup_.departures());
  count("waiting_lookup.residence", "cycles", "cycles that these had spent there, summed",
        waiting_lookup_.residence());
  count("waiting_lookup.peak", "warps", "most warps that the Waiting-Lookup held", waiting_lookup_.peak());
  count("transitions.lookup_to_second", "warps", "from a lookup table to the Second-Level",
        c.lookup_to_second);
  count("transitions.barrier_to_second", "warps", "from a re-convergence barrier to the Second-Level",
        c.barrier_to_second);
  count("transitions.second_to_first", "warps", "from the Second-Level to a First-Level", c.second_to_first);
  count("transitions.first_to_waiting", "warps", "from a First-Level towards the Waiting-Lookup",
        c.first_to_waiting);
  count("second_level.peak", "warps", "most warps outside of the lookup tables", c.second_level_peak);
  count("second_level.spills", "warps", "warps that entered a full Second-Level", c.spills);
  count("barrier_peak", "entries", "most re-convergence barrier entries in use", b.peak);
  registry.derived(prefix + ".storage_bits", "bits",
                   "data of the tables: barriers, Second-Level, lookups (tags and links apart)",
                   [this] { return static_cast<double>(storage_bits()); });
  registry.derived(prefix + ".link_storage_bits", "bits", "what linking barrier entries adds",
                   [this] { return static_cast<double>(barriers_.link_bits()); });
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
