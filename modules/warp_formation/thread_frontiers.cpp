// Thread frontiers (Diamos et al.: SIMD re-convergence at thread frontiers, MICRO 2011): a warp runs those
// threads that are in the block of the highest priority (ptx/frontiers.h). It has a sorted stack of its
// places, or a PC for each thread and conservative branches.
#include <utility>

#include "ptx/frontiers.h"
#include "warp_formation/path_scheme.h"
#include "warp_formation/yield_options.h"

namespace weft::warp_formation {
namespace {

class ThreadFrontiersRules : public YieldingRules {
 public:
  using Options = ThreadFrontiersOptions;
  static constexpr const char* kMost = "deepest_stack";
  static constexpr const char* kMostMeaning =
      "most places at which threads of a warp were at a time: entries of a sorted stack";
  static constexpr const char* kStorageMeaning =
      "sorted stacks of all warps at their deepest, or PCs of all threads";
  static constexpr bool kTakesSlots = true;

  struct Warp : PathRules::Warp {
    unsigned slots = 0;  // of instructions without threads, not yet taken
  };

  ThreadFrontiersRules(const Options& options, const CommonConfig&, unsigned)
      : YieldingRules(options.yield_after), conservative_(options.mode == FrontierMode::kConservative) {}

  void attach(const ptx::Program& program) {
    rank_.resize(program.code.size());
    for (const ptx::BasicBlock& block : program.blocks) {
      for (ptx::Pc pc = block.first; pc <= block.last; ++pc) rank_[pc] = block.rank;
    }
    if (!conservative_) return;
    blocks_.resize(program.blocks.size());
    const std::vector<std::uint32_t> targets = ptx::conservative_targets(program.blocks);
    for (const ptx::BasicBlock& block : program.blocks)
      blocks_[block.rank] = {block.first, block.last, 0, targets[block.rank]};
    for (std::size_t rank = 1; rank < blocks_.size(); ++rank) {
      const Block& before = blocks_[rank - 1];
      blocks_[rank].place = before.place + (before.last - before.first + 1);
    }
  }
  void reset() {
    YieldingRules::reset();
    empty_ = 0;
  }
  void start(Warp& own, WarpPaths& /*paths*/) { own.slots = 0; }

  // The priorities of the paper are those of one function: threads in the deepest call go first, as they
  // would if the function were part of its caller. In a block those that are behind do.
  unsigned choose(Warp& own, WarpPaths& paths) {
    const unsigned chosen = choose_by(paths, [this](const WarpPaths::Path& a, const WarpPaths::Path& b) {
      if (a.depth != b.depth) return a.depth > b.depth;
      const std::uint32_t rank_a = rank_[a.pc], rank_b = rank_[b.pc];
      return rank_a != rank_b ? rank_a < rank_b : a.pc < b.pc;
    });
    if (conservative_ && chosen != WarpPaths::kNone) {
      own.slots = passed_over(paths, paths[chosen]);
      empty_ += own.slots;
    }
    return chosen;
  }

  bool takes_slots() const { return conservative_; }
  unsigned take_slots(Warp& own) { return std::exchange(own.slots, 0); }
  bool searches() const { return !conservative_; }

  // An entry: a PC and a bit for each thread. Or a PC and a depth for each thread.
  storage::Array table(std::uint64_t warps, std::uint64_t warp_size, std::uint64_t entries) const {
    if (conservative_) return storage::ram("thread_pcs", warps, warp_size * (kPcBits + kDepthBits));
    return storage::ram("stacks", warps * entries, kPcBits + warp_size);
  }

  void bind(statistics::Group& group) {
    YieldingRules::bind(group);
    group.counter("empty_slots", statistics::Unit("issue slots"),
                  "issue slots of instructions that a warp passed without active threads", empty_);
  }

 private:
  struct Block {
    ptx::Pc first = 0, last = 0;
    std::uint32_t place = 0;  // of its first instruction, in code that is laid out by priorities
    std::uint32_t target = ptx::kNoRank;
  };

  // Instructions that the warp's PC passes from the last instruction to the next one that has threads. A warp
  // whose threads all go the same way goes there directly. Calls and returns do, too: there is no rule for
  // them. What is before the last instruction is reached by barriers only.
  unsigned passed_over(const WarpPaths& paths, const WarpPaths::Path& next) const {
    const WarpPaths::Last& last = paths.last();
    if (last.pc == ptx::kNoPc || last.depth != next.depth || (last.alone && paths.count() == 1)) return 0;
    const Block& block = blocks_[rank_[last.pc]];
    if (last.pc == block.last && block.target == ptx::kNoRank) return 0;
    const std::uint32_t from = last.pc == block.last ? blocks_[block.target].place : place_of(last.pc) + 1;
    const std::uint32_t to = place_of(next.pc);
    return to > from ? to - from : 0;
  }
  std::uint32_t place_of(ptx::Pc pc) const {
    const Block& block = blocks_[rank_[pc]];
    return block.place + (pc - block.first);
  }

  const bool conservative_;
  std::vector<std::uint32_t> rank_;  // by PC: of its block
  std::vector<Block> blocks_;        // by rank
  std::uint64_t empty_ = 0;
};

WEFT_REGISTER_SCHEME(scheme<PathScheme<ThreadFrontiersRules>, ThreadFrontiersOptions>(
    "thread_frontiers", "priorities of blocks; the threads in the first block run"))

}  // namespace
}  // namespace weft::warp_formation
