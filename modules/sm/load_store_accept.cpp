// What the load-store unit does with an instruction as it takes it: banks of shared memory, the texture unit,
// requests.
#include <algorithm>

#include "sm/load_store_unit.h"
#include "weft/common/popcount.h"

namespace weft::sm {

void LoadStoreUnit::accept(std::uint16_t issue, const ptx::Instruction& in,
                           const warp_formation::ThreadGroup* groups, const execute::LaneAccess* accesses,
                           unsigned count, bool waits, const datapath::Times& times) {
  const std::uint32_t index = requests_.add_instruction();
  {
    Instruction& instruction = requests_.instruction(index);
    instruction.issue = issue;
    instruction.waits = waits;
    instruction.addresses = times.addresses;
    instruction.live = true;
    instruction.surface = in.is_image() && in.space != ptx::Space::kTexture;
  }
  if (!observers_.any()) return accept_all(index, in, groups, accesses, count, times);
  const SmObserver::Requests before = accepted();
  accept_all(index, in, groups, accesses, count, times);
  const SmObserver::Requests now = accepted();
  observers_.tell(&SmObserver::requested, issue,
                  SmObserver::Requests{now.threads - before.threads, now.coalesced - before.coalesced,
                                       now.shared_accesses - before.shared_accesses,
                                       now.shared_conflict_cycles - before.shared_conflict_cycles});
}

void LoadStoreUnit::accept_all(std::uint32_t index, const ptx::Instruction& in,
                               const warp_formation::ThreadGroup* groups, const execute::LaneAccess* accesses,
                               unsigned count, const datapath::Times& times) {
  LaneWork work{times.lane, nullptr, 0, accesses, count};
  if (times.in_turn) {
    work.parts = times.parts;
    work.part_count = times.part_count;
    calendar_.begin(now_);
  }
  if (in.space == ptx::Space::kTexture) accept_texture(index, work);
  bool shared = false, elsewhere = false;
  for (unsigned i = 0; i < count; ++i) {
    const execute::LaneAccess& access = accesses[i];
    if (access.space == ptx::Space::kTexture) {
      accept_without_memory(index, access);
      continue;
    }
    Instruction& instruction = requests_.instruction(index);
    if (i > 0 && accesses[i - 1].chunk == access.chunk && (accesses[i - 1].mask & access.mask) != 0) {
      instruction.together = true;  // an element of several local words
    }
    const bool here = access.space == ptx::Space::kShared;
    if (here) requests_.add_part(instruction.shared_parts, access.chunk, access.mask);
    (here ? shared : elsewhere) = true;
  }
  if (elsewhere) coalescer_.coalesce(index, in, groups, accesses, count);
  if (outgoing_.carries()) carry_writes(index);
  if (shared) accept_shared(index, work, in, groups, !elsewhere);
  if (shared && times.in_turn && !elsewhere) return;
  requests_.instruction(index).current = requests_.instruction(index).first;
  enqueue(index);
}

// `beside`: nothing of the instruction goes further.
void LoadStoreUnit::accept_shared(std::uint32_t index, const LaneWork& work, const ptx::Instruction& in,
                                  const warp_formation::ThreadGroup* groups, bool beside) {
  const bool atomic = in.op == ptx::Opcode::kAtom || in.op == ptx::Opcode::kRed;
  if (work.parts != nullptr) return take_banks_in_turn(index, work, atomic, beside);
  banks_.each_access(work.accesses, work.count, groups, atomic,
                     [&](std::uint32_t cycles) { take_banks(index, cycles); });
}

// The bytes of each block from the first to the last that the instruction has just written.
void LoadStoreUnit::carry_writes(std::uint32_t instruction) {
  for (std::uint32_t r = requests_.instruction(instruction).first; r != kNone;
       r = requests_.request(r).next) {
    Request& request = requests_.request(r);
    const bool writes = request.target == Target::kWrite || request.target == Target::kAtomic;
    if (writes && request.system == kNone)
      request.carried = outgoing_.copy(request.block + request.low, request.high - request.low);
  }
}

// Behind those whose addresses are known before its own.
void LoadStoreUnit::enqueue(std::uint32_t index) {
  state_.queue.push(index);
  const Cycle addresses = requests_.instruction(index).addresses;
  std::size_t place = state_.queue.size() - 1;
  for (; place != 0; --place) {
    std::uint32_t& before = state_.queue.at(place - 1);
    if (requests_.instruction(before).addresses <= addresses) return;
    std::swap(before, state_.queue.at(place));
  }
  if (state_.working == Hold::kPort) state_.busy_until = 0;  // it was the other one that was waited for
}

// A thread's word may come at once, and another of its instruction much later: they return together.
void LoadStoreUnit::take_banks_in_turn(std::uint32_t index, const LaneWork& work, bool atomic, bool beside) {
  const LaneCalendar::Taken taken = calendar_.shared(work, atomic);
  Instruction& instruction = requests_.instruction(index);
  ++instruction.outstanding;
  state_.wheel.add(now_, taken.last + unit_latency(instruction), {Event::Kind::kShared, index});
  if (beside) {
    ++state_.beside;
    state_.wheel.add(now_, taken.last, {Event::Kind::kPlace, index});
  }
  ++shared_accesses_;
  shared_cycles_ += taken.cycles;
  shared_conflict_cycles_ += taken.conflicts;
  ++conflict_histogram_[std::min<std::size_t>(taken.conflicts + 1, conflict_histogram_.size() - 1)];
}

void LoadStoreUnit::take_banks(std::uint32_t index, std::uint32_t cycles) {
  Instruction& instruction = requests_.instruction(index);
  if (instruction.shared_cycles == 0) ++instruction.outstanding;
  instruction.shared_cycles += cycles;
  ++shared_accesses_;
  shared_conflict_cycles_ += cycles - 1;
  ++conflict_histogram_[std::min<std::size_t>(cycles, conflict_histogram_.size() - 1)];
}

// Threads without a place in memory (queries, borders, outside of a surface) are answered in one cycle more.
void LoadStoreUnit::accept_without_memory(std::uint32_t index, const execute::LaneAccess& access) {
  Instruction& instruction = requests_.instruction(index);
  if (instruction.shared_cycles == 0) ++instruction.outstanding;
  instruction.shared_cycles = 1;
  requests_.add_part(instruction.shared_parts, access.chunk, access.mask);
}

// Threads whose texels lie in several lines wait for all of them. The unit makes addresses for so many
// threads per cycle, four texels each.
void LoadStoreUnit::accept_texture(std::uint32_t index, const LaneWork& work) {
  Instruction& instruction = requests_.instruction(index);
  instruction.texture = true;
  std::uint64_t texels = 0, threads = 0;
  std::uint32_t seen = 0;
  unsigned deepest = 1, depth = 0;
  for (unsigned i = 0; i < work.count; ++i) {
    const execute::LaneAccess& access = work.accesses[i];
    if (i == 0 || work.accesses[i - 1].chunk != access.chunk) seen = depth = 0;
    if ((seen & access.mask) != 0) instruction.together = true;
    threads += count_of(access.mask & ~seen);
    seen |= access.mask;
    deepest = std::max(deepest, ++depth);
    if (access.space == ptx::Space::kTexture) continue;
    texels += count_of(access.mask);
  }
  constexpr unsigned kTexelsPerPass = 4;
  const std::uint64_t rate = config_.texture.threads_per_cycle;
  const std::uint64_t passes = (deepest + kTexelsPerPass - 1) / kTexelsPerPass;
  if (work.parts == nullptr) {
    instruction.setup_cycles = static_cast<std::uint32_t>((threads + rate - 1) / rate * passes);
  } else if (threads != 0) {
    const LaneCalendar::Taken taken = calendar_.textures(work, static_cast<unsigned>(passes));
    instruction.addresses = taken.last - 1;  // the last texel's: the request goes on in the same cycle
    texture_cycles_ += taken.cycles;
  }
  texture_fetches_ += threads;
  texture_texels_ += texels;
}

}  // namespace weft::sm
