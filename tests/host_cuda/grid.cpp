#include "host_cuda/grid.h"

#include <ucontext.h>

#include <memory>
#include <vector>

namespace weft::host_cuda {
namespace {

constexpr std::size_t kStackBytes = std::size_t{128} << 10;

// makecontext passes no pointers to the function that it starts.
const std::function<void()>* body = nullptr;
ucontext_t scheduler;

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<char[]> stack;
  Index index;
  bool ended = false;
};
Fiber* running = nullptr;

void enter() {
  (*body)();
  running->ended = true;
}

void start(Fiber& fiber) {
  if (!fiber.stack) fiber.stack.reset(new char[kStackBytes]);
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = &scheduler;
  makecontext(&fiber.context, enter, 0);
  fiber.ended = false;
}

// Each round takes every thread to its next barrier or to its end: that is what a barrier means.
void run_block(std::vector<Fiber>& fibers) {
  for (Fiber& fiber : fibers) start(fiber);
  for (std::size_t left = fibers.size(); left > 0;) {
    for (Fiber& fiber : fibers) {
      if (fiber.ended) continue;
      running = &fiber;
      current.thread = fiber.index;
      swapcontext(&scheduler, &fiber.context);
      if (fiber.ended) --left;
    }
  }
}

Index index_of(const dispatch::Dim3& size) {
  return {size[0], size[1], size[2]};
}

}  // namespace

Current current;

void barrier() {
  swapcontext(&running->context, &scheduler);
}

void run_grid(const dispatch::Dim3& grid, const dispatch::Dim3& block, const std::function<void()>& thread) {
  body = &thread;
  current.grid_size = index_of(grid);
  current.block_size = index_of(block);
  std::vector<Fiber> fibers(std::size_t{block[0]} * block[1] * block[2]);
  for (std::size_t i = 0; i < fibers.size(); ++i) {
    const auto n = static_cast<unsigned>(i);
    fibers[i].index = {n % block[0], n / block[0] % block[1], n / block[0] / block[1]};
  }
  Index& at = current.block;
  for (at.z = 0; at.z < grid[2]; ++at.z) {
    for (at.y = 0; at.y < grid[1]; ++at.y) {
      for (at.x = 0; at.x < grid[0]; ++at.x) run_block(fibers);
    }
  }
}

}  // namespace weft::host_cuda
