// The load-store unit by itself. Memory answers when the test says so.
#ifndef WEFT_TESTS_SM_LOAD_STORE_BENCH_H
#define WEFT_TESTS_SM_LOAD_STORE_BENCH_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sm/load_store_unit.h"

namespace weft::sm::load_store_bench {

using execute::LaneAccess;
using warp_formation::ThreadGroup;

inline ptx::Instruction instruction(ptx::Opcode op, ptx::Space space = ptx::Space::kGlobal) {
  ptx::Instruction in;
  in.op = op;
  in.space = space;
  in.unit = ptx::Unit::kMemory;
  return in;
}

// Threads of a chunk in a row of the warp, or at home from that row on.
inline ThreadGroup in_row(std::uint16_t chunk, std::uint8_t row, std::uint32_t mask) {
  return {mask, chunk, row, false};
}
inline ThreadGroup at_home(std::uint16_t chunk, std::uint32_t mask = ~0u, std::uint8_t row = 0) {
  return {mask, chunk, row, true};
}

// An issue: groups, and where each thread goes.
struct Issue {
  std::vector<ThreadGroup> groups;
  std::vector<LaneAccess> accesses;

  template <class Address>  // (chunk, position) -> address
  void add(const ThreadGroup& group, Address&& address, ptx::Space space = ptx::Space::kGlobal,
           std::uint32_t bytes = 4) {
    LaneAccess access;
    access.space = space;
    access.chunk = group.chunk;
    access.group = static_cast<std::uint16_t>(groups.size());
    access.mask = group.mask;
    access.bytes = bytes;
    access.low = UINT64_MAX;
    for (unsigned p = 0; p < 32; ++p) {
      if ((group.mask >> p & 1) == 0) continue;
      access.address[p] = address(group.chunk, p);
      access.low = std::min(access.low, access.address[p]);
      access.high = std::max(access.high, access.address[p]);
    }
    groups.push_back(group);
    accesses.push_back(access);
  }
};

class Bench final : public LoadStoreListener, public SystemAccesses {
 public:
  explicit Bench(const machine::SmConfig& wanted, unsigned lane_count = 0)
      : config(wanted), unit(config, *this, *this, observers, lane_count, 1) {}

  void memory_returned(std::uint16_t issue, unsigned, std::uint32_t mask) override {
    returned[issue] += static_cast<unsigned>(__builtin_popcount(mask));
  }
  void memory_finished(std::uint16_t issue) override { finished.push_back(issue); }
  std::uint32_t open(std::uint16_t, std::uint64_t) override { return 0; }
  void join(std::uint32_t, const LaneAccess&, std::uint32_t) override {}
  bool can_start(std::uint32_t) const override { return true; }
  void started(std::uint32_t) override {}
  void fill(std::uint32_t, const std::uint8_t*) override {}
  void close(std::uint32_t) override {}

  void accept(std::uint16_t id, ptx::Opcode op, const Issue& issue) {
    unit.accept(id, instruction(op), issue.groups.data(), issue.accesses.data(),
                static_cast<unsigned>(issue.accesses.size()), op != ptx::Opcode::kSt, at_once());
  }
  // All addresses are known in this cycle.
  datapath::Times at_once() const {
    datapath::Times times;
    times.addresses = now;
    return times;
  }
  // On a lane of its own, a thread per cycle from this one on.
  void accept_in_turn(std::uint16_t id, ptx::Opcode op, const Issue& issue, unsigned lane) {
    std::vector<datapath::Part> parts;
    datapath::Times times;
    for (std::uint32_t rest = issue.groups[0].mask; rest != 0; rest &= rest - 1) {
      times.addresses = now + parts.size();
      parts.push_back({times.addresses, 1, rest & -rest});
    }
    times.parts = parts.data();
    times.part_count = static_cast<std::uint32_t>(parts.size());
    times.in_turn = true;
    times.lane = lane;
    unit.accept(id, instruction(op, issue.accesses[0].space), issue.groups.data(), issue.accesses.data(),
                static_cast<unsigned>(issue.accesses.size()), op != ptx::Opcode::kSt, times);
  }
  // One thread's access to the line of the number.
  void accept(std::uint16_t id, ptx::Opcode op, std::uint64_t line) {
    Issue issue;
    issue.add(at_home(0, 1), [&](unsigned, unsigned) { return line * config.l1d.tags.line_bytes; });
    accept(id, op, issue);
  }
  // Requests leave at once, into `sent`.
  void run(Cycle cycles) {
    for (const Cycle end = now + cycles; now < end;) {
      ++now;
      unit.events(now);
      unit.step(now);
      if (unit.data_cache().has_to_flush()) unit.flush(resting);
      while (!unit.outgoing().empty()) {
        sent.push_back(unit.outgoing().take());
        unit.try_again();
      }
    }
  }
  void answer(std::size_t number) { unit.respond(now, sent[number].tag); }
  // What was sent since the last call: R and W with the line, A for an atomic.
  std::vector<std::string> lines() {
    std::vector<std::string> names;
    for (; told < sent.size(); ++told) {
      const OutgoingRequest& request = sent[told];
      const char* const kind = request.kind == AccessKind::kAtomic         ? "A"
                               : request.command == tlm::TLM_WRITE_COMMAND ? "W"
                                                                           : "R";
      names.push_back(kind + std::to_string(request.address / config.l1d.tags.line_bytes));
    }
    return names;
  }
  // The line is in the cache afterwards.
  void fetch(std::uint64_t line) {
    accept(99, ptx::Opcode::kLd, line);
    run(3);
    answer(sent.size() - 1);
    run(3);
    lines();
  }

  const machine::SmConfig config;
  const SmObservers observers;
  LoadStoreUnit unit;
  Cycle now = 1;
  bool resting = false;
  std::vector<OutgoingRequest> sent;
  std::size_t told = 0;
  std::map<unsigned, unsigned> returned;  // threads, by issue
  std::vector<unsigned> finished;
};

inline machine::SmConfig lanes(unsigned width) {
  machine::SmConfig config;
  config.simd_width = config.memory_width = width;
  config.l1d.tags.line_bytes = config.coalescer.block_bytes = 64;
  config.l1d.tags.sets = 4;
  config.l1d.tags.ways = 1;
  return config;
}

inline std::uint64_t consecutive(unsigned chunk, unsigned position) {
  return std::uint64_t{128} * chunk + std::uint64_t{4} * position;
}

}  // namespace weft::sm::load_store_bench

#endif
