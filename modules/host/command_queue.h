// One ring of packets: fetches them in order, and does each wholly before the next.
//
// A step does one thing: starts a transfer, or acts on what one has brought. Between them the queue waits for
// the bus, for the DMA engine, for a kernel, or for the next look at a signal. An error ends the packet: its
// completion signal becomes negative, and the queue stops behind it until it is disabled and enabled again.
#ifndef WEFT_HOST_COMMAND_QUEUE_H
#define WEFT_HOST_COMMAND_QUEUE_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bus/clock_domain.h"
#include "common/probes.h"
#include "host/dma_engine.h"
#include "host/gpu_control.h"
#include "host/kernel_cache.h"
#include "host/packet_observer.h"
#include "host/queue_services.h"
#include "host/signal_locks.h"
#include "weft/common/fault.h"

namespace weft::host {

// Where queues say what happened.
class Events {
 public:
  // WEFT_IRQ_*, of a queue.
  virtual void raise(std::uint32_t irq, std::uint32_t queue) = 0;
  // WEFT_ERROR_*; `text` is for people. `fault`: of a kernel.
  virtual void report(std::uint32_t code, std::uint32_t queue, std::uint64_t address,
                      const std::string& text) = 0;

 protected:
  ~Events() = default;
};

class CommandQueue final : private TransferClient, private SignalWaiter {
 public:
  // What the owner shares among its queues.
  struct Parts {
    Bus& bus;
    DmaEngine& dma;
    KernelCache& cache;
    SignalLocks& signals;
    DeviceHeaps& heaps;
    GpuControl& gpu;
    Events& events;
    ClockDomain& domain;
    const PacketObservers& observers;
    std::function<bool()> functional;  // whether a kernel that begins now runs without timing
  };
  // As software sets them, while the queue is off.
  struct Registers {
    std::uint64_t ring_base = 0, scratch_base = 0, scratch_bytes = 0, read_pointer = 0;
    std::uint32_t ring_packets = 0, output_bytes = 0;
    std::uint64_t output_base = 0, heap_base = 0, heap_bytes = 0;
  };
  // Why the queue has stopped.
  struct Failure {
    std::uint32_t code = WEFT_ERROR_NONE;
    std::uint64_t address = 0;
    std::string text;
    Fault fault;  // of a kernel
  };
  struct Counters {
    std::uint64_t packets = 0, kernels = 0, untimed_kernels = 0, polls = 0;
  };

  CommandQueue(std::uint32_t number, const Config& config, const Parts& parts);
  void set_index(std::size_t index) { index_ = index; }

  Registers& registers() { return state_.registers; }
  // The ring is another one, or is to be read from its first packet on. Not of a queue that is on.
  void restart() { state_.read_index = state_.write_index = 0; }
  const Registers& registers() const { return state_.registers; }
  // Why the queue stays off: the register that makes no sense, and what is allowed.
  struct Refusal {
    std::uint64_t address = 0;
    std::string text;
  };
  // Goes on where the queue was, behind a packet that has failed.
  std::optional<Refusal> enable();
  // False: it is in the middle of a packet. One that waits for a signal or for a packet leaves it there.
  bool disable();
  bool enabled() const { return state_.enabled; }
  bool stopped() const { return state_.step == Step::kStopped; }
  // Of the last stop, until the queue is enabled again.
  const Failure& failure() const { return state_.failure; }
  bool busy() const { return state_.step != Step::kIdle && state_.step != Step::kStopped; }

  // For its kernels; nullptr: the registers give them neither output nor a heap.
  execute::DeviceServices* services() { return state_.services.opened() ? &state_.services : nullptr; }

  // False: the ring has no such packet.
  bool ring(std::uint32_t write_index);
  std::uint32_t doorbell() const { return static_cast<std::uint32_t>(state_.write_index); }
  std::uint32_t read_index() const { return static_cast<std::uint32_t>(state_.read_index); }

  Cycle step(Cycle now);
  // After the bus masters' resets.
  void reset();
  Counters& counters() { return counters_; }
  void probes(const Probes::Scope& scope) const;

 private:
  // Their numbers are those of waveforms (vcd/README.md): new ones follow the last.
  enum class Step : std::uint8_t {
    kIdle,
    kPacket,      // the packet has come
    kObject,      // ... the kernel object
    kText,        // ... the PTX
    kName,        // ... the kernel's name
    kParameters,  // ... the parameters
    kStored,      // they are in device memory
    kRunning,     // the kernel has ended
    kSignal,      // a signal that a barrier waits for has come
    kPoll,        // time for another look
    kMoved,       // the DMA engine is done
    kCompletion,  // the completion signal has come
    kCompleted,   // ... and is decremented
    kRetired,     // the packet is marked invalid
    kPublished,   // the read index is written
    kStopped,
    kTimed,    // the packet's times are written
    kOutput,   // the weft_output has come
    kPrinted,  // ... a part of the text is written behind it
    kCounted,  // ... and the numbers in it
  };
  static constexpr unsigned kSteps = static_cast<unsigned>(Step::kCounted) + 1;
  // Every kind of packet has its header and its completion signal at the same places, those for the DMA
  // engine also their format and the address of their times.
  union Packet {
    weft_kernel_dispatch_packet dispatch;
    weft_barrier_packet barrier;
    weft_copy_packet copy;
    weft_fill_packet fill;
    unsigned char bytes[WEFT_PACKET_BYTES];
  };

  struct State {
    Registers registers;
    Step step = Step::kIdle;
    bool enabled = false;
    bool leaving = false;  // off as soon as the bus has answered
    bool waiting = false;  // for the bus
    Cycle poll_at = 0;
    Step after_poll = Step::kIdle;
    std::uint64_t read_index = 0, write_index = 0;

    Transfer transfer;
    Packet packet{};
    weft_kernel_object object{};
    std::string text;  // PTX or a name
    const KernelCache::Kernel* kernel = nullptr;
    dispatch::Launch launch;
    Fault fault;  // that ended the kernel
    QueueServices services;
    QueueServices::Printed printed;  // by the kernel
    weft_output output{};
    std::uint64_t text_written = 0;  // bytes of `printed`
    DmaEngine::Outcome moved;
    weft_packet_times times{};  // of the packet
    unsigned signal = 0;        // of a barrier
    bool all_negative = false;  // ... that is an OR: all signals seen so far
    std::int64_t value = 0;
    std::uint16_t header = 0;
    std::uint64_t completion_signal = 0;
    bool locked = false;     // the completion signal is this queue's to change
    bool signalled = false;  // ... and has changed
    bool counted = false;    // the packet is in the read index
    Failure failure;
  };

  void transferred(Transfer& transfer) override;
  void granted() override;
  void read(std::uint64_t address, void* to, std::uint64_t bytes, Step then);
  void write(std::uint64_t address, const void* from, std::uint64_t bytes, Step then);
  void start(std::uint64_t address, void* data, std::uint64_t bytes, Step then);
  void awake();
  void stop(std::uint32_t code, std::uint64_t address, const std::string& text);
  void stop_by(const Fault& fault);
  void fail(Failure failure);
  bool failed() const { return state_.failure.code != WEFT_ERROR_NONE; }
  void wait_for_poll(Step then, Cycle now);
  void turn_off();
  std::optional<Refusal> wrong_ring() const;
  std::optional<Refusal> wrong_runtime() const;

  void advance(Cycle now);
  void advance_end();
  void begin_packet();
  void take_packet(Cycle now);
  std::string dispatch_error() const;
  std::string barrier_error() const;
  std::string vendor_error() const;
  std::string copy_error() const;
  std::string fill_error() const;
  void begin_dispatch();
  void take_object();
  void take_text();
  void load_kernel();
  void begin_arguments();
  void place_arguments();
  void launch();
  void take_end_of_kernel();
  void write_text();
  void count_text();
  void end_kernel();
  void look_at_signal(unsigned first);
  void take_signal(Cycle now);
  void begin_copy();
  void begin_fill();
  bool reachable(std::uint64_t address, std::uint64_t bytes);
  DmaEngine::Done begin_move();
  void take_end_of_move();
  void complete();
  void complete_at_once();
  void signal_completion();
  void take_completion_signal();
  void change_signal();
  void retire();
  void publish();
  void finish_packet();

  std::uint64_t packet_address() const {
    return state_.registers.ring_base + state_.read_index % state_.registers.ring_packets * WEFT_PACKET_BYTES;
  }
  PacketPlace place() const { return {number_, state_.read_index}; }
  std::uint64_t completion_signal() const { return state_.packet.barrier.completion_signal; }
  unsigned packet_type() const { return state_.header & WEFT_PACKET_TYPE_MASK; }
  std::uint64_t times_address() const {
    return packet_type() == WEFT_PACKET_VENDOR ? state_.packet.copy.times_address
                                               : state_.packet.barrier.times_address;
  }
  bool pending() const { return state_.enabled && state_.read_index != state_.write_index; }

  const std::uint32_t number_;
  const std::uint64_t poll_cycles_;
  const Parts parts_;
  std::size_t index_ = 0;

  State state_;
  Counters counters_;
};

}  // namespace weft::host

#endif
