#include "warp_formation/probe_scheme.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "warp_formation/warp_formation.h"

namespace weft::warp_formation::test {
namespace {

constexpr unsigned kPair = 2;    // threads that one issue takes at most: its parts resolve apart
constexpr Cycle kTableTurn = 3;  // cycles that a thread spends in the table after its instruction

class Probe final : public WarpFormation {
 public:
  Probe(const Config&, const Geometry& geometry)
      : geometry_(geometry), table_(2), issues_(geometry.max_issues) {
    threads_.resize(std::size_t{geometry.chunks} * kChunk);
  }

  void attach(const ptx::Program&, const SmView& sm) override { sm_ = &sm; }
  bool can_launch(const Block& block) const override { return live_ + block.threads <= geometry_.threads; }
  void launch(const Block& block) override {
    for (unsigned t = 0; t < block.threads; ++t) {
      const unsigned position = block.first_chunk * kChunk + t;
      if (position >= threads_.size()) threads_.resize(position + 1);
      threads_[position] = {State::kReady, 0, 0, block.slot, 0, 0};
    }
    live_ += block.threads;
    fetch();
  }
  void retire(const Block&) override { ++probe_calls().retired; }
  void reset() override {
    std::fill(threads_.begin(), threads_.end(), Thread());
    live_ = 0;
    for (unsigned c = 0; c < table_.size(); ++c) table_.set(c, ptx::kNoPc);
  }

  void advance(Cycle now) override {
    ++probe_calls().advanced;
    for (Thread& thread : threads_) {
      // What entered since the last cycle; `resolved` is not told the time, and the SM may have slept.
      if (thread.state == State::kTable && thread.leaves == kNoEvent) thread.leaves = now + kTableTurn;
      if (thread.state != State::kTable || thread.leaves > now) continue;
      thread.state = State::kReady;
      ++probe_calls().moved;
    }
    fetch();
  }

  // The first thread of the lowest PC, and the next one of the same block and PC if there is one.
  Stall pick(unsigned scheduler, std::uint32_t free_lanes, Issue& issue) override {
    probe_calls().free_lanes += free_lanes != 0;
    const unsigned first = lowest();
    if (first == threads_.size()) return live_ == 0 ? Stall::kEmpty : Stall::kScheme;
    groups_.clear();
    for (unsigned t = first; t < threads_.size() && groups_.size() < kPair; ++t) {
      const Thread& thread = threads_[t];
      if (thread.state != State::kReady || thread.pc != threads_[first].pc ||
          thread.slot != threads_[first].slot)
        continue;
      const auto beat = static_cast<std::uint8_t>(groups_.size());  // each a beat of its own
      groups_.push_back({1u << (t % kChunk), static_cast<std::uint16_t>(t / kChunk), beat, false});
    }
    issue.pc = threads_[first].pc;
    issue.depth = threads_[first].depth;
    issue.context = 0;
    issue.slot = threads_[first].slot;
    issue.beats = static_cast<std::uint8_t>(groups_.size());
    issue.coalesce_group = 1 + scheduler;
    issue.groups = {groups_.data(), static_cast<std::uint32_t>(groups_.size())};
    return sm_->ready(scheduler, issue);
  }
  void issued(IssueId id, const Issue& issue) override {
    ++probe_calls().issued;
    issues_[id] = 0;
    for (const auto& group : issue.groups) {
      at(group).state = State::kInFlight;
      ++issues_[id];
    }
    fetch();
  }
  void decoded(IssueId) override { ++probe_calls().decoded; }
  void memory_issued(IssueId) override { ++probe_calls().memory_issued; }
  bool wants_memory_probes() const override { return true; }
  void memory_probed(IssueId, Groups hits) override {
    ++probe_calls().probed;
    probe_calls().probed_hits += hits.count;
  }
  void memory_returned(IssueId, Groups threads) override { probe_calls().returned += threads.count; }

  void resolved(IssueId id, Outcomes outcomes) override {
    unsigned here = 0;
    for (const auto& outcome : outcomes) {
      for (const auto& group : outcome.groups) {
        // A group may hold several threads of the issue.
        for (std::uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
          ++here;
          Thread& thread = at({rest & (0u - rest), group.chunk, 0, false});
          thread.pc = outcome.next_pc;
          thread.depth = outcome.depth;
          thread.leaves = kNoEvent;
          thread.barrier = outcome.argument;
          switch (outcome.kind) {
            case Outcome::Kind::kGo:
              thread.state = State::kTable;
              break;
            case Outcome::Kind::kBarrier:
              thread.state = State::kBarrier;
              break;
            case Outcome::Kind::kWarpSync:
              thread.state = State::kSync;
              break;
            case Outcome::Kind::kExit:
              thread.state = State::kAbsent;
              --live_;
              break;
          }
        }
      }
    }
    if (here < issues_[id]) ++probe_calls().resolved_parts;
    issues_[id] -= here;
  }
  void barrier_released(std::uint16_t slot, unsigned barrier) override {
    ++probe_calls().barriers;
    for (Thread& thread : threads_) {
      if (thread.state == State::kBarrier && thread.slot == slot && thread.barrier == barrier)
        thread.state = State::kTable;
    }
  }
  void warp_sync_released(Groups threads) override {
    for (const auto& group : threads) {
      for (std::uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
        Thread& thread = at({rest & (0u - rest), group.chunk, 0, false});
        if (thread.state == State::kSync) thread.state = State::kTable;
      }
    }
  }

  Census census() const override {
    Census census;
    for (const Thread& thread : threads_) {
      census.ready += thread.state == State::kReady;
      census.issued += thread.state == State::kInFlight;
      census.queued += thread.state == State::kTable;
      census.barrier += thread.state == State::kBarrier;
      census.warp_sync += thread.state == State::kSync;
    }
    return census;
  }
  Cycle next_event(Cycle now) const override {
    ++probe_calls().next_events;
    Cycle next = kNoEvent;
    for (const Thread& thread : threads_) {
      if (thread.state == State::kTable)
        next = std::min(next, thread.leaves == kNoEvent ? now + 1 : thread.leaves);
    }
    return next;
  }
  ContextTable& contexts() override { return table_; }
  unsigned ready_warps() const override { return static_cast<unsigned>(census().ready); }
  void bind(statistics::Registry&, const std::string&) override {}
  std::string dump() const override { return std::to_string(live_) + " probe threads\n"; }

 private:
  enum class State : std::uint8_t { kAbsent, kReady, kInFlight, kTable, kBarrier, kSync };
  struct Thread {
    State state = State::kAbsent;
    ptx::Pc pc = 0;
    Cycle leaves = 0;
    std::uint16_t slot = 0, depth = 0;
    std::uint32_t barrier = 0;
  };

  Thread& at(const ThreadGroup& group) {
    return threads_[group.chunk * kChunk + static_cast<unsigned>(__builtin_ctz(group.mask))];
  }
  unsigned lowest() const {
    auto best = static_cast<unsigned>(threads_.size());
    for (unsigned t = 0; t < threads_.size(); ++t) {
      if (threads_[t].state == State::kReady &&
          (best == threads_.size() || threads_[t].pc < threads_[best].pc))
        best = t;
    }
    return best;
  }
  void fetch() {
    const unsigned first = lowest();
    const ptx::Pc pc = first == threads_.size() ? ptx::kNoPc : threads_[first].pc;
    table_.set(0, pc);
  }

  const Geometry geometry_;
  const SmView* sm_ = nullptr;
  std::vector<Thread> threads_;  // by position
  ContextTable table_;
  std::vector<unsigned> issues_;  // threads not yet resolved, by id
  std::vector<ThreadGroup> groups_;
  unsigned live_ = 0;
};

}  // namespace

ProbeCalls& probe_calls() {
  static ProbeCalls calls;
  return calls;
}

void register_probe() {
  register_scheme("probe",
                  [](const Config& config, const Geometry& geometry) -> std::unique_ptr<WarpFormation> {
                    return std::make_unique<Probe>(config, geometry);
                  });
}

}  // namespace weft::warp_formation::test
