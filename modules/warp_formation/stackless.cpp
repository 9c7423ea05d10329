// Reconvergence without a stack (Collange: Stack-less SIMT reconvergence at low cost, 2011): each thread has
// its own PC, and a warp runs those threads that are in the deepest call and there at the lowest PC.
#include "warp_formation/path_scheme.h"
#include "warp_formation/stackless_options.h"

namespace weft::warp_formation {
namespace {

struct StacklessRules : PathRules {
  using Options = StacklessOptions;
  static constexpr const char* kTable = "thread_pcs";
  static constexpr const char* kMost = "most_paths";
  static constexpr const char* kMostMeaning = "most places at which threads of a warp were at a time";
  static constexpr const char* kStorageMeaning = "PCs and call depths of all threads";

  StacklessRules(const Options& options, const CommonConfig&, unsigned) : yield_after_(options.yield_after) {}

  void reset() { yields_ = 0; }

  unsigned choose(Warp&, WarpPaths& paths) {
    const unsigned first = paths.best(before);
    if (first == WarpPaths::kNone || yield_after_ == 0) return first;
    if (paths.ready() == 1) {
      paths.unhurried(first);
    } else if (paths[first].backward >= yield_after_) {
      ++yields_;
      return paths.give_way(first, before);
    }
    return first;
  }

  // A PC and a depth for each thread.
  storage::Array table(std::uint64_t warps, std::uint64_t warp_size, std::uint64_t) const {
    return storage::ram(kTable, warps, warp_size * (kPcBits + kDepthBits));
  }
  void bind(statistics::Group& group) {
    group.counter("yields", statistics::Unit("yields"),
                  "times that threads let others of their warp go first after branches backward", yields_);
  }

 private:
  static bool before(const WarpPaths::Path& a, const WarpPaths::Path& b) {
    return a.depth != b.depth ? a.depth > b.depth : a.pc < b.pc;
  }

  const std::uint64_t yield_after_;
  std::uint64_t yields_ = 0;
};

WEFT_REGISTER_SCHEME(scheme<PathScheme<StacklessRules>, StacklessOptions>(
    "stackless", "a PC for each thread; the deepest call, then the lowest PC runs"))

}  // namespace
}  // namespace weft::warp_formation
