#include "runtime/cuda/core/simulator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <systemc>
#include <utility>

#include "debugger/debugger.h"
#include "runtime/characteristics.h"
#include "runtime/dma_copies.h"
#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"

// libsystemc.so refers to it; nothing calls it here.
extern "C" __attribute__((visibility("default"))) int sc_main(int /*argc*/, char** /*argv*/) {
  return 1;
}

namespace weft::cuda {
namespace {

constexpr std::uint64_t kSharedMemory = std::uint64_t{1} << 37;  // behind the largest device memory

// Device memory begins with room that is no allocation, as behind CUDA's own allocations in the same 2 MB
// page: programs that read a little before their first one get away with it. So much of it that the first
// allocation meets the channel, bank, row and cache sets that it would meet at the beginning.
std::uint64_t leading_room(const GpuConfig& config) {
  constexpr std::uint64_t kSets = 1u << 16;  // bytes of one way of a cache, a power of two: no more than that
  const memory::ChannelMapConfig& map = config.dram.map;
  const std::uint64_t of_a_bank = std::max(map.banks * map.banks * map.row_bytes, kSets);
  const std::uint64_t room = map.channels * map.l2_banks * of_a_bank;
  return room % kPageBytes == 0 && room <= config.dram.bytes / 16 ? room : 0;
}

std::uint64_t simulated_now() {
  return sc_core::sc_time_stamp().value();
}

}  // namespace

Simulator::Simulator(const Settings& settings, const GpuConfig& config, const runtime::DeviceLimits& limits,
                     std::function<bool()> interrupted)
    : next_shared_(kSharedMemory) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  runtime::DeviceOptions options;
  options.max_cycles = settings.max_cycles;
  options.max_instructions = settings.max_instructions;
  options.limits = limits;
  options.functional.all = settings.functional;
  options.leading_room = leading_room(config);
  options.host_memory.emplace();
  options.interrupted = interrupted;
  if (settings.characteristics) {
    characteristics_ = std::make_unique<runtime::Characteristics>(config);
    options.observer = characteristics_.get();
    options.profile = &characteristics_->profile();
  }
  // Programs that this one starts have no GDB of their own: it is told one port.
  if (settings.gdb >= 0 && (settings.process == 0 || settings.process == getpid())) {
    debugger_ = std::make_unique<debugger::Debugger>(debugger::Options{
        static_cast<std::uint16_t>(settings.gdb), settings.gdb_symbols, std::move(interrupted)});
    options.debugger = debugger_.get();
  }
  options.check = check::options_of(settings.checks, settings.check_reports);
  device_ = std::make_unique<runtime::Device>(config, options);
  if (!settings.out.empty() && !settings.functional) {
    if (settings.sample != 0) device_->gpu().recordings().sample(settings.sample);
    device_->gpu().recordings().write_down_launches();
  }
  if (!settings.instant_copies) {
    copies_ = std::make_unique<runtime::DmaCopies>(device_->gpu());
    device_->use(copies_.get());
  }
}

Simulator::~Simulator() = default;

std::uint64_t Simulator::allocate(std::uint64_t bytes) {
  return device_->allocate(bytes);
}

void Simulator::free(std::uint64_t address) {
  device_->free(address);
}

std::uint64_t Simulator::reserved_bytes() const {
  return device_->leading_room();
}

void* Simulator::allocate_shared(std::uint64_t bytes) {
  void* memory = MAP_FAILED;
  for (const int fixed : {MAP_FIXED_NOREPLACE, 0}) {
    if (memory != MAP_FAILED) break;
    memory = mmap(reinterpret_cast<void*>(next_shared_), bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  }
  if (memory == MAP_FAILED) throw std::bad_alloc();
  next_shared_ += bytes;
  device_->share(memory, bytes);
  shared_.insert(memory);
  return memory;
}

void Simulator::free_shared(void* memory, std::uint64_t bytes) {
  if (shared_.erase(memory) != 0) device_->unshare(memory);
  munmap(memory, bytes);
}

void Simulator::share(void* memory, std::uint64_t bytes) {
  device_->share(memory, bytes);
}

void Simulator::unshare(void* memory) {
  device_->unshare(memory);
}

loader::LoadedModule& Simulator::load(const std::string& ptx, const std::string& name,
                                      const loader::LoadedModule::Place& place_managed,
                                      unsigned max_registers) {
  loader::LoadedModule& loaded = device_->load_modules({{ptx, name}}, place_managed);
  if (max_registers == 0) return loaded;
  ptx::DecodeOptions options = loaded.options();
  options.max_registers =
      std::min(options.max_registers, std::max<std::uint32_t>(max_registers, ptx::kLeastRegisters));
  // sm.registers_per_thread says what occupancy to assume, whatever the program asks for.
  if (options.spill) loaded.set_options(options);
  return loaded;
}

runtime::Streams& Simulator::streams() {
  return device_->streams();
}

void Simulator::launch(runtime::StreamId stream, const Launch& launch, const Ended& ended) {
  const auto told = [ended](const dispatch::LaunchOutcome& how) {
    if (ended) ended({how.begin_ps, how.end_ps, how.cycles()});
  };
  device_->launch(stream, *launch.module, launch.kernel, launch.grid, launch.block, launch.arguments,
                  launch.dynamic_shared, told, launch.preferred_shared_percent);
}

// Notes when an operation begins and ends, by what stands before and behind it in its stream.
template <class Add>
void Simulator::timed(runtime::StreamId stream, const Ended& ended, Add&& add) {
  const auto outcome = std::make_shared<Outcome>();
  device_->call(stream, [outcome] { outcome->begin_ps = simulated_now(); });
  add();
  device_->call(stream, [outcome, ended] {
    outcome->end_ps = simulated_now();
    if (ended) ended(*outcome);
  });
}

void Simulator::copy(runtime::StreamId stream, const runtime::Area& to, const runtime::Area& from,
                     const runtime::Box& box, const Ended& ended) {
  timed(stream, ended, [&] { device_->copy(stream, to, from, box); });
}

void Simulator::fill(runtime::StreamId stream, const runtime::Area& to, const runtime::Box& box,
                     std::uint32_t pattern, const Ended& ended) {
  timed(stream, ended, [&] { device_->fill(stream, to, box, pattern); });
}

void Simulator::call(runtime::StreamId stream, std::function<void()> function) {
  device_->call_outside(stream, std::move(function));
}

void Simulator::synchronise() {
  device_->synchronise();
}

void Simulator::synchronise(runtime::StreamId stream) {
  device_->synchronise(stream);
}

void Simulator::wait_for(runtime::EventId event) {
  device_->wait_for(event);
}

Backend::Advance Simulator::advance(const std::function<bool()>& stop) {
  using Ended = runtime::Device::Advance;
  const Ended ended = device_->advance(stop);
  return ended == Ended::kDone      ? Advance::kDone
         : ended == Ended::kStopped ? Advance::kStopped
                                    : Advance::kKernelsWait;
}

FaultKind Simulator::fault_kind() const {
  return device_->gpu().fault_kind();
}

std::string Simulator::take_output() {
  return device_->take_output();
}

void Simulator::set_limits(const runtime::DeviceLimits& limits) {
  device_->set_limits(limits);
}

void Simulator::reset() {
  device_->reset();
  shared_.clear();
}

void Simulator::set_timed(bool timed) {
  device_->set_timed(timed);
}

void Simulator::ended(int status) {
  if (debugger_ != nullptr) debugger_->ended(status);
}

}  // namespace weft::cuda
