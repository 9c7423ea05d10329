#include "weft/runtime/device.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "common/hex.h"
#include "common/input_file.h"
#include "common/number.h"
#include "debugger/debugger.h"
#include "execute/executor.h"
#include "runtime/device_impl.h"
#include "runtime/occupancy.h"
#include "weft/memory/memory_image.h"

namespace weft::runtime {
namespace {

static_assert(Allocator::kAlignment >= LoadedModule::kAlignment);

// Whether the kernel reads its parameters through generic addresses (cvta.param).
bool has_parameter_address(const ptx::Program& program) {
  return std::any_of(program.code.begin(), program.code.end(), [](const ptx::Instruction& in) {
    return in.op == ptx::Opcode::kCvta && in.space == ptx::Space::kParam;
  });
}

void check_room(std::uint64_t room, std::uint64_t memory) {
  if (room % kPageBytes == 0 && room < memory) return;
  throw InputError("room before allocations",
                   "found " + std::to_string(room) + " bytes; allowed: multiples of " +
                       std::to_string(kPageBytes) + " below the device's " + std::to_string(memory));
}

}  // namespace

Device::Impl::Impl(const GpuConfig& config, DeviceOptions chosen)
    : options(std::move(chosen)),
      gpu("gpu", config, Gpu::Options{options.sleeping, options.monitors, options.observations}),
      waiter("idle_waiter", gpu.idle_event()),
      allocator(gpu.device_base(), gpu.memory().bytes()),
      engine(gpu.config().sm, gpu.config().clocks.core_mhz),
      streams([] { return sc_core::sc_time_stamp().value() / sc_core::sc_time(1, sc_core::SC_PS).value(); }) {
  streams.on_progress([this] {
    if (running) waiter.look();
  });
  gpu.when_spinning([this] {
    if (!advancing) return false;
    kernels_wait = true;
    waiter.look();
    return true;
  });
  reserve_leading_room();
  make_system_memory();
  runtime.set_printf_bytes(options.limits.printf_bytes);
  gpu.provide(&runtime);
  if (options.checkpoint) gpu.when_launches_rest([this] { rest(); });
  gpu.recordings().profile(options.profile);
  for (unsigned sm = 0; options.debugger != nullptr && sm < gpu.config().sm.count; ++sm)
    gpu.attach(sm, options.debugger->add_sm());
  if (options.debugger != nullptr) options.debugger->reach(gpu.memory_view().system);
  if (!options.check.any()) return;
  checks.emplace(options.check, gpu.device_base(), gpu.memory().bytes());
  gpu.observe(&*checks);
  runtime.observe(&*checks);
  engine.observe(&*checks);
}

void Device::Impl::reserve_leading_room() {
  const std::uint64_t room = options.leading_room;
  allocator = Allocator(gpu.device_base() + room, gpu.memory().bytes() - room, gap());
  if (room != 0) gpu.map(gpu.device_base(), room, true);
}

void Device::Impl::make_system_memory() {
  const GpuConfig& config = gpu.config();
  const std::uint64_t bytes = config.dram.bytes;
  if (options.host_memory) {
    HostLink timing = *options.host_memory;
    // One memory, one timing.
    if (config.carve_out.enabled)
      timing = {config.carve_out.ram.latency_ns, config.carve_out.ram.bytes_per_ns};
    host.emplace("host_memory", timing);
    gpu.dma_socket.bind(host->socket);
    if (!config.carve_out.enabled) return;
    carve_out.emplace(bytes);
    host->hold(config.carve_out.base, carve_out->data(), bytes);
  } else if (config.carve_out.enabled && options.own_system_memory) {
    soc::RamConfig memory = config.carve_out.ram;
    memory.bytes = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    ram.emplace("ram", memory, config.carve_out.base);
    gpu.dma_socket.bind(ram->socket);
    ram->bind(gpu.statistics().group("ram"));
  }
}

HostMemory& Device::Impl::host_memory() {
  if (!host) throw InputError("host memory", "is missing: the device was made without host memory");
  return *host;
}

void Device::Impl::need_heap(const ptx::Program& program) {
  if (!program.uses_heap || runtime.has_heap()) return;
  const std::uint64_t bytes = options.limits.heap_bytes;
  runtime.set_heap(bytes == 0 ? 0 : allocate(bytes), bytes);
}

// The size of device memory in which so many bytes more would lie behind all that there is.
std::uint64_t Device::Impl::size_for(std::uint64_t bytes) const {
  // Launches need some, too: parameters, local memory, the room in front.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 36, kUnit = 1u << 26, kForLaunches = 1u << 24;
  const std::uint64_t taken = allocator.end_of_live() - gpu.device_base() + kForLaunches;
  if (bytes > kMost || taken > kMost - bytes) return UINT64_MAX;
  return (taken + bytes + kUnit - 1) / kUnit * kUnit;
}

Address Device::Impl::allocate(std::uint64_t bytes) {
  Address address = 0;
  try {
    address = allocator.allocate(bytes);
  } catch (const InputError& error) {
    if (bytes == 0) throw;
    const std::uint64_t size = size_for(bytes);
    throw OutOfDeviceMemory(
        std::string(error.what()) + (size == UINT64_MAX
                                         ? "; no value of dram.bytes is large enough"
                                         : "; allowed with --set dram.bytes=" + std::to_string(size)),
        size);
  }
  highest = std::max(highest, address + bytes);
  gpu.map(address, bytes, true);
  return address;
}

// Pages are shared by small allocations: only those that lie wholly in the new hole go.
void Device::Impl::release(Address address) {
  const Allocator::Hole hole = allocator.release(address);
  const auto up = [](std::uint64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; };
  const auto down = [](std::uint64_t bytes) { return bytes / kPageBytes * kPageBytes; };
  // The rest of the hole has gone before.
  const std::uint64_t first = std::max(up(hole.all.address), down(hole.added.address));
  const std::uint64_t last =
      std::min(down(hole.all.address + hole.all.bytes), up(hole.added.address + hole.added.bytes));
  if (first < last) gpu.map(first, last - first, false);
}

std::uint8_t* Device::Impl::at(Address address, std::uint64_t bytes) const {
  if (!allocator.contains(address, bytes)) {
    throw InputError("device memory", "a copy of " + std::to_string(bytes) + " bytes at " + hex(address) +
                                          " lies outside every allocation");
  }
  return gpu.memory().data() + (address - gpu.device_base());
}

Address Device::Impl::local_area(const dispatch::Launch& launch, StreamId stream) {
  const std::uint64_t bytes = gpu.local_memory_bytes(launch);
  if (bytes == 0) return 0;
  LocalArea& area = local_areas[stream];
  if (bytes > area.bytes) {
    const Address larger = allocate(bytes);
    if (area.address != 0) outgrown.push_back(area.address);
    area = {larger, bytes};
  }
  return area.address;
}

Address Device::Impl::code_area(const ptx::Program& program) {
  Address& address = code_areas[&program];
  if (address == 0) address = allocate(program.code.size() * ptx::kInstructionBytes);
  return address;
}

Device::Impl::Prepared Device::Impl::prepare(StreamId stream, LoadedModule& module, const std::string& kernel,
                                             const dispatch::Dim3& grid, const dispatch::Dim3& block,
                                             const Arguments& arguments, std::uint64_t dynamic_shared,
                                             int preferred_shared_percent) {
  Prepared prepared;
  dispatch::Launch launch;
  launch.program = program_for(module, kernel, std::uint64_t{block[0]} * block[1] * block[2], gpu.config());
  if (options.debugger != nullptr) options.debugger->launching(module, launch.program);
  launch.grid = grid;
  launch.block = block;
  launch.parameters = lay_out(arguments, *launch.program);
  launch.dynamic_shared = dynamic_shared;
  launch.preferred_shared_percent = preferred_shared_percent;
  launch.stack_bytes = (options.limits.stack_bytes + 15) / 16 * 16;
  launch.queue = stream;
  need_heap(*launch.program);
  launch.local_address = local_area(launch, stream);
  launch.code_address = code_area(*launch.program);
  prepared.functional = is_functional(kernel);
  prepared.kernel = gpu.prepare(launch);
  if (prepared.functional) functional::check(*launch.program);
  if (launch.parameters.empty()) return prepared;
  const std::uint64_t bytes = launch.parameters.size();
  const Address parameters = allocate(bytes);
  prepared.kernel->set_parameter_address(parameters);
  if (checks && has_parameter_address(*launch.program))
    checks->allocated(parameters, bytes, check::kParameters);
  std::memcpy(at(parameters, bytes), launch.parameters.data(), bytes);
  if (checks) checks->written(parameters, bytes);
  return prepared;
}

// Timed launches of a stream that follow each other wait in the GPU's own queue. What runs without timing
// runs in synchronise, in its stream's order.
void Device::Impl::start(const Prepared& prepared, StreamId stream, const Ended& ended) {
  constexpr std::uint32_t kTimed = 1;
  const std::shared_ptr<execute::Kernel> kernel = prepared.kernel;
  const auto finish = [this, ended, parameters = kernel->launch.parameter_address](
                          const dispatch::LaunchOutcome& how, const Streams::Done& done) {
    if (checks && how.end == dispatch::LaunchOutcome::End::kDone) checks->launch_ended(gpu.memory().data());
    if (ended) ended(how);
    if (how.end != dispatch::LaunchOutcome::End::kDone) return;
    ++checkpoints.ended;
    if (parameters != 0) spent.push_back(parameters);
    done();
  };
  Streams::Operation operation;
  if (prepared.functional) {
    operation.ready = [this] { return running; };
    operation.begin = [this, kernel, finish](const Streams::Done& done) {
      if (sc_core::sc_get_status() != sc_core::SC_RUNNING) return finish(run_functional(*kernel), done);
      // What came before it in the stream has just ended in simulated time, which stands still for this one.
      outside.push_back({[this, kernel, finish, done] { finish(run_functional(*kernel), done); }, [] {}});
      waiter.look();
    };
  } else {
    operation.kind = kTimed;
    const std::uint64_t number = checkpoints.launched++;
    operation.ready = [this, number] { return !checkpoints.state.has_value() || checkpoints.skips(number); };
    operation.begin = [this, kernel, finish, number](const Streams::Done& done) {
      if (checkpoints.skips(number)) return finish({}, done);
      kernel->launch.done = [finish, done](const dispatch::LaunchOutcome& how) { finish(how, done); };
      gpu.enqueue(kernel);
    };
  }
  streams.add(stream, std::move(operation));
}

void Device::Impl::release_scratch(bool all) {
  const auto give_back = [this](std::vector<Address>& addresses) {
    for (const Address address : addresses) {
      release(address);
      if (checks) checks->freed(address);
    }
    addresses.clear();
  };
  give_back(spent);
  if (all) give_back(outgrown);
}

namespace {

void check_scalar(const DeviceOptions& options, const GpuConfig& config) {
  if (!options.check.scalar) return;
  if (!config.sm.scalarization.on())
    throw InputError("--check", "found scalar with scalarization.kind = off; allowed: restricted, full");
  if (options.functional.all) {
    throw InputError("--check",
                     "found scalar for a run without timing, in which every thread executes for itself");
  }
}

}  // namespace

Device::Device(const GpuConfig& config, DeviceOptions options) {
  // All before there is a GPU: one that is half made leaves its names behind in the simulation.
  check_limits(options.limits);
  check_room(options.leading_room, config.dram.bytes);
  require("reports of checks", options.check.reports, {1});
  check_scalar(options, config);
  if (options.host_memory) check_timing(*options.host_memory);
  if (options.host_memory && !config.system.enabled) {
    throw InputError("host memory", "the GPU cannot access it: system.enabled is false in its configuration");
  }
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

void Device::share(void* begin, std::uint64_t bytes) {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(begin));
  HostMemory& host = impl_->host_memory();
  impl_->gpu.add_system_window(address, bytes);  // refuses what overlaps
  host.add(begin, bytes);
}

void Device::unshare(void* begin) {
  impl_->host_memory().remove(begin);
  impl_->gpu.remove_system_window(reinterpret_cast<std::uintptr_t>(begin));
}

void Device::copy_to(Address to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::memcpy(impl_->at(to, bytes), from, bytes);
  if (impl_->is_device(to)) impl_->gpu.host_copied(to - impl_->gpu.device_base(), bytes);
  if (impl_->checks) impl_->checks->written(to, bytes);
}

void Device::copy_from(void* to, Address from, std::uint64_t bytes) const {
  if (bytes != 0) impl_->read(to, from, bytes);
}

void Device::fill(Address to, std::uint8_t value, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::memset(impl_->at(to, bytes), value, bytes);
  if (impl_->checks) impl_->checks->written(to, bytes);
}

LoadedModule& Device::load_module(const std::string& ptx, const std::string& file) {
  return load_modules({{ptx, file}});
}

LoadedModule& Device::load_modules(const std::vector<Source>& sources,
                                   const LoadedModule::Place& place_managed) {
  std::vector<ptx::Module> modules;
  modules.reserve(sources.size());
  for (const Source& source : sources) modules.push_back(ptx::parse(source.ptx, source.file));
  impl_->modules.push_back(std::make_unique<LoadedModule>(
      std::move(modules), [this](std::uint64_t bytes) { return impl_->allocate(bytes); },
      [this](Address address, const std::vector<std::uint8_t>& bytes) {
        if (impl_->is_device(address)) return copy_to(address, bytes.data(), bytes.size());
        void* const shared = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
        std::memcpy(shared, bytes.data(), bytes.size());
      },
      impl_->next_function, place_managed, impl_->gap()));
  impl_->modules.back()->set_options(impl_->gpu.decode_options());
  if (impl_->gpu.config().sm.observe.instructions)
    impl_->sources.insert(impl_->sources.end(), sources.begin(), sources.end());
  if (impl_->checks) {
    for (const LoadedModule::Placed& variable : impl_->modules.back()->placed()) {
      if (variable.bytes == 0 || !impl_->is_device(variable.address)) continue;
      impl_->checks->allocated(variable.address, variable.bytes, variable.name);
      impl_->checks->written(variable.address, variable.bytes);  // without an initial value: zeros
    }
  }
  return *impl_->modules.back();
}

const std::vector<Device::Source>& Device::sources() const {
  return impl_->sources;
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

std::uint32_t Device::blocks_per_sm(LoadedModule& module, const std::string& kernel, std::uint32_t threads,
                                    std::uint64_t dynamic_shared) {
  return runtime::blocks_per_sm(module, kernel, threads, dynamic_shared, impl_->gpu.config());
}

std::uint32_t Device::most_threads(LoadedModule& module, const std::string& kernel) {
  return runtime::most_threads(module, kernel, impl_->gpu.config());
}

void Device::launch(LoadedModule& module, const std::string& kernel, dispatch::Dim3 grid,
                    dispatch::Dim3 block, const Arguments& arguments, std::uint64_t dynamic_shared) {
  const Impl::Prepared prepared = impl_->prepare(0, module, kernel, grid, block, arguments, dynamic_shared);
  impl_->start(prepared, 0, {});
  if (impl_->options.observer) impl_->options.observer->launching(prepared.kernel->launch, module);
}

void Device::synchronise() {
  impl_->throw_if_faulted();
  {
    const EffortTimer timer(impl_->effort);
    impl_->run([this] { return impl_->streams.idle() && impl_->gpu.idle(); });
  }
  impl_->throw_if_faulted();
  if (impl_->options.observer) impl_->options.observer->synchronised();
  impl_->release_scratch(true);
}

void Device::stop_if_interrupted() {
  if (!impl_->options.interrupted || !impl_->options.interrupted()) return;
  impl_->abandon("interrupted");
  impl_->throw_if_faulted();
}

void Device::set_timed(bool timed) {
  impl_->options.functional.all = !timed;
}

void Device::set_limits(const DeviceLimits& limits) {
  check_limits(limits);
  impl_->options.limits = limits;
  impl_->runtime.set_printf_bytes(limits.printf_bytes);
}

void Device::reset() {
  impl_->gpu.reset();
  if (impl_->host) impl_->host->clear();
  impl_->modules.clear();
  impl_->streams.reset();
  impl_->spent.clear();
  impl_->outgrown.clear();
  impl_->outside.clear();
  impl_->code_areas.clear();
  impl_->runtime.reset();
  impl_->runtime.set_printf_bytes(impl_->options.limits.printf_bytes);
  impl_->next_function = 0;
  impl_->reserve_leading_room();
  impl_->local_areas.clear();
  impl_->abandoned = false;
  impl_->effort = impl_->functional_effort = {};
  impl_->engine.reset();
  impl_->launches = 0;
  impl_->checkpoints = {};
  impl_->highest = impl_->gpu.device_base();
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

std::uint64_t Device::leading_room() const {
  return impl_->options.leading_room;
}
const Effort& Device::effort() const {
  return impl_->effort;
}
const Effort& Device::functional_effort() const {
  return impl_->functional_effort;
}
Totals Device::totals() const {
  return impl_->gpu.totals();
}

const functional::Counters& Device::functional_counters() const {
  return impl_->engine.counters();
}
const std::vector<check::Report>& Device::reports() const {
  static const std::vector<check::Report> kNone;
  return impl_->checks ? impl_->checks->reports() : kNone;
}
std::vector<std::string> Device::not_compared() const {
  return impl_->checks ? impl_->checks->not_compared() : std::vector<std::string>();
}
Gpu& Device::gpu() {
  return impl_->gpu;
}
const Gpu& Device::gpu() const {
  return impl_->gpu;
}

std::string read_text(const std::string& path) {
  return read_input(path);
}

}  // namespace weft::runtime
