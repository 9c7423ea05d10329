#include "host/host_interface.h"

#include <algorithm>

namespace weft::host {
namespace {

std::deque<CommandQueue> queues_of(const Config& config, Bus& bus, DmaEngine& dma, KernelCache& cache,
                                   GpuControl& gpu, Events& events, ClockDomain& domain) {
  std::deque<CommandQueue> queues;
  for (std::uint32_t i = 0; i < config.queues; ++i) {
    queues.emplace_back(i, config, CommandQueue::Parts{bus, dma, cache, gpu, events, domain});
  }
  return queues;
}

Config with_bursts_up_to(std::uint64_t bytes, Config config) {
  config.burst_bytes = std::min(config.burst_bytes, bytes);
  return config;
}

}  // namespace

HostInterface::HostInterface(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
                             GpuControl& gpu, std::uint64_t device_base, std::uint64_t device_bytes,
                             std::uint64_t device_chunk)
    : sc_module(name),
      irq("irq"),
      reset_in("reset_in"),
      domain_(domain),
      gpu_(gpu),
      space_(device_base, device_bytes, kWindows),
      dma_port_("dma", config.dma_transport, 3),
      device_(
          "device", with_bursts_up_to(device_chunk, config), device_base,
          [this](std::uint64_t address, std::uint64_t bytes) {
            return space_.place_of(address, bytes) == Place::kDevice;
          },
          domain),
      system_(
          "system", config, 0,
          [this](std::uint64_t address, std::uint64_t bytes) {
            return dma_port_.bound() && space_.place_of(address, bytes) == Place::kSystem;
          },
          domain),
      bus_(space_, device_, system_),
      dma_(config, bus_, domain),
      cache_(space_, gpu),
      queues_(queues_of(config, bus_, dma_, cache_, gpu, registers_, domain)),
      registers_({space_, queues_, cache_, gpu, [this] { return in_reset(); },
                  [this] {
                    requested_ = true;
                    reset_event_.notify(sc_core::SC_ZERO_TIME);
                  },
                  [this] {
                    if (irq.size() != 0) interrupt_event_.notify(sc_core::SC_ZERO_TIME);
                  }}),
      port_(
          "port", config, registers_, bus_, device_, gpu, [this] { return in_reset(); }, domain),
      index_(domain.add(*this)) {
  system_.socket.bind(dma_port_.targets[0]);
  device_.set_index(index_);
  system_.set_index(index_);
  dma_.set_index(index_);
  port_.set_index(index_);
  for (CommandQueue& queue : queues_) queue.set_index(index_);
}

bool HostInterface::used() const {
  return port_.bound() || dma_port_.bound() || irq.size() != 0 || reset_in.size() != 0;
}

// The processes of what is connected.
void HostInterface::start_of_simulation() {
  if (!used()) return;
  const auto spawn = [](auto action, const char* name, const sc_core::sc_event& event,
                        const sc_core::sc_event* more) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&event);
    if (more != nullptr) options.set_sensitivity(more);
    sc_core::sc_spawn(action, name, &options);
  };
  spawn([this] { drive_interrupt(); }, "drive_interrupt", interrupt_event_, nullptr);
  spawn([this] { take_reset(); }, "take_reset", reset_event_,
        reset_in.size() != 0 ? &reset_in->value_changed_event() : nullptr);
  if (reset_in.size() != 0 && reset_in->read()) reset_event_.notify(sc_core::SC_ZERO_TIME);
}

// Signals may have one writer only: this process.
void HostInterface::drive_interrupt() {
  if (irq.size() == 0 || registers_.interrupt() == driven_) return;
  driven_ = registers_.interrupt();
  irq->write(driven_);
}

// A process of its own: a reset must not come in the middle of a part's step or of a call on a socket.
void HostInterface::take_reset() {
  const bool held = reset_in.size() != 0 && reset_in->read();
  const bool rises = held && !held_;
  held_ = held;
  if (!rises && !requested_) return;
  gpu_.reset();
  requested_ = false;
}

void HostInterface::reset() {
  device_.reset(true);
  system_.reset(false);
  dma_.reset();
  for (CommandQueue& queue : queues_) queue.reset();
  cache_.clear();
  for (unsigned i = 0; i < kWindows; ++i) {
    if (space_.windows()[i].enabled) gpu_.set_window(i, 0, 0);
  }
  space_.reset();
  port_.reset();
  registers_.reset();
}

// In the order in which a packet goes through them, so that none waits a cycle for another.
Cycle HostInterface::step(Cycle now) {
  Cycle next = std::min(device_.step(now), system_.step(now));
  next = std::min(next, dma_.step(now));
  for (CommandQueue& queue : queues_) next = std::min(next, queue.step(now));
  return std::min(next, port_.step(now));
}

void HostInterface::bind(statistics::Registry& registry) {
  registry.counter("host.doorbells", "writes", "doorbells rung", registers_.doorbells());
  registry.counter("host.errors", "errors", "errors reported to ERROR_CODE, or lost behind the first",
                   registers_.error_count());
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const std::string queue = "host.queue" + std::to_string(i);
    CommandQueue::Counters& counters = queues_[i].counters();
    registry.counter(queue + ".packets", "packets", "packets done", counters.packets);
    registry.counter(queue + ".kernels", "kernels", "kernels launched", counters.kernels);
    registry.counter(queue + ".polls", "looks", "that found a packet or a signal not ready", counters.polls);
  }
  dma_.bind(registry, "host.dma");
  device_.bind(registry, "host.device");
  system_.bind(registry, "host.system");
  port_.bind(registry, "host.port");
}

}  // namespace weft::host
