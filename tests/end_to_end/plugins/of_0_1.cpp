// The smallest scheme: of every 32 neighbours, those with the lowest PC run together.
#include <array>
#include <string>
#include <vector>

#include "weft/warp_formation/scheduling.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

struct MinPcOptions final : OptionsOf<MinPcOptions> {
  std::uint64_t patience = 64;

  void describe(config::Visitor& v) override {
    v.integer("patience", patience, {0, 1'000'000}, "instructions",
              "threads that have let so many instructions of their warp go before them are next; 0: never");
  }
  void randomise(Random& random) override { patience = random() % 4; }
};

enum class State { kGone, kReady, kIssued, kAtBarrier, kAtSync };

struct Thread {
  State state = State::kGone;
  ptx::Pc pc = 0;
  std::uint16_t depth = 0;    // of calls
  std::uint32_t barrier = 0;  // at which it waits
  std::uint32_t let_go = 0;   // instructions of the warp since it has been ready
};

// The threads of one chunk. They are of one block, since a block begins with a chunk.
struct Warp {
  std::array<Thread, kChunk> threads;
  std::uint16_t slot = 0;
  ThreadGroup runs;  // the threads that the warp offers, all at this place:
  ptx::Pc pc = 0;
  std::uint16_t depth = 0;
  bool impatient = false;  // because one of them has waited too long
};

class MinPc final : public WarpFormation {
 public:
  MinPc(const MinPcOptions& options, const CommonConfig&, const Geometry& geometry)
      : patience_(options.patience),
        geometry_(geometry),
        warps_(geometry.chunks),
        table_(geometry.chunks),
        last_(geometry.schedulers) {}

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
    issues_ = impatient_issues_ = 0;
  }

  Stall pick(unsigned scheduler, Issue& issue) override {
    Stall why = live_ == 0 ? Stall::kEmpty : Stall::kDependence;
    for (unsigned i = 1; i <= warps_.size(); ++i) {
      const auto c = static_cast<std::uint16_t>((last_[scheduler] + i) % warps_.size());
      const Warp& warp = warps_[c];
      if (c % geometry_.schedulers != scheduler || warp.runs.mask == 0) continue;
      issue.pc = warp.pc;
      issue.depth = warp.depth;
      issue.context = c;
      issue.slot = warp.slot;
      issue.rows = static_cast<std::uint8_t>(kChunk / geometry_.lanes);
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
    const ThreadGroup group = *issue.groups.begin();
    Warp& warp = warps_[group.chunk];
    ++issues_;
    impatient_issues_ += warp.impatient;
    for (Thread& thread : warp.threads) ++thread.let_go;
    for_each({&group, 1}, [](Thread& thread) { thread.state = State::kIssued; });
  }

  void resolved(IssueId, Outcomes outcomes) override {
    for (const Outcome& outcome : outcomes) {
      for_each(outcome.groups, [&](Thread& thread) {
        thread.pc = outcome.next_pc;
        thread.depth = outcome.depth;
        thread.barrier = outcome.argument;
        thread.let_go = 0;
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
  void memory_issued(IssueId) override {}

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

  void bind(statistics::Group& group) override {
    group.counter("issues", units::kIssues, "instructions that warps issued", issues_);
    group.counter("impatient_issues", units::kIssues, "of threads that had waited too long",
                  impatient_issues_);
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
  // Which threads of the warp run next: those in the deepest call, and of them those with the lowest PC; or,
  // if a thread has waited too long, those at its place.
  void choose(unsigned chunk) {
    Warp& warp = warps_[chunk];
    const Thread* first = nullptr;
    warp.impatient = false;
    for (const Thread& thread : warp.threads) {
      if (thread.state != State::kReady) continue;
      const bool impatient = patience_ != 0 && thread.let_go >= patience_;
      if (first == nullptr || before(thread, impatient, *first, warp.impatient)) {
        first = &thread;
        warp.impatient = impatient;
      }
    }
    warp.runs = {0, static_cast<std::uint16_t>(chunk), 0, true};
    for (unsigned lane = 0; lane < kChunk && first != nullptr; ++lane) {
      const Thread& thread = warp.threads[lane];
      const bool together = thread.pc == first->pc && thread.depth == first->depth;
      if (thread.state == State::kReady && together) warp.runs.mask |= 1u << lane;
    }
    if (first != nullptr) {
      warp.pc = first->pc;
      warp.depth = first->depth;
    }
    table_.set(chunk, first == nullptr ? ptx::kNoPc : warp.pc);
  }

  static bool before(const Thread& a, bool impatient_a, const Thread& b, bool impatient_b) {
    if (impatient_a != impatient_b) return impatient_a;
    if (impatient_a) return a.let_go > b.let_go;
    return a.depth != b.depth ? a.depth > b.depth : a.pc < b.pc;
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

  const std::uint64_t patience_;
  const Geometry geometry_;
  const SmView* sm_ = nullptr;
  std::vector<Warp> warps_;  // by chunk
  ContextTable table_;
  std::vector<std::uint16_t> last_;  // warp that issued last, by scheduler
  std::uint32_t live_ = 0;           // threads
  std::uint64_t issues_ = 0, impatient_issues_ = 0;
};

WEFT_REGISTER_SCHEME(scheme<MinPc, MinPcOptions>("min_pc", "of every 32 threads, those with the lowest PC"))

}  // namespace
}  // namespace weft::warp_formation
