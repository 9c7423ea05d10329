#include "microbenchmarks/cuda_machine.h"

#include <chrono>
#include <cstring>

namespace weft::microbenchmarks {
namespace {

class CudaMachine : public Machine {
 public:
  explicit CudaMachine(const Symbols& symbols) : driver_(symbols) {
    const auto number = [&](DeviceAttribute which) {
      return static_cast<unsigned>(driver_.attribute(which));
    };
    facts_.name = driver_.device().name;
    facts_.software = "CUDA driver " + std::to_string(driver_.device().driver);
    facts_.sms = number(DeviceAttribute::kSms);
    facts_.threads_per_sm = number(DeviceAttribute::kThreadsPerSm);
    facts_.threads_per_block = number(DeviceAttribute::kThreadsPerBlock);
    facts_.core_mhz = number(DeviceAttribute::kCoreKilohertz) / 1e3;
    facts_.shared_per_block = number(DeviceAttribute::kSharedBytesPerBlock);
    facts_.l2_bytes = number(DeviceAttribute::kL2Bytes);
  }

  const Facts& facts() const override { return facts_; }
  std::uint64_t allocate(std::uint64_t bytes) override { return driver_.allocate(bytes); }
  void free(std::uint64_t address) override { driver_.free(address); }
  void write(std::uint64_t to, const void* from, std::uint64_t bytes) override {
    driver_.write(to, from, bytes);
  }
  void read(void* to, std::uint64_t from, std::uint64_t bytes) override { driver_.read(to, from, bytes); }
  std::string header() const override { return driver_.header(); }
  Kernel load(const std::string& text) override {
    try {
      modules_.push_back(driver_.load(text));
    } catch (const std::runtime_error& error) {
      throw Refused(error.what());
    }
    return modules_.size() - 1;
  }
  std::uint64_t variable(Kernel kernel, const std::string& name) override {
    return driver_.variable(modules_.at(kernel), name);
  }
  void start(Kernel kernel, const Shape& shape, const std::vector<std::uint64_t>& arguments) override {
    CudaDriver::Launch launch{shape.blocks, shape.threads, shape.dynamic_shared, {}};
    for (const std::uint64_t argument : arguments) {
      std::vector<std::uint8_t> bytes(8);
      std::memcpy(bytes.data(), &argument, 8);
      launch.arguments.push_back(std::move(bytes));
    }
    driver_.start(modules_.at(kernel), launch);
  }
  void wait() override { driver_.wait(); }
  double seconds() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

 private:
  CudaDriver driver_;
  Facts facts_;
  std::vector<CudaDriver::Module> modules_;
};

}  // namespace

std::unique_ptr<Machine> make_cuda_machine(const Symbols& symbols) {
  return std::make_unique<CudaMachine>(symbols);
}

}  // namespace weft::microbenchmarks
