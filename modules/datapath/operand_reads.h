// Registers that instructions read from banks with one port each, scheduler by scheduler: what conflicts
// cost.
//
// kCollectors (GPGPU-Sim): an instruction gets a collector at its issue, and keeps it until its operands have
// come and its unit takes it. A bank gives so many operands in a cycle, in the order in which they were asked
// for. Register r of warp w lies in bank (r + w) modulo the banks. What comes in the first cycle delays
// nothing: that cycle is one of the pipeline's.
//
// kSlots (Huerta et al., MICRO 2025): all reads of an instruction are in the few cycles after its issue, and
// each bank has one read in a cycle. It does not issue before its reads find room there. Register r lies in
// bank r modulo the banks, and a register of 64 bits in two. An operand that the instruction before read at
// the same place from the same bank for the same warp comes from the register cache: as a compiler that marks
// every operand would have it.
#ifndef WEFT_DATAPATH_OPERAND_READS_H
#define WEFT_DATAPATH_OPERAND_READS_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "datapath/datapath.h"

namespace weft::datapath {

class OperandReads {
 public:
  OperandReads(const Operands& config, unsigned schedulers)
      : config_(config), schedulers_(on() ? schedulers : 0) {
    reset();
  }

  bool on() const { return config_.kind != Operands::Kind::kNone; }
  bool collects() const { return config_.kind == Operands::Kind::kCollectors; }
  void reset() {
    for (Scheduler& s : schedulers_) {
      s.collectors.assign(config_.collectors, 0);
      s.banks.assign(config_.banks, Bank());
      s.cache.assign(config_.banks * kPlaces, Cached());
    }
  }

  // The first cycle from `now` on at which the instruction may issue, as far as its reads go.
  Cycle earliest(Cycle now, unsigned scheduler, const Demand& demand, const Issue& issue) const {
    const Scheduler& s = schedulers_[scheduler];
    if (collects()) {
      return std::max(now, *std::min_element(s.collectors.begin(), s.collectors.end()));
    }
    const Reads reads = reads_of(s, demand, issue);
    Cycle at = now;
    while (!fits(s, reads, at)) ++at;
    return at;
  }
  // It issues, and reads. Returns the first cycle in which its unit may begin.
  Cycle read(Cycle now, unsigned scheduler, const Demand& demand, const Issue& issue) {
    Scheduler& s = schedulers_[scheduler];
    const Reads reads = reads_of(s, demand, issue);
    reads_ += reads.count;
    cached_ += reads.cached;
    if (!collects()) {
      for (unsigned i = 0; i < reads.count; ++i) take_slot(s.banks[reads.bank[i]], now);
      keep(s, demand, issue);
      return now;
    }
    // In accesses of a bank, of which a cycle has so many.
    const Cycle per_cycle = config_.reads_per_cycle, first = now * per_cycle;
    Cycle last = first;
    for (unsigned i = 0; i < reads.count; ++i) {
      Bank& bank = s.banks[reads.bank[i]];
      const Cycle access = std::max(first, bank.free);
      bank.free = access + 1;
      last = std::max(last, access);
    }
    const Cycle ready = last / per_cycle;
    conflicts_ += ready - now;
    return ready;
  }
  // kCollectors: its unit takes it in cycle `at`.
  void leave(unsigned scheduler, Cycle at) {
    std::vector<Cycle>& collectors = schedulers_[scheduler].collectors;
    *std::min_element(collectors.begin(), collectors.end()) = at + 1;
  }
  // kSlots: the cycles that an instruction which could otherwise issue waits for.
  Cycle next_free(Cycle now, Cycle next) const {
    for (const Scheduler& s : schedulers_) {
      for (const Cycle until : s.collectors) next = until > now ? std::min(next, until) : next;
    }
    return collects() || !on() ? next : std::min(next, now + 1);
  }

  void bind(statistics::Group& group) {
    group.counter("reads", units::kRequests, "rows of registers read from banks for operands", reads_);
    if (collects()) {
      group.counter("conflict_cycles", units::kCycles,
                    "cycles for which instructions waited in collectors for banks", conflicts_);
    } else {
      group.counter("cached", units::kRequests, "rows that came from the register cache", cached_);
    }
  }

 private:
  static constexpr unsigned kPlaces = 4;  // operands of an instruction
  struct Bank {
    Cycle free = 0;       // kCollectors: the next access
    Cycle slot_from = 0;  // kSlots: bit i of `slots`: cycle slot_from + i is taken
    std::uint64_t slots = 0;
  };
  struct Cached {
    std::uint32_t row = UINT32_MAX, warp = 0;
  };
  struct Scheduler {
    std::vector<Cycle> collectors;  // taken until
    std::vector<Bank> banks;
    std::vector<Cached> cache;  // by bank and place
  };
  struct Reads {
    std::array<std::uint8_t, 2 * kPlaces> bank{};
    unsigned count = 0, cached = 0;
  };

  static unsigned warp_of(const Issue& issue) {
    return issue.groups.count == 0 ? 0 : issue.groups.data[0].chunk;
  }
  // Calls visit(place, row) for each register that is read; twice for one of 64 bits, if `pairs`.
  template <class Visit>
  static void each_row(const Demand& demand, bool pairs, Visit&& visit) {
    const ptx::Instruction& in = *demand.instruction;
    const bool wide = ptx::bytes_of(in.type) == 8;
    for (unsigned p = 0; p < kPlaces; ++p) {
      if (in.src[p].kind != ptx::Operand::Kind::kRow) continue;
      bool before = false;
      for (unsigned q = 0; q < p; ++q)
        before = before || (in.src[q].kind == ptx::Operand::Kind::kRow && in.src[q].index == in.src[p].index);
      if (before) continue;
      visit(p, in.src[p].index);
      const bool pair = in.is_memory() && p == 0 ? in.wide_address : wide;
      if (pairs && pair) visit(p, in.src[p].index + 1u);
    }
  }
  Reads reads_of(const Scheduler& s, const Demand& demand, const Issue& issue) const {
    Reads reads;
    const unsigned warp = warp_of(issue);
    each_row(demand, !collects(), [&](unsigned place, unsigned row) {
      const auto bank = static_cast<std::uint8_t>((row + (collects() ? warp : 0)) % config_.banks);
      if (!collects() && config_.register_cache) {
        const Cached& cached = s.cache[bank * kPlaces + place];
        if (cached.row == row && cached.warp == warp) {
          ++reads.cached;
          return;
        }
      }
      reads.bank[reads.count++] = bank;
    });
    return reads;
  }
  void keep(Scheduler& s, const Demand& demand, const Issue& issue) const {
    const unsigned warp = warp_of(issue);
    each_row(demand, true, [&](unsigned place, unsigned row) {
      s.cache[row % config_.banks * kPlaces + place] = {row, warp};
    });
    // A result that is written makes what was kept of its register stale.
    const ptx::Instruction& in = *demand.instruction;
    for (unsigned i = 0; i < in.write_count; ++i) {
      for (Cached& cached : s.cache) {
        if (cached.warp == warp && (cached.row == in.writes[i] || cached.row == in.writes[i] + 1u))
          cached = {};
      }
    }
  }
  // Slots of a bank from cycle `at` on, as bits.
  static std::uint64_t slots_at(const Bank& bank, Cycle at) {
    return at - bank.slot_from >= 64 ? 0 : bank.slots >> (at - bank.slot_from);
  }
  bool fits(const Scheduler& s, const Reads& reads, Cycle at) const {
    for (unsigned i = 0; i < reads.count; ++i) {
      unsigned needed = 0, free = 0;
      for (unsigned j = 0; j < reads.count; ++j) needed += reads.bank[j] == reads.bank[i] ? 1 : 0;
      const std::uint64_t taken = slots_at(s.banks[reads.bank[i]], at);
      for (unsigned c = 0; c < cycles_for(needed); ++c) free += taken >> c & 1 ? 0 : 1;
      if (free < needed) return false;
    }
    return true;
  }
  // More operands of a bank than there are cycles take as many cycles as they are.
  unsigned cycles_for(unsigned needed) const {
    return std::max(static_cast<unsigned>(config_.read_cycles), needed);
  }
  static void take_slot(Bank& bank, Cycle now) {
    bank.slots = slots_at(bank, now);
    bank.slot_from = now;
    unsigned c = 0;
    while ((bank.slots >> c & 1) != 0) ++c;
    bank.slots |= std::uint64_t{1} << c;
  }

  const Operands config_;
  std::vector<Scheduler> schedulers_;
  std::uint64_t reads_ = 0, cached_ = 0, conflicts_ = 0;
};

}  // namespace weft::datapath

#endif
