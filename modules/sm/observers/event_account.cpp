#include "sm/observers/event_account.h"

#include <algorithm>

#include "weft/common/popcount.h"

namespace weft::sm {

using ptx::Latency;

Operation operation_of(const ptx::Instruction& in) {
  const bool wide = ptx::bytes_of(in.type) == 8;
  switch (in.unit) {
    case ptx::Unit::kMemory:
      return Operation::kMemory;
    case ptx::Unit::kControl:
      return Operation::kControl;
    case ptx::Unit::kWarp:
      return Operation::kWarp;
    default:
      break;
  }
  const bool half = in.type == ptx::Type::kF16 || in.type == ptx::Type::kF16x2 ||
                    in.type == ptx::Type::kBf16 || in.type == ptx::Type::kBf16x2;
  if (half && in.latency != Latency::kMove) return Operation::kHalf;
  switch (in.latency) {
    case Latency::kIntMul:
      return wide ? Operation::kIntegerMultiply64 : Operation::kIntegerMultiply;
    case Latency::kIntDiv:
      return Operation::kIntegerDivide;
    case Latency::kFloatAdd:
      return Operation::kFloatAdd;
    case Latency::kFloatMul:
      return Operation::kFloatMultiply;
    case Latency::kFloatFma:
      return Operation::kFloatFma;
    case Latency::kFloatDiv:
      return Operation::kFloatDivide;
    case Latency::kDoubleAdd:
      return Operation::kDoubleAdd;
    case Latency::kDoubleMul:
      return Operation::kDoubleMultiply;
    case Latency::kDoubleDiv:
      return Operation::kDoubleDivide;
    case Latency::kSfu:
      return Operation::kSpecial;
    case Latency::kMove:
      return wide ? Operation::kMove64 : Operation::kMove;
    default:
      return wide ? Operation::kInteger64 : Operation::kInteger;
  }
}

namespace {

// Rows [first, end) of a program, of which those of 64-bit registers come first, in pairs of which keys name
// the even one; those of 32 bits follow without a gap, from `narrow` on.
struct Rows {
  std::uint16_t first = 0, end = 0, narrow = 0;
  unsigned words(std::uint16_t key) const { return key < first || key >= end ? 0 : key < narrow ? 2 : 1; }
};

// The first odd key tells where registers of 32 bits begin. Without one there are none, or a single one,
// which what is written there gives away.
Rows rows_of(const ptx::Program& program, std::uint16_t first, std::uint16_t end) {
  Rows rows{first, end, end};
  if (first == end) return rows;
  const auto see = [&](std::uint16_t key) {
    if (key >= first && key < end && key % 2 == 1)
      rows.narrow = std::min<std::uint16_t>(rows.narrow, key - 1);
  };
  for (const ptx::Instruction& in : program.code) {
    std::for_each(in.reads.begin(), in.reads.begin() + in.read_count, see);
    std::for_each(in.writes.begin(), in.writes.begin() + in.write_count, see);
  }
  if (rows.narrow != end || end - first < 2) return rows;
  const auto last = static_cast<std::uint16_t>((end - 1) & ~1u);
  for (const ptx::Instruction& in : program.code) {
    const bool wide = ptx::bytes_of(in.type) == 8 || in.width == ptx::Width::kWide;
    const auto* const written = in.writes.begin() + in.write_count;
    if (!wide && !in.is_control() && std::find(in.writes.begin(), written, last) != written)
      rows.narrow = last;
  }
  return rows;
}

// Only scalar instructions write registers that a warp has once, and they lie behind all others.
std::uint16_t first_scalar_row(const ptx::Program& program) {
  std::uint16_t first = program.register_rows;
  for (const ptx::Instruction& in : program.code) {
    for (unsigned i = 0; in.scalar && i < in.write_count; ++i) first = std::min(first, in.writes[i]);
  }
  return first;
}

}  // namespace

std::vector<RegisterWords> register_words(const ptx::Program& program) {
  const std::uint16_t scalar = first_scalar_row(program);
  const Rows vectors = rows_of(program, 0, scalar), scalars = rows_of(program, scalar, program.register_rows);
  const auto words = [](const Rows& rows, const std::uint16_t* keys, unsigned count) {
    unsigned sum = 0;
    for (unsigned i = 0; i < count; ++i) sum += rows.words(keys[i]);
    return static_cast<std::uint8_t>(sum);
  };
  std::vector<RegisterWords> result;
  result.reserve(program.code.size());
  for (const ptx::Instruction& in : program.code) {
    result.push_back(
        {words(vectors, in.reads.data(), in.read_count), words(vectors, in.writes.data(), in.write_count),
         words(scalars, in.reads.data(), in.read_count), words(scalars, in.writes.data(), in.write_count)});
  }
  return result;
}

// Places of which the banks serve words together.
EventAccount::EventAccount(const machine::SmConfig& config, unsigned lane_width)
    : scalars_on_(config.scalarization.on()),
      word_shift_(config.shared_memory.bank_bytes == 8 ? 3 : 2),
      served_places_(lane_width != 0
                         ? lane_width
                         : static_cast<unsigned>(std::min<std::uint64_t>(config.memory_width, 32))),
      beat_lanes_(lane_width != 0 ? lane_width : static_cast<unsigned>(config.simd_width)) {}

void EventAccount::kernel_started(const KernelStart& start) {
  const execute::Kernel& kernel = start.kernel;
  const std::vector<RegisterWords> words = register_words(kernel.program);
  demands_.resize(words.size());
  for (std::size_t pc = 0; pc < words.size(); ++pc)
    demands_[pc] = {operation_of(kernel.program.code[pc]), words[pc]};
}

// Operands are fetched for every beat of the issue, whoever takes part in it; results are written in beats
// with a thread. What a warp has once is fetched once. A scalar instruction is one thread's.
void EventAccount::issued(const Issue& issue) {
  const InFlight& flight = issue.flight;
  const datapath::Times& times = issue.times;
  const Demand& demand = demands_[flight.pc];
  std::uint64_t executing = 0;
  for (unsigned g = 0; g < flight.group_count; ++g) executing += count_of(flight.executing[g]);
  const std::uint64_t any = executing != 0 ? 1 : 0;
  scalar_.words_read += demand.words.scalar_reads;
  scalar_.words_written += demand.words.scalar_writes * any;
  if (flight.scalar()) {
    operations_[static_cast<std::size_t>(demand.operation)] += any;
    scalar_.operations += any;
    scalar_.saved_operations += executing - any;
    return;
  }
  operations_[static_cast<std::size_t>(demand.operation)] += executing;
  const std::uint64_t places = std::uint64_t{times.beats} * beat_lanes_;
  // Lanes that an issue left free work for one beside it.
  idle_lanes_ += times.beside ? 0 : places - std::min(places, executing);
  if (times.beside) idle_lanes_ -= std::min(idle_lanes_, executing);
  vector_.rows_read += std::uint64_t{demand.words.reads} * times.beats;
  vector_.rows_written += std::uint64_t{demand.words.writes} * times.active_beats;
  vector_.words_read += demand.words.reads * executing;
  vector_.words_written += demand.words.writes * executing;
}

void EventAccount::accessed(const InFlight& flight, const execute::LaneAccess* accesses, unsigned count) {
  const ptx::Instruction& in = *flight.op->instruction;
  for (const execute::LaneAccess* access = accesses; access != accesses + count; ++access) {
    if (access->space != ptx::Space::kShared) continue;
    const std::uint64_t words = distinct_words(*access);
    const bool atomic = in.op == ptx::Opcode::kAtom || in.op == ptx::Opcode::kRed;
    if (in.op == ptx::Opcode::kLd || atomic) shared_read_ += words;
    if (in.op != ptx::Opcode::kLd) shared_written_ += words;
  }
}

// Threads that are served together share a word.
std::uint64_t EventAccount::distinct_words(const execute::LaneAccess& access) const {
  constexpr std::uint64_t kBits = 64;
  const std::uint64_t words_per_lane = std::max<std::uint64_t>(1, access.bytes >> word_shift_);
  const std::uint64_t first = access.low >> word_shift_;
  const bool near = (access.high >> word_shift_) - first < kBits;
  std::array<std::uint64_t, isa::kLanes> seen;
  std::uint64_t words = 0;
  for (unsigned from = 0; from < isa::kLanes; from += served_places_) {
    const std::uint32_t together = served_places_ >= isa::kLanes ? ~0u : ((1u << served_places_) - 1) << from;
    std::uint64_t bits = 0;  // of the words from `first` on
    unsigned count = 0;
    for (std::uint32_t rest = access.mask & together; rest != 0; rest &= rest - 1) {
      const std::uint64_t word = access.address[static_cast<unsigned>(__builtin_ctz(rest))] >> word_shift_;
      if (near) {
        bits |= std::uint64_t{1} << (word - first);
      } else if (std::find(seen.begin(), seen.begin() + count, word) == seen.begin() + count) {
        seen[count++] = word;
      }
    }
    words += (near ? count_of(bits) : count) * words_per_lane;
  }
  return words;
}

void EventAccount::bind(statistics::Group& sm) {
  statistics::Group& group = sm.group("events");
  static const statistics::Unit kRows("rows"), kWords("words"), kLanes("lanes"),
      kOperationsUnit("operations");
  statistics::Group& operations = group.group("operations");
  for (std::size_t i = 0; i < kOperations; ++i) {
    operations.counter(kOperationNames[i], kOperationsUnit,
                       "threads that executed an instruction of this kind", operations_[i]);
  }
  group.counter("idle_lanes", kLanes, "lanes of beats without a thread that executed", idle_lanes_);
  if (scalars_on_) {
    statistics::Group& scalars = group.group("scalar_registers");
    scalars.counter("words_read", kWords,
                    "words read of scalar registers, which a warp has once for all its threads",
                    scalar_.words_read);
    scalars.counter("words_written", kWords, "words written of scalar registers", scalar_.words_written);
    scalars.counter("operations", kOperationsUnit, "operations of scalar instructions", scalar_.operations);
    scalars.counter("saved_operations", kOperationsUnit,
                    "further operations if each thread had executed the scalar instructions",
                    scalar_.saved_operations);
  }
  statistics::Group& registers = group.group("vector_registers");
  registers.counter("rows_read", kRows, "rows of a beat's lanes that operands were read from, 32 bits a lane",
                    vector_.rows_read);
  registers.counter("rows_written", kRows, "rows that results were written to, in beats with a thread",
                    vector_.rows_written);
  registers.counter("words_read", kWords, "words of threads that executed, in the rows read",
                    vector_.words_read);
  registers.counter("words_written", kWords, "words of threads that executed, in the rows written",
                    vector_.words_written);
  statistics::Group& shared = group.group("shared_memory");
  shared.counter("words_read", kWords,
                 "words that banks of shared memory gave; threads served together share", shared_read_);
  shared.counter("words_written", kWords, "words that banks of shared memory took", shared_written_);
}

}  // namespace weft::sm
