// The host side of a GPU: what lies behind its sockets, interrupts and reset (Connections). These are
// registers, command processor and DMA engine. weft::Gpu owns one.
//
// All parts are steps of the interconnect's clock domain and asleep until something comes. Nothing need be
// bound; what is not bound costs nothing.
#ifndef WEFT_HOST_HOST_INTERFACE_H
#define WEFT_HOST_HOST_INTERFACE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "bus/clock_domain.h"
#include "common/probes.h"
#include "host/command_queue.h"
#include "host/connections.h"
#include "host/dma_engine.h"
#include "host/dma_port.h"
#include "host/gpu_control.h"
#include "host/host_port.h"
#include "host/kernel_cache.h"
#include "host/packet_observer.h"
#include "host/register_file.h"
#include "host/waiting_master.h"
#include "weft/common/statistics.h"

namespace weft::host {

class HostInterface : public sc_core::sc_module, public Clocked {
 public:
  // Device memory of `device_bytes`, where the map says; no transaction to it crosses a multiple of
  // `device_chunk`, a power of two.
  HostInterface(sc_core::sc_module_name name, const Config& config, Connections& connections,
                ClockDomain& domain, GpuControl& gpu, const machine::AddressWindows& map,
                std::uint64_t device_bytes, std::uint64_t device_chunk);

  // For other initiators of dma_socket, whose payloads go out as they are: kernels' accesses to windows, and
  // device memory where it lies in system memory.
  DmaPort::Target& system_target() { return dma_port_.targets[1]; }
  DmaPort::Target& device_memory_target() { return dma_port_.targets[2]; }
  // For a process that waits for system memory.
  WaitingMaster& waiting_master() { return waiting_; }
  // Direct access to device memory that was granted is void.
  void withdraw_access() { port_.withdraw_access(); }
  // To the crossbar.
  BusMaster::Socket& device_socket() { return device_.socket; }

  DmaEngine& dma() { return dma_; }
  // For kernels of this queue's packets; nullptr: the queue gives them none.
  execute::DeviceServices* services(unsigned queue) { return queues_[queue].services(); }
  PacketObservers& packet_observers() { return packet_observers_; }
  AddressSpace& space() { return space_; }
  const std::string& error_text() const { return registers_.error_text(); }
  // Whether anything of it is connected, and whether registers are; after elaboration.
  bool used() const;
  // No access of it to device or system memory is under way.
  bool quiet() const { return device_.idle() && system_.idle() && waiting_.idle(); }
  bool dma_bound() const { return connections_.dma_bound(); }

  // Part of the GPU's reset, after the crossbar's.
  void reset();
  void bind(statistics::Group& group);
  // Queues, packets, DMA, interrupts, transactions.
  void probes(const Probes::Scope& scope) const;
  // Something of it may change at the next edge.
  bool active() const;
  // Calls `begins` when that comes to be so, and when the interrupt changes.
  void watch(std::function<void()> begins) { begins_ = std::move(begins); }
  Cycle step(Cycle now) override;

 private:
  static constexpr unsigned kWindows = kMostWindows;

  void before_end_of_elaboration() override;
  void start_of_simulation() override;
  void drive_interrupts();
  bool has_interrupts() const;
  void take_reset();
  bool in_reset() const { return held_ || requested_ || !system_.quiet_since_reset(); }

  const std::size_t index_;
  Connections& connections_;
  std::optional<Unbound> unbound_;
  GpuControl& gpu_;
  AddressSpace space_;
  DmaPort dma_port_;
  BusMaster device_, system_;
  WaitingMaster waiting_;
  Bus bus_;
  DmaEngine dma_;
  KernelCache cache_;
  SignalLocks signals_;
  DeviceHeaps heaps_;
  PacketObservers packet_observers_;
  std::deque<CommandQueue> queues_;
  RegisterFile registers_;
  HostPort port_;
  bool held_ = false;               // by reset_in
  bool requested_ = false;          // by CONTROL_RESET
  bool driven_ = false;             // the interrupt's present level
  std::vector<bool> queue_driven_;  // ... of the queues'
  std::function<void()> begins_;
  sc_core::sc_event interrupt_event_, reset_event_;
};

}  // namespace weft::host

#endif
