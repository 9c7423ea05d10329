#include "check/releases.h"

#include <algorithm>

namespace weft::check {
namespace {

constexpr unsigned kBarriers = 16;

Clocks joined(const Clocks& a, const Clocks& b) {
  if (a == b) return a;
  auto both = std::make_shared<std::vector<SyncClock::Clock>>(*a);
  for (std::size_t i = 0; i < both->size(); ++i) (*both)[i] = std::max((*both)[i], (*b)[i]);
  if (*both == *a) return a;
  if (*both == *b) return b;
  return both;
}

}  // namespace

Knowledge joined(const Knowledge& a, const Knowledge& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  auto both = std::make_shared<std::map<std::uint64_t, Clocks>>(*a);
  bool changed = false;
  for (const auto& [block, clocks] : *b) {
    const auto [own, added] = both->emplace(block, clocks);
    if (added) {
      changed = true;
      continue;
    }
    const Clocks before = own->second;
    own->second = joined(before, clocks);
    changed = changed || own->second != before;
  }
  return changed ? both : a;
}

SyncClock::Clock clock_in(const Knowledge& knowledge, std::uint64_t block, std::uint32_t thread) {
  if (knowledge == nullptr) return 0;
  const auto found = knowledge->find(block);
  return found == knowledge->end() ? 0 : (*found->second)[thread];
}

void BlockReleases::start(std::uint64_t block, std::uint32_t threads) {
  block_ = block;
  threads_.assign(threads, {});
  barriers_.assign(kBarriers, {});
}

// Of its own block, and, if wished, of others.
void BlockReleases::learn(std::uint32_t thread, const Knowledge& what, bool others, SyncClock& clock) {
  if (what == nullptr) return;
  const auto own = what->find(block_);
  if (own != what->end()) clock.learn(thread, *own->second);
  if (others) threads_[thread].foreign = joined(threads_[thread].foreign, what);
}

// What the thread has read counts.
void BlockReleases::settle(std::uint32_t thread, bool wide, SyncClock& clock) {
  Thread& t = threads_[thread];
  if (t.pending_in_block != nullptr) learn(thread, t.pending_in_block, false, clock);
  t.pending_in_block = nullptr;
  if (t.pending == nullptr) return;
  learn(thread, t.pending, wide, clock);
  if (wide) t.pending = nullptr;
}

void BlockReleases::access(std::uint32_t thread, const Strong& how, Released& word, SyncClock& clock) {
  Thread& t = threads_[thread];
  if (how.reads) {
    t.pending = joined(t.pending, word.to_all);
    const bool own = word.to_the_block != nullptr && word.to_the_block->count(block_) != 0;
    if (own) t.pending_in_block = joined(t.pending_in_block, word.to_the_block);
    if (how.acquires) settle(thread, true, clock);
  }
  if (!how.writes) return;
  if (!how.reads) word = Released();
  if (!publishes(thread, how)) return;
  // Until now, or until the last fence.
  const Clock now = how.releases ? clock.tick(thread) : 0;
  const Clock in_block = how.releases ? now : t.fence, wide = how.releases ? now : t.wide_fence;
  const auto published = [&](Clock until) {
    std::vector<Clock> clocks = clock.all_known(thread);
    clocks[thread] = until;
    auto all = std::make_shared<std::map<std::uint64_t, Clocks>>();
    if (t.foreign != nullptr) *all = *t.foreign;
    (*all)[block_] = std::make_shared<const std::vector<Clock>>(std::move(clocks));
    return Knowledge(all);
  };
  if (wide != 0) word.to_all = joined(word.to_all, published(wide));
  if (in_block == wide) return;
  const bool own = word.to_the_block != nullptr && word.to_the_block->count(block_) != 0;
  word.to_the_block = own ? joined(word.to_the_block, published(in_block)) : published(in_block);
}

void BlockReleases::fence(std::uint32_t thread, bool wide, SyncClock& clock) {
  settle(thread, wide, clock);
  Thread& t = threads_[thread];
  t.fence = clock.tick(thread);
  if (wide) t.wide_fence = t.fence;
}

void BlockReleases::arrive(unsigned barrier, std::uint32_t thread, bool waits, SyncClock& clock) {
  settle(thread, true, clock);
  Barrier& b = barriers_[barrier];
  b.joined = joined(b.joined, threads_[thread].foreign);
  if (waits) b.waiting.push_back(thread);
}

void BlockReleases::release(unsigned barrier) {
  Barrier& b = barriers_[barrier];
  for (const std::uint32_t thread : b.waiting)
    threads_[thread].foreign = joined(threads_[thread].foreign, b.joined);
  b = Barrier();
}

void BlockReleases::synchronise(std::uint32_t first, std::uint32_t mask, SyncClock& clock) {
  Knowledge all;
  const auto each = [&](auto visit) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
      visit(first + static_cast<std::uint32_t>(__builtin_ctz(rest)));
  };
  each([&](std::uint32_t thread) {
    settle(thread, true, clock);
    all = joined(all, threads_[thread].foreign);
  });
  each([&](std::uint32_t thread) { threads_[thread].foreign = joined(threads_[thread].foreign, all); });
}

}  // namespace weft::check
