#include "warp_formation/tbc_block.h"

#include <algorithm>

namespace weft::warp_formation {

void TbcBlock::start(const Block& block) {
  block_ = block;
  BlockMask all;
  for (unsigned t = 0; t < block.threads; t += kChunk)
    all.words[t / kChunk] = block.threads - t >= kChunk ? ~0u : (1u << (block.threads - t)) - 1;
  stack_.start(0, all);
  paths_.clear();
  unplaced_ = all;
  unplaced_threads_ = block.threads;
  first_unplaced_ = 0;
  syncing_ = at_barriers_ = alone_ = BlockMask();
  at_barrier_.fill(BlockMask());
}

// Remembers where the threads of a branch go until all warps of the entry have come to it.
void TbcBlock::deposit(const CommitRecord& record, std::uint16_t depth) {
  branch_ = record.pc();
  branch_depth_ = depth;
  add_paths(paths_, record, block_.first_chunk);
}

void TbcBlock::wait_at_barrier(unsigned barrier, Groups threads) {
  add(at_barrier_[barrier], threads);
  add(at_barriers_, threads);
}

void TbcBlock::release_barrier(unsigned barrier) {
  at_barriers_.remove(at_barrier_[barrier]);
  at_barrier_[barrier] = BlockMask();
}

bool TbcBlock::waits(Groups threads) const {
  std::uint32_t any = 0;
  for (const auto& group : threads)
    any |= (syncing_.words[word(group)] | at_barriers_.words[word(group)]) & group.mask;
  return any != 0;
}

void TbcBlock::stand_aside(ptx::Pc pc, std::uint16_t depth, Groups threads) {
  const BlockMask waiting = this->waiting();
  BlockMask free, held;
  add(free, threads);
  held = free;
  held &= waiting;
  free.remove(held);
  const auto join = [&](const BlockMask& part, bool waits) {
    if (part.empty()) return;
    stack_.set_aside(part, pc, depth,
                     [&](const BlockMask& other) { return other.intersects(waiting) == waits; });
  };
  join(held, true);
  join(free, false);
}

bool TbcBlock::move(const ptx::Program& program, const StackRules& rules, const std::vector<ptx::Pc>& likely,
                    bool may_leave, Statistics& statistics) {
  if (!paths_.empty()) {
    const ptx::Instruction& branch = program.code[branch_];
    if (branch.is_branch())
      ++(paths_.size() > 1 ? statistics.divergent_branches : statistics.uniform_branches);
    if (paths_.size() > 1) statistics.entries_written += paths_.size() + 1;
    follow(stack_, paths_, {branch_, branch_depth_, likely.empty() ? ptx::kNoPc : likely[branch_]}, program,
           rules);
  }
  BlockMask held = waiting();
  held |= alone_;
  if (!choose_path(stack_, held, may_leave, statistics.lone_departures)) return false;
  unplaced_ = stack_.top().mask;
  unplaced_threads_ = unplaced_.count();
  first_unplaced_ = 0;
  return true;
}

unsigned TbcBlock::static_warps(unsigned size) const {
  unsigned warps = 0;
  for (unsigned first = 0; first < block_.threads; first += size) {
    const unsigned shift = size < kChunk ? first % kChunk : 0;
    const std::uint32_t part = size < kChunk ? (1u << size) - 1 : ~0u;
    std::uint32_t any = 0;
    for (unsigned t = first; t < std::min(first + size, block_.threads); t += kChunk)
      any |= unplaced_.words[t / kChunk] >> shift & part;
    warps += any != 0;
  }
  return warps;
}

void TbcBlock::place(PackedWarp& warp, unsigned size, unsigned lanes) {
  warp.clear();
  while (unplaced_.words[first_unplaced_] == 0) ++first_unplaced_;
  for (unsigned c = first_unplaced_; c < unplaced_.words.size() && warp.threads() < size; ++c) {
    std::uint32_t& threads = unplaced_.words[c];
    if (threads != 0) threads = warp.pack(lanes, static_cast<std::uint16_t>(block_.first_chunk + c), threads);
  }
  unplaced_threads_ -= warp.threads();
}

BlockMask TbcBlock::ending(const ptx::Program& program) const {
  return warp_formation::ending(stack_, program).remove(waiting());
}

BlockMask TbcBlock::standing(const std::uint32_t* standing) const {
  BlockMask own = syncing_;
  for (unsigned w = 0; w * kChunk < block_.threads; ++w) own.words[w] &= standing[block_.first_chunk + w];
  return own;
}

std::uint32_t TbcBlock::held_back(unsigned chunk, const std::uint32_t* standing) const {
  if (stack_.depth() == 1) return 0;
  const BlockMask own = this->standing(standing);
  if (own.empty()) return 0;
  return stack_.held_back(own).words[chunk - block_.first_chunk];
}

void TbcBlock::count(Census& census, const BlockMask& in_warps) const {
  BlockMask queued = unplaced_;
  for (const auto& path : paths_) queued |= path.mask;
  census.queued += queued.count();
  const auto those_in = [](BlockMask mask, const BlockMask& other) { return (mask &= other).count(); };
  each_entry(stack_, [&](const Stack::Entry&, BlockMask threads, bool leaf) {
    threads.remove(in_warps).remove(queued);
    census.barrier += those_in(threads, at_barriers_);
    census.warp_sync += those_in(threads, syncing_);
    (leaf ? census.inactive_path : census.reconvergence) += threads.remove(waiting()).count();
  });
}

void TbcBlock::describe(std::ostream& out, const ptx::Program& program, unsigned warps) const {
  const BlockMask waiting = this->waiting();
  for (const auto& path : paths_) {
    out << "    " << path.mask.count() << " threads have branched at pc " << branch_ << " to pc " << path.pc
        << " and wait for the others of their entry\n";
  }
  each_entry(stack_, [&](const Stack::Entry& entry, const BlockMask&, bool) {
    const bool runs = &entry == &stack_.top() && warps != 0;
    out << "    " << (runs ? "entry that runs" : "entry that waits") << " at pc " << entry.pc << " ("
        << program.place(entry.pc) << "), " << entry.mask.count() << " threads";
    if (entry.rpc != ptx::kNoPc) out << ", reconverges at pc " << entry.rpc;
    if (entry.mask.intersects(waiting)) out << ", has threads at a barrier or a warp-level primitive";
    out << "\n";
  });
}

}  // namespace weft::warp_formation
