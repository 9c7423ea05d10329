#include "interpreter/interpreter.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "default_addresses.h"
#include "interpreter/bits.h"
#include "interpreter/evaluate.h"
#include "interpreter/memory.h"
#include "interpreter/special.h"
#include "interpreter/warp.h"

namespace weft::test {

using ptx::BarrierKind;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Special;
using ptx::Type;

namespace {

std::uint64_t product(const Coordinates& extent) {
  return std::uint64_t{extent[0]} * extent[1] * extent[2];
}

Coordinates coordinates(std::uint64_t linear, const Coordinates& extent) {
  return {static_cast<std::uint32_t>(linear % extent[0]),
          static_cast<std::uint32_t>(linear / extent[0] % extent[1]),
          static_cast<std::uint32_t>(linear / extent[0] / extent[1])};
}

struct Thread {
  enum class State { kRunning, kWaiting, kMeeting, kExited };
  State state = State::kRunning;
  ptx::Pc pc = 0;
  std::uint32_t barrier = 0;  // kWaiting: at which
  std::uint32_t members = 0;  // kMeeting: mask of the threads waited for
  Coordinates index{};
  std::vector<std::uint32_t> rows;
  std::vector<bool> predicates;
  std::vector<std::uint8_t> local;
};

// A barrier that is filling. `expected` 0: all threads of the block that have not exited.
struct Barrier {
  std::uint64_t expected = 0, votes = 0;
  std::set<std::size_t> arrived;
};

class Block {
 public:
  Block(const Launch& launch, const Coordinates& index, std::vector<std::uint8_t>& memory, std::uint64_t base)
      : launch_(launch), program_(*launch.program), index_(index), memory_(memory), base_(base) {
    const std::uint64_t fixed = (program_.shared_bytes + 15) / 16 * 16;
    own_shared_ = launch.dynamic_shared == 0 ? program_.shared_bytes : fixed + launch.dynamic_shared;
    // Behind it what is the system's: up to 127 bytes between them, and 1 KiB.
    shared_.resize(own_shared_);
    for (const Special which : program_.special_rows) {
      if (which >= Special::kReservedSharedBegin && which <= Special::kReservedShared1)
        shared_.resize((own_shared_ + 127) / 128 * 128 + 1024);
    }
    threads_.resize(product(launch.block));
    for (std::size_t i = 0; i < threads_.size(); ++i) start(i);
  }

  // Returns the number of instructions executed.
  std::uint64_t run(std::uint64_t step_limit) {
    constexpr unsigned kTurn = 256;  // instructions of one thread before the next one's turn
    while (exited_ < threads_.size()) {
      bool progress = false;
      for (current_ = 0; current_ < threads_.size(); ++current_) {
        for (unsigned n = 0; n < kTurn && threads_[current_].state == Thread::State::kRunning; ++n) {
          progress = true;
          if (++steps_ > step_limit) fail("step limit exceeded");
          guarded_step();
        }
      }
      if (!progress) stuck();
    }
    return steps_;
  }

  std::vector<Interpreter::Registers> registers() const {
    std::vector<Interpreter::Registers> all;
    for (const Thread& thread : threads_) all.push_back({thread.rows, thread.predicates});
    return all;
  }

 private:
  void start(std::size_t number) {
    Thread& thread = threads_[number];
    thread.index = coordinates(number, launch_.block);
    thread.rows.assign(program_.register_rows + 2 * program_.special_rows.size(), 0);
    thread.predicates.assign(program_.predicates, false);
    const std::uint64_t stack = program_.recursive ? launch_.stack_bytes : 0;
    thread.local.assign(std::max(program_.local_bytes, stack), 0);
    for (std::size_t k = 0; k < program_.special_rows.size(); ++k) {
      thread.rows[program_.register_rows + 2 * k] = special(program_.special_rows[k], number);
    }
  }

  std::uint32_t special(Special which, std::size_t number) const {
    return special_value(which, {number, threads_[number].index, index_, launch_.block, launch_.grid,
                                 own_shared_, launch_.dynamic_shared});
  }

  Thread& thread() { return threads_[current_]; }

  [[noreturn]] void fail(const std::string& what) {
    const auto triple = [](const Coordinates& c) {
      return "(" + std::to_string(c[0]) + "," + std::to_string(c[1]) + "," + std::to_string(c[2]) + ")";
    };
    const Thread& at = threads_[std::min(current_, threads_.size() - 1)];
    throw std::runtime_error("block " + triple(index_) + " thread " + triple(at.index) + " pc " +
                             std::to_string(at.pc) + ": " + what);
  }

  [[noreturn]] void stuck() {
    for (current_ = 0; current_ < threads_.size(); ++current_) {
      if (thread().state == Thread::State::kWaiting) {
        fail("waits at barrier " + std::to_string(thread().barrier) + " for threads that never arrive");
      }
      if (thread().state == Thread::State::kMeeting) fail("waits for threads of its warp that never arrive");
    }
    fail("no thread can run");
  }

  void guarded_step() {
    try {
      step();
    } catch (const std::runtime_error& error) {
      if (std::strncmp(error.what(), "block ", 6) == 0) throw;
      fail(error.what());
    }
  }

  void step() {
    Thread& t = thread();
    if (t.pc >= program_.code.size()) fail("ran past the last instruction");
    const Instruction& in = program_.code[t.pc];
    if (in.guard >= 0 && t.predicates[static_cast<std::size_t>(in.guard)] == in.guard_negated) {
      ++t.pc;
      return;
    }
    switch (in.op) {
      case Opcode::kRet:
      case Opcode::kExit:
        t.state = Thread::State::kExited;
        ++exited_;
        release_complete_barriers();
        release_meetings(current_ / 32);
        return;
      case Opcode::kBra:
        t.pc = in.target;
        return;
      case Opcode::kBrx:
        t.pc = branch_target(in);
        return;
      case Opcode::kCall:
        call(in);
        return;
      case Opcode::kReturn:
        t.pc = static_cast<ptx::Pc>(read(in.src[0], 32));
        if (t.pc == 0 || t.pc > program_.code.size() || program_.code[t.pc - 1].op != Opcode::kCall) {
          fail("returns to where no call came from");
        }
        return;
      case Opcode::kBar:
        ++t.pc;
        arrive(in);
        return;
      case Opcode::kLd:
        load(in);
        break;
      case Opcode::kSt:
        store(in);
        break;
      case Opcode::kAtom:
      case Opcode::kRed:
        atomic(in);
        break;
      case Opcode::kShfl:
      case Opcode::kVote:
      case Opcode::kMatch:
      case Opcode::kRedux:
      case Opcode::kElect:
      case Opcode::kWarpBarrier:
        ++t.pc;
        meet(in);
        return;
      case Opcode::kActivemask:  // any set of threads that run together; here each runs by itself
        write(in.dst[0], 32, std::uint32_t{1} << current_ % 32);
        break;
      case Opcode::kCopyAsync:
        copy(in);
        break;
      case Opcode::kCopyCommit:
      case Opcode::kCopyWait:
      case Opcode::kMembar:
      case Opcode::kNop:
        break;
      case Opcode::kIsspacep:
        write_predicate(in.dst[0], space_of(read(in.src[0], 64)) == in.space);
        break;
      default:
        compute(in);
        break;
    }
    ++t.pc;
  }

  ptx::Pc branch_target(const Instruction& in) {
    const std::uint64_t index = read(in.src[0], 32);
    if (index >= in.target_count) fail("branches by an index outside of its list");
    return program_.branch_targets.at(in.target + index);
  }

  void call(const Instruction& in) {
    ptx::Pc entry = in.target;
    if (in.src[0].kind != Operand::Kind::kNone) {
      const std::uint64_t address = read(in.src[0], 64);
      const std::uint64_t number = (address - ptx::kFunctionBase) / ptx::kFunctionStride;
      const bool known = address % ptx::kFunctionStride == 0 && number < program_.function_entries.size();
      entry = known ? program_.function_entries[number] : ptx::kNoPc;
    }
    if (entry == ptx::kNoPc) fail("calls what is no function");
    write(in.dst[0], 32, thread().pc + 1);
    thread().pc = entry;
  }

  std::uint64_t dynamic_special(Special which) const {
    switch (which) {
      case Special::kClockHi:
      case Special::kGlobaltimerHi:
        return steps_ >> 32;
      case Special::kClock:
      case Special::kClock64:
      case Special::kGlobaltimer:
      case Special::kGlobaltimerLo:
        return steps_;
      default:
        return special(which, current_);
    }
  }

  std::uint64_t read(const Operand& operand, unsigned width) {
    std::uint64_t value = 0;
    switch (operand.kind) {
      case Operand::Kind::kRow:
        value = thread().rows.at(operand.index);
        if (width == 64) value |= std::uint64_t{thread().rows.at(operand.index + 1u)} << 32;
        return value;
      case Operand::Kind::kConstant: {
        const auto& lanes = program_.constants.at(operand.index).lanes;
        return width == 64 ? lanes[0] | std::uint64_t{lanes[1]} << 32 : lanes[0];
      }
      case Operand::Kind::kPredicate:
        return thread().predicates.at(operand.index) != operand.negated ? 1 : 0;
      case Operand::Kind::kDynamic:
        return low_bits(dynamic_special(static_cast<Special>(operand.index)), width);
      case Operand::Kind::kNone:
        break;
    }
    return 0;
  }

  void write(const Operand& operand, unsigned width, std::uint64_t value) {
    if (operand.kind == Operand::Kind::kNone) return;  // the PTX sink _
    if (operand.kind != Operand::Kind::kRow) throw std::runtime_error("destination is not a register");
    thread().rows.at(operand.index) = static_cast<std::uint32_t>(value);
    if (width == 64) thread().rows.at(operand.index + 1u) = static_cast<std::uint32_t>(value >> 32);
  }

  void write_predicate(const Operand& operand, bool value) {
    if (operand.kind == Operand::Kind::kPredicate) thread().predicates.at(operand.index) = value;
  }

  void compute(const Instruction& in) {
    Sources sources{};
    for (unsigned n = 0; n < sources.size(); ++n) sources[n] = read(in.src[n], source_width(in, n));
    // Decoded programs leave the window's beginning to who executes them.
    if (in.op == Opcode::kCvta && in.src[1].kind == Operand::Kind::kNone) {
      if (in.space == ptx::Space::kShared) sources[1] = kDefaultMap.shared_base;
      if (in.space == ptx::Space::kLocal) sources[1] = kDefaultMap.local_base;
    }
    const Result result = evaluate(in, sources);
    if (writes_predicates(in)) {
      write_predicate(in.dst[0], result.p);
      write_predicate(in.dst[1], result.q);
    } else {
      write(in.dst[0], result_width(in), result.value);
      write_predicate(in.dst[1], result.q);
    }
  }

  View view() { return {&memory_, base_, &shared_, &thread().local, &launch_.parameters}; }

  // Bytes [address, address + bytes) of one access; the whole vector is aligned to its size.
  std::uint8_t* access(const Instruction& in, unsigned bytes, bool write) {
    std::uint64_t address =
        read(in.src[0], in.wide_address ? 64 : 32) + static_cast<std::uint64_t>(in.offset);
    // Only global and generic addresses have 64 bits.
    if (in.space != ptx::Space::kGlobal && in.space != ptx::Space::kGeneric && in.space != ptx::Space::kConst)
      address = address % (std::uint64_t{1} << 32);
    // Constants lie in global memory here. What is no place there is one of 32 bits in it.
    if (in.space == ptx::Space::kConst && (address < base_ || address - base_ >= memory_.size()))
      address = base_ + (address - base_) % (std::uint64_t{1} << 32);
    return locate(view(), in.space, address, bytes, write);
  }

  static unsigned data_width(const Instruction& in) { return width_of(in.type) == 64 ? 64 : 32; }

  void load(const Instruction& in) {
    const unsigned bytes = width_of(in.type) / 8;
    const std::uint8_t* p = access(in, bytes * in.vector, false);
    for (unsigned e = 0; e < in.vector; ++e) {
      std::uint64_t value = 0;
      std::memcpy(&value, p + e * bytes, bytes);
      write(in.dst[e], data_width(in), static_cast<std::uint64_t>(number(in.type, value)));
    }
  }

  void store(const Instruction& in) {
    const unsigned bytes = width_of(in.type) / 8;
    std::uint8_t* p = access(in, bytes * in.vector, true);
    for (unsigned e = 0; e < in.vector; ++e) {
      const std::uint64_t value = read(in.src[e + 1], data_width(in));
      std::memcpy(p + e * bytes, &value, bytes);
    }
  }

  void atomic(const Instruction& in) {
    const unsigned width = width_of(in.type);
    std::uint8_t* p = access(in, width / 8, true);
    std::uint64_t old = 0;
    std::memcpy(&old, p, width / 8);
    Instruction there = in;
    if (in.space == ptx::Space::kGeneric)
      there.space = space_of(read(in.src[0], 64) + static_cast<std::uint64_t>(in.offset));
    const std::uint64_t updated = evaluate_atomic(there, old, read(in.src[1], width), read(in.src[2], width));
    std::memcpy(p, &updated, width / 8);
    if (in.op == Opcode::kAtom) write(in.dst[0], width, old);
  }

  void arrive(const Instruction& in) {
    Thread& t = thread();
    const auto id = static_cast<std::uint32_t>(read(in.src[0], 32));
    if (id > 15) throw std::runtime_error("no barrier " + std::to_string(id));
    Barrier& barrier = barriers_[id];
    if (in.src[1].kind != Operand::Kind::kNone) barrier.expected = read(in.src[1], 32);
    if (!barrier.arrived.insert(current_).second) throw std::runtime_error("arrives at a barrier twice");
    if (in.src[2].kind == Operand::Kind::kPredicate && read(in.src[2], 32) != 0) ++barrier.votes;
    if (in.barrier != BarrierKind::kArrive) {
      t.state = Thread::State::kWaiting;
      t.barrier = id;
    }
    release_complete_barriers();
  }

  void release_complete_barriers() {
    for (auto at = barriers_.begin(); at != barriers_.end();) {
      const Barrier& barrier = at->second;
      if (!complete(barrier)) {
        ++at;
        continue;
      }
      release(at->first, barrier);
      at = barriers_.erase(at);
    }
  }

  // A barrier for a number of threads counts warps of 32: of a warp that has begun to arrive, threads that
  // have exited, or that the block does not have, count too.
  bool complete(const Barrier& barrier) const {
    if (barrier.expected == 0) return barrier.arrived.size() >= threads_.size() - exited_;
    std::map<std::size_t, unsigned> missing;  // by warp that has begun to arrive
    for (const std::size_t number : barrier.arrived) missing[number / 32] = 0;
    for (auto& [warp, count] : missing) {
      for (std::size_t number = warp * 32; number < warp * 32 + 32 && number < threads_.size(); ++number) {
        const bool gone = threads_[number].state == Thread::State::kExited;
        count += !gone && barrier.arrived.count(number) == 0 ? 1 : 0;
      }
    }
    std::uint64_t sum = 0;
    for (const auto& [warp, count] : missing) sum += 32 - count;
    if (sum > barrier.expected) throw std::runtime_error("more threads than the barrier is for");
    return sum == barrier.expected;
  }

  // A warp-level primitive: the thread waits until all members have come to one of the same kind.
  void meet(const Instruction& in) {
    if (in.src[3].kind == Operand::Kind::kNone) throw std::runtime_error("a primitive without a member mask");
    Thread& t = thread();
    t.members = static_cast<std::uint32_t>(read(in.src[3], 32));
    if ((t.members >> current_ % 32 & 1) == 0) throw std::runtime_error("not a member of its own mask");
    t.state = Thread::State::kMeeting;
    release_meetings(current_ / 32);
  }

  void release_meetings(std::size_t warp) {
    const std::size_t first = warp * 32, end = std::min(first + 32, threads_.size());
    for (std::size_t leader = first; leader < end; ++leader) {
      if (threads_[leader].state != Thread::State::kMeeting) continue;
      const std::uint32_t mask = threads_[leader].members;
      std::vector<std::size_t> members;
      bool all = true;
      for (std::size_t number = first; number < end; ++number) {
        const Thread& t = threads_[number];
        if ((mask >> (number - first) & 1) == 0 || t.state == Thread::State::kExited) continue;
        all = all && t.state == Thread::State::kMeeting && t.members == mask;
        members.push_back(number);
      }
      if (all) exchange(members);
    }
  }

  void exchange(const std::vector<std::size_t>& members) {
    const std::size_t before = current_;
    const Instruction& first = program_.code[threads_[members[0]].pc - 1];
    std::map<unsigned, Participant> lanes;
    for (const std::size_t number : members) {
      current_ = number;
      const Instruction& in = program_.code[thread().pc - 1];
      if (in.op != first.op || in.mode != first.mode || in.type != first.type || in.atomic != first.atomic)
        throw std::runtime_error("members of one mask at different operations");
      lanes[number % 32] = {read(in.src[0], in.type == Type::kB64 ? 64 : 32),
                            static_cast<std::uint32_t>(read(in.src[1], 32)),
                            static_cast<std::uint32_t>(read(in.src[2], 32))};
    }
    const auto results = evaluate_warp(first, lanes);
    for (const std::size_t number : members) {
      current_ = number;
      const Instruction& in = program_.code[thread().pc - 1];
      const WarpResult& result = results.at(number % 32);
      if (in.dst[0].kind == Operand::Kind::kRow) write(in.dst[0], 32, result.d);
      write_predicate(in.dst[0], result.p);
      write_predicate(in.dst[1], result.p);
      thread().state = Thread::State::kRunning;
    }
    current_ = before;
  }

  void copy(const Instruction& in) {
    const unsigned bytes = 4u * in.vector;
    std::uint64_t wanted = in.src[2].kind == Operand::Kind::kNone ? bytes : read(in.src[2], 32);
    if (in.src[3].kind == Operand::Kind::kPredicate && read(in.src[3], 32) != 0) wanted = 0;
    if (wanted > bytes) throw std::runtime_error("cp.async reads more than it writes");
    std::uint8_t* to = locate(view(), ptx::Space::kShared, read(in.src[1], 32), bytes, true);
    std::memset(to, 0, bytes);
    if (wanted != 0) std::memcpy(to, access(in, bytes, false), wanted);
  }

  void release(std::uint32_t id, const Barrier& barrier) {
    const std::size_t before = current_;
    for (current_ = 0; current_ < threads_.size(); ++current_) {
      Thread& t = thread();
      if (t.state != Thread::State::kWaiting || t.barrier != id) continue;
      t.state = Thread::State::kRunning;
      const Instruction& in = program_.code[t.pc - 1];
      if (in.barrier == BarrierKind::kRedAnd)
        write_predicate(in.dst[0], barrier.votes == barrier.arrived.size());
      if (in.barrier == BarrierKind::kRedOr) write_predicate(in.dst[0], barrier.votes != 0);
      if (in.barrier == BarrierKind::kRedPopc) write(in.dst[0], 32, barrier.votes);
    }
    current_ = before;
  }

  const Launch& launch_;
  const ptx::Program& program_;
  Coordinates index_;
  std::vector<std::uint8_t>& memory_;
  std::uint64_t base_;
  std::vector<std::uint8_t> shared_;
  std::uint64_t own_shared_ = 0;  // static and dynamic
  std::vector<Thread> threads_;
  std::map<std::uint32_t, Barrier> barriers_;
  std::size_t current_ = 0, exited_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace

void Interpreter::run(const Launch& launch) {
  if (launch.program == nullptr || product(launch.grid) == 0 || product(launch.block) == 0) {
    throw std::runtime_error("a launch needs a program, and at least one block of one thread");
  }
  for (std::uint64_t number = 0; number < product(launch.grid); ++number) {
    Block block(launch, coordinates(number, launch.grid), memory_, base_address_);
    thread_instructions_ += block.run(step_limit_);
    last_registers_ = block.registers();
  }
}

}  // namespace weft::test
