// Block barriers in the SM: who waits where, and when a barrier opens. What an arrival may be is in
// block_barrier.h.
#include <algorithm>

#include "sm/sm.h"

namespace weft::sm {

using warp_formation::Outcome;
using warp_formation::ThreadGroup;

namespace {

constexpr unsigned kBarriers = BlockBarrier::kPerBlock;

unsigned first_lane(std::uint32_t mask) {
  return static_cast<unsigned>(__builtin_ctz(mask));
}

// Those of the lanes whose word is `value`.
std::uint32_t equal_to(const std::uint32_t* words, std::uint32_t value, std::uint32_t lanes) {
  std::uint32_t equal = 0;
  for (unsigned i = 0; i < isa::kLanes; ++i) equal |= static_cast<std::uint32_t>(words[i] == value) << i;
  return equal & lanes;
}

}  // namespace

// A block enters its slot: all of its threads live, none at a barrier, no copies under way.
void Sm::prepare_synchronisation(const ResidentBlock& block) {
  for (BlockBarrier& barrier : barriers_[block.slot].all) barrier.start(kernel_->chunks_per_block);
  barriers_[block.slot].in_use = 0;
  for (unsigned c = 0; c < kernel_->chunks_per_block; ++c) {
    const std::uint32_t before = std::min(block.threads, c * isa::kLanes);
    const std::uint32_t threads = std::min(block.threads - before, isa::kLanes);
    live_[block.first_chunk + c] = threads == isa::kLanes ? ~0u : (1u << threads) - 1;
  }
  copies_.start_thread_block(block.first_chunk, kernel_->chunks_per_block);
}

// The set of barriers at which threads of the issue arrive; numbers above 15 are left out.
std::uint32_t Sm::barriers_named(const InFlight& flight) {
  std::uint32_t named = 0;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    const std::uint32_t* numbers = executor_.words_of(flight.op->src[0], flight.groups[g].chunk);
    for (std::uint32_t rest = flight.executing[g]; rest != 0;) {
      const std::uint32_t number = numbers[first_lane(rest)];
      if (number < kBarriers) named |= 1u << number;
      rest &= ~equal_to(numbers, number, rest);
    }
  }
  return named;
}

void Sm::resolve_barrier(std::uint16_t id) {
  const InFlight& flight = in_flight_[id];  // kept by its reference until this event is handled
  const Operation& op = *flight.op;
  const bool waits = op.instruction->barrier != ptx::BarrierKind::kArrive;
  // Who waits at which barrier; mostly all at one.
  std::array<Outcome, kBarriers + 1> outcomes;
  unsigned count = 0;
  const auto add = [&](Outcome::Kind kind, std::uint32_t argument, std::size_t first) {
    if (scratch_groups_.size() == first) return;
    Outcome& outcome = outcomes[count++];
    outcome.kind = kind;
    outcome.argument = argument;
    outcome.depth = flight.depth;
    outcome.next_pc = flight.pc + 1;
    outcome.groups = {scratch_groups_.data() + first,
                      static_cast<std::uint32_t>(scratch_groups_.size() - first)};
  };
  if (!waits) {
    resolve_all(id);
  } else {
    scratch_groups_.clear();
    for (std::uint32_t rest = barriers_named(flight); rest != 0; rest &= rest - 1) {
      const std::size_t first = scratch_groups_.size();
      for (unsigned g = 0; g < flight.group_count; ++g) {
        const ThreadGroup& group = flight.groups[g];
        const std::uint32_t* numbers = executor_.words_of(op.src[0], group.chunk);
        const std::uint32_t here = equal_to(numbers, first_lane(rest), flight.executing[g]);
        if (here != 0) scratch_groups_.push_back({here, group.chunk, group.beat, group.spread});
      }
      add(Outcome::Kind::kBarrier, first_lane(rest), first);
    }
    const std::size_t first = scratch_groups_.size();
    for (unsigned g = 0; g < flight.group_count; ++g) {
      const ThreadGroup& group = flight.groups[g];
      const std::uint32_t passing = group.mask & ~flight.executing[g];
      if (passing != 0) scratch_groups_.push_back({passing, group.chunk, group.beat, group.spread});
    }
    add(Outcome::Kind::kGo, 0, first);
    if (count == 1 && outcomes[0].kind == Outcome::Kind::kGo) outcomes[0].whole = true;
    if (count != 0) domains_[flight.domain].unit->resolved(id, {outcomes.data(), count});
  }
  for (unsigned g = 0; g < flight.group_count && !stopped_; ++g) {
    if (flight.executing[g] != 0) arrive(flight, flight.groups[g].chunk, flight.executing[g]);
  }
  if (!stopped_) test_barriers(flight.slot);
}

// Threads of a chunk arrive, each at the barrier that it names.
void Sm::arrive(const InFlight& flight, unsigned chunk, std::uint32_t lanes) {
  const Operation& op = *flight.op;
  const std::uint32_t* numbers = executor_.words_of(op.src[0], chunk);
  const std::uint32_t* counts = executor_.words_of(op.src[1], chunk);
  while (lanes != 0) {
    const unsigned lane = first_lane(lanes);
    const std::uint32_t number = numbers[lane], count = counts == nullptr ? 0 : counts[lane];
    std::uint32_t same = equal_to(numbers, number, lanes);
    if (counts != nullptr) same = equal_to(counts, count, same);
    lanes &= ~same;
    const std::string wrong = arrive_at(flight, chunk, same, number, count);
    if (!wrong.empty())
      return fault({FaultKind::kIllegalInstruction,
                    executor_.place_name(flight.pc, chunk, lane, slots_[flight.slot]) + ": " + wrong});
    if (observer_ != nullptr) {
      observer_->barrier_arrived(index_, slots_[flight.slot], number, chunk, same,
                                 op.instruction->barrier != ptx::BarrierKind::kArrive);
    }
  }
}

// Lanes of a chunk of the block that have exited, will as soon as they can, or never existed.
auto Sm::never_arriving(const ResidentBlock& block) const {
  return [this, &block](unsigned chunk_of_block) {
    const unsigned chunk = block.first_chunk + chunk_of_block;
    return ~live_[chunk] | domains_[block.domain].unit->ending(chunk);
  };
}

// Empty, or what is wrong. `count` is looked at if the instruction has one.
std::string Sm::arrive_at(const InFlight& flight, unsigned chunk, std::uint32_t lanes, std::uint32_t number,
                          std::uint32_t count) {
  if (number >= kBarriers) return no_such_barrier(number);
  const Operation& op = *flight.op;
  const ResidentBlock& block = slots_[flight.slot];
  BlockBarriers& barriers = barriers_[flight.slot];
  BlockBarrier::Arrival arrival;
  arrival.op = &op;
  arrival.number = number;
  arrival.count = count;
  arrival.chunk = chunk - block.first_chunk;
  arrival.executor_chunk = static_cast<std::uint16_t>(chunk);
  arrival.lanes = lanes;
  if (BlockBarrier::reduces(op.instruction->barrier)) {
    arrival.votes = executor_.predicates_of(op.src[2], chunk);
  }
  barriers.in_use = static_cast<std::uint16_t>(barriers.in_use | 1u << number);
  return barriers.all[number].arrive(arrival, never_arriving(block));
}

void Sm::test_barriers(std::uint16_t slot) {
  const ResidentBlock& block = slots_[slot];
  BlockBarriers& barriers = barriers_[slot];
  for (std::uint32_t rest = barriers.in_use; rest != 0; rest &= rest - 1) {
    const unsigned i = first_lane(rest);
    BlockBarrier& b = barriers.all[i];
    if (b.expected() == 0) {
      std::uint32_t expected = block.live_threads;
      if (b.arrived() < expected) expected -= domains_[block.domain].unit->waiting_to_exit(slot);
      if (b.arrived() < expected) continue;
    } else if (b.arrived_in_warps(never_arriving(block)) < b.expected()) {
      continue;
    }
    for (const BlockBarrier::Part& part : b.parts())
      executor_.barrier_result(*part.op, part.chunk, part.lanes, b.votes(), b.arrived());
    if (observer_ != nullptr) observer_->barrier_released(index_, block, i, b.expected() == 0);
    b.clear();
    barriers.in_use = static_cast<std::uint16_t>(barriers.in_use & ~(1u << i));
    ++barriers_opened_;
    domains_[block.domain].unit->barrier_released(slot, i);
  }
}

}  // namespace weft::sm
