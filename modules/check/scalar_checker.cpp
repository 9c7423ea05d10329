#include "check/scalar_checker.h"

#include "common/hex.h"

namespace weft::check {

using Kind = ptx::Operand::Kind;

void ScalarChecker::kernel_started(const execute::Kernel& kernel, unsigned sms) {
  const ptx::Program& program = kernel.program;
  slot_of_row_.assign(program.rows, kNone);
  slot_of_predicate_.assign(program.predicates, kNone);
  wide_.assign(program.rows, false);
  slots_ = 0;
  for (const ptx::Instruction& in : program.code) {
    for (std::size_t i = 0; i < in.dst.size(); ++i) {
      const ptx::Operand& dst = in.dst[i];
      if (dst.kind == Kind::kRow && (in.wide_results >> i & 1) != 0) wide_[dst.index] = true;
      if (!in.scalar || (dst.kind != Kind::kRow && dst.kind != Kind::kPredicate)) continue;
      auto& slot = (dst.kind == Kind::kRow ? slot_of_row_ : slot_of_predicate_)[dst.index];
      if (slot == kNone) slot = slots_++;
    }
  }
  chunks_ = kernel.occupancy.resident * kernel.chunks_per_block;
  own_.assign(std::size_t{sms} * chunks_ * slots_, Own{});
}

void ScalarChecker::block_started(unsigned sm, const execute::ResidentBlock& block) {
  const std::size_t chunks = (block.threads + isa::kLanes - 1) / isa::kLanes;
  const std::size_t first = (std::size_t{sm} * chunks_ + block.first_chunk) * slots_;
  for (std::size_t i = first; i < first + chunks * slots_; ++i) own_[i].written = 0;
}

std::uint32_t ScalarChecker::slot_of(const ptx::Operand& operand) const {
  if (operand.kind == Kind::kRow) return slot_of_row_[operand.index];
  return operand.kind == Kind::kPredicate ? slot_of_predicate_[operand.index] : kNone;
}

// Of the register.
std::uint64_t ScalarChecker::value(const Observed& o, const ptx::Operand& operand, unsigned lane) const {
  if (operand.kind == Kind::kPredicate) return o.registers->predicate(o.chunk, operand.index) >> lane & 1;
  const std::uint32_t* const row = o.registers->row(o.chunk, operand.index);
  if (!wide_[operand.index]) return row[lane];
  return row[2 * lane] | std::uint64_t{row[2 * lane + 1]} << 32;
}

void ScalarChecker::report(const Observed& o, unsigned lane, const std::string& text) {
  log_.add("scalar", o.kernel->program.name, o.pc, [&] { return place(o, lane) + text; });
}

// A difference is reported where it is first read, and from then on the warp's value is the thread's too.
void ScalarChecker::own_values(const Observed& o, const ptx::Operand& operand, std::uint32_t threads,
                               const std::string& name) {
  const std::uint32_t slot = slot_of(operand);
  if (slot == kNone) return;
  Own& own = own_[at(o, slot)];
  for (std::uint32_t rest = threads; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint64_t there = value(o, operand, lane);
    // What a thread has not written is undefined for it.
    if (own.value[lane] == there || (own.written >> lane & 1) == 0) continue;
    report(o, lane,
           name + " is " + hex(there) + ", the value of the warp, where the thread's own is " +
               hex(own.value[lane]));
    own.value[lane] = there;
  }
}

void ScalarChecker::one_value(const Observed& o, const ptx::Operand& operand, std::uint32_t threads,
                              const std::string& name) {
  if (threads == 0 || (operand.kind != Kind::kRow && operand.kind != Kind::kPredicate)) return;
  const auto first = static_cast<unsigned>(__builtin_ctz(threads));
  const std::uint64_t one = value(o, operand, first);
  for (std::uint32_t rest = threads; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint64_t there = value(o, operand, lane);
    if (there == one) continue;
    report(o, lane,
           "executes once for its warp, but " + name + " is " + hex(there) + " for this thread, " + hex(one) +
               " for the first that executes");
    return;
  }
}

void ScalarChecker::starts(const execute::ObservedInstruction& o) {
  const ptx::Instruction& in = o.kernel->program.code[o.pc];
  if (in.guard >= 0) {
    ptx::Operand guard;
    guard.kind = Kind::kPredicate;
    guard.index = static_cast<std::uint16_t>(in.guard);
    own_values(o, guard, o.mask, "the guard");
    if (in.scalar) one_value(o, guard, o.mask, "the guard");
  }
  for (std::size_t i = 0; i < in.src.size(); ++i) {
    const ptx::Operand& operand = in.src[i];
    if (operand.kind != Kind::kRow && operand.kind != Kind::kPredicate) continue;
    const bool address = i == 0 && in.is_memory() && !in.is_image();
    const std::string name = address ? "the address" : "operand " + std::to_string(i + 1);
    own_values(o, operand, o.executing, name);
    if (in.scalar) one_value(o, operand, o.executing, name);
    // Local memory is each thread's own: one address there is as many places.
    if (!in.scalar || !address || in.space != ptx::Space::kGeneric || o.executing == 0) continue;
    const auto lane = static_cast<unsigned>(__builtin_ctz(o.executing));
    const std::uint64_t to = value(o, operand, lane) + static_cast<std::uint64_t>(in.offset);
    const machine::AddressWindows& map = o.kernel->addresses;
    if (to >= map.local_base && to - map.local_base < map.window_bytes) {
      report(
          o, lane,
          "executes once for its warp, but the address " + hex(to) + " is in each thread's own local memory");
    }
  }
}

void ScalarChecker::done(const execute::ObservedInstruction& o) {
  const ptx::Instruction& in = o.kernel->program.code[o.pc];
  for (const ptx::Operand& operand : in.dst) {
    const std::uint32_t slot = slot_of(operand);
    if (slot == kNone) continue;
    Own& own = own_[at(o, slot)];
    own.written |= o.executing;
    for (std::uint32_t rest = o.executing; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      own.value[lane] = value(o, operand, lane);
    }
  }
}

}  // namespace weft::check
