// Block barriers: bar.sync, bar.arrive, bar.red, for all threads of the block or for a number of them.
//
// Barriers count threads, not warps, in every scheme. A barrier for a given number counts in original warps
// of 32, as PTX does: once a thread of such a warp has arrived, those of its threads that have exited or
// never existed count as arrived.
#include <algorithm>

#include "sm/sm.h"

namespace weft::sm {

using warp_formation::Outcome;
using warp_formation::ThreadGroup;

namespace {

constexpr unsigned kBarriers = 16;

unsigned first_lane(std::uint32_t mask) {
  return static_cast<unsigned>(__builtin_ctz(mask));
}

// Those of the lanes whose word is `value`.
std::uint32_t equal_to(const std::uint32_t* words, std::uint32_t value, std::uint32_t lanes) {
  std::uint32_t equal = 0;
  for (unsigned i = 0; i < isa::kLanes; ++i) equal |= static_cast<std::uint32_t>(words[i] == value) << i;
  return equal & lanes;
}

bool reduces(ptx::BarrierKind kind) {
  return kind != ptx::BarrierKind::kSync && kind != ptx::BarrierKind::kArrive;
}

}  // namespace

// A block enters its slot: all of its threads live, none at a barrier, no copies under way.
void Sm::prepare_synchronisation(const ResidentBlock& block) {
  for (unsigned b = 0; b < kBarriers; ++b) clear_barrier(block.slot, b);
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
      return fault(executor_.place_name(flight.pc, chunk, lane, slots_[flight.slot]) + ": " + wrong);
    if (observer_ != nullptr) {
      observer_->barrier_arrived(index_, slots_[flight.slot], number, chunk, same,
                                 op.instruction->barrier != ptx::BarrierKind::kArrive);
    }
  }
}

// Empty, or what is wrong. `count` is looked at if the instruction has one.
std::string Sm::arrive_at(const InFlight& flight, unsigned chunk, std::uint32_t lanes, std::uint32_t number,
                          std::uint32_t count) {
  const Operation& op = *flight.op;
  const ptx::Instruction& in = *op.instruction;
  const bool counted = op.src[1].kind != Source::Kind::kNone;
  if (number >= kBarriers) return "found barrier " + std::to_string(number) + ", allowed are 0 to 15";
  const std::string name = "barrier " + std::to_string(number);
  if (counted && (count == 0 || count % isa::kLanes != 0)) {
    return "found " + name + " for " + std::to_string(count) +
           " threads, allowed are multiples of 32, the warp size of PTX";
  }
  const ResidentBlock& block = slots_[flight.slot];
  Barrier& b = barriers_[flight.slot][number];
  const std::uint32_t all = (block.threads + isa::kLanes - 1) / isa::kLanes * isa::kLanes;
  if (b.arrived != 0) {
    const std::uint32_t before = b.expected == 0 ? all : b.expected;
    const std::uint32_t after = counted ? count : all;
    if (before != after) {
      return name + " waits for " + std::to_string(before) + " threads already, found " +
             std::to_string(after);
    }
    if (b.kind != in.barrier && (reduces(in.barrier) || reduces(b.kind)))
      return "threads wait at " + name + " in another kind of bar.red, or in bar.sync";
  }
  b.kind = in.barrier;
  if (counted) b.expected = count;
  std::uint32_t& mask = barrier_masks_[mask_index(flight.slot, number) + chunk - block.first_chunk];
  if ((mask & lanes) != 0) return "the thread arrives at " + name + " again before the others have come";
  mask |= lanes;
  b.arrived += static_cast<std::uint32_t>(__builtin_popcount(lanes));
  if (reduces(in.barrier)) {
    const std::uint32_t votes = executor_.predicates_of(op.src[2], chunk) & lanes;
    b.votes += static_cast<std::uint32_t>(__builtin_popcount(votes));
    b.waiting.push_back({&op, static_cast<std::uint16_t>(chunk), lanes});
  }
  if (b.expected != 0) {
    const std::uint32_t arrived = arrived_in_warps(flight.slot, number);
    if (arrived > b.expected) {
      return "found " + std::to_string(arrived) + " threads at " + name + ", which is for " +
             std::to_string(b.expected);
    }
  }
  return "";
}

// Threads that have arrived; of original warps that have begun to, also those that never will.
std::uint32_t Sm::arrived_in_warps(std::uint16_t slot, unsigned number) const {
  const ResidentBlock& block = slots_[slot];
  std::uint32_t sum = 0;
  for (unsigned c = 0; c < kernel_->chunks_per_block; ++c) {
    const std::uint32_t mask = barrier_masks_[mask_index(slot, number) + c];
    if (mask == 0) continue;
    const unsigned chunk = block.first_chunk + c;
    const std::uint32_t gone = ~live_[chunk] | domains_[block.domain].unit->ending(chunk);
    sum += static_cast<std::uint32_t>(__builtin_popcount(mask | gone));
  }
  return sum;
}

void Sm::test_barriers(std::uint16_t slot) {
  const ResidentBlock& block = slots_[slot];
  for (unsigned i = 0; i < kBarriers; ++i) {
    Barrier& b = barriers_[slot][i];
    if (b.arrived == 0) continue;
    if (b.expected == 0) {
      std::uint32_t expected = block.live_threads;
      if (b.arrived < expected) expected -= domains_[block.domain].unit->waiting_to_exit(slot);
      if (b.arrived < expected) continue;
    } else if (arrived_in_warps(slot, i) < b.expected) {
      continue;
    }
    for (const BarrierPart& part : b.waiting)
      executor_.barrier_result(*part.op, part.chunk, part.lanes, b.votes, b.arrived);
    if (observer_ != nullptr) observer_->barrier_released(index_, block, i, b.expected == 0);
    clear_barrier(slot, i);
    ++barriers_opened_;
    domains_[block.domain].unit->barrier_released(slot, i);
  }
}

void Sm::clear_barrier(std::uint16_t slot, unsigned number) {
  Barrier& b = barriers_[slot][number];
  b.arrived = b.expected = b.votes = 0;
  b.waiting.clear();
  const auto first = barrier_masks_.begin() + static_cast<std::ptrdiff_t>(mask_index(slot, number));
  std::fill(first, first + kernel_->chunks_per_block, 0u);
}

}  // namespace weft::sm
