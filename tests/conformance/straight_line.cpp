#include <cstring>
#include <map>

#include "conformance/machine.h"
#include "execute/executor.h"
#include "weft/common/error.h"
#include "weft/ptx/module.h"
#include "weft/runtime/arguments.h"

namespace weft::test::conformance {
namespace {

constexpr std::uint64_t kBase = 0x7000'0000'0000, kBytes = 1 << 21;
constexpr unsigned kPageShift = 12;

class StraightLine final : public Machine {
 public:
  StraightLine() : image_(kBytes), mapped_(kBytes >> kPageShift, 1), executor_(config_, 0, 1000, registers_) {
    local_ = allocate(1 << 18);
  }
  std::uint64_t allocate(std::uint64_t bytes) override {
    const std::uint64_t at = used_;
    used_ += (bytes + 255) / 256 * 256;
    if (used_ > kBytes) throw std::runtime_error("no device memory left");
    return kBase + at;
  }
  void write(std::uint64_t to, const void* from, std::uint64_t bytes) override {
    std::memcpy(image_.data() + (to - kBase), from, bytes);
  }
  void read(void* to, std::uint64_t from, std::uint64_t bytes) override {
    std::memcpy(to, image_.data() + (from - kBase), bytes);
  }
  void load(const std::string& text) override {
    const ptx::Module module = ptx::parse(text, "case.ptx");
    symbols_.clear();
    for (const ptx::Variable& variable : module.variables) {
      std::uint64_t& place = places_[variable.name];
      if (place == 0) place = allocate(variable.size);
      symbols_[variable.name] = place;
    }
    program_ = std::make_shared<const ptx::Program>(ptx::decode(module, "k", symbols_));
  }
  std::uint64_t variable(const std::string& name) override { return symbols_.at(name); }
  void launch(unsigned blocks, unsigned threads,
              const std::vector<std::vector<std::uint8_t>>& arguments) override {
    runtime::Arguments list;
    for (const auto& argument : arguments) list.add_bytes(argument);
    dispatch::Launch launch;
    launch.program = program_;
    launch.grid = {blocks, 1, 1};
    launch.block = {threads, 1, 1};
    launch.parameters = runtime::lay_out(list, *program_);
    launch.local_address = local_;
    const execute::Kernel kernel(launch, config_, 32);
    executor_.start_kernel(kernel, {image_.data(), kBase, kBytes, mapped_.data(), kPageShift});
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

  machine::SmConfig config_;
  execute::RegisterFile registers_;
  std::vector<std::uint8_t> image_, mapped_;
  execute::Executor executor_;
  std::uint64_t used_ = 256, local_ = 0;
  std::map<std::string, std::uint64_t> places_;
  ptx::Symbols symbols_;
  std::shared_ptr<const ptx::Program> program_;
};

}  // namespace

std::unique_ptr<Machine> make_straight_line_machine() {
  return std::make_unique<StraightLine>();
}

}  // namespace weft::test::conformance
