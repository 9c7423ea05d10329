#include "weft/platform/gpu.h"

#include <algorithm>

#include "platform/gpu_parts.h"
#include "platform/sm_columns.h"
#include "platform/utilisation.h"
#include "weft/common/error.h"

namespace weft {

Gpu::Gpu(sc_core::sc_module_name name, const GpuConfig& config, const Options& options)
    : sc_module(name),
      impl_(std::make_unique<Impl>(config.checked(this->name()), options, *this)),
      host_socket(impl_->connections.host_socket),
      dma_socket(impl_->connections.dma_socket),
      irq(impl_->connections.irq),
      queue_irq(impl_->connections.queue_irq),
      reset_in(impl_->connections.reset_in) {
  recordings().profile(nullptr);
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

Fault Gpu::run_untimed(const dispatch::Launch& launch) {
  functional::check(*launch.program);
  const auto kernel = prepare(launch);
  if (impl_->untimed.busy()) {
    throw InputError(name(),
                     "a kernel without timing waits for system memory; allowed: one that begins when "
                     "it has ended");
  }
  return impl_->run_untimed(*kernel);
}

void Gpu::run_untimed(const dispatch::Launch& launch, std::function<void(const Fault&)> ended) {
  functional::check(*launch.program);
  impl_->run_untimed(prepare(launch), std::move(ended));
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
    outcome.fault = impl_->fault;
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
  if (config.system.enabled)
    return "kernels access system memory (system.enabled), which is outside of the GPU";
  if (config.carve_out.enabled) return "device memory lies in system memory (carve_out.enabled)";
  if (impl_->host.used()) return "a host drives it through its sockets";
  if (impl_->recorders.follow_signals() || impl_->observers.any() || impl_->observer != nullptr)
    return "a waveform, a timeline, monitors or checks observe it";
  if (impl_->recorders.profile() != nullptr) return "its instructions are counted (sm.observe.instructions)";
  if (!impl_->sms.front().core().can_be_kept()) {
    return "the scheme '" + config.warp_formation.scheme +
           "' does not save its state between launches (WarpFormation::archive)";
  }
  return "";
}
const GpuConfig& Gpu::config() const {
  return impl_->config;
}
std::uint64_t Gpu::device_base() const {
  return impl_->device_base;
}
memory::MemoryImage& Gpu::memory() {
  return impl_->image;
}
void Gpu::host_copied(std::uint64_t offset, std::uint64_t bytes) {
  impl_->host_copied(offset, bytes);
}
texture::Table& Gpu::objects() {
  return impl_->objects;
}
execute::DeviceMemoryView Gpu::memory_view() const {
  return impl_->untimed_view();
}
void Gpu::observe(execute::AccessObserver* observer) {
  impl_->observer = observer;
  for (auto& view : impl_->views) view.show_to(observer);
}
void Gpu::attach(unsigned sm, sm::SmObserver& observer) {
  impl_->sms.at(sm).attach(observer);
}
void Gpu::detach(unsigned sm, const sm::SmObserver& observer) {
  impl_->sms.at(sm).detach(observer);
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
    throw InputError(name(), "cannot access system memory: system.enabled is false in its configuration");
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
  impl_->derived.each(values.run(totals.cycles, beats_of(impl_->sms[0])),
                      [&totals](const measures::Definition& row, double value) {
                        totals.derived.push_back({row.name, value});
                      });
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
  const bool complete =
      idle() && !faulted() && impl_->host.quiet() && impl_->system.quiet() && !impl_->untimed.busy();
  return impl_->observers.violations(complete);
}

Recordings& Gpu::recordings() {
  return impl_->recorders;
}
const Recordings& Gpu::recordings() const {
  return impl_->recorders;
}

void Gpu::trace(sc_core::sc_trace_file* file, const SignalSelection& selection) const {
  if (file == nullptr) throw InputError(name(), "no trace file is given for its waveforms");
  impl_->recorders.waveforms(name()).recordings().trace(file, name(), selection, name());
}

void Gpu::trace(sc_core::sc_trace_file* file) const {
  trace(file, SignalSelection());
}

}  // namespace weft
