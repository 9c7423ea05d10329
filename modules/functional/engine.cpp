#include "functional/engine.h"

#include <algorithm>
#include <sstream>

#include "common/bits.h"

namespace weft::functional {
namespace {

constexpr unsigned kSlot = 0;                 // the only slot for blocks
constexpr std::int64_t kTurnBranches = 4096;  // control instructions of one warp before the next one's turn

dispatch::Dim3 coordinates(std::uint64_t number, const dispatch::Dim3& grid) {
  return {static_cast<std::uint32_t>(number % grid[0]),
          static_cast<std::uint32_t>(number / grid[0] % grid[1]),
          static_cast<std::uint32_t>(number / grid[0] / grid[1])};
}

}  // namespace

Engine::Engine(const machine::SmConfig& config, double core_megahertz)
    : executor_(config, 0, core_megahertz, registers_),
      memory_(executor_, registers_),
      blocks_(1),
      synchroniser_("without timing", 0, executor_, blocks_, *this) {}

Fault Engine::run(execute::Kernel& kernel, const execute::DeviceMemoryView& memory,
                  const Interrupted& interrupted) {
  kernel.occupancy.blocks = kernel.occupancy.resident = 1;  // they come one at a time
  execute::check_addresses(kernel, memory.base, memory.bytes);
  kernel_ = &kernel;
  ops_ = micro_ops(kernel);
  if (observer_ != nullptr) observer_->kernel_started(kernel, 1);
  executor_.start_kernel(kernel, memory);
  memory_.start_kernel(kernel, memory);
  synchroniser_.start_kernel(kernel);
  warps_.resize(kernel.chunks_per_block);
  favour_last_.resize(kernel.chunks_per_block);
  stopped_ = was_interrupted_ = false;
  fault_ = {};
  ++counters_.launches;
  const std::uint64_t blocks = kernel.launch.blocks();
  for (std::uint64_t number = 0; number < blocks && !stopped_; ++number) {
    start_block(number);
    run_block(interrupted);
  }
  kernel_ = nullptr;
  return fault_;
}

void Engine::start_block(std::uint64_t number) {
  block_ = execute::ResidentBlock();
  block_.live = true;
  block_.slot = kSlot;
  block_.threads = block_.live_threads = kernel_->threads;
  block_.index = coordinates(number, kernel_->launch.grid);
  executor_.start_block(block_);
  memory_.start_block(block_);
  synchroniser_.start_block(block_);
  spin_.start_block();
  memory_.note_stores(nullptr);
  for (unsigned chunk = 0; chunk < warps_.size(); ++chunk) {
    warps_[chunk].start(synchroniser_.live(chunk));
    favour_last_[chunk] = 0;
  }
  ++counters_.blocks;
}

// Round after round until no warp is left, or none could move.
void Engine::run_block(const Interrupted& interrupted) {
  bool moved = true;
  while (block_.live_threads != 0) {
    if (!moved) return stop({FaultKind::kHang, deadlock()});
    if (interrupted()) {
      was_interrupted_ = true;
      return stop({FaultKind::kStopped, "interrupted"});
    }
    moved = false;
    for (unsigned chunk = 0; chunk < warps_.size(); ++chunk) {
      moved = run_warp(chunk) || moved;
      if (stopped_) return;
      if (counters_.thread_instructions < limit_) continue;
      was_interrupted_ = true;
      return stop({FaultKind::kStopped, "the limit of thread instructions"});
    }
    if (turn_length() < kTurnBranches) continue;  // rounds differ: nothing can be said of them
    if (spin_.round_ended({warps_, favour_last_, synchroniser_, registers_, executor_.outside_uses()})) {
      return stop({FaultKind::kHang, livelock()});
    }
    memory_.note_stores(spin_.log());
  }
}

// Close to the limit turns are short, so that little is executed beyond it.
std::int64_t Engine::turn_length() const {
  constexpr std::uint64_t kInstructionsPerBranch = isa::kLanes * 64;  // of threads; more are rare
  const std::uint64_t left = limit_ - std::min(limit_, counters_.thread_instructions);
  return static_cast<std::int64_t>(std::min<std::uint64_t>(kTurnBranches, 1 + left / kInstructionsPerBranch));
}

// One turn of a warp. Returns whether it could move at all.
bool Engine::run_warp(unsigned chunk) {
  WarpPaths& paths = warps_[chunk];
  Path path;
  ptx::Pc limit = 0;
  turn_ = turn_length();
  bool moved = false;
  while (paths.take(path, limit, favour_last_[chunk] != 0)) {
    moved = true;
    run_path(chunk, path, limit);
    paths.add(path);
    if (stopped_) return true;
    if (turn_ <= 0) {
      favour_last_[chunk] ^= 1;
      break;
    }
  }
  return moved;
}

// Runs one path until it has to be looked at together with the others of its warp.
void Engine::run_path(unsigned chunk, Path& path, ptx::Pc limit) {
  auto* const base = reinterpret_cast<std::uint8_t*>(registers_.chunk_base(chunk));
  const std::uint32_t* const predicates = &registers_.predicate(chunk, 0);
  const MicroOp* const ops = ops_.data();
  const std::uint32_t threads = count_of(path.mask);
  std::uint64_t executed = 0, held_back = 0;  // instructions; threads whose guard did not hold
  ptx::Pc pc = path.pc;
  bool goes_on = true;
  while (goes_on && pc < limit) {
    const MicroOp& op = ops[pc];
    std::uint32_t active = path.mask;
    if (op.guard >= 0) {
      active &= op.guard_negated ? ~predicates[op.guard] : predicates[op.guard];
      held_back += count_of(path.mask & ~active);
    }
    ++executed;
    switch (op.kind) {
      case MicroOp::Kind::kArithmetic:
        if (active != 0) {
          isa::Lanes lanes;
          op.operands(base, lanes);
          lanes.active = active;
          op.function(lanes);
        }
        ++pc;
        break;
      case MicroOp::Kind::kPredicates:
        if (active != 0) run_predicates(op, kernel_->operations[pc], chunk, active);
        ++pc;
        break;
      case MicroOp::Kind::kExecutor: {
        const warp_formation::ThreadGroup group{path.mask, static_cast<std::uint16_t>(chunk), 0, false};
        executor_.arithmetic(kernel_->operations[pc], {&group, 1}, counters_.warp_instructions + executed);
        ++pc;
        break;
      }
      case MicroOp::Kind::kMemory:
        if (active != 0 && !memory_.access(op, pc, chunk, active, block_)) {
          stop(executor_.fault());
          goes_on = false;
        }
        ++pc;
        break;
      case MicroOp::Kind::kBranch: {
        const ptx::Pc target = kernel_->program.code[pc].target;
        --turn_;
        if (active == path.mask) {
          pc = target;
        } else if (active == 0) {
          ++pc;
        } else {
          warps_[chunk].add({target, active, path.depth, Path::State::kRunnable, 0});
          path.mask &= ~active;
          ++pc;
          goes_on = false;
        }
        goes_on = goes_on && turn_ > 0;
        break;
      }
      case MicroOp::Kind::kExit:
        ++pc;
        path.mask &= ~active;
        goes_on = path.mask != 0 && active == 0;
        if (active != 0) exit_threads(chunk, active);
        break;
      case MicroOp::Kind::kCall:
        --turn_;
        if (active != 0) {
          executor_.link(kernel_->operations[pc], pc, chunk, active);
          const auto depth = static_cast<std::uint16_t>(path.depth + 1);
          warps_[chunk].add({kernel_->program.code[pc].target, active, depth, Path::State::kRunnable, 0});
          path.mask &= ~active;
          goes_on = false;
        }
        ++pc;
        break;
      case MicroOp::Kind::kTargets:
        --turn_;
        if (active != 0) {
          spread(pc, chunk, path, active);
          goes_on = false;
        }
        ++pc;
        break;
      case MicroOp::Kind::kSystem:
        if (active != 0 && !executor_.system(kernel_->operations[pc], pc, chunk, active, block_)) {
          stop(executor_.fault());
          goes_on = false;
        }
        ++pc;
        break;
      case MicroOp::Kind::kControl:
        --turn_;
        if (observer_ != nullptr && active != 0 && execute::orders(kernel_->program.code[pc]))
          observer_->ordered({kernel_, pc, 0, &block_, chunk, active});
        ++pc;
        break;
      case MicroOp::Kind::kBarrier:
      case MicroOp::Kind::kWarp:
        --turn_;
        if (active != 0) {
          if (op.kind == MicroOp::Kind::kBarrier) {
            arrive(pc, chunk, path, active);
          } else {
            across(pc, chunk, path, active);
          }
          goes_on = false;
        }
        ++pc;
        break;
    }
  }
  path.pc = pc;
  counters_.warp_instructions += executed;
  counters_.thread_instructions += executed * threads;
  counters_.executed_thread_instructions += executed * threads - held_back;
}

void Engine::run_predicates(const MicroOp& op, const execute::Operation& operation, unsigned chunk,
                            std::uint32_t active) {
  isa::Lanes lanes;
  op.operands(reinterpret_cast<std::uint8_t*>(registers_.chunk_base(chunk)), lanes);
  lanes.active = active;
  for (unsigned i = 0; i < 3; ++i) {
    const execute::Source& source = operation.src[i];
    if (source.kind != execute::Source::Kind::kPredicate) continue;
    const std::uint32_t bits = registers_.predicate(chunk, source.index);
    lanes.predicate[i] = source.negated ? ~bits : bits;
  }
  op.function(lanes);
  for (unsigned i = 0; i < 2; ++i) {
    if (op.result[i] < 0) continue;
    std::uint32_t& bits = registers_.predicate(chunk, static_cast<unsigned>(op.result[i]));
    bits = (bits & ~active) | (lanes.result[i] & active);
  }
}

// Every thread goes where its register says; those with one destination stay together.
void Engine::spread(ptx::Pc pc, unsigned chunk, Path& path, std::uint32_t active) {
  const execute::Operation& op = kernel_->operations[pc];
  const ptx::Opcode opcode = op.instruction->op;
  if (opcode == ptx::Opcode::kCall) executor_.link(op, pc, chunk, active);
  const int calls = opcode == ptx::Opcode::kCall ? 1 : opcode == ptx::Opcode::kReturn ? -1 : 0;
  const auto depth = static_cast<std::uint16_t>(path.depth + calls);
  std::array<ptx::Pc, isa::kLanes> targets{};
  for (std::uint32_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    targets[lane] = executor_.target(op, pc, chunk, lane, block_);
    if (targets[lane] == ptx::kNoPc) return stop(executor_.fault());
  }
  path.mask &= ~active;
  while (active != 0) {
    const ptx::Pc target = targets[static_cast<unsigned>(__builtin_ctz(active))];
    std::uint32_t same = 0;
    for (unsigned i = 0; i < isa::kLanes; ++i) same |= static_cast<std::uint32_t>(targets[i] == target) << i;
    warps_[chunk].add({target, active & same, depth, Path::State::kRunnable, 0});
    active &= ~same;
  }
}

void Engine::stop(const Fault& fault) {
  stopped_ = true;
  fault_ = fault;
}

// All paths that can run have run, and nothing has changed.
std::string Engine::livelock() const {
  std::uint32_t spinning = 0, waiting = 0;
  std::string example;
  for (unsigned chunk = 0; chunk < warps_.size(); ++chunk) {
    for (unsigned i = 0; i < warps_[chunk].count(); ++i) {
      const Path& path = warps_[chunk][i];
      if (path.state != Path::State::kRunnable) {
        waiting += count_of(path.mask);
        continue;
      }
      spinning += count_of(path.mask);
      if (!example.empty()) continue;
      example = executor_.thread_name(block_, chunk, static_cast<unsigned>(__builtin_ctz(path.mask))) +
                " at pc " + std::to_string(path.pc) + " (" + kernel_->program.place(path.pc) + ")";
    }
  }
  std::ostringstream out;
  out << "kernel " << kernel_->program.name << " hangs: livelock: " << spinning
      << (spinning == 1 ? " thread only repeats" : " threads only repeat")
      << " a loop that changes neither registers nor memory, such as " << example << ", ";
  if (waiting != 0) {
    out << "while " << waiting << " of the block wait at barriers";
  } else {
    out << "and no other thread of the block is live";
  }
  if (kernel_->launch.blocks() > 1)
    out << "; without timing, blocks run one after the other, so a block cannot wait for a later block";
  return out.str();
}

std::string Engine::deadlock() const {
  std::ostringstream out;
  out << "kernel " << kernel_->program.name << " hangs: " << block_.live_threads << " threads of block ("
      << block_.index[0] << "," << block_.index[1] << "," << block_.index[2] << ") wait for each other";
  for (unsigned chunk = 0; chunk < warps_.size(); ++chunk) {
    for (unsigned i = 0; i < warps_[chunk].count(); ++i) {
      const Path& path = warps_[chunk][i];
      out << "\n  warp " << chunk << ", threads 0x" << std::hex << path.mask << std::dec << ": ";
      if (path.state == Path::State::kBarrier) {
        const execute::BlockBarrier& barrier = synchroniser_.barriers(kSlot)[path.barrier];
        out << "at barrier " << +path.barrier << ", where " << barrier.arrived() << " of "
            << (barrier.expected() != 0 ? barrier.expected() : block_.live_threads)
            << " threads have arrived";
      } else {
        out << "for others of their warp";
      }
      out << ", before pc " << path.pc << ", " << kernel_->program.place(path.pc - 1);
    }
  }
  return out.str();
}

}  // namespace weft::functional
