// Where threads of a block wait for each other: block barriers and warp-level primitives.
#include "functional/engine.h"

namespace weft::functional {

// Threads of a warp arrive, each at the barrier that it names.
void Engine::arrive(ptx::Pc pc, unsigned chunk, Path& path, std::uint32_t lanes) {
  const execute::Operation& op = kernel_->operations[pc];
  const bool waits = op.instruction->barrier != ptx::BarrierKind::kArrive;
  const Fault fault =
      synchroniser_.arrive({&op, pc, lanes}, chunk, block_, [&](std::uint32_t number, std::uint32_t same) {
        if (!waits) return;
        path.mask &= ~same;
        warps_[chunk].add(
            {pc + 1, same, path.depth, Path::State::kBarrier, static_cast<std::uint8_t>(number)});
      });
  if (fault) return stop(fault);
  synchroniser_.open_barriers(block_);
  release_gatherings();  // others of the warp may wait for threads that now wait here
}

void Engine::barrier_opened(const execute::ResidentBlock& /*block*/, unsigned barrier) {
  for (WarpPaths& paths : warps_) paths.release(barrier);
}

// A warp-level primitive: at once for those whose fellows are all here, the others wait.
void Engine::across(ptx::Pc pc, unsigned chunk, Path& path, std::uint32_t lanes) {
  const execute::Operation& op = kernel_->operations[pc];
  Fault fault;
  synchroniser_.each_mask(op, chunk, lanes, [&](std::uint32_t mask, std::uint32_t same) {
    const execute::Participants threads{&op, pc, same};
    fault = synchroniser_.check_members(threads, chunk, mask, block_);
    if (fault) return false;
    if (synchroniser_.missing(block_, chunk, mask, same) == 0) {
      fault = synchroniser_.perform(threads, chunk, block_);
      return !fault;
    }
    fault = synchroniser_.gather(threads, chunk, mask, block_);
    if (fault) return false;
    path.mask &= ~same;
    warps_[chunk].add({pc + 1, same, path.depth, Path::State::kWarpSync, 0});
    return true;
  });
  if (fault) return stop(fault);
  release_gatherings();
}

void Engine::gathered(const execute::ResidentBlock& /*block*/, unsigned chunk, std::uint32_t lanes) {
  warps_[chunk].release_threads(lanes);
}

void Engine::release_gatherings() {
  if (synchroniser_.gatherings().empty()) return;
  const Fault fault = synchroniser_.release_gatherings();
  if (fault) stop(fault);
}

void Engine::exit_threads(unsigned chunk, std::uint32_t lanes) {
  synchroniser_.exited(chunk, lanes);
  block_.live_threads -= static_cast<std::uint32_t>(__builtin_popcount(lanes));
  release_gatherings();
  if (block_.live_threads != 0) synchroniser_.open_barriers(block_);
}

}  // namespace weft::functional
