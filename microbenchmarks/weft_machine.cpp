#include "microbenchmarks/weft_machine.h"

#include <systemc>
#include <utility>

#include "weft/runtime/device.h"

namespace weft::microbenchmarks {
namespace {

Facts facts_of(const GpuConfig& config) {
  Facts facts;
  facts.name = config.name;
  facts.software = "Weft";
  facts.simulated = true;
  facts.sms = static_cast<unsigned>(config.sm.count);
  facts.threads_per_sm = static_cast<unsigned>(config.sm.max_threads);
  facts.threads_per_block = std::min(facts.threads_per_sm, 1024u);
  facts.core_mhz = config.clocks.core_mhz;
  facts.shared_per_block = config.sm.shared_bytes;
  if (config.sm.l1d.enabled) facts.l1_bytes = config.sm.l1d.tags.bytes();
  if (config.l2.enabled)
    facts.l2_bytes = config.l2.bank.tags.bytes() * config.l2.banks_per_channel * config.dram.map.channels;
  facts.memory_bytes = config.dram.bytes;
  return facts;
}

class WeftMachine : public Machine {
 public:
  WeftMachine(const GpuConfig& config, std::function<bool()> interrupted)
      : facts_(facts_of(config)), device_(config, options(std::move(interrupted))) {}

  const Facts& facts() const override { return facts_; }
  std::uint64_t allocate(std::uint64_t bytes) override { return device_.allocate(bytes); }
  void free(std::uint64_t address) override { device_.free(address); }
  void write(std::uint64_t to, const void* from, std::uint64_t bytes) override {
    device_.copy_to(to, from, bytes);
  }
  void read(void* to, std::uint64_t from, std::uint64_t bytes) override {
    device_.copy_from(to, from, bytes);
  }
  std::string header() const override { return ".version 8.0\n.target sm_90\n"; }
  Kernel load(const std::string& text) override {
    try {
      runtime::LoadedModule& module = device_.load_module(text, "measure.ptx");
      device_.program(module, "k");
      modules_.push_back(&module);
    } catch (const InputError& error) {
      throw Refused(error.what());
    }
    return modules_.size() - 1;
  }
  std::uint64_t variable(Kernel kernel, const std::string& name) override {
    return device_.symbol(*modules_.at(kernel), name);
  }
  void start(Kernel kernel, const Shape& shape, const std::vector<std::uint64_t>& arguments) override {
    runtime::Arguments list;
    for (const std::uint64_t argument : arguments) list.add(argument);
    device_.launch(*modules_.at(kernel), "k", {shape.blocks, 1, 1}, {shape.threads, 1, 1}, list,
                   shape.dynamic_shared);
  }
  void wait() override { device_.synchronise(); }
  double seconds() const override { return sc_core::sc_time_stamp().to_seconds(); }

 private:
  static runtime::DeviceOptions options(std::function<bool()> interrupted) {
    runtime::DeviceOptions chosen;
    chosen.interrupted = std::move(interrupted);
    return chosen;
  }

  Facts facts_;
  runtime::Device device_;
  std::vector<runtime::LoadedModule*> modules_;
};

}  // namespace

std::unique_ptr<Machine> make_weft_machine(const GpuConfig& config, std::function<bool()> interrupted) {
  return std::make_unique<WeftMachine>(config, std::move(interrupted));
}

}  // namespace weft::microbenchmarks
