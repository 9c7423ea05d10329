#include "host/host_interface.h"

#include <algorithm>

namespace weft::host {
namespace {

std::deque<CommandQueue> queues_of(const Config& config, const CommandQueue::Parts& parts) {
  std::deque<CommandQueue> queues;
  for (std::uint32_t i = 0; i < config.queues; ++i) queues.emplace_back(i, config, parts);
  return queues;
}

Config with_bursts_up_to(std::uint64_t bytes, Config config) {
  config.burst_bytes = std::min(config.burst_bytes, bytes);
  return config;
}

}  // namespace

HostInterface::HostInterface(sc_core::sc_module_name name, const Config& config, Connections& connections,
                             ClockDomain& domain, GpuControl& gpu, const machine::AddressWindows& map,
                             std::uint64_t device_bytes, std::uint64_t device_chunk)
    : sc_module(name),
      index_(domain.add(*this)),
      connections_(connections),
      gpu_(gpu),
      space_(map, device_bytes, kWindows),
      dma_port_("dma", config, 4, connections),
      device_(
          "device", with_bursts_up_to(device_chunk, config), map.device_base,
          [this](std::uint64_t address, std::uint64_t bytes) {
            return space_.place_of(address, bytes) == Place::kDevice;
          },
          domain, index_),
      system_(
          "system", config, 0,
          [this](std::uint64_t address, std::uint64_t bytes) {
            return dma_port_.bound() && space_.place_of(address, bytes) == Place::kSystem;
          },
          domain, index_),
      waiting_("waiting", config.burst_bytes),
      bus_(space_, device_, system_),
      dma_(config, bus_, domain),
      cache_(bus_, gpu),
      queues_(queues_of(config, {bus_, dma_, cache_, signals_, heaps_, gpu, registers_, domain,
                                 packet_observers_, [this] { return registers_.functional(); }})),
      registers_({space_, queues_, cache_, gpu, [this] { return in_reset(); },
                  [this] {
                    requested_ = true;
                    reset_event_.notify(sc_core::SC_ZERO_TIME);
                  },
                  [this] {
                    if (has_interrupts()) interrupt_event_.notify(sc_core::SC_ZERO_TIME);
                    if (begins_) begins_();
                  },
                  packet_observers_, config.functional}),
      port_(
          "port", config, connections, registers_, bus_, device_, gpu, [this] { return in_reset(); }, domain,
          index_),
      queue_driven_(config.queues) {
  system_.socket.bind(dma_port_.targets[0]);
  waiting_.socket.bind(dma_port_.targets[3]);
  dma_.set_index(index_);
  for (CommandQueue& queue : queues_) queue.set_index(index_);
}

bool HostInterface::has_interrupts() const {
  const auto connected = [](const Connections::InterruptPort& line) { return line.size() != 0; };
  return connected(connections_.irq) ||
         std::any_of(connections_.queue_irq.begin(), connections_.queue_irq.end(), connected);
}

bool HostInterface::used() const {
  return connections_.host_bound() || connections_.dma_bound() || has_interrupts() ||
         connections_.reset_in.size() != 0;
}

void HostInterface::before_end_of_elaboration() {
  unbound_.emplace("unbound", connections_);
}

// The processes of what is connected.
void HostInterface::start_of_simulation() {
  if (!used()) return;
  Connections::ResetPort& reset_in = connections_.reset_in;
  const auto spawn = [](auto action, const char* name, const sc_core::sc_event& event,
                        const sc_core::sc_event* more) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&event);
    if (more != nullptr) options.set_sensitivity(more);
    sc_core::sc_spawn(action, name, &options);
  };
  spawn([this] { drive_interrupts(); }, "drive_interrupts", interrupt_event_, nullptr);
  spawn([this] { port_.ring_doorbells(); }, "ring_doorbells", port_.doorbell_event(), nullptr);
  spawn([this] { take_reset(); }, "take_reset", reset_event_,
        reset_in.size() != 0 ? &reset_in->value_changed_event() : nullptr);
  if (reset_in.size() != 0 && reset_in->read()) reset_event_.notify(sc_core::SC_ZERO_TIME);
}

// Signals may have one writer only: this process.
void HostInterface::drive_interrupts() {
  Connections::InterruptPort& irq = connections_.irq;
  auto& queue_irq = connections_.queue_irq;
  if (irq.size() != 0 && registers_.interrupt() != driven_) {
    driven_ = registers_.interrupt();
    irq->write(driven_);
  }
  for (unsigned i = 0; i < queue_irq.size(); ++i) {
    if (queue_irq[i].size() == 0 || registers_.interrupt(i) == queue_driven_[i]) continue;
    queue_driven_[i] = registers_.interrupt(i);
    queue_irq[i]->write(queue_driven_[i]);
  }
}

// A process of its own: a reset must not come in the middle of a part's step or of a call on a socket.
void HostInterface::take_reset() {
  const bool held = connections_.reset_in.size() != 0 && connections_.reset_in->read();
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
  signals_.reset();
  for (unsigned i = 0; i < kWindows; ++i) {
    if (space_.windows()[i].enabled) gpu_.set_window(i, 0, 0);
  }
  space_.reset();
  port_.reset();
  registers_.reset();
  packet_observers_.tell(&PacketObserver::forgotten);
}

// In the order in which a packet goes through them, so that none waits a cycle for another.
Cycle HostInterface::step(Cycle now) {
  if (begins_ && active()) begins_();
  Cycle next = std::min(device_.step(now), system_.step(now));
  next = std::min(next, dma_.step(now));
  for (CommandQueue& queue : queues_) next = std::min(next, queue.step(now));
  return std::min(next, port_.step(now));
}

bool HostInterface::active() const {
  const auto busy = [](const CommandQueue& queue) { return queue.busy(); };
  return !quiet() || !dma_.idle() || port_.requests() != 0 ||
         std::any_of(queues_.begin(), queues_.end(), busy);
}

void HostInterface::probes(const Probes::Scope& scope) const {
  scope.signal("irq", 1, [this](Cycle) { return registers_.interrupt() ? 1u : 0u; });
  registers_.probes(scope);
  scope.signal("requests", Probes::kCountBits, [this](Cycle) { return port_.requests(); });
  for (unsigned i = 0; i < queues_.size(); ++i) {
    const Probes::Scope queue = scope.scope("queue", i);
    queue.signal("irq", 1, [this, i](Cycle) { return registers_.interrupt(i) ? 1u : 0u; });
    queues_[i].probes(queue);
  }
  dma_.probes(scope.scope("dma"));
  scope.scope("device").signal("bursts", Probes::kCountBits, [this](Cycle) { return device_.under_way(); });
  scope.scope("system").signal("bursts", Probes::kCountBits, [this](Cycle) { return system_.under_way(); });
  dma_port_.probes(scope.scope("dma_socket"));
}

void HostInterface::bind(statistics::Group& group) {
  group.counter("doorbells", statistics::Unit("writes"), "doorbells rung", registers_.doorbells());
  group.counter("errors", statistics::Unit("errors"),
                "errors reported to ERROR_CODE, or lost after the first", registers_.error_count());
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    statistics::Group& queue = group.group("queue", static_cast<unsigned>(i));
    CommandQueue::Counters& counters = queues_[i].counters();
    queue.counter("packets", units::kPackets, "packets done", counters.packets);
    queue.counter("kernels", statistics::Unit("kernels"), "kernels launched", counters.kernels);
    queue.counter("untimed_kernels", statistics::Unit("kernels"), "kernels run without timing",
                  counters.untimed_kernels);
    queue.counter("polls", statistics::Unit("looks"), "polls that found a packet or a signal not ready",
                  counters.polls);
  }
  dma_.bind(group.group("dma"));
  device_.bind(group.group("device"));
  system_.bind(group.group("system"));
  port_.bind(group.group("port"));
}

}  // namespace weft::host
