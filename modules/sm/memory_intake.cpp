#include "sm/memory_intake.h"

#include <algorithm>

#include "weft/common/popcount.h"

namespace weft::sm {

MemoryIntake::MemoryIntake(const machine::SmConfig& config, MemoryRequests& requests, SystemAccesses& system,
                           OutgoingQueue& outgoing, unsigned lanes, unsigned lane_width)
    : config_(config),
      requests_(requests),
      outgoing_(outgoing),
      coalescer_(config, requests, system),
      banks_(config),
      calendar_(config, lanes, lane_width),
      conflict_histogram_(33, 0) {}

MemoryIntake::Taken MemoryIntake::take(Cycle now, std::uint32_t index, const ptx::Instruction& in,
                                       const warp_formation::ThreadGroup* groups,
                                       const execute::LaneAccess* accesses, unsigned count,
                                       const datapath::Times& times) {
  Taken taken;
  Instruction& instruction = requests_.instruction(index);
  LaneWork work{times.lane, nullptr, 0, accesses, count};
  if (times.in_turn) {
    work.parts = times.parts;
    work.part_count = times.part_count;
    calendar_.begin(now);
  }
  if (in.space == ptx::Space::kTexture) take_textures(instruction, work, taken);
  bool shared = false, elsewhere = false;
  for (unsigned i = 0; i < count; ++i) {
    const execute::LaneAccess& access = accesses[i];
    if (access.space == ptx::Space::kTexture) {
      answer_without_memory(instruction, access);
      continue;
    }
    if (i > 0 && accesses[i - 1].chunk == access.chunk && (accesses[i - 1].mask & access.mask) != 0) {
      instruction.together = true;  // an element of several local words
    }
    const bool here = access.space == ptx::Space::kShared;
    if (here) requests_.add_part(instruction.shared_parts, access.chunk, access.mask);
    (here ? shared : elsewhere) = true;
  }
  if (elsewhere) coalescer_.coalesce(index, in, groups, accesses, count);
  if (outgoing_.carries()) carry_writes(index);
  if (!shared) return taken;
  const bool atomic = in.op == ptx::Opcode::kAtom || in.op == ptx::Opcode::kRed;
  if (times.in_turn) {
    take_banks_in_turn(instruction, work, atomic, taken);
    taken.goes_on = elsewhere;
  } else {
    banks_.each_access(accesses, count, groups, atomic,
                       [&](std::uint32_t cycles) { take_banks(instruction, cycles); });
  }
  return taken;
}

// The bytes of each block from the first to the last that the instruction has just written.
void MemoryIntake::carry_writes(std::uint32_t index) {
  for (std::uint32_t r = requests_.instruction(index).first; r != MemoryRequests::kNone;
       r = requests_.request(r).next) {
    MemoryRequests::Request& request = requests_.request(r);
    const bool writes =
        request.target == MemoryRequests::Target::kWrite || request.target == MemoryRequests::Target::kAtomic;
    if (writes && request.system == MemoryRequests::kNone)
      request.carried = outgoing_.copy(request.block + request.low, request.high - request.low);
  }
}

// A thread's word may come at once, and another of its instruction much later: they return together.
void MemoryIntake::take_banks_in_turn(Instruction& instruction, const LaneWork& work, bool atomic,
                                      Taken& taken) {
  const LaneCalendar::Taken words = calendar_.shared(work, atomic);
  ++instruction.outstanding;
  taken.has_banks = true;
  taken.banks = words.last;
  taken.bank_cycles = words.cycles;
  ++shared_accesses_;
  shared_conflict_cycles_ += words.conflicts;
  ++conflict_histogram_[std::min<std::size_t>(words.conflicts + 1, conflict_histogram_.size() - 1)];
}

void MemoryIntake::take_banks(Instruction& instruction, std::uint32_t cycles) {
  if (instruction.shared_cycles == 0) ++instruction.outstanding;
  instruction.shared_cycles += cycles;
  ++shared_accesses_;
  shared_conflict_cycles_ += cycles - 1;
  ++conflict_histogram_[std::min<std::size_t>(cycles, conflict_histogram_.size() - 1)];
}

// Threads without a place in memory (queries, borders, outside of a surface) are answered in one cycle more.
void MemoryIntake::answer_without_memory(Instruction& instruction, const execute::LaneAccess& access) {
  if (instruction.shared_cycles == 0) ++instruction.outstanding;
  instruction.shared_cycles = 1;
  requests_.add_part(instruction.shared_parts, access.chunk, access.mask);
}

// Threads whose texels lie in several lines wait for all of them. The unit makes addresses for so many
// threads per cycle, four texels each.
void MemoryIntake::take_textures(Instruction& instruction, const LaneWork& work, Taken& taken) {
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
    const LaneCalendar::Taken addresses = calendar_.textures(work, static_cast<unsigned>(passes));
    instruction.addresses = addresses.last - 1;  // the last texel's: the request goes on in the same cycle
    taken.texture_address_cycles = addresses.cycles;
  }
  texture_fetches_ += threads;
  texture_texels_ += texels;
}

void MemoryIntake::bind(statistics::Group& group) {
  coalescer_.bind(group);
  group.counter("shared_accesses", units::kAccesses, "accesses of 32 places of a warp to shared memory",
                shared_accesses_);
  group.counter("shared_conflict_cycles", units::kCycles, "extra cycles through bank conflicts",
                shared_conflict_cycles_);
  group.histogram("shared_conflict_degree", units::kAccesses, "accesses by the cycles that the banks needed",
                  conflict_histogram_);
  group.counter("texture_fetches", units::kThreads, "threads' texture instructions", texture_fetches_);
  group.counter("texels", statistics::Unit("texels"), "texels that texture instructions read from memory",
                texture_texels_);
}

}  // namespace weft::sm
