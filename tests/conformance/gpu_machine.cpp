#include "conformance/machine.h"
#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"

namespace weft::test::conformance {
namespace {

class WholeGpu : public Machine {
 public:
  WholeGpu() : device_(load_config("gtx480", {"sm.count=2"}), {}) {}
  std::uint64_t allocate(std::uint64_t bytes) override { return device_.allocate(bytes); }
  void write(std::uint64_t to, const void* from, std::uint64_t bytes) override {
    device_.copy_to(to, from, bytes);
  }
  void read(void* to, std::uint64_t from, std::uint64_t bytes) override {
    device_.copy_from(to, from, bytes);
  }
  void load(const std::string& text) override { module_ = &device_.load_module(text, "case.ptx"); }
  std::uint64_t variable(const std::string& name) override { return device_.symbol(*module_, name); }
  void launch(unsigned blocks, unsigned threads,
              const std::vector<std::vector<std::uint8_t>>& arguments) override {
    runtime::Arguments list;
    for (const auto& argument : arguments) list.add_bytes(argument);
    device_.launch(*module_, "k", {blocks, 1, 1}, {threads, 1, 1}, list);
    device_.synchronise();
  }

 private:
  runtime::Device device_;
  runtime::LoadedModule* module_ = nullptr;
};

}  // namespace

std::unique_ptr<Machine> make_gpu_machine() {
  return std::make_unique<WholeGpu>();
}

}  // namespace weft::test::conformance
