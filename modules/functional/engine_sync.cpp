// Where threads of a block wait for each other: block barriers and warp-level primitives.
#include "functional/engine.h"

namespace weft::functional {
namespace {

unsigned first_lane(std::uint32_t mask) {
  return static_cast<unsigned>(__builtin_ctz(mask));
}

std::uint32_t count_of(std::uint32_t mask) {
  return static_cast<std::uint32_t>(__builtin_popcount(mask));
}

// Lanes among `lanes` whose word equals that of the first of them; no words: all of them.
std::uint32_t equal_lanes(const std::uint32_t* words, std::uint32_t lanes) {
  if (words == nullptr) return lanes;
  std::uint32_t same = 0;
  for (unsigned i = 0; i < isa::kLanes; ++i) {
    same |= static_cast<std::uint32_t>(words[i] == words[first_lane(lanes)]) << i;
  }
  return same & lanes;
}

}  // namespace

// Threads of a warp arrive, each at the barrier that it names.
void Engine::arrive(ptx::Pc pc, unsigned chunk, Path& path, std::uint32_t lanes) {
  const sm::Operation& op = kernel_->operations[pc];
  const bool waits = op.instruction->barrier != ptx::BarrierKind::kArrive;
  const std::uint32_t* numbers = executor_.words_of(op.src[0], chunk);
  const std::uint32_t* counts = executor_.words_of(op.src[1], chunk);
  while (lanes != 0) {
    const std::uint32_t same = equal_lanes(counts, lanes) & equal_lanes(numbers, lanes);
    const unsigned lane = first_lane(lanes);
    lanes &= ~same;
    const std::uint32_t number = numbers[lane];
    const std::string wrong = arrive_at(op, chunk, same, number, counts == nullptr ? 0 : counts[lane]);
    if (!wrong.empty()) {
      return stop(
          {FaultKind::kIllegalInstruction, executor_.place_name(pc, chunk, lane, block_) + ": " + wrong});
    }
    if (!waits) continue;
    path.mask &= ~same;
    warps_[chunk].add({pc + 1, same, path.depth, Path::State::kBarrier, static_cast<std::uint8_t>(number)});
  }
  test_barriers();
}

// Empty, or what is wrong.
std::string Engine::arrive_at(const sm::Operation& op, unsigned chunk, std::uint32_t lanes,
                              std::uint32_t number, std::uint32_t count) {
  if (number >= barriers_.size()) return sm::no_such_barrier(number);
  const ptx::BarrierKind kind = op.instruction->barrier;
  sm::BlockBarrier::Arrival arrival;
  arrival.op = &op;
  arrival.number = number;
  arrival.count = count;
  arrival.chunk = chunk;
  arrival.executor_chunk = static_cast<std::uint16_t>(chunk);
  arrival.lanes = lanes;
  if (sm::BlockBarrier::reduces(kind)) arrival.votes = executor_.predicates_of(op.src[2], chunk);
  std::string wrong = barriers_[number].arrive(arrival, [this](unsigned c) { return ~live_[c]; });
  if (wrong.empty() && observer_ != nullptr) {
    observer_->barrier_arrived(0, block_, number, chunk, lanes, kind != ptx::BarrierKind::kArrive);
  }
  return wrong;
}

void Engine::test_barriers() {
  for (unsigned i = 0; i < barriers_.size(); ++i) {
    sm::BlockBarrier& barrier = barriers_[i];
    if (barrier.arrived() == 0) continue;
    const bool whole = barrier.expected() == 0;
    if (whole ? barrier.arrived() < block_.live_threads
              : barrier.arrived_in_warps([this](unsigned c) { return ~live_[c]; }) < barrier.expected()) {
      continue;
    }
    for (const sm::BlockBarrier::Part& part : barrier.parts()) {
      executor_.barrier_result(*part.op, part.chunk, part.lanes, barrier.votes(), barrier.arrived());
    }
    if (observer_ != nullptr) observer_->barrier_released(0, block_, i, whole);
    barrier.clear();
    for (WarpPaths& paths : warps_) paths.release(i);
  }
}

// A warp-level primitive: at once for those whose fellows are all here, the others wait.
void Engine::across(ptx::Pc pc, unsigned chunk, Path& path, std::uint32_t lanes) {
  const sm::Operation& op = kernel_->operations[pc];
  const std::uint32_t* masks = executor_.words_of(op.src[3], chunk);
  while (lanes != 0) {
    const std::uint32_t same = equal_lanes(masks, lanes);
    const unsigned lane = first_lane(lanes);
    const std::uint32_t mask = masks == nullptr ? same : masks[lane];
    lanes &= ~same;
    const auto refuse = [&](unsigned which, const char* what) {
      stop({FaultKind::kIllegalInstruction, executor_.place_name(pc, chunk, which, block_) + ": " + what});
    };
    if ((same & ~mask) != 0)
      return refuse(first_lane(same & ~mask), "the thread is not among those that it names");
    const sm::Participants part{&op, pc, same};
    if ((mask & live_[chunk] & ~same) == 0) {
      if (!executor_.across_lanes(&part, 1, chunk, block_)) return stop(executor_.fault());
      synchronised(op, chunk, same);
      continue;
    }
    switch (gatherings_.arrive(0, static_cast<std::uint16_t>(chunk), 0, mask, part)) {
      case sm::WarpGatherings::Mismatch::kOperation:
        return refuse(lane, "other threads that its mask names wait at a different operation");
      case sm::WarpGatherings::Mismatch::kMask:
        return refuse(lane, "threads that its mask names wait for this thread with another mask");
      case sm::WarpGatherings::Mismatch::kNone:
        break;
    }
    path.mask &= ~same;
    warps_[chunk].add({pc + 1, same, path.depth, Path::State::kWarpSync, 0});
  }
  test_gatherings();
}

void Engine::test_gatherings() {
  if (gatherings_.empty()) return;
  gatherings_.release_complete([&](const sm::Gathering& g) { return g.mask & live_[g.chunk]; },
                               [&](const sm::Gathering& g) {
                                 if (!executor_.across_lanes(g.parts.data(), g.count, g.chunk, block_))
                                   stop(executor_.fault());
                                 synchronised(*g.parts[0].op, g.chunk, g.arrived);
                                 warps_[g.chunk].release_threads(g.arrived);
                               });
}

// Of the primitives only bar.warp.sync orders memory accesses.
void Engine::synchronised(const sm::Operation& op, unsigned chunk, std::uint32_t lanes) {
  if (observer_ == nullptr || op.instruction->op != ptx::Opcode::kWarpBarrier) return;
  observer_->warp_synchronised(0, block_, chunk, lanes);
}

void Engine::exit_threads(unsigned chunk, std::uint32_t lanes) {
  live_[chunk] &= ~lanes;
  block_.live_threads -= count_of(lanes);
  test_gatherings();
  if (block_.live_threads != 0) test_barriers();
}

}  // namespace weft::functional
