// Reconvergence without a stack (Collange: Stack-less SIMT reconvergence at low cost, 2011): each thread has
// its own PC, and a warp runs those threads that are in the deepest call and there at the lowest PC.
#include "warp_formation/path_scheme.h"
#include "warp_formation/yield_options.h"

namespace weft::warp_formation {
namespace {

struct StacklessRules : YieldingRules {
  using Options = StacklessOptions;
  static constexpr const char* kTable = "thread_pcs";
  static constexpr const char* kMost = "most_paths";
  static constexpr const char* kMostMeaning = "most places at which threads of a warp were at a time";
  static constexpr const char* kStorageMeaning = "PCs and call depths of all threads";

  StacklessRules(const Options& options, const CommonConfig&, unsigned)
      : YieldingRules(options.yield_after) {}

  unsigned choose(Warp&, WarpPaths& paths) {
    return choose_by(paths, [](const WarpPaths::Path& a, const WarpPaths::Path& b) {
      return a.depth != b.depth ? a.depth > b.depth : a.pc < b.pc;
    });
  }

  // A PC and a depth for each thread.
  storage::Array table(std::uint64_t warps, std::uint64_t warp_size, std::uint64_t) const {
    return storage::ram(kTable, warps, warp_size * (kPcBits + kDepthBits));
  }
};

WEFT_REGISTER_SCHEME(scheme<PathScheme<StacklessRules>, StacklessOptions>(
    "stackless", "a PC for each thread; the deepest call, then the lowest PC runs"))

}  // namespace
}  // namespace weft::warp_formation
