#include "runtime/device.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gddr5/memory_image.h"
#include "ptx/limits.h"
#include "runtime/allocator.h"
#include "sm/executor.h"

namespace weft::runtime {
namespace {

static_assert(Allocator::kAlignment >= LoadedModule::kAlignment);

// Simulated core cycles between two looks at the outside: short against a second of wall time at any speed,
// long against the cost of entering the SystemC kernel.
constexpr std::uint64_t kSliceCycles = 10'000;
constexpr std::chrono::milliseconds kProgressInterval{250};
constexpr std::uint64_t kMaxFileBytes = 256u << 20;

// Returns from sc_start at the instant the GPU becomes idle, so that the next launch starts there and
// simulated time does not depend on the slices. sc_pause leaves the simulation as it is; sc_stop would end
// it.
class IdleWaiter : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(IdleWaiter);
  IdleWaiter(sc_core::sc_module_name name, const sc_core::sc_event& idle) : sc_module(name) {
    SC_METHOD(pause);
    sensitive << idle;
    dont_initialize();
  }

 private:
  void pause() {
    // A launch made meanwhile from elsewhere in the same instant must not see two pauses.
    if (sc_core::sc_get_status() == sc_core::SC_RUNNING) sc_core::sc_pause();
  }
};

// Adds the time of its scope to an Effort, also when the scope is left by an exception.
class EffortTimer {
 public:
  explicit EffortTimer(Effort& effort) : effort_(effort), cpu_(std::clock()), wall_(Clock::now()) {}
  ~EffortTimer() {
    effort_.cpu_seconds += static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC;
    effort_.wall_seconds += std::chrono::duration<double>(Clock::now() - wall_).count();
  }
  EffortTimer(const EffortTimer&) = delete;
  EffortTimer& operator=(const EffortTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  Effort& effort_;
  std::clock_t cpu_;
  Clock::time_point wall_;
};

std::string hex(std::uint64_t address) {
  std::ostringstream text;
  text << "0x" << std::hex << address;
  return text.str();
}

// Whether the kernel reads its parameters through generic addresses (cvta.param).
bool has_parameter_address(const ptx::Program& program) {
  return std::any_of(program.code.begin(), program.code.end(), [](const ptx::Instruction& in) {
    return in.op == ptx::Opcode::kCvta && in.space == ptx::Space::kParam;
  });
}

void check_limits(const DeviceLimits& limits) {
  if (limits.stack_bytes <= ptx::kMaxLocalBytes) return;
  throw InputError("stack of a thread", "found " + std::to_string(limits.stack_bytes) +
                                            " bytes; allowed: up to " + std::to_string(ptx::kMaxLocalBytes));
}

}  // namespace

struct Device::Impl {
  Impl(const GpuConfig& config, DeviceOptions chosen)
      : options(std::move(chosen)),
        gpu("gpu", config, Gpu::Options{options.sleeping, options.monitors}),
        waiter("idle_waiter", gpu.idle_event()),
        allocator(kDeviceBase, gpu.memory().bytes()),
        engine(gpu.config().sm, gpu.config().clocks.core_mhz) {
    runtime.set_printf_bytes(options.limits.printf_bytes);
    gpu.provide(&runtime);
    gpu.profile(options.profile);
    if (!options.check.any()) return;
    checks.emplace(options.check, kDeviceBase, gpu.memory().bytes());
    gpu.observe(&*checks);
    runtime.observe(&*checks);
    engine.observe(&*checks);
  }

  // The heap of malloc in kernels takes device memory once a kernel can ask for some.
  void need_heap(const ptx::Program& program) {
    if (!program.uses_heap || runtime.has_heap()) return;
    const std::uint64_t bytes = options.limits.heap_bytes;
    runtime.set_heap(bytes == 0 ? 0 : allocate(bytes), bytes);
  }

  Address allocate(std::uint64_t bytes) {
    const Address address = allocator.allocate(bytes);
    gpu.map(address, bytes, true);
    return address;
  }

  // Pages are shared by small allocations: only those that lie wholly in the new hole go.
  void release(Address address) {
    const Range hole = allocator.release(address);
    const std::uint64_t first = (hole.address + kPageBytes - 1) / kPageBytes * kPageBytes;
    const std::uint64_t last = (hole.address + hole.bytes) / kPageBytes * kPageBytes;
    if (first < last) gpu.map(first, last - first, false);
  }

  // The host pointer to a range of device memory.
  std::uint8_t* at(Address address, std::uint64_t bytes) const {
    if (!allocator.contains(address, bytes)) {
      throw InputError("device memory", "a copy of " + std::to_string(bytes) + " bytes at " + hex(address) +
                                            " lies outside every allocation");
    }
    return gpu.memory().data() + (address - kDeviceBase);
  }

  // Local variables of every thread that can be resident. Launches run one after the other and share the
  // area; one that needs more gets a larger one, and the old area stays until the launches that use it are
  // done.
  Address local_area(const dispatch::Launch& launch) {
    const std::uint64_t bytes = gpu.local_memory_bytes(launch);
    if (bytes == 0) return 0;
    if (bytes > local_bytes) {
      const Address larger = allocate(bytes);
      if (local_address != 0) scratch.push_back(local_address);
      local_address = larger;
      local_bytes = bytes;
    }
    return local_address;
  }

  // Where a program's instructions lie. Nothing is stored there: the address is for the instruction caches'
  // traffic.
  Address code_area(const ptx::Program& program) {
    Address& address = code_areas[&program];
    if (address == 0) address = allocate(program.code.size() * ptx::kInstructionBytes);
    return address;
  }

  // Whether a launch of this kernel, the next one, runs without timing.
  bool is_functional(const std::string& kernel) {
    const FunctionalOptions& wanted = options.functional;
    if (!wanted.kernel.empty() && kernel == wanted.kernel) reached_kernel = true;
    const bool before_kernel = !wanted.kernel.empty() && !reached_kernel;
    return wanted.all || launches++ < wanted.launches || before_kernel;
  }

  // The launches that run without timing; they come before all timed ones.
  void run_functional() {
    using Clock = std::chrono::steady_clock;
    const EffortTimer timer(functional_effort);
    auto next_progress = Clock::now() + kProgressInterval;
    const auto interrupted = [&] {
      if (options.progress && Clock::now() >= next_progress) {
        Progress progress = gpu.progress();
        progress.thread_instructions += engine.counters().thread_instructions;
        options.progress(progress);
        next_progress = Clock::now() + kProgressInterval;
      }
      return options.interrupted && options.interrupted();
    };
    for (const dispatch::Launch& launch : functional_launches) {
      const std::string fault =
          engine.run(launch, gpu.config().warp_formation.warp_size, gpu.memory_view(), interrupted);
      if (fault.empty()) continue;
      abandoned = engine.was_interrupted();
      gpu.abandon(fault);  // and with it the launches that follow
      break;
    }
    functional_launches.clear();
  }

  void abandon(const std::string& reason) {
    gpu.abandon(reason);
    abandoned = true;
  }

  [[noreturn]] void throw_fault() const {
    if (abandoned) throw LaunchAbandoned(gpu.fault());
    throw SimulatedFault(gpu.fault());
  }

  void run() {
    using Clock = std::chrono::steady_clock;
    auto next_progress = Clock::now() + kProgressInterval;
    const double core_mhz = gpu.config().clocks.core_mhz;
    while (!gpu.idle() && !gpu.faulted()) {
      std::uint64_t slice = kSliceCycles;
      if (options.max_cycles != 0) {
        const std::uint64_t spent = gpu.progress().cycles;
        if (spent >= options.max_cycles) {
          abandon("stopped after " + std::to_string(spent) + " core cycles, the limit of --max-cycles");
          break;
        }
        slice = std::min(slice, options.max_cycles - spent);
      }
      if (options.interrupted && options.interrupted()) {
        abandon("interrupted");
        break;
      }
      sc_core::sc_start(sc_core::sc_time(static_cast<double>(slice) / core_mhz, sc_core::SC_US));
      if (!gpu.idle() && !gpu.faulted() && !sc_core::sc_pending_activity()) {
        throw SimulatedFault(
            "the GPU waits for nothing that will happen: no event is pending while a launch runs");
      }
      if (options.progress && Clock::now() >= next_progress) {
        options.progress(gpu.progress());
        next_progress = Clock::now() + kProgressInterval;
      }
    }
  }

  DeviceOptions options;
  DeviceRuntime runtime;
  std::uint64_t next_function = 0;
  mutable Gpu gpu;  // reading device memory does not change the device
  IdleWaiter waiter;
  Allocator allocator;
  functional::Engine engine;
  std::optional<check::Checks> checks;
  std::vector<dispatch::Launch> functional_launches;  // not yet run
  std::uint64_t launches = 0;
  bool reached_kernel = false;  // FunctionalOptions::kernel
  std::vector<std::unique_ptr<LoadedModule>> modules;
  std::vector<Address> scratch;  // parameter blocks and outgrown local areas of launches not yet done
  std::unordered_map<const ptx::Program*, Address> code_areas;
  Address local_address = 0;
  std::uint64_t local_bytes = 0;
  bool abandoned = false;
  Effort effort, functional_effort;
};

Device::Device(const GpuConfig& config, DeviceOptions options) {
  check_limits(options.limits);
  impl_ = std::make_unique<Impl>(config, std::move(options));
}
Device::~Device() = default;

Address Device::allocate(std::uint64_t bytes) {
  const Address address = impl_->allocate(bytes);
  if (impl_->checks) impl_->checks->allocated(address, bytes);
  return address;
}
void Device::free(Address address) {
  impl_->release(address);
  if (impl_->checks) impl_->checks->freed(address);
}

void Device::copy_to(Address to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::memcpy(impl_->at(to, bytes), from, bytes);
  if (impl_->checks) impl_->checks->written(to, bytes);
}

void Device::copy_from(void* to, Address from, std::uint64_t bytes) const {
  if (bytes != 0) std::memcpy(to, impl_->at(from, bytes), bytes);
}

void Device::fill(Address to, std::uint8_t value, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::memset(impl_->at(to, bytes), value, bytes);
  if (impl_->checks) impl_->checks->written(to, bytes);
}

LoadedModule& Device::load_module(const std::string& ptx, const std::string& file) {
  return load_modules({{ptx, file}});
}

LoadedModule& Device::load_modules(const std::vector<Source>& sources) {
  std::vector<ptx::Module> modules;
  modules.reserve(sources.size());
  for (const Source& source : sources) modules.push_back(ptx::parse(source.ptx, source.file));
  impl_->modules.push_back(std::make_unique<LoadedModule>(
      std::move(modules), [this](std::uint64_t bytes) { return impl_->allocate(bytes); },
      [this](Address address, const std::vector<std::uint8_t>& bytes) {
        copy_to(address, bytes.data(), bytes.size());
      },
      impl_->next_function));
  if (impl_->checks) {
    for (const LoadedModule::Placed& variable : impl_->modules.back()->placed()) {
      if (variable.bytes == 0) continue;
      impl_->checks->allocated(variable.address, variable.bytes, variable.name);
      impl_->checks->written(variable.address, variable.bytes);  // without an initial value: zeros
    }
  }
  return *impl_->modules.back();
}

LoadedModule& Device::load_module_file(const std::string& path) {
  return load_module(read_text(path), path);
}

Address Device::symbol(const LoadedModule& module, const std::string& name, std::uint64_t* bytes) const {
  return module.address_of(name, bytes);
}

const ptx::Program& Device::program(LoadedModule& module, const std::string& kernel) {
  return *module.program(kernel);
}

void Device::launch(LoadedModule& module, const std::string& kernel, dispatch::Dim3 grid,
                    dispatch::Dim3 block, const Arguments& arguments, std::uint64_t dynamic_shared) {
  dispatch::Launch launch;
  launch.program = module.program(kernel);
  launch.grid = grid;
  launch.block = block;
  launch.parameters = lay_out(arguments, *launch.program);
  launch.dynamic_shared = dynamic_shared;
  launch.stack_bytes = (impl_->options.limits.stack_bytes + 15) / 16 * 16;
  impl_->need_heap(*launch.program);
  launch.local_address = impl_->local_area(launch);
  launch.code_address = impl_->code_area(*launch.program);
  if (!launch.parameters.empty()) {
    launch.parameter_address = impl_->allocate(launch.parameters.size());
    impl_->scratch.push_back(launch.parameter_address);
    if (impl_->checks && has_parameter_address(*launch.program))
      impl_->checks->allocated(launch.parameter_address, launch.parameters.size(), "(parameters)");
    copy_to(launch.parameter_address, launch.parameters.data(), launch.parameters.size());
  }
  if (impl_->is_functional(kernel)) {
    impl_->gpu.check(launch);
    functional::check(*launch.program);
    impl_->functional_launches.push_back(launch);
  } else {
    impl_->gpu.launch(launch);
  }
  if (impl_->options.observer) impl_->options.observer->launching(launch, module);
}

void Device::synchronise() {
  if (impl_->gpu.faulted()) impl_->throw_fault();
  {
    const EffortTimer timer(impl_->effort);
    if (!impl_->functional_launches.empty()) impl_->run_functional();
    impl_->run();
  }
  if (impl_->gpu.faulted()) impl_->throw_fault();
  if (impl_->options.observer) impl_->options.observer->synchronised();
  for (const Address address : impl_->scratch) {
    impl_->release(address);
    if (impl_->checks) impl_->checks->freed(address);
  }
  impl_->scratch.clear();
}

void Device::set_limits(const DeviceLimits& limits) {
  check_limits(limits);
  impl_->options.limits = limits;
  impl_->runtime.set_printf_bytes(limits.printf_bytes);
}

void Device::reset() {
  impl_->gpu.reset();
  impl_->modules.clear();
  impl_->scratch.clear();
  impl_->code_areas.clear();
  impl_->runtime.reset();
  impl_->runtime.set_printf_bytes(impl_->options.limits.printf_bytes);
  impl_->next_function = 0;
  impl_->allocator = Allocator(kDeviceBase, impl_->gpu.memory().bytes());
  impl_->local_address = 0;
  impl_->local_bytes = 0;
  impl_->abandoned = false;
  impl_->effort = impl_->functional_effort = {};
  impl_->engine.reset();
  impl_->functional_launches.clear();
  impl_->launches = 0;
  impl_->reached_kernel = false;
  if (impl_->checks) {
    impl_->checks->reset();
    impl_->runtime.observe(&*impl_->checks);
  }
}

std::string Device::take_output() {
  return impl_->runtime.take_output();
}
std::uint64_t Device::heap_in_use() const {
  return impl_->runtime.heap_in_use();
}

const Effort& Device::effort() const {
  return impl_->effort;
}
const Effort& Device::functional_effort() const {
  return impl_->functional_effort;
}
const functional::Counters& Device::functional_counters() const {
  return impl_->engine.counters();
}
const std::vector<check::Report>& Device::reports() const {
  static const std::vector<check::Report> kNone;
  return impl_->checks ? impl_->checks->reports() : kNone;
}
Gpu& Device::gpu() {
  return impl_->gpu;
}
const Gpu& Device::gpu() const {
  return impl_->gpu;
}

std::string read_text(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw InputError(path, "cannot be read: " + error.message());
  if (size > kMaxFileBytes) {
    throw InputError(
        path, "has " + std::to_string(size) + " bytes; allowed: up to " + std::to_string(kMaxFileBytes));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(size))) throw InputError(path, "cannot be read");
  return text;
}

}  // namespace weft::runtime
