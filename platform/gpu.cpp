#include "platform/gpu.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "common/error.h"
#include "common/hop_monitor.h"
#include "host/host_interface.h"
#include "platform/host_control.h"
#include "platform/launches.h"
#include "platform/system_side.h"
#include "platform/watchdog.h"
#include "sm/sm.h"
#include "texture/table.h"
#include "vcd/gpu_waveform.h"

namespace weft {
namespace {

// The crossbar has places for 64 requesters: with as many SMs the host side gets none, and cannot be used.
constexpr unsigned kMostRequesters = 64;

unsigned crossbar_places_of_the_host(const GpuConfig& config) {
  return config.sm.count < kMostRequesters ? 1 : 0;
}

}  // namespace

struct Gpu::Impl final : sm::SmListener {
  Impl(const GpuConfig& c, const Options& o, Gpu& gpu);

  void make_memory();
  void connect();
  void memory_moved();
  void exchange() { system.exchange(pages, kPageBytes); }
  void begun(const sm::Kernel& kernel, Cycle now, bool alone);
  void stop(const Fault& why, unsigned guilty = Launches::kNoSm);
  void bind();
  void reset();
  void block_retired(unsigned sm) override { launches.dispatcher().block_retired(sm); }
  void sm_drained(unsigned) override { launches.dispatcher().poke(); }
  void faulted(unsigned sm, const Fault& why) override { stop(why, sm); }

  sm::DeviceMemoryView view() const {
    unsigned char* const bytes = system.memory_is_direct() ? nullptr : image.data();
    return {bytes, kDeviceBase, image.bytes(), pages.data(), 12, services, &objects, windows, false};
  }

  const GpuConfig config;
  const Options options;
  ClockDomain memory_clock, interconnect_clock, core;
  gddr5::MemoryImage image;
  const gddr5::AddressMap map;
  std::deque<gddr5::Gddr5Channel> channels;
  std::deque<l2::L2Bank> l2;
  SystemSide system;
  sm::SystemMemory* const windows;  // nullptr: kernels reach none
  crossbar::Crossbar crossbar;
  HostControl host_control;
  host::HostInterface host;
  std::deque<sm::Sm> sms;
  std::deque<HopMonitor> monitors;
  Launches launches;
  Watchdog watchdog;
  std::optional<vcd::GpuWaveform> waveform;  // after the parts that it looks at

  statistics::Registry registry;
  sm::DeviceServices* services = nullptr;
  std::vector<std::uint8_t> pages;  // per page of device memory: allocated?
  texture::Table objects;
  sm::AccessObserver* observer = nullptr;
  Fault fault;
  sc_core::sc_event idle;

 private:
  std::deque<sm::Sm>& make_sms() {
    for (unsigned i = 0; i < config.sm.count; ++i) {
      const std::string name = "sm" + std::to_string(i);
      sms.emplace_back(name.c_str(), i, config.sm, config.warp_formation, core, *this);
    }
    return sms;
  }
};

Gpu::Impl::Impl(const GpuConfig& c, const Options& o, Gpu& gpu)
    : config(c),
      options(o),
      memory_clock("memory_clock", c.clocks.memory_mhz),
      interconnect_clock("interconnect_clock", c.clocks.interconnect_mhz),
      core("core_clock", c.clocks.core_mhz),
      image(c.gddr5.bytes),
      map(c.gddr5.map),
      system(config, image, kDeviceBase),
      windows(system.windows()),
      crossbar("crossbar", config.crossbar, interconnect_clock, map, static_cast<unsigned>(c.sm.count),
               map.ports(), c.system.enabled, crossbar_places_of_the_host(c)),
      host_control(gpu, image, system, core),
      host("host", config.host, interconnect_clock, host_control, kDeviceBase, image.bytes(),
           map.chunk_bytes()),
      // Checks are of one launch at a time: with an observer they do not overlap.
      launches(config, core, make_sms(),
               {[this] { return view(); }, [this] { return observer == nullptr; },
                [this](const sm::Kernel& kernel, Cycle now, bool alone) { begun(kernel, now, alone); },
                [this] {
                  watchdog.stop();
                  idle.notify(sc_core::SC_ZERO_TIME);
                }}),
      watchdog(core, c.watchdog.cycles, sms),
      pages((c.gddr5.bytes + kPageBytes - 1) / kPageBytes, 0) {
  // At equal times memory goes before interconnect, and interconnect before core.
  interconnect_clock.runs_after(memory_clock);
  core.runs_after(memory_clock);
  core.runs_after(interconnect_clock);
  for (ClockDomain* clock : {&memory_clock, &interconnect_clock, &core})
    clock->set_sleeping(options.sleeping);

  make_memory();
  connect();
  watchdog.traffic = [this] { return Watchdog::Traffic{crossbar.bytes_of_sms(), crossbar.transmits()}; };
  watchdog.on_hang = [this](const std::string& what) {
    std::string dump;
    for (const auto& sm : sms) dump += sm.dump();
    stop({FaultKind::kHang, "kernel " + launches.kernel_names() + " hangs: " + what + "\n" + dump});
  };
  bind();
}

void Gpu::Impl::make_memory() {
  const unsigned banks = config.l2.enabled ? map.l2_banks() : 1;
  for (unsigned i = 0; !system.has_carve_out() && i < map.channels(); ++i) {
    const std::string name = "gddr5_" + std::to_string(i);
    channels.emplace_back(name.c_str(), config.gddr5.channel, memory_clock, image, map, i, banks);
  }
  for (unsigned i = 0; config.l2.enabled && i < map.ports(); ++i) {
    const std::string name = "l2_" + std::to_string(i);
    l2.emplace_back(name.c_str(), config.l2.bank, interconnect_clock, map, i / map.l2_banks(),
                    i % map.l2_banks());
  }
  system.make_ports(interconnect_clock, map.ports());
  system.on_memory_moved = [this] { memory_moved(); };
}

// SMs that hold a kernel know where the image was.
void Gpu::Impl::memory_moved() {
  host.memory_moved();
  if (launches.active()) {
    stop({FaultKind::kIllegalAddress,
          "direct access to device memory, which lies in system memory, was taken back while kernel " +
              launches.kernel_names() + " ran"});
  }
}

void Gpu::Impl::connect() {
  const auto join = [this](auto& initiator, auto& target, const std::string& name) {
    if (!options.monitors) {
      initiator.bind(target);
      return;
    }
    monitors.emplace_back(name.c_str());
    monitors.back().set_memory_bytes(image.bytes());
    initiator.bind(monitors.back().target);
    monitors.back().initiator.bind(target);
  };
  for (unsigned i = 0; i < sms.size(); ++i) {
    join(sms[i].memory_socket, crossbar.sm_sockets[i], "hop_sm" + std::to_string(i));
  }
  if (crossbar.sm_sockets.size() > sms.size())
    join(host.device_socket(), crossbar.sm_sockets[sms.size()], "hop_host");
  if (auto* const port = system.window_port()) {
    join(crossbar.memory_sockets[map.ports()], port->targets[0], "hop_system");
    port->system.bind(host.system_target());
  }
  auto* const carve_out = system.memory_port();
  if (carve_out != nullptr) carve_out->system.bind(host.device_memory_target());
  for (unsigned i = 0; i < map.ports(); ++i) {
    const auto below = [&](auto& initiator) {
      const std::string number = std::to_string(i);
      if (carve_out != nullptr) return join(initiator, carve_out->targets[i], "hop_carve_out_" + number);
      auto& channel = channels[i / map.l2_banks()];
      join(initiator, channel.sockets[i % map.l2_banks()], "hop_gddr5_" + number);
    };
    if (config.l2.enabled) {
      join(crossbar.memory_sockets[i], l2[i].target, "hop_l2_" + std::to_string(i));
      below(l2[i].memory);
    } else {
      below(crossbar.memory_sockets[i]);
    }
  }
}

void Gpu::Impl::begun(const sm::Kernel& kernel, Cycle now, bool alone) {
  if (windows != nullptr) windows->ask_again();
  exchange();
  if (observer != nullptr) observer->kernel_started(kernel, static_cast<unsigned>(sms.size()));
  if (alone) watchdog.start(now);
  if (waveform.has_value()) waveform->wake();
}

// Nothing moves any more after a fault, until the reset.
void Gpu::Impl::stop(const Fault& why, unsigned guilty) {
  if (fault) return;
  fault = why;
  watchdog.stop();
  launches.stop(fault.text, guilty);
  idle.notify(sc_core::SC_ZERO_TIME);
}

void Gpu::Impl::reset() {
  for (ClockDomain* clock : {&memory_clock, &interconnect_clock, &core}) clock->reset();
  // From memory towards the SMs: who holds a payload drops it before its owner frees it.
  for (auto& channel : channels) channel.reset();
  for (auto& bank : l2) bank.reset();
  system.reset_ports();
  crossbar.reset();
  host.reset();
  objects.clear();
  for (auto& sm : sms) sm.reset();
  for (auto& monitor : monitors) monitor.reset();
  launches.reset();
  watchdog.stop();
  system.reset_memory();
  std::fill(pages.begin(), pages.end(), std::uint8_t{0});
  registry.reset();
  fault = {};
  if (waveform.has_value()) waveform->reset();
}

void Gpu::Impl::bind() {
  registry.derived("gpu.cycles", "cycles", "core cycles in which a launch was active",
                   [this] { return static_cast<double>(launches.cycles()); });
  registry.counter("gpu.launches", "launches", "kernels started", launches.begun());
  for (unsigned i = 0; i < sms.size(); ++i) sms[i].bind(registry, "sm" + std::to_string(i));
  crossbar.bind(registry, "crossbar");
  system.bind(registry);
  for (unsigned i = 0; i < l2.size(); ++i) l2[i].bind(registry, "l2_" + std::to_string(i));
  for (unsigned i = 0; i < channels.size(); ++i) channels[i].bind(registry, "gddr5_" + std::to_string(i));
}

Gpu::Gpu(sc_core::sc_module_name name, const GpuConfig& config, const Options& options)
    : sc_module(name),
      impl_(std::make_unique<Impl>(config.checked(this->name()), options, *this)),
      host_socket(impl_->host.host_socket()),
      dma_socket(impl_->host.dma_socket()),
      irq(impl_->host.irq),
      reset_in(impl_->host.reset_in) {}
Gpu::~Gpu() = default;

void Gpu::start_of_simulation() {
  impl_->system.attach(name(), impl_->host.dma_bound());
}

// Statistics of the host side are there where it is.
void Gpu::end_of_elaboration() {
  const bool has_place = crossbar_places_of_the_host(impl_->config) != 0;
  if (impl_->host.host_bound() && !has_place) {
    throw InputError(name(), "host_socket is bound, and there are " + std::to_string(impl_->config.sm.count) +
                                 " SMs; allowed are up to " + std::to_string(kMostRequesters - 1));
  }
  if (!impl_->host.used()) return;
  impl_->host.bind(impl_->registry);
  if (has_place) impl_->crossbar.bind_other(impl_->registry, "host", 0);
}

void Gpu::check(const dispatch::Launch& launch) const {
  const sm::Kernel checked(launch, impl_->config.sm, impl_->config.warp_formation.warp_size);
  impl_->sms.front().check_warps(checked);
  sm::check_addresses(checked, impl_->config.sm, kDeviceBase, impl_->image.bytes());
}

void Gpu::launch(const dispatch::Launch& launch) {
  check(launch);
  enqueue(launch);
}

void Gpu::enqueue(const dispatch::Launch& launch) {
  if (faulted()) {
    dispatch::LaunchOutcome outcome;
    outcome.end = dispatch::LaunchOutcome::End::kStopped;
    outcome.fault = fault();
    if (launch.done) launch.done(outcome);
    return;
  }
  if (!impl_->system.has_carve_out()) return impl_->launches.push(launch);
  dispatch::Launch exchanged = launch;
  exchanged.done = [gpu = impl_.get(), done = launch.done](const dispatch::LaunchOutcome& outcome) {
    gpu->exchange();
    if (done) done(outcome);
  };
  impl_->launches.push(exchanged);
}

bool Gpu::idle() const {
  return impl_->launches.idle();
}
const sc_core::sc_event& Gpu::idle_event() const {
  return impl_->idle;
}
bool Gpu::faulted() const {
  return static_cast<bool>(impl_->fault);
}
const std::string& Gpu::fault() const {
  return impl_->fault.text;
}
FaultKind Gpu::fault_kind() const {
  return impl_->fault.kind;
}
host::DmaEngine& Gpu::dma() {
  return impl_->host.dma();
}
const std::string& Gpu::host_error() const {
  return impl_->host.error_text();
}
void Gpu::abandon(const Fault& reason) {
  impl_->stop(reason);
}
void Gpu::reset() {
  impl_->reset();
}
const GpuConfig& Gpu::config() const {
  return impl_->config;
}
gddr5::MemoryImage& Gpu::memory() {
  return impl_->image;
}
texture::Table& Gpu::objects() {
  return impl_->objects;
}
sm::DeviceMemoryView Gpu::memory_view() const {
  impl_->exchange();
  sm::DeviceMemoryView view = impl_->view();
  view.image = impl_->image.data();
  view.untimed = true;
  return view;
}
void Gpu::observe(sm::AccessObserver* observer) {
  impl_->observer = observer;
  for (auto& sm : impl_->sms) sm.observe(observer);
}
void Gpu::profile(sm::InstructionProfile* profile) {
  for (auto& sm : impl_->sms) sm.profile(profile);
}
statistics::Registry& Gpu::statistics() {
  return impl_->registry;
}

void Gpu::when_spinning(std::function<bool()> may_be_helped) {
  impl_->watchdog.may_be_helped = std::move(may_be_helped);
}
void Gpu::provide(sm::DeviceServices* services) {
  impl_->services = services;
}

std::uint32_t Gpu::blocks_per_sm(const dispatch::Launch& launch) const {
  for (unsigned d = 0; d < 3; ++d) {
    if (launch.block[d] > dispatch::kMostThreads[d]) return 0;  // nor may the product wrap around
  }
  const std::uint64_t threads = launch.threads_per_block();
  if (threads > sm::declared_most_threads(*launch.program)) return 0;
  const GpuConfig& config = impl_->config;
  const sm::BlockNeeds needs = sm::needs_of(*launch.program, threads, launch.dynamic_shared, config.sm);
  return static_cast<std::uint32_t>(sm::blocks_that_fit(needs, config.sm, config.warp_formation.warp_size));
}

ptx::DecodeOptions Gpu::decode_options() const {
  return sm::decode_options(impl_->config.sm);
}

std::uint32_t Gpu::registers_to_fit(const ptx::Program& program, std::uint64_t threads) const {
  return sm::registers_to_fit(program, threads, impl_->config.sm, impl_->config.warp_formation.warp_size);
}

std::uint64_t Gpu::local_memory_bytes(const dispatch::Launch& launch) const {
  if (launch.program->local_bytes == 0 && !launch.program->recursive) return 0;
  return sm::local_area_bytes(sm::Kernel(launch, impl_->config.sm, impl_->config.warp_formation.warp_size),
                              impl_->config.sm);
}

void Gpu::add_system_window(std::uint64_t base, std::uint64_t bytes) {
  if (impl_->windows == nullptr) {
    throw InputError(name(), "has no way to system memory; system.enabled in its configuration is false");
  }
  impl_->windows->add_window(base, bytes);
  impl_->host.space().add(base, bytes);
}

void Gpu::remove_system_window(std::uint64_t base) {
  if (impl_->windows != nullptr) impl_->windows->remove_window(base);
  impl_->host.space().remove(base);
}

void Gpu::map(std::uint64_t address, std::uint64_t bytes, bool mapped) {
  if (bytes == 0 || address < kDeviceBase) return;
  const std::uint64_t pages = impl_->pages.size();
  const std::uint64_t first = std::min((address - kDeviceBase) / kPageBytes, pages);
  const std::uint64_t last = std::min((address - kDeviceBase + bytes - 1) / kPageBytes + 1, pages);
  std::fill(impl_->pages.begin() + static_cast<std::ptrdiff_t>(first),
            impl_->pages.begin() + static_cast<std::ptrdiff_t>(last), static_cast<std::uint8_t>(mapped));
}

Totals Gpu::totals() const {
  Totals totals;
  totals.cycles = impl_->launches.cycles();
  double active_lanes = 0, beats = 0, idle = 0, scheduler_cycles = 0;
  std::uint64_t accesses = 0, requests = 0;
  for (const auto& sm : impl_->sms) {
    const auto& c = sm.counters();
    totals.thread_instructions += c.thread_instructions;
    totals.warp_instructions += c.warp_instructions;
    active_lanes += static_cast<double>(c.active_lanes);
    beats += static_cast<double>(c.active_beats);
    accesses += sm.load_store_unit().memory_thread_instructions();
    requests += sm.load_store_unit().data_requests();
    for (unsigned s = 0; s < impl_->config.sm.schedulers; ++s) {
      const auto& buckets = sm.buckets(s);
      for (unsigned b = 0; b < buckets.size(); ++b) {
        scheduler_cycles += static_cast<double>(buckets[b]);
        const auto stall = static_cast<warp_formation::Stall>(b);
        const bool had_ready_warp = stall == warp_formation::Stall::kNone ||
                                    stall == warp_formation::Stall::kUnitBusy ||
                                    stall == warp_formation::Stall::kMemoryBusy;
        if (!had_ready_warp) idle += static_cast<double>(buckets[b]);
      }
    }
  }
  const auto ratio = [](double a, double b) { return b == 0 ? 0 : a / b; };
  totals.ipc = ratio(static_cast<double>(totals.thread_instructions), static_cast<double>(totals.cycles));
  totals.lane_activity = ratio(active_lanes, beats * static_cast<double>(impl_->config.sm.simd_width));
  // The mean over warp instructions of active threads / warp size, if all warps are of one size. Where the
  // scheme issues several as one, each instruction weighs as many warps.
  const unsigned warp_width = impl_->sms[0].warp_width();
  totals.simd_efficiency = ratio(static_cast<double>(totals.thread_instructions),
                                 warp_width != 0 ? static_cast<double>(totals.warp_instructions * warp_width)
                                                 : beats * static_cast<double>(impl_->config.sm.simd_width));
  totals.idle_share = ratio(idle, scheduler_cycles);
  totals.coalescing_rate = ratio(static_cast<double>(accesses), static_cast<double>(requests));
  return totals;
}

Progress Gpu::progress() const {
  Progress progress;
  progress.blocks_done = impl_->launches.dispatcher().blocks_done();
  progress.blocks_total = impl_->launches.dispatcher().blocks();
  progress.cycles = impl_->launches.cycles();
  for (const auto& sm : impl_->sms) progress.thread_instructions += sm.counters().thread_instructions;
  return progress;
}

std::string Gpu::violations() const {
  const bool complete = idle() && !faulted() && impl_->host.quiet() && impl_->system.quiet();
  std::string text;
  for (auto& monitor : impl_->monitors) {
    if (complete) monitor.check_complete();
    const std::string report = monitor.report();
    if (!report.empty()) text += std::string(monitor.name()) + ":\n" + report;
  }
  return text;
}

void Gpu::trace(const std::string& file, std::uint64_t first_cycle, std::uint64_t last_cycle) {
  if (!sm::kTracing) throw InputError(file, "this build of Weft writes no waveforms (WEFT_TRACE=OFF)");
  if (last_cycle < first_cycle) {
    throw InputError(file, "waveform of core cycles " + std::to_string(first_cycle) + " to " +
                               std::to_string(last_cycle) + "; allowed is an end at or after the start");
  }
  // The clock's process is already asleep when the simulation runs, and a part added then would not be
  // stepped.
  if (impl_->waveform.has_value() || sc_core::sc_start_of_simulation_invoked()) {
    throw InputError(file, "one waveform can be asked for, before the simulation starts");
  }
  Impl& gpu = *impl_;
  const auto launches = [&gpu] {
    vcd::LaunchState state;
    state.active = gpu.launches.active();
    state.faulted = static_cast<bool>(gpu.fault);
    state.launches = gpu.launches.begun();
    state.blocks_done = gpu.launches.dispatcher().blocks_done();
    state.blocks_total = gpu.launches.dispatcher().blocks();
    state.kernel = gpu.launches.kernel_names();
    return state;
  };
  gpu.waveform.emplace(file, basename(), vcd::Window{first_cycle, last_cycle},
                       vcd::Parts{gpu.core, gpu.sms, gpu.l2, gpu.channels, launches});
}

void Gpu::close_trace() {
  if (impl_->waveform.has_value()) impl_->waveform->close();
}

}  // namespace weft
