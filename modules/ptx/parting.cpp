#include "ptx/parting.h"

#include <algorithm>
#include <utility>

namespace weft::ptx {

Partings::Partings(const FlowGraph& flow, const BlockValues& values, std::vector<bool> waits,
                   ScalarWork& work)
    : blocks_(flow.blocks),
      values_(values),
      waits_(std::move(waits)),
      work_(work),
      kept_(blocks_.size(), values.count),
      exposed_(blocks_.size(), false),
      met_(blocks_.size(), false),
      after_(blocks_.size(), kNone),
      within_(blocks_.size(), kNone),
      side_of_(blocks_.size(), kNone) {
  first_edge_.reserve(blocks_.size() + 1);
  for (const BasicBlock& block : blocks_) {
    first_edge_.push_back(edges_.size());
    edges_.insert(edges_.end(), block.successors.begin(), block.successors.end());
  }
  first_edge_.push_back(edges_.size());
}

void Partings::part_after(std::uint32_t block) {
  if (after_[block] == kNone) add(block, false);
}

void Partings::part_at(std::uint32_t block) {
  if (within_[block] == kNone) add(block, true);
}

void Partings::add(std::uint32_t block, bool within) {
  const auto number = static_cast<std::uint32_t>(partings_.size());
  (within ? within_ : after_)[block] = number;
  partings_.push_back({block, within, Turns::kNone});
  open_.insert(number);
}

// The first parting of which not all is known yet.
bool Partings::step() {
  if (open_.empty() || work_.is_used_up()) return false;
  Parting& parting = partings_[*open_.begin()];
  open_.erase(open_.begin());
  cause_ = parting.block;
  parting.within ? apply_within(parting) : apply(parting);
  return true;
}

void Partings::apply(Parting& parting) {
  const auto exit = static_cast<std::uint32_t>(blocks_.size());
  std::uint32_t meeting = blocks_[parting.block].post_dominator;
  find_sides(parting.block, meeting);
  const bool stands_aside =
      std::any_of(region_.begin(), region_.end(), [this](std::uint32_t b) { return waits_[b]; });
  parting.done = stands_aside ? Turns::kApart : exposed_[parting.block] ? Turns::kByTurns : Turns::kInRow;
  if (stands_aside) {
    meeting = exit;
    find_sides(parting.block, exit);
    expose_region();
  }
  Set all(kept_.words(), 0);  // what every path must leave alone
  if (meeting != exit) unite(all, values_.live_in[meeting]);
  keep_for_sides(parting.done, all);
}

// A register that is held for the threads of one side must be left alone by the other sides; what is held for
// two sides, by all of them.
void Partings::keep_for_sides(Turns turns, Set& all) {
  for (const std::uint32_t b : region_) {
    if (is_shared(b)) unite(all, (turns == Turns::kInRow ? values_.live_in : values_.ever_live)[b]);
  }
  Set once(kept_.words(), 0), twice(kept_.words(), 0), held(kept_.words(), 0);
  for (const Side& side : sides_) {
    find_held(side, turns, held);
    for (std::size_t w = 0; w < held.size(); ++w) {
      twice[w] |= once[w] & held[w];
      once[w] |= held[w];
    }
  }
  Set everything = all;
  unite(everything, once.data());
  Set others = all;
  for (const Side& side : sides_) {
    if (side.count == 0) continue;
    find_held(side, turns, held);
    for (std::size_t w = 0; w < held.size(); ++w) others[w] = all[w] | twice[w] | (once[w] & ~held[w]);
    for (std::size_t i = side.begin; i < side.begin + side.count; ++i)
      keep(region_[i], is_shared(region_[i]) ? everything : others);
  }
}

// What is held for the threads of a side, but for what blocks need to which another side leads, too.
void Partings::find_held(const Side& side, Turns turns, Set& held) {
  std::fill(held.begin(), held.end(), 0);
  if (turns == Turns::kInRow) {
    if (side.first != blocks_.size()) unite(held, values_.live_in[side.first]);
    return;
  }
  for (std::size_t i = side.begin; i < side.begin + side.count; ++i) {
    if (!is_shared(region_[i])) unite(held, values_.ever_live[region_[i]]);
  }
}

// Whoever goes on may come to any place behind, and so may those that follow later.
void Partings::apply_within(Parting& parting) {
  const auto exit = static_cast<std::uint32_t>(blocks_.size());
  parting.done = Turns::kApart;
  for (const std::uint32_t b : region_) side_of_[b] = kNone;
  region_.clear();
  sides_.assign(1, {parting.block, 0, 0});
  follow_side(0, exit);
  expose_region();
  Set held(kept_.words(), 0);
  for (const std::uint32_t b : region_) unite(held, values_.ever_live[b]);
  for (const std::uint32_t b : region_) keep(b, held);
}

void Partings::find_sides(std::uint32_t block, std::uint32_t stop) {
  for (const std::uint32_t b : region_) side_of_[b] = kNone;
  region_.clear();
  sides_.clear();
  for (const std::uint32_t s : blocks_[block].successors) {
    sides_.push_back({s, 0, 0});
    follow_side(static_cast<std::uint32_t>(sides_.size() - 1), stop);
  }
}

// Appends the blocks of a side to which no earlier one leads. What lies behind a block of an earlier side is
// that side's, too, so that the way to a new block leads over new ones alone.
void Partings::follow_side(std::uint32_t number, std::uint32_t stop) {
  Side& side = sides_[number];
  side.begin = region_.size();
  const auto reach = [&](std::uint32_t block) {
    if (block == blocks_.size() || block == stop || side_of_[block] == number) return;
    if (side_of_[block] != kNone) return share(block, stop);
    side_of_[block] = number;
    region_.push_back(block);
  };
  reach(side.first);
  for (std::size_t next = side.begin; next < region_.size(); ++next)  // the list grows
    for_each_successor(region_[next], reach);
  side.count = region_.size() - side.begin;
}

// Several sides lead to the block, and so to all blocks behind it.
void Partings::share(std::uint32_t block, std::uint32_t stop) {
  const auto reach = [&](std::uint32_t b) {
    if (b == blocks_.size() || b == stop || is_shared(b)) return;
    side_of_[b] = kSeveral;
    shared_.push_back(b);
  };
  reach(block);
  while (!shared_.empty()) {
    const std::uint32_t next = shared_.back();
    shared_.pop_back();
    for_each_successor(next, reach);
  }
}

// Whether a branch's paths run in a row depends on whether its block is exposed.
void Partings::expose_region() {
  for (const std::uint32_t b : region_) {
    if (exposed_[b]) continue;
    exposed_[b] = true;
    const std::uint32_t parting = after_[b];
    if (parting != kNone && partings_[parting].done == Turns::kInRow) open_.insert(parting);
  }
}

void Partings::keep(std::uint32_t block, const Set& set) {
  std::uint64_t more = 0;
  std::uint64_t* const kept = kept_[block];
  for (std::size_t w = 0; w < set.size(); ++w) {
    more |= set[w] & ~kept[w];
    kept[w] |= set[w];
  }
  work_.take(1 + set.size());
  if (more == 0 && met_[block]) return;
  met_[block] = true;
  touched_.push_back(block);
}

void Partings::unite(Set& set, const std::uint64_t* more) {
  for (std::size_t w = 0; w < set.size(); ++w) set[w] |= more[w];
  work_.take(1 + set.size());
}

}  // namespace weft::ptx
