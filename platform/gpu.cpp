#include "weft/platform/gpu.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "common/number.h"
#include "crossbar/crossbar.h"
#include "functional/engine.h"
#include "gddr5/gddr5_channel.h"
#include "host/host_interface.h"
#include "l2/l2_bank.h"
#include "platform/energy_columns.h"
#include "platform/hop_observers.h"
#include "platform/host_control.h"
#include "platform/instruction_table.h"
#include "platform/launches.h"
#include "platform/sampler.h"
#include "platform/sm_columns.h"
#include "platform/system_side.h"
#include "platform/timeline.h"
#include "platform/utilisation.h"
#include "platform/watchdog.h"
#include "platform/waveforms.h"
#include "sm/sm.h"
#include "texture/table.h"
#include "weft/common/error.h"

namespace weft {
namespace {

Beats beats_of(const sm::Sm& sm) {
  return {sm.lanes(), sm.beats_in_a_cycle()};
}

static_assert(sm::kMostSms + 1 <= crossbar::Crossbar::kMostRequesters, "the host side has a place, too");

}  // namespace

struct Gpu::Impl final : sm::SmListener {
  Impl(const GpuConfig& c, const Options& o, Gpu& gpu);

  void make_memory();
  void connect();
  void exchange() { system.exchange(pages, kPageBytes); }
  void begun(const execute::Kernel& kernel, Cycle now, bool alone);
  void stop(const Fault& why, unsigned guilty = Launches::kNoSm);
  bool run_untimed(execute::Kernel& kernel);
  void bind();
  void reset();
  void archive(Archive& archive);
  void settle() {
    for (auto& sm : sms) sm.settle();
  }
  EnergyColumns* energy_columns() { return energy.has_value() ? &*energy : nullptr; }
  Waveforms& made_waveforms(const std::string& where);
  void block_retired(unsigned sm) override { launches.dispatcher().block_retired(sm); }
  void registers_freed(unsigned) override { launches.dispatcher().poke(); }
  void sm_drained(unsigned) override { launches.dispatcher().poke(); }
  void faulted(unsigned sm, const Fault& why) override { stop(why, sm); }

  execute::DeviceMemoryView untimed_view() {
    exchange();
    execute::DeviceMemoryView memory = view();
    memory.image = image.data();
    memory.untimed = true;
    return memory;
  }
  execute::DeviceMemoryView view() const {
    unsigned char* const bytes = system.has_carve_out() ? image.data() : nullptr;
    return {bytes, device_base, image.bytes(), pages.data(), 12, services, &objects, windows, false};
  }

  const GpuConfig config;
  const Options options;
  const std::uint64_t device_base = config.sm.addresses.device_base;
  ClockDomain memory_clock, interconnect_clock, core;
  gddr5::MemoryImage image;
  const gddr5::AddressMap map;
  std::deque<gddr5::Gddr5Channel> channels;
  std::deque<l2::L2Bank> l2;
  SystemSide system;
  execute::SystemMemory* const windows;  // nullptr: kernels reach none
  crossbar::Crossbar crossbar;
  HostControl host_control;
  host::HostInterface host;
  std::deque<sm::Sm> sms;
  HopObservers observers;
  Launches launches;
  Watchdog watchdog;
  std::optional<Sampler> sampler;  // after the parts that it looks at
  std::optional<LaunchLog> log;
  sm::InstructionProfile own_profile;               // with sm.observe.instructions
  const sm::InstructionProfile* profile = nullptr;  // nullptr: instructions are not counted

  statistics::Group tree;
  statistics::Columns columns;          // of all SMs together
  std::optional<EnergyColumns> energy;  // sm.observe.events
  std::optional<Waveforms> waveforms;   // after the parts that they look at
  std::optional<Timeline> timeline;     // after these, whose signals it reads
  execute::DeviceServices* services = nullptr;
  std::vector<std::uint8_t> pages;  // per page of device memory: allocated?
  texture::Table objects;
  execute::OperationTables operation_tables;
  execute::AccessObserver* observer = nullptr;
  functional::Engine engine;
  std::function<bool()> interrupted;
  std::function<void()> rests;
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
      system(config, image),
      windows(system.windows()),
      crossbar("crossbar", config.crossbar, interconnect_clock, map, static_cast<unsigned>(c.sm.count),
               map.ports(), c.system.enabled, 1),
      host_control(gpu, image, system, core),
      host("host", config.host, interconnect_clock, host_control, config.sm.addresses, image.bytes(),
           map.chunk_bytes()),
      observers(options.monitors, options.observations),
      // Checks are of one launch at a time: with an observer they do not overlap.
      launches(config, core, make_sms(),
               {[this] { return view(); }, [this] { return observer == nullptr; },
                [this](const execute::Kernel& kernel, Cycle now, bool alone) { begun(kernel, now, alone); },
                [this] {
                  watchdog.stop();
                  idle.notify(sc_core::SC_ZERO_TIME);
                },
                [this](const execute::Kernel& kernel, Cycle last) {
                  if (timeline.has_value()) timeline->launch_ended(kernel, last);
                },
                [this] {
                  if (rests) rests();
                }}),
      watchdog(core, c.watchdog.cycles, sms),
      pages((c.gddr5.bytes + kPageBytes - 1) / kPageBytes, 0),
      engine(config.sm, config.clocks.core_mhz) {
  // At equal times memory goes before interconnect, and interconnect before core.
  interconnect_clock.runs_after(memory_clock);
  core.runs_after(memory_clock);
  core.runs_after(interconnect_clock);
  for (ClockDomain* clock : {&memory_clock, &interconnect_clock, &core})
    clock->set_sleeping(options.sleeping);

  make_memory();
  connect();
  for (auto& sm : sms) sm.carry_data(observers.see_data());
  for (auto& bank : l2) bank.carry_data(observers.see_data());
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
  system.on_attached = [this] { host.withdraw_access(); };
  system.on_written = [this](std::uint64_t address, const tlm::tlm_generic_payload& write) {
    for (auto& sm : sms) sm.update_system_lines(address, write);
  };
  system.on_withdrawn = [this](std::uint64_t first, std::uint64_t last) {
    for (auto& sm : sms) sm.drop_system_lines(first, last);
  };
}

void Gpu::Impl::connect() {
  const auto join = [this](auto& initiator, auto& target, const std::string& name) {
    observers.join(initiator, target, {name, image.bytes()});
  };
  for (unsigned i = 0; i < sms.size(); ++i) {
    join(sms[i].memory_socket, crossbar.sm_sockets[i], "hop_sm" + std::to_string(i));
  }
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

void Gpu::Impl::begun(const execute::Kernel& kernel, Cycle now, bool alone) {
  if (windows != nullptr) windows->ask_again();
  exchange();
  if (observer != nullptr) observer->kernel_started(kernel, static_cast<unsigned>(sms.size()));
  if (alone) watchdog.start(now);
  if (waveforms.has_value()) waveforms->recordings().wake();
  if (timeline.has_value()) timeline->launch_began(kernel, launches.begun(), now + 1);
  if (alone && sampler.has_value()) sampler->begun(now);
}

// The first level holds bytes of system memory that the kernel may have changed.
bool Gpu::Impl::run_untimed(execute::Kernel& kernel) {
  if (windows != nullptr) windows->ask_again();
  engine.observe(observer);
  const Fault why = engine.run(kernel, untimed_view(), [this] { return interrupted && interrupted(); });
  exchange();
  for (auto& sm : sms) sm.drop_system_lines(0, UINT64_MAX);
  if (why) stop(engine.was_interrupted() ? Fault{FaultKind::kStopped, "interrupted"} : why);
  return !why;
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
  settle();
  for (auto& sm : sms) sm.charge_cycles();
  if (sampler.has_value()) sampler->finish();
  if (log.has_value()) log->forget();
  if (timeline.has_value()) timeline->reset();
  for (ClockDomain* clock : {&memory_clock, &interconnect_clock, &core}) clock->reset();
  // From memory towards the SMs: who holds a payload drops it before its owner frees it.
  for (auto& channel : channels) channel.reset();
  for (auto& bank : l2) bank.reset();
  system.reset_ports();
  crossbar.reset();
  host.reset();
  objects.clear();
  for (auto& sm : sms) sm.reset();
  observers.reset();
  launches.reset();
  watchdog.stop();
  system.reset_memory();
  std::fill(pages.begin(), pages.end(), std::uint8_t{0});
  tree.reset();
  fault = {};
  engine.reset();
  if (waveforms.has_value()) waveforms->recordings().reset();
  if (sampler.has_value()) sampler->reset();
  if (log.has_value()) log->reset();
}

// The host side has had nothing to do, and the watchdog begins anew with the next launch.
void Gpu::Impl::archive(Archive& archive) {
  archive.mark("clocks");
  memory_clock.archive(archive);
  interconnect_clock.archive(archive);
  core.archive(archive, launches.dispatcher().clock_index());
  archive.mark("memory");
  for (auto& channel : channels) archive(channel);
  for (auto& bank : l2) archive(bank);
  archive(crossbar);
  archive.mark("sm");
  for (auto& sm : sms) archive(sm);
  archive.mark("launches");
  archive(launches);
  archive.mark("statistics");
  archive(tree);
  if (sampler.has_value()) archive(*sampler);
  if (log.has_value()) archive(*log);
}

void Gpu::Impl::bind() {
  statistics::Group& gpu = tree.group("gpu");
  gpu.derived("cycles", statistics::Quantity::kSum, units::kCycles,
              "core cycles in which a launch was active",
              [this] { return static_cast<double>(launches.cycles()); });
  gpu.counter("launches", units::kLaunches, "kernels started", launches.begun());
  for (unsigned i = 0; i < sms.size(); ++i) sms[i].bind(tree.group("sm", i));
  columns = sm_columns(tree.groups({"sm"}));
  crossbar.bind(tree.group("crossbar"));
  system.bind(tree);
  for (unsigned i = 0; i < l2.size(); ++i) l2[i].bind(tree.group("l2", i));
  for (unsigned i = 0; i < channels.size(); ++i) channels[i].bind(tree.group("gddr5", i));
  if (config.sm.observe.events) energy.emplace(tree, config);
}

Gpu::Gpu(sc_core::sc_module_name name, const GpuConfig& config, const Options& options)
    : sc_module(name),
      impl_(std::make_unique<Impl>(config.checked(this->name()), options, *this)),
      host_socket(impl_->host.host_socket()),
      dma_socket(impl_->host.dma_socket()),
      irq(impl_->host.irq),
      queue_irq(impl_->host.queue_irq),
      reset_in(impl_->host.reset_in) {
  profile(nullptr);
}
Gpu::~Gpu() = default;

void Gpu::start_of_simulation() {
  impl_->system.attach(name(), impl_->host.dma_bound());
}

// Statistics of the host side are there where it is.
void Gpu::end_of_elaboration() {
  if (!impl_->host.used()) return;
  impl_->host.bind(impl_->tree.group("host"));
  impl_->crossbar.bind_other(impl_->tree.group("host"), 0);
}

std::shared_ptr<execute::Kernel> Gpu::prepare(const dispatch::Launch& launch) const {
  const GpuConfig& config = impl_->config;
  auto kernel = std::make_shared<execute::Kernel>(launch, config.sm, config.warp_formation.warp_size,
                                                  &impl_->operation_tables);
  impl_->sms.front().check_warps(*kernel);
  execute::check_addresses(*kernel, impl_->device_base, impl_->image.bytes());
  return kernel;
}

void Gpu::launch(const dispatch::Launch& launch) {
  enqueue(prepare(launch));
}

bool Gpu::run_untimed(const dispatch::Launch& launch) {
  functional::check(*launch.program);
  const auto kernel = prepare(launch);
  return !faulted() && impl_->run_untimed(*kernel);
}

void Gpu::interrupt_untimed(std::function<bool()> interrupted) {
  impl_->interrupted = std::move(interrupted);
}

const functional::Counters& Gpu::untimed_counters() const {
  return impl_->engine.counters();
}

void Gpu::enqueue(const std::shared_ptr<execute::Kernel>& kernel) {
  dispatch::Launch& launch = kernel->launch;
  if (faulted()) {
    dispatch::LaunchOutcome outcome;
    outcome.end = dispatch::LaunchOutcome::End::kStopped;
    outcome.fault = fault();
    if (launch.done) launch.done(outcome);
    return;
  }
  if (impl_->system.has_carve_out()) {
    launch.done = [gpu = impl_.get(), done = launch.done](const dispatch::LaunchOutcome& outcome) {
      gpu->exchange();
      if (done) done(outcome);
    };
  }
  impl_->launches.push(kernel);
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
void Gpu::when_launches_rest(std::function<void()> rests) {
  impl_->rests = std::move(rests);
}
void Gpu::archive(Archive& archive) {
  impl_->archive(archive);
}
std::string Gpu::cannot_be_kept() const {
  const GpuConfig& config = impl_->config;
  if (config.system.enabled) return "kernels reach system memory (system.enabled), which is not the GPU's";
  if (config.carve_out.enabled) return "device memory lies in system memory (carve_out.enabled)";
  if (impl_->host.used()) return "a host drives it through its sockets";
  if (impl_->waveforms.has_value() || impl_->observers.any() || impl_->observer != nullptr)
    return "it is watched by a waveform, a timeline, monitors or checks";
  if (impl_->profile != nullptr) return "its instructions are counted (sm.observe.instructions)";
  if (!impl_->sms.front().can_be_kept()) {
    return "the scheme '" + config.warp_formation.scheme +
           "' does not say what it remembers from launch to launch (WarpFormation::archive)";
  }
  return "";
}
const GpuConfig& Gpu::config() const {
  return impl_->config;
}
std::uint64_t Gpu::device_base() const {
  return impl_->device_base;
}
gddr5::MemoryImage& Gpu::memory() {
  return impl_->image;
}
texture::Table& Gpu::objects() {
  return impl_->objects;
}
execute::DeviceMemoryView Gpu::memory_view() const {
  return impl_->untimed_view();
}
void Gpu::observe(execute::AccessObserver* observer) {
  impl_->observer = observer;
  for (auto& sm : impl_->sms) sm.observe(observer);
}
void Gpu::profile(sm::InstructionProfile* profile) {
  Impl& gpu = *impl_;
  if (profile == nullptr && gpu.config.sm.observe.instructions) profile = &gpu.own_profile;
  gpu.profile = profile;
  for (auto& sm : gpu.sms) sm.profile(profile);
}
const sm::InstructionProfile* Gpu::profile() const {
  return impl_->profile;
}
statistics::Group& Gpu::statistics() {
  impl_->settle();
  return impl_->tree;
}

void Gpu::when_spinning(std::function<bool()> may_be_helped) {
  impl_->watchdog.may_be_helped = std::move(may_be_helped);
}
void Gpu::provide(execute::DeviceServices* services) {
  impl_->services = services;
}

std::uint32_t Gpu::blocks_per_sm(const dispatch::Launch& launch) const {
  for (unsigned d = 0; d < 3; ++d) {
    if (launch.block[d] > dispatch::kMostThreads[d]) return 0;  // nor may the product wrap around
  }
  const std::uint64_t threads = launch.threads_per_block();
  if (threads > execute::declared_most_threads(*launch.program)) return 0;
  const GpuConfig& config = impl_->config;
  const execute::BlockNeeds needs =
      execute::needs_of(*launch.program, threads, launch.dynamic_shared, config.sm);
  return static_cast<std::uint32_t>(
      execute::blocks_that_fit(needs, config.sm, config.warp_formation.warp_size));
}

ptx::DecodeOptions Gpu::decode_options() const {
  return execute::decode_options(impl_->config.sm);
}

std::uint32_t Gpu::registers_to_fit(const ptx::Program& program, std::uint64_t threads) const {
  return execute::registers_to_fit(program, threads, impl_->config.sm,
                                   impl_->config.warp_formation.warp_size);
}

std::uint64_t Gpu::local_memory_bytes(const dispatch::Launch& launch) const {
  if (launch.program->local_bytes == 0 && !launch.program->recursive) return 0;
  return execute::local_area_bytes(launch, impl_->config.sm, impl_->config.warp_formation.warp_size);
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
  const std::uint64_t base = impl_->device_base;
  if (bytes == 0 || address < base) return;
  const std::uint64_t pages = impl_->pages.size();
  const std::uint64_t first = std::min((address - base) / kPageBytes, pages);
  const std::uint64_t last = std::min((address - base + bytes - 1) / kPageBytes + 1, pages);
  std::fill(impl_->pages.begin() + static_cast<std::ptrdiff_t>(first),
            impl_->pages.begin() + static_cast<std::ptrdiff_t>(last), static_cast<std::uint8_t>(mapped));
}

Totals Gpu::totals() const {
  impl_->settle();
  Totals totals;
  totals.cycles = impl_->launches.cycles();
  totals.lanes = impl_->sms[0].lanes();
  totals.beats_in_a_cycle = impl_->sms[0].beats_in_a_cycle();
  statistics::Snapshot now(impl_->columns.size());
  now.take(impl_->columns);
  const SmValues values(now);
  totals.thread_instructions = values[SmColumn::kThreadInstructions];
  totals.executed_thread_instructions = values[SmColumn::kExecutedThreadInstructions];
  totals.warp_instructions = values[SmColumn::kWarpInstructions];
  totals.ipc = values.ipc(totals.cycles);
  totals.lane_activity = values.lane_activity(totals.lanes);
  totals.idle_share = values.idle_share();
  totals.idle_share_blocked = values.idle_share_blocked();
  totals.idle_share_k = values.idle_share_k(beats_of(impl_->sms[0]));
  totals.depth_utilisation = values.depth_utilisation();
  totals.coalescing_rate = values.coalescing_rate();
  // The mean over warp instructions of active threads / warp size, if all warps are of one size. Where the
  // scheme issues several as one, each instruction weighs as many warps.
  const std::uint64_t places = values.thread_places(impl_->sms[0].warp_width(), totals.lanes);
  totals.simd_efficiency =
      places == 0 ? 0 : static_cast<double>(totals.thread_instructions) / static_cast<double>(places);
  return totals;
}

std::vector<Utilisation> Gpu::utilisation() const {
  impl_->settle();
  return utilisation_of(impl_->tree, impl_->config, impl_->launches.cycles());
}

Bound Gpu::bound() const {
  return bound_of(utilisation(), impl_->tree);
}

Progress Gpu::progress() const {
  Progress progress;
  progress.blocks_done = impl_->launches.dispatcher().blocks_done();
  progress.blocks_total = impl_->launches.dispatcher().blocks();
  progress.cycles = impl_->launches.cycles();
  progress.thread_instructions =
      impl_->columns[static_cast<std::size_t>(SmColumn::kThreadInstructions)].sum.value();
  return progress;
}

std::string_view Gpu::kernel_of(unsigned sm) const {
  return impl_->launches.kernel_of(sm);
}

std::string Gpu::violations() const {
  const bool complete = idle() && !faulted() && impl_->host.quiet() && impl_->system.quiet();
  return impl_->observers.violations(complete);
}

// The clock's process is already asleep when the simulation runs, and a part added then would not be stepped.
Waveforms& Gpu::Impl::made_waveforms(const std::string& where) {
  if (!sm::kTracing) throw InputError(where, "this build of Weft writes no waveforms (WEFT_TRACE=OFF)");
  if (sc_core::sc_start_of_simulation_invoked())
    throw InputError(where, "waveforms can be asked for before the simulation starts, not later");
  if (!waveforms.has_value()) {
    waveforms.emplace(Waveforms::Parts{core, sms, crossbar, l2, channels, system, host, launches, tree,
                                       energy_columns(), [this] { return static_cast<bool>(fault); }});
  }
  return *waveforms;
}

void Gpu::write_waveform(const std::string& file, const SignalSelection& selection) {
  Waveforms& waveforms = impl_->made_waveforms(file);
  waveforms.recordings().write(file, basename(), waveforms.comments(), selection);
}

void Gpu::close_waveforms() {
  if (impl_->waveforms.has_value()) impl_->waveforms->recordings().close();
}

void Gpu::write_timeline(const std::string& file, const TimelineSelection& selection) {
  Impl& gpu = *impl_;
  Waveforms& waveforms = gpu.made_waveforms(file);
  if (gpu.timeline.has_value()) throw InputError(file, "a timeline can be asked for once");
  gpu.timeline.emplace(Timeline::Parts{gpu.core, gpu.sms, gpu.host, waveforms.probes(), gpu.tree,
                                       [&waveforms] { return waveforms.busy(); }},
                       file, selection);
  gpu.host.watch([&gpu] {
    gpu.waveforms->recordings().wake();
    gpu.timeline->wake();
  });
}

std::string Gpu::close_timeline() {
  if (!impl_->timeline.has_value()) return "";
  impl_->timeline->close();
  return impl_->timeline->ended_early();
}

void Gpu::trace(sc_core::sc_trace_file* file, const SignalSelection& selection) const {
  if (file == nullptr) throw InputError(name(), "no trace file is given for its waveforms");
  impl_->made_waveforms(name()).recordings().trace(file, name(), selection, name());
}

void Gpu::trace(sc_core::sc_trace_file* file) const {
  trace(file, SignalSelection());
}

std::vector<std::string> Gpu::signals() const {
  std::vector<std::string> names;
  for (const Probes::Probe& probe : impl_->made_waveforms(name()).probes().all()) names.push_back(probe.name);
  return names;
}

void Gpu::sample(std::uint64_t interval, std::size_t most_rows) {
  require("interval of samples, in core cycles", interval, {1, kMostSampleInterval});
  if (impl_->sampler.has_value() || sc_core::sc_start_of_simulation_invoked())
    throw InputError(name(), "samples can be asked for once, before the simulation starts");
  Impl& gpu = *impl_;
  gpu.sampler.emplace(Sampler::Parts{gpu.core, gpu.sms, gpu.tree, gpu.config.sm.schedulers,
                                     beats_of(gpu.sms[0]), [&gpu] { return gpu.launches.active(); },
                                     gpu.energy_columns(), [&gpu] { return gpu.launches.cycles(); }},
                      interval, most_rows);
}

void Gpu::write_down_launches() {
  if (impl_->log.has_value() || sc_core::sc_start_of_simulation_invoked())
    throw InputError(name(), "a table of launches can be asked for once, before the simulation starts");
  const GpuConfig& config = impl_->config;
  const sm::Sm& sm = impl_->sms[0];
  impl_->log.emplace(impl_->tree,
                     LaunchLog::Machine{config.sm.schedulers, beats_of(sm), sm.warp_width(),
                                        config.crossbar.sms_per_interface},
                     impl_->energy_columns());
  impl_->launches.write_down(&*impl_->log);
}

std::string Gpu::samples() {
  if (!impl_->sampler.has_value()) return "";
  impl_->sampler->finish();
  return impl_->sampler->csv();
}

std::string Gpu::power() {
  if (!impl_->sampler.has_value()) return "";
  impl_->sampler->finish();
  return impl_->sampler->power();
}

std::string Gpu::instructions() {
  if (!impl_->config.sm.observe.instructions) return "";
  impl_->settle();
  for (auto& sm : impl_->sms) sm.charge_cycles();
  return instruction_csv(*impl_->profile);
}

std::string Gpu::launches() {
  impl_->settle();
  return impl_->log.has_value() ? impl_->log->csv() : "";
}

}  // namespace weft
