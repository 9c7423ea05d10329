#include "ptx/parting.h"

#include <algorithm>

namespace weft::ptx {

Partings::Partings(const FlowGraph& flow, const BlockValues& values, std::vector<bool> waits)
    : blocks_(flow.blocks),
      values_(values),
      waits_(std::move(waits)),
      kept_(blocks_.size(), values.count),
      exposed_(blocks_.size(), false),
      known_(blocks_.size(), false),
      mark_(blocks_.size(), 0),
      reached_by_(blocks_.size(), 0) {}

void Partings::part_after(std::uint32_t block) {
  if (known_[block]) return;
  known_[block] = true;
  partings_.push_back({block, false, Turns::kNone});
}

void Partings::part_at(std::uint32_t block) {
  const auto same = [block](const Parting& p) { return p.within && p.block == block; };
  if (std::none_of(partings_.begin(), partings_.end(), same))
    partings_.push_back({block, true, Turns::kNone});
}

// The first parting of which not all is known yet.
bool Partings::step() {
  for (Parting& parting : partings_) {
    const bool open =
        parting.done == Turns::kNone || (parting.done == Turns::kInRow && exposed_[parting.block]);
    if (!open || too_large()) continue;
    cause_ = parting.block;
    parting.within ? apply_within(parting) : apply(parting);
    return true;
  }
  return false;
}

void Partings::apply(Parting& parting) {
  const auto exit = static_cast<std::uint32_t>(blocks_.size());
  std::uint32_t meeting = blocks_[parting.block].post_dominator;
  find_sides(parting.block, meeting);
  const bool stands_aside = std::any_of(sides_.begin(), sides_.end(), [this](const Side& side) {
    return std::any_of(side.blocks.begin(), side.blocks.end(), [this](auto b) { return waits_[b]; });
  });
  parting.done = stands_aside ? Turns::kApart : exposed_[parting.block] ? Turns::kByTurns : Turns::kInRow;
  if (stands_aside) {
    meeting = exit;
    find_sides(parting.block, exit);
    for (const Side& side : sides_) expose(side.blocks);
  }

  std::vector<std::uint64_t> all(kept_.words(), 0);  // what every path must leave alone
  if (meeting != exit) unite(all, values_.live_in[meeting]);
  if (parting.done == Turns::kInRow) {
    std::fill(reached_by_.begin(), reached_by_.end(), 0);
    for (const Side& side : sides_) {
      for (const std::uint32_t b : side.blocks) {
        if (++reached_by_[b] == 2) unite(all, values_.live_in[b]);
      }
    }
  }
  // What is kept for the threads of each path.
  std::vector<std::vector<std::uint64_t>> held;
  for (const Side& side : sides_) {
    held.emplace_back(kept_.words(), 0);
    if (parting.done == Turns::kInRow) {
      if (side.first != exit) unite(held.back(), values_.live_in[side.first]);
    } else {
      for (const std::uint32_t b : side.blocks) unite(held.back(), values_.ever_live[b]);
    }
  }
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    std::vector<std::uint64_t> others = all;
    for (std::size_t j = 0; j < sides_.size(); ++j) {
      if (j != i) unite(others, held[j].data());
    }
    keep(sides_[i].blocks, others);
  }
}

// Whoever goes on may come to any place behind, and so may those that follow later.
void Partings::apply_within(Parting& parting) {
  parting.done = Turns::kApart;
  std::vector<std::uint32_t> behind;
  ++walk_;
  mark_[parting.block] = walk_;
  behind.push_back(parting.block);
  std::size_t next = 0;  // the list grows
  while (next < behind.size()) {
    for (const std::uint32_t s : blocks_[behind[next++]].successors) {
      if (s == blocks_.size() || mark_[s] == walk_) continue;
      mark_[s] = walk_;
      behind.push_back(s);
    }
  }
  expose(behind);
  std::vector<std::uint64_t> held(kept_.words(), 0);
  for (const std::uint32_t b : behind) unite(held, values_.ever_live[b]);
  keep(behind, held);
}

void Partings::find_sides(std::uint32_t block, std::uint32_t stop) {
  sides_.clear();
  for (const std::uint32_t s : blocks_[block].successors) {
    sides_.emplace_back();
    sides_.back().first = s;
    walk(s, stop, sides_.back().blocks);
  }
}

void Partings::walk(std::uint32_t first, std::uint32_t stop, std::vector<std::uint32_t>& blocks) {
  ++walk_;
  const auto reach = [&](std::uint32_t block) {
    if (block == blocks_.size() || block == stop || mark_[block] == walk_) return;
    mark_[block] = walk_;
    blocks.push_back(block);
  };
  reach(first);
  std::size_t next = 0;  // the list grows
  while (next < blocks.size()) {
    for (const std::uint32_t s : blocks_[blocks[next++]].successors) reach(s);
  }
  work_ += blocks.size();
}

void Partings::expose(const std::vector<std::uint32_t>& blocks) {
  for (const std::uint32_t b : blocks) exposed_[b] = true;
}

void Partings::keep(const std::vector<std::uint32_t>& blocks, const std::vector<std::uint64_t>& set) {
  for (const std::uint32_t b : blocks) {
    for (std::size_t w = 0; w < set.size(); ++w) kept_[b][w] |= set[w];
    touched_.push_back(b);
  }
  work_ += blocks.size() * set.size();
}

void Partings::unite(std::vector<std::uint64_t>& set, const std::uint64_t* more) {
  for (std::size_t w = 0; w < set.size(); ++w) set[w] |= more[w];
  work_ += set.size();
}

}  // namespace weft::ptx
