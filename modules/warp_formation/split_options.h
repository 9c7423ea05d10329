// The keys of schemes that let splits of a warp run at a time (split_scheme.h).
#ifndef WEFT_WARP_FORMATION_SPLIT_OPTIONS_H
#define WEFT_WARP_FORMATION_SPLIT_OPTIONS_H

#include <cstdint>

#include "warp_formation/sbr_options.h"
#include "warp_formation/split_scheme.h"

namespace weft::warp_formation {

struct MultiPathOptions final : OptionsOf<MultiPathOptions> {
  std::uint64_t entries = 32;
  std::uint64_t timeout = 0;

  void describe(config::Visitor& v) override {
    v.integer("entries", entries, {1, 256}, "entries",
              "entries of a warp's split table and of its reconvergence table; more are counted as spills");
    v.integer(
        "timeout", timeout, {0, 1'000'000}, "cycles",
        "threads go on without others for whom they have waited so long, without any of them coming; 0: "
        "they wait for ever, as first published");
  }
  Hold longest_hold() const override { return {"timeout", timeout}; }
  void randomise(Random& random) override {
    entries = 1 + random() % 32;
    timeout = random() % 2 == 0 ? 0 : 1 + random() % 200;
  }
};

struct DualPathOptions final : OptionsOf<DualPathOptions> {
  SbrOrder order = SbrOrder::kFallthroughFirst;

  void describe(config::Visitor& v) override {
    order_key(v, order, "of more than two paths of a branch, which run first; two run at a time");
  }
  void randomise(Random& random) override { order = static_cast<SbrOrder>(random() % 4); }
};

enum class BranchSplits : std::uint8_t { kNone, kShortBlocks };

struct DwsOptions final : OptionsOf<DwsOptions> {
  SbrOrder order = SbrOrder::kFallthroughFirst;
  std::uint64_t entries = 16;
  BranchSplits branches = BranchSplits::kShortBlocks;
  std::uint64_t short_block = 50;
  MemorySplits memory = MemorySplits::kRevive;
  RunAhead run_ahead = RunAhead::kBeyondBranches;

  void describe(config::Visitor& v) override {
    order_key(v, order, "which path runs first of a branch that does not divide its warp");
    v.integer(
        "entries", entries, {2, 200}, "entries",
        "entries of the warp-split table, for all warps of a scheduler domain; a warp without room in it "
        "is not divided");
    config::choice(v, "branches", branches,
                   {{"none", BranchSplits::kNone}, {"short_blocks", BranchSplits::kShortBlocks}},
                   "branches that divide a warp: none, or those whose post-dominator's block is short");
    v.integer("short_block", short_block, {1, 1'000'000}, "instructions",
              "most instructions of such a block");
    config::choice(
        v, "memory", memory,
        {{"none", MemorySplits::kNone},
         {"aggressive", MemorySplits::kAggressive},
         {"lazy", MemorySplits::kLazy},
         {"revive", MemorySplits::kRevive}},
        "when threads whose data have come run ahead of the others: never; always; if nothing else "
        "can be issued when the warp begins to wait; or also later");
    config::choice(
        v, "run_ahead", run_ahead,
        {{"to_branch", RunAhead::kToBranch}, {"beyond_branches", RunAhead::kBeyondBranches}},
        "how far such threads go alone: to the next branch, or until the others catch up with them");
  }
  void randomise(Random& random) override {
    order = static_cast<SbrOrder>(random() % 4);
    entries = 2 + random() % 16;
    branches = static_cast<BranchSplits>(random() % 2);
    short_block = 1 + random() % 50;
    memory = static_cast<MemorySplits>(random() % 4);
    run_ahead = static_cast<RunAhead>(random() % 2);
  }
};

struct SbiOptions final : OptionsOf<SbiOptions> {
  bool constraints = true;

  void describe(config::Visitor& v) override {
    v.boolean("constraints", constraints,
              "the second split waits where paths of a branch meet, as long as the first is on one of them");
  }
  void randomise(Random& random) override { constraints = random() % 2 == 0; }
};

struct SwiOptions final : OptionsOf<SwiOptions> {
  bool branches = false;
  std::uint64_t sets = 1;

  void describe(config::Visitor& v) override {
    v.boolean("branches", branches,
              "two splits of a warp run, as under sbi, so that an instruction may also begin beside one of "
              "its own warp");
    v.integer("sets", sets, {1, 64}, "sets",
              "sets into which the warps of a scheduler are divided; what begins beside an instruction is of "
              "its set. 1: any warp");
  }
  void randomise(Random& random) override {
    branches = random() % 2 == 0;
    sets = 1 + random() % 3;
  }
};

}  // namespace weft::warp_formation

#endif
