#include <cstdlib>

#include "conformance/flat_memory.h"
#include "execute/executor.h"
#include "weft/common/error.h"

namespace weft::test::conformance {
namespace {

constexpr unsigned kPageShift = 12;

// Which version of the lane functions a kernel gets while this lives.
class ForcedSet {
 public:
  explicit ForcedSet(isa::InstructionSet set) {
    if (set == isa::InstructionSet::kBase) setenv("WEFT_ISA", "base", 1);
  }
  ~ForcedSet() { unsetenv("WEFT_ISA"); }
  ForcedSet(const ForcedSet&) = delete;
  ForcedSet& operator=(const ForcedSet&) = delete;
};

class StraightLine final : public FlatMemory {
 public:
  explicit StraightLine(isa::InstructionSet set)
      : set_(set),
        mapped_(kBytes >> kPageShift, 1),
        executor_(config_, 0, 1000, registers_),
        local_(allocate(1 << 18)) {}

  void launch(unsigned blocks, unsigned threads,
              const std::vector<std::vector<std::uint8_t>>& arguments) override {
    dispatch::Launch launch;
    launch.program = program();
    launch.grid = {blocks, 1, 1};
    launch.block = {threads, 1, 1};
    launch.parameters = parameters(arguments);
    launch.local_address = local_;
    const ForcedSet forced(set_);
    const execute::Kernel kernel(launch, config_, 32);
    executor_.start_kernel(kernel, {memory().data(), kBase, kBytes, mapped_.data(), kPageShift});
    for (unsigned b = 0; b < blocks; ++b) run_block(kernel, b);
  }

 private:
  void run_block(const execute::Kernel& kernel, unsigned number) {
    execute::ResidentBlock block;
    block.live = true;
    block.threads = block.live_threads = kernel.threads;
    block.index = {number, 0, 0};
    executor_.start_block(block);
    for (ptx::Pc pc = 0; pc < kernel.operations.size(); ++pc) {
      const execute::Operation& op = kernel.operations[pc];
      if (op.instruction->is_exit()) return;
      if (op.instruction->is_branch()) throw std::runtime_error("a kernel that branches is not straight");
      if (op.instruction->is_control()) continue;  // fences
      for (std::uint32_t chunk = 0; chunk < kernel.chunks_per_block; ++chunk) {
        const warp_formation::ThreadGroup group{0xffffffffu, static_cast<std::uint16_t>(chunk), 0, false};
        const warp_formation::Groups groups{&group, 1};
        if (op.memory == nullptr) {
          executor_.arithmetic(op, groups, 0);
        } else if (!executor_.memory(op, pc, groups, block)) {
          throw SimulatedFault(executor_.fault().text);
        }
      }
    }
  }

  isa::InstructionSet set_;
  machine::SmConfig config_;
  execute::RegisterFile registers_;
  std::vector<std::uint8_t> mapped_;
  execute::Executor executor_;
  std::uint64_t local_;
};

}  // namespace

std::unique_ptr<Machine> make_straight_line_machine(isa::InstructionSet set) {
  return std::make_unique<StraightLine>(set);
}

}  // namespace weft::test::conformance
