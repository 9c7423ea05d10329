// Thread frontiers (Diamos et al.: SIMD re-convergence at thread frontiers, MICRO 2011) with a sorted stack:
// a warp runs those threads that are in the block of the highest priority (ptx/frontiers.h).
#include "warp_formation/path_scheme.h"
#include "warp_formation/yield_options.h"

namespace weft::warp_formation {
namespace {

struct ThreadFrontiersRules : YieldingRules {
  using Options = ThreadFrontiersOptions;
  static constexpr const char* kTable = "stacks";
  static constexpr const char* kMost = "deepest_stack";
  static constexpr const char* kMostMeaning = "most entries that a sorted stack held";
  static constexpr const char* kStorageMeaning = "sorted stacks of all warps at their deepest";
  static constexpr bool kSearches = true;

  ThreadFrontiersRules(const Options& options, const CommonConfig&, unsigned)
      : YieldingRules(options.yield_after) {}

  void attach(const ptx::Program& program) {
    rank_.resize(program.code.size());
    for (const ptx::BasicBlock& block : program.blocks) {
      for (ptx::Pc pc = block.first; pc <= block.last; ++pc) rank_[pc] = block.rank;
    }
  }

  // The priorities of the paper are those of one function: threads in the deepest call go first, as they
  // would if the function were part of its caller. In a block those that are behind do.
  unsigned choose(Warp&, WarpPaths& paths) {
    return choose_by(paths, [this](const WarpPaths::Path& a, const WarpPaths::Path& b) {
      if (a.depth != b.depth) return a.depth > b.depth;
      const std::uint32_t rank_a = rank_[a.pc], rank_b = rank_[b.pc];
      return rank_a != rank_b ? rank_a < rank_b : a.pc < b.pc;
    });
  }

  // An entry: a PC and a bit for each thread.
  storage::Array table(std::uint64_t warps, std::uint64_t warp_size, std::uint64_t entries) const {
    return storage::ram(kTable, warps * entries, kPcBits + warp_size);
  }

 private:
  std::vector<std::uint32_t> rank_;  // by PC: of its block
};

WEFT_REGISTER_SCHEME(scheme<PathScheme<ThreadFrontiersRules>, ThreadFrontiersOptions>(
    "thread_frontiers", "priorities of blocks; the threads in the first block run"))

}  // namespace
}  // namespace weft::warp_formation
