// The smallest scheme: of every 32 neighbours, those with the lowest PC run together.
#include "warp_formation/toy_scheme.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "warp_formation/scheduling.h"
#include "warp_formation/warp_formation.h"

namespace weft::warp_formation::test {
namespace {

enum class State { kGone, kReady, kIssued, kAtBarrier, kAtSync };

struct Thread {
  State state = State::kGone;
  ptx::Pc pc = 0;
  std::uint16_t depth = 0;    // of calls
  std::uint32_t barrier = 0;  // at which it waits
};

// The threads of one chunk. They are of one block, since a block begins with a chunk.
struct Warp {
  std::array<Thread, kChunk> threads;
  std::uint16_t slot = 0;
  ThreadGroup runs;  // the threads that the warp offers, all at this place:
  ptx::Pc pc = 0;
  std::uint16_t depth = 0;
};

class Toy final : public WarpFormation {
 public:
  Toy(const Config&, const Geometry& geometry)
      : geometry_(geometry), warps_(geometry.chunks), table_(geometry.chunks), last_(geometry.schedulers) {}

  void attach(const ptx::Program&, const SmView& sm) override { sm_ = &sm; }

  bool can_launch(const Block& block) const override { return live_ + block.threads <= geometry_.threads; }

  void launch(const Block& block) override {
    live_ += block.threads;
    for (unsigned t = 0; t < block.threads; ++t) {
      const unsigned chunk = block.first_chunk + t / kChunk;
      warps_[chunk].slot = block.slot;
      warps_[chunk].threads[t % kChunk].state = State::kReady;
      choose(chunk);
    }
  }

  void retire(const Block&) override {}

  void reset() override {
    warps_.assign(warps_.size(), Warp());
    for (unsigned c = 0; c < warps_.size(); ++c) choose(c);
    last_.assign(last_.size(), 0);
    live_ = 0;
  }

  Stall pick(unsigned scheduler, std::uint32_t, Issue& issue) override {
    Stall why = live_ == 0 ? Stall::kEmpty : Stall::kDependence;
    for (unsigned i = 1; i <= warps_.size(); ++i) {
      const auto c = static_cast<std::uint16_t>((last_[scheduler] + i) % warps_.size());
      const Warp& warp = warps_[c];
      if (c % geometry_.schedulers != scheduler || warp.runs.mask == 0) continue;
      issue.pc = warp.pc;
      issue.depth = warp.depth;
      issue.context = c;
      issue.slot = warp.slot;
      issue.beats = static_cast<std::uint8_t>(kChunk / geometry_.simd_width);
      issue.groups = {&warp.runs, 1};
      const Stall stall = sm_->ready(scheduler, issue);
      if (stall == Stall::kNone) {
        last_[scheduler] = c;
        return stall;
      }
      why = worse(why, stall);
    }
    return why;
  }

  void issued(IssueId, const Issue& issue) override {
    ++issues_;
    const ThreadGroup group = *issue.groups.begin();
    for_each({&group, 1}, [](Thread& thread) { thread.state = State::kIssued; });
  }

  void resolved(IssueId, Outcomes outcomes) override {
    for (const Outcome& outcome : outcomes) {
      for_each(outcome.groups, [&](Thread& thread) {
        thread.pc = outcome.next_pc;
        thread.depth = outcome.depth;
        thread.barrier = outcome.argument;
        if (outcome.kind == Outcome::Kind::kGo) thread.state = State::kReady;
        if (outcome.kind == Outcome::Kind::kBarrier) thread.state = State::kAtBarrier;
        if (outcome.kind == Outcome::Kind::kWarpSync) thread.state = State::kAtSync;
        if (outcome.kind == Outcome::Kind::kExit) {
          thread = Thread();
          --live_;
        }
      });
    }
  }

  void barrier_released(std::uint16_t slot, unsigned barrier) override {
    for (unsigned c = 0; c < warps_.size(); ++c) {
      if (warps_[c].slot != slot) continue;
      for (Thread& thread : warps_[c].threads) {
        if (thread.state == State::kAtBarrier && thread.barrier == barrier) thread.state = State::kReady;
      }
      choose(c);
    }
  }

  void warp_sync_released(Groups threads) override {
    for_each(threads, [](Thread& thread) { thread.state = State::kReady; });
  }

  void advance(Cycle) override {}
  Cycle next_event(Cycle) const override { return kNoEvent; }
  void decoded(IssueId) override {}
  void memory_issued(IssueId) override {}
  void memory_probed(IssueId, Groups) override {}
  void memory_returned(IssueId, Groups) override {}

  Census census() const override {
    Census census;
    for (const Warp& warp : warps_) {
      for (const Thread& thread : warp.threads) {
        census.ready += thread.state == State::kReady;
        census.issued += thread.state == State::kIssued;
        census.barrier += thread.state == State::kAtBarrier;
        census.warp_sync += thread.state == State::kAtSync;
      }
    }
    return census;
  }

  unsigned ready_warps() const override {
    unsigned ready = 0;
    for (const Warp& warp : warps_) ready += warp.runs.mask != 0;
    return ready;
  }

  ContextTable& contexts() override { return table_; }

  void bind(statistics::Registry& registry, const std::string& prefix) override {
    registry.counter(prefix + ".issues", "issues", "instructions that warps issued", issues_);
  }

  std::string dump() const override {
    std::string text;
    for (unsigned t = 0; t < warps_.size() * kChunk; ++t) {
      const Thread& thread = warps_[t / kChunk].threads[t % kChunk];
      if (thread.state == State::kGone) continue;
      text += "thread " + std::to_string(t) + " at pc " + std::to_string(thread.pc) + "\n";
    }
    return text;
  }

 private:
  // Which threads of the warp run next: those in the deepest call, and of them those with the lowest PC.
  void choose(unsigned chunk) {
    Warp& warp = warps_[chunk];
    warp.runs = {0, static_cast<std::uint16_t>(chunk), 0, true};
    for (unsigned lane = 0; lane < kChunk; ++lane) {
      const Thread& thread = warp.threads[lane];
      if (thread.state != State::kReady) continue;
      const bool deeper = thread.depth > warp.depth;
      const bool behind = thread.depth == warp.depth && thread.pc < warp.pc;
      if (warp.runs.mask == 0 || deeper || behind) {
        warp.runs.mask = 0;
        warp.pc = thread.pc;
        warp.depth = thread.depth;
      }
      if (thread.pc == warp.pc && thread.depth == warp.depth) warp.runs.mask |= 1u << lane;
    }
    table_.set(chunk, warp.runs.mask == 0 ? ptx::kNoPc : warp.pc);
  }

  template <class Change>
  void for_each(Groups groups, Change&& change) {
    for (const ThreadGroup& group : groups) {
      for (unsigned lane = 0; lane < kChunk; ++lane) {
        if ((group.mask >> lane & 1) != 0) change(warps_[group.chunk].threads[lane]);
      }
      choose(group.chunk);
    }
  }

  const Geometry geometry_;
  const SmView* sm_ = nullptr;
  std::vector<Warp> warps_;  // by chunk
  ContextTable table_;
  std::vector<std::uint16_t> last_;  // warp that issued last, by scheduler
  std::uint32_t live_ = 0;           // threads
  std::uint64_t issues_ = 0;
};

}  // namespace

void register_toy() {
  register_scheme("toy", [](const Config& config, const Geometry& geometry) {
    return std::unique_ptr<WarpFormation>(std::make_unique<Toy>(config, geometry));
  });
}

}  // namespace weft::warp_formation::test
