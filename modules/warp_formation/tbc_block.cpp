#include "warp_formation/tbc_block.h"

#include <algorithm>

namespace weft::warp_formation {
namespace {

// Sorts the paths so that the one to run first comes last (it goes on top of the stack).
void sort(std::vector<TbcBlock::Stack::Path>& paths, ptx::Pc branch, SbrOrder order) {
  using Path = TbcBlock::Stack::Path;
  const auto fallthrough = [branch](const Path& path) { return path.pc == branch + 1; };
  std::sort(paths.begin(), paths.end(), [&](const Path& a, const Path& b) {
    if (order == SbrOrder::kMinorityFirst) {
      const unsigned first = a.mask.count(), second = b.mask.count();
      if (first != second) return first > second;
    }
    if (fallthrough(a) != fallthrough(b)) return fallthrough(a) == (order == SbrOrder::kTakenFirst);
    return a.pc > b.pc;
  });
}

}  // namespace

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
  syncing_ = at_barriers_ = BlockMask();
  at_barrier_.fill(BlockMask());
}

bool TbcBlock::may_part(const ptx::Instruction& instruction) {
  switch (instruction.op) {
    case ptx::Opcode::kReturn:
    case ptx::Opcode::kBrx:
      return true;
    case ptx::Opcode::kCall:
      return instruction.guard >= 0 || instruction.target == ptx::kNoPc;
    default:
      return instruction.is_branch() && instruction.guard >= 0;
  }
}

// Remembers where the threads of a branch go until all warps of the entry have come to it.
void TbcBlock::deposit(const CommitRecord& record, std::uint16_t depth) {
  branch_ = record.pc();
  branch_depth_ = depth;
  for (const auto& piece : record.pieces()) {
    const Place& place = record.paths()[piece.path];
    auto path = std::find_if(paths_.begin(), paths_.end(), [&](const Stack::Path& known) {
      return known.pc == place.pc && known.depth == place.depth;
    });
    if (path == paths_.end()) path = paths_.insert(path, {place.pc, place.depth, {}});
    path->mask.words[piece.chunk - block_.first_chunk] |= piece.mask;
  }
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
                    Statistics& statistics) {
  if (!paths_.empty()) {
    const ptx::Instruction& branch = program.code[branch_];
    if (branch.is_branch())
      ++(paths_.size() > 1 ? statistics.divergent_branches : statistics.uniform_branches);
    if (paths_.size() > 1) statistics.entries_written += paths_.size() + 1;
    sort(paths_, branch_, rules.order);
    // A return has no reconvergence point of its own: threads that go back to different callers meet where
    // the entry did.
    const Stack::Entry& top = stack_.top();
    const bool returns = branch.op == ptx::Opcode::kReturn;
    stack_.advance(paths_.data(), static_cast<unsigned>(paths_.size()),
                   returns ? top.rpc : reconvergence_point(branch, rules.reconvergence),
                   returns ? top.rpc_depth : branch_depth_, likely.empty() ? ptx::kNoPc : likely[branch_]);
    paths_.clear();
  }
  for (;;) {
    stack_.settle();
    if (stack_.empty() || !choose_path(statistics)) return false;
    // Threads may have waited right before the reconvergence point, or where `settle` lets them join others.
    const Stack::Entry& top = stack_.top();
    const bool arrived = stack_.reconverges(top.pc, top.depth);
    if (!arrived && !stack_.at_likely_point(top.pc, top.depth)) break;
    if (arrived) stack_.pop();
  }
  unplaced_ = stack_.top().mask;
  unplaced_threads_ = unplaced_.count();
  first_unplaced_ = 0;
  return true;
}

// Puts a path on top none of whose threads waits. If there is none, threads leave those that wait; if all do,
// those at a reconvergence point go on without them.
bool TbcBlock::choose_path(Statistics& statistics) {
  const BlockMask waiting = this->waiting();
  if (waiting.empty()) return true;
  const auto free = [&](const BlockMask& mask) { return !mask.empty() && !mask.intersects(waiting); };
  const auto partly_free = [&](BlockMask mask) { return !mask.remove(waiting).empty(); };
  // Those at a reconvergence point may have come there past a barrier, at which they wait: then the next.
  for (;;) {
    if (stack_.bring_up(free)) return true;
    if (stack_.bring_up(partly_free)) break;
    if (!stack_.go_on_without()) return false;
    ++statistics.lone_departures;
  }
  BlockMask held = stack_.top().mask;
  held &= waiting;
  stack_.set_aside(held, stack_.top().pc, stack_.top().depth,
                   [&](const BlockMask& other) { return other.intersects(waiting); });
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

// Visits the entries from the top down, with those of their threads that are in none above, and whether these
// wait for nobody there to arrive.
template <class Visit>
void TbcBlock::each_entry(Visit&& visit) const {
  BlockMask seen;
  const auto& entries = stack_.entries();
  for (std::size_t e = entries.size(); e-- > 0;) {
    BlockMask fresh = entries[e].mask;
    fresh.remove(seen);
    seen |= entries[e].mask;
    const bool leaf = e + 1 == entries.size() || entries[e + 1].level <= entries[e].level;
    visit(entries[e], fresh, leaf && !entries[e].likely);
  }
}

BlockMask TbcBlock::ending(const ptx::Program& program) const {
  BlockMask threads;
  each_entry([&](const Stack::Entry& entry, const BlockMask& fresh, bool) {
    if (&entry == &stack_.top() || entry.pc == ptx::kNoPc) return;
    const ptx::Instruction& next = program.code[entry.pc];
    if (next.is_exit() && next.guard < 0) threads |= fresh;
  });
  return threads.remove(waiting());
}

std::uint32_t TbcBlock::held_back(unsigned chunk, const std::uint32_t* standing) const {
  if (stack_.depth() == 1) return 0;
  BlockMask own = syncing_;
  for (unsigned w = 0; w * kChunk < block_.threads; ++w) own.words[w] &= standing[block_.first_chunk + w];
  if (own.empty()) return 0;
  return stack_.held_back(own).words[chunk - block_.first_chunk];
}

void TbcBlock::count(Census& census, const BlockMask& in_warps) const {
  BlockMask queued = unplaced_;
  for (const auto& path : paths_) queued |= path.mask;
  census.queued += queued.count();
  const auto those_in = [](BlockMask mask, const BlockMask& other) { return (mask &= other).count(); };
  each_entry([&](const Stack::Entry&, BlockMask threads, bool leaf) {
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
  each_entry([&](const Stack::Entry& entry, const BlockMask&, bool) {
    const bool runs = &entry == &stack_.top() && warps != 0;
    out << "    " << (runs ? "entry that runs" : "entry that waits") << " at pc " << entry.pc << " ("
        << program.place(entry.pc) << "), " << entry.mask.count() << " threads";
    if (entry.rpc != ptx::kNoPc) out << ", reconverges at pc " << entry.rpc;
    if (entry.mask.intersects(waiting)) out << ", has threads at a barrier or a warp-level primitive";
    out << "\n";
  });
}

}  // namespace weft::warp_formation
