// The schemes that a test is for, and what each scheme promises.
//
// A test for all schemes takes `all()`, and covers a new scheme by itself. A test whose result depends on
// the scheme asks one of the functions below. A new scheme needs a row in `promises_of`. Without the row
// these functions throw, and the tests that call them fail with the scheme's name.
//
//   INSTANTIATE_TEST_SUITE_P(Schemes, Mine, ::testing::ValuesIn(scheme_classes::all()),
//                            scheme_classes::name_of);
//   if (scheme_classes::regroups_threads(scheme)) ...
#ifndef WEFT_TESTS_WARP_FORMATION_SCHEMES_H
#define WEFT_TESTS_WARP_FORMATION_SCHEMES_H

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weft/warp_formation/scheme.h"

namespace weft::scheme_classes {

// Weft's own schemes, in alphabetical order: not those that a test registers (min_pc is the tutorial's).
inline std::vector<std::string> all() {
  std::vector<std::string> names = warp_formation::scheme_names();
  const auto is_of_tests = [](const std::string& n) { return n == "min_pc" || n == "late" || n == "unfair"; };
  names.erase(std::remove_if(names.begin(), names.end(), is_of_tests), names.end());
  return names;
}
inline std::vector<std::string> all_without(const std::string& name) {
  std::vector<std::string> names = all();
  names.erase(std::remove(names.begin(), names.end(), name), names.end());
  return names;
}
// The name of a test whose parameter is a scheme.
inline std::string name_of(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

// Where threads wait for others of their branch. `kAtPoints`: at Instruction::reconvergence, which the key
// `reconvergence` moves; `kAtSomePoints`: there, unless the scheme has no point for the branch.
// `kAtBarriers`: at what Program::convergence lists.
enum class Meeting { kNowhere, kAtPoints, kAtSomePoints, kAtBarriers };
// The hardest form of a spin lock in a warp that ends; it includes the forms before it.
enum class SpinLock { kHeldInsideItsLoop, kHeldInAnArm, kHeldBehindItsLoop };

struct Promises {
  bool regroups;  // threads of different warps run as one, or a warp's threads apart
  bool one_path;  // a warp runs one of its paths at a time
  Meeting meeting;
  SpinLock ends;
  // A statistic, and its greatest value in a loop around a one-sided if, of two warps of four threads.
  const char* table;
  double most;
};

inline const Promises& promises_of(const std::string& scheme) {
  using M = Meeting;
  using S = SpinLock;
  static const std::map<std::string, Promises> kAll = {
      // scheme, regroups, one_path, meeting, ends, table, most
      {"sbr", {false, true, M::kAtPoints, S::kHeldInsideItsLoop, "deepest_stack", 3}},
      {"dwf", {true, false, M::kNowhere, S::kHeldBehindItsLoop, "most_pool_warps", 8}},
      {"tbc", {true, false, M::kAtPoints, S::kHeldInsideItsLoop, "deepest_stack", 3}},
      {"capri", {true, false, M::kAtPoints, S::kHeldInsideItsLoop, "deepest_stack", 3}},
      {"lwm", {true, false, M::kAtPoints, S::kHeldInsideItsLoop, "deepest_stack", 3}},
      {"dwr", {true, true, M::kAtPoints, S::kHeldInsideItsLoop, "deepest_stack", 3}},
      {"harp", {true, false, M::kAtPoints, S::kHeldInAnArm, "barrier_peak", 4}},
      {"crown", {true, false, M::kAtPoints, S::kHeldInAnArm, "barrier_peak", 4}},
      {"stackless", {false, true, M::kNowhere, S::kHeldInsideItsLoop, "most_paths", 3}},
      {"thread_frontiers", {false, true, M::kNowhere, S::kHeldInsideItsLoop, "deepest_stack", 3}},
      {"convergence_barriers", {false, true, M::kAtBarriers, S::kHeldBehindItsLoop, "most_paths", 3}},
      {"multi_path", {false, false, M::kAtPoints, S::kHeldInAnArm, "most_splits", 3}},
      {"dual_path", {false, false, M::kAtPoints, S::kHeldInAnArm, "deepest_stack", 3}},
      // Two paths of a warp run at a time, or one. They meet where they come to one place. Of two, one may
      // pass a point alone, and so hold a lock behind its loop, unless a third path keeps it from its turn.
      {"sbi", {true, false, M::kNowhere, S::kHeldBehindItsLoop, "deepest_stack", 3}},
      {"swi", {false, true, M::kNowhere, S::kHeldInsideItsLoop, "deepest_stack", 3}},
      // As long as its table has room, its splits pass the points of their branches, so that a warp's threads
      // stay apart.
      {"dws", {true, false, M::kAtSomePoints, S::kHeldBehindItsLoop, "deepest_stack", 3}},
      // Its slice-warps are parts of a warp, as the sub-warps of dwr. They wait for nobody in other slices.
      {"variable_warps", {true, true, M::kAtSomePoints, S::kHeldInsideItsLoop, "deepest_stack", 3}},
      // The scheme of the tutorial, which is linked to some tests. It has no table.
      {"min_pc", {false, true, M::kNowhere, S::kHeldInsideItsLoop, nullptr, 0}}};
  const auto found = kAll.find(scheme);
  if (found == kAll.end()) {
    throw std::logic_error("scheme " + scheme + ": nothing is known of what it promises; add a row to " +
                           "promises_of in tests/warp_formation/schemes.h");
  }
  return found->second;
}

// Whether threads that execute together may come from different warps of the block, or not be all of their
// warp that are at one place. The compacting schemes (tbc, capri, lwm) and dwf, harp and crown form warps
// anew. The sub-warps of dwr are parts of a warp, and so are the splits of dws and sbi, and the slice-warps
// of variable_warps.
inline bool regroups_threads(const std::string& scheme) {
  return promises_of(scheme).regroups;
}

// Whether a warp, a sub-warp of dwr or a slice-warp of variable_warps runs one of its paths at a time. A path
// that comes to a block barrier then steps aside, which the scheme counts. lwm, tbc and capri do so for warps
// larger than those of the tests or for a block. dwf, harp and crown make a warp of each path.
inline bool runs_one_path_at_a_time(const std::string& scheme) {
  return promises_of(scheme).one_path;
}

// Whether threads wait for others of their branch at all. dwf joins warps that happen to be at one PC.
// stackless, thread_frontiers, sbi and swi choose the paths that run so that others come to them.
inline bool waits_for_others(const std::string& scheme) {
  return promises_of(scheme).meeting != Meeting::kNowhere;
}
// Whether they do after each branch. A warp that dws divides passes the points of its branches, and so
// do slices of variable_warps.
inline bool waits_after_each_branch(const std::string& scheme) {
  return waits_for_others(scheme) && promises_of(scheme).meeting != Meeting::kAtSomePoints;
}
// Whether they wait at reconvergence points, so that the key `reconvergence` matters: schemes with stacks,
// and the reconvergence barriers of harp and crown.
inline bool has_reconvergence_points(const std::string& scheme) {
  return promises_of(scheme).meeting == Meeting::kAtPoints;
}

// Whether a lock ends that is held where its loop has been left. The holder must not wait there for those
// that spin: under dwf nobody waits, and under convergence_barriers those that poll leave the barrier.
inline bool ends_lock_held_behind_its_loop(const std::string& scheme) {
  return promises_of(scheme).ends >= SpinLock::kHeldBehindItsLoop;
}
// Whether a lock ends whose holder unlocks in an arm of the loop. Both arms must run by turns: under harp and
// crown as well, where each arm is a warp.
inline bool ends_lock_held_in_an_arm(const std::string& scheme) {
  return promises_of(scheme).ends >= SpinLock::kHeldInAnArm;
}

}  // namespace weft::scheme_classes

#endif
