#include "execute/synchroniser.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "common/hex.h"

namespace weft::execute {

std::uint32_t Synchroniser::Runner::ending(const ResidentBlock& /*block*/, unsigned /*chunk*/) const {
  return 0;
}

std::uint32_t Synchroniser::Runner::held_back(const ResidentBlock& /*block*/, unsigned /*chunk*/,
                                              const std::uint32_t* /*standing*/) const {
  return 0;
}

std::uint32_t Synchroniser::Runner::waiting_to_exit(const ResidentBlock& /*block*/) const {
  return 0;
}

Synchroniser::Synchroniser(std::string name, unsigned sm, Executor& executor,
                           const std::vector<ResidentBlock>& blocks, Runner& runner)
    : name_(std::move(name)),
      sm_(sm),
      executor_(executor),
      blocks_(blocks),
      runner_(runner),
      barriers_(blocks.size()) {}

void Synchroniser::start_kernel(const Kernel& kernel) {
  kernel_ = &kernel;
  live_.assign(std::size_t{kernel.occupancy.resident} * kernel.chunks_per_block, 0);
  standing_.assign(live_.size(), 0);
  gatherings_.clear();
}

void Synchroniser::start_block(const ResidentBlock& block) {
  const unsigned chunks = kernel_->chunks_per_block;
  for (BlockBarrier& barrier : barriers_[block.slot].all) barrier.start(chunks);
  barriers_[block.slot].in_use = 0;
  for (unsigned c = 0; c < chunks; ++c) {
    const std::uint32_t threads =
        std::min(block.threads - std::min(block.threads, c * isa::kLanes), isa::kLanes);
    live_[block.chunk_of(c)] = threads == isa::kLanes ? ~0u : (1u << threads) - 1;
  }
}

void Synchroniser::reset() {
  kernel_ = nullptr;
  barriers_.assign(blocks_.size(), {});
  live_.clear();
  gatherings_.clear();
  opened_ = 0;
}

std::uint32_t Synchroniser::equal_lanes(const std::uint32_t* words, std::uint32_t lanes) {
  if (words == nullptr) return lanes;
  const std::uint32_t value = words[first_lane(lanes)];
  std::uint32_t same = 0;
  for (unsigned i = 0; i < isa::kLanes; ++i) same |= static_cast<std::uint32_t>(words[i] == value) << i;
  return same & lanes;
}

Fault Synchroniser::refuse(const Participants& threads, unsigned chunk, unsigned lane,
                           const ResidentBlock& block, const std::string& why) const {
  return executor_.fault_at(FaultKind::kIllegalInstruction, {threads.pc, chunk, lane, block}, why);
}

// Empty, or what is wrong.
std::string Synchroniser::arrive_at(const BlockBarrier::Arrival& arrival, const ResidentBlock& block) {
  if (arrival.number >= BlockBarrier::kPerBlock) return no_such_barrier(arrival.number);
  BlockBarriers& barriers = barriers_[block.slot];
  barriers.in_use = static_cast<std::uint16_t>(barriers.in_use | 1u << arrival.number);
  return barriers.all[arrival.number].arrive(arrival, gone(block));
}

void Synchroniser::open_barriers(const ResidentBlock& block) {
  BlockBarriers& barriers = barriers_[block.slot];
  for (std::uint32_t rest = barriers.in_use; rest != 0; rest &= rest - 1) {
    const unsigned i = first_lane(rest);
    BlockBarrier& barrier = barriers.all[i];
    const bool whole = barrier.expected() == 0;
    if (whole) {
      std::uint32_t expected = block.live_threads;
      if (barrier.arrived() < expected) expected -= runner_.waiting_to_exit(block);
      if (barrier.arrived() < expected) continue;
    } else if (barrier.arrived_in_warps(gone(block)) < barrier.expected()) {
      continue;
    }
    for (const BlockBarrier::Part& part : barrier.parts())
      executor_.barrier_result(*part.op, part.chunk, part.lanes, barrier.votes(), barrier.arrived());
    if (observer_ != nullptr) observer_->barrier_released(sm_, block, i, whole);
    barrier.clear();
    barriers.in_use = static_cast<std::uint16_t>(barriers.in_use & ~(1u << i));
    ++opened_;
    runner_.barrier_opened(block, i);
  }
}

std::uint32_t Synchroniser::missing(const ResidentBlock& block, unsigned chunk, std::uint32_t mask,
                                    std::uint32_t lanes) const {
  const std::uint32_t awaited = mask & live_[chunk] & ~lanes;
  return awaited == 0 ? 0 : awaited & ~runner_.ending(block, chunk);
}

Fault Synchroniser::check_members(const Participants& threads, unsigned chunk, std::uint32_t mask,
                                  const ResidentBlock& block) const {
  const std::uint32_t strangers = threads.lanes & ~mask;
  if (strangers == 0) return {};
  return refuse(threads, chunk, first_lane(strangers), block,
                "the thread is not in its own member mask, " + hex(mask));
}

// Of the primitives only bar.warp.sync orders memory accesses.
void Synchroniser::synchronised(const Operation& op, unsigned chunk, std::uint32_t lanes,
                                const ResidentBlock& block) {
  if (observer_ != nullptr && op.instruction->op == ptx::Opcode::kWarpBarrier)
    observer_->warp_synchronised(sm_, block, chunk, lanes);
}

Fault Synchroniser::perform(const Participants& threads, unsigned chunk, const ResidentBlock& block) {
  if (!executor_.across_lanes(&threads, 1, chunk, block)) return executor_.fault();
  synchronised(*threads.op, chunk, threads.lanes, block);
  return {};
}

Fault Synchroniser::gather(const Participants& threads, unsigned chunk, std::uint32_t mask,
                           const ResidentBlock& block) {
  const auto mismatch = gatherings_.arrive(block.slot, static_cast<std::uint16_t>(chunk), mask, threads);
  if (mismatch == WarpGatherings::Mismatch::kNone) return {};
  const bool operation = mismatch == WarpGatherings::Mismatch::kOperation;
  const std::string named = hex(mask);
  return refuse(threads, chunk, first_lane(threads.lanes), block,
                (operation ? "other threads that mask " + named + " names wait at a different operation"
                           : "threads that mask " + named + " names wait for this thread with another mask") +
                    "\n" + dump_gatherings());
}

Fault Synchroniser::release(const Gathering& g) {
  const ResidentBlock& block = blocks_[g.slot];
  Fault fault;
  if (!executor_.across_lanes(g.parts.data(), g.count, g.chunk, block)) fault = executor_.fault();
  synchronised(*g.parts[0].op, g.chunk, g.arrived, block);
  runner_.gathered(block, g.chunk, g.arrived);
  return fault;
}

Fault Synchroniser::release_gatherings() {
  Fault first;
  const auto let_go = [&](const Gathering& g) {
    const Fault fault = release(g);
    if (fault && !first) first = fault;
  };
  gatherings_.release_complete(
      [&](const Gathering& g) { return missing(blocks_[g.slot], g.chunk, g.mask, g.arrived); }, let_go);
  while (!gatherings_.empty() && !first) {
    const Gathering* const found = oldest_without_hope();
    if (found == nullptr) break;
    const Gathering g = gatherings_.take(*found);
    if (observer_ != nullptr) tell_absence(g);
    let_go(g);
  }
  return first;
}

// Lanes of the chunk that wait at a barrier of the whole block, which opens for nobody before all have come
// that live.
std::uint32_t Synchroniser::at_whole_barriers(const ResidentBlock& block, unsigned chunk) const {
  const BlockBarriers& barriers = barriers_[block.slot];
  std::uint32_t lanes = 0;
  for (std::uint32_t rest = barriers.in_use; rest != 0; rest &= rest - 1) {
    const BlockBarrier& barrier = barriers.all[first_lane(rest)];
    if (barrier.expected() == 0) lanes |= barrier.arrived_of(block.warp_of(chunk));
  }
  return lanes;
}

// The oldest gathering whose missing members wait at a reconvergence point or a block barrier for threads
// that will not come: those of this gathering, or of others of which the same holds. Null: there is none.
//
// Of all gatherings, those are left out one by one that somebody may still come to; what is left waits for
// itself. A member that waits at another primitive comes when that one is let go, so its own waits for it.
const Gathering* Synchroniser::oldest_without_hope() {
  std::fill(standing_.begin(), standing_.end(), 0u);
  for (const Gathering& g : gatherings_.all()) standing_[g.chunk] |= g.arrived;
  const auto hopeless = [this](const Gathering& g, std::uint32_t others) {
    const ResidentBlock& block = blocks_[g.slot];
    std::uint32_t awaited = missing(block, g.chunk, g.mask, g.arrived) & ~others;
    if (awaited != 0) awaited &= ~at_whole_barriers(block, g.chunk);
    if (awaited != 0) awaited &= ~runner_.held_back(block, g.chunk, standing_.data());
    return awaited == 0;
  };
  const auto stands = [this](const Gathering& g) { return (standing_[g.chunk] & g.arrived) != 0; };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Gathering& g : gatherings_.all()) {
      if (!stands(g) || hopeless(g, standing_[g.chunk])) continue;
      standing_[g.chunk] &= ~g.arrived;
      changed = true;
    }
  }
  for (const Gathering& g : gatherings_.all()) {
    if (stands(g) && hopeless(g, 0)) return &g;
  }
  return nullptr;
}

void Synchroniser::tell_absence(const Gathering& g) const {
  const ResidentBlock& block = blocks_[g.slot];
  ObservedAbsence absence;
  absence.kernel = kernel_;
  absence.sm = sm_;
  absence.block = &block;
  absence.chunk = g.chunk;
  absence.members = g.mask;
  absence.absent = missing(block, g.chunk, g.mask, g.arrived);
  for (unsigned i = 0; i < g.count; ++i) {
    absence.pc = g.parts[i].pc;
    absence.mask = g.parts[i].lanes;
    observer_->members_absent(absence);
  }
}

std::string Synchroniser::dump() const {
  std::ostringstream out;
  for (const ResidentBlock& block : blocks_) {
    for (unsigned i = 0; i < BlockBarrier::kPerBlock && block.live; ++i) {
      const BlockBarrier& barrier = barriers_[block.slot].all[i];
      if (barrier.arrived() == 0) continue;
      out << name_ << ", block (" << block.index[0] << "," << block.index[1] << "," << block.index[2]
          << "), barrier " << i << ": " << barrier.arrived() << " threads arrived, "
          << (barrier.expected() != 0 ? barrier.expected() : block.live_threads) << " expected\n";
    }
  }
  return out.str() + dump_gatherings();
}

std::string Synchroniser::dump_gatherings() const {
  std::ostringstream out;
  for (const Gathering& g : gatherings_.all()) {
    const ResidentBlock& block = blocks_[g.slot];
    const unsigned first = block.thread_of(g.chunk, 0);
    out << name_ << ", block (" << block.index[0] << "," << block.index[1] << "," << block.index[2]
        << "), threads " << first << " to " << first + isa::kLanes - 1 << ", mask " << hex(g.mask) << ":";
    for (unsigned i = 0; i < g.count; ++i) {
      out << (i == 0 ? " " : "; ") << hex(g.parts[i].lanes) << " waits at "
          << name_of(g.parts[i].op->instruction->op) << ", pc " << g.parts[i].pc << " ("
          << kernel_->program.place(g.parts[i].pc) << ")";
    }
    out << "; " << hex(missing(block, g.chunk, g.mask, g.arrived)) << " is missing\n";
  }
  return out.str();
}

}  // namespace weft::execute
