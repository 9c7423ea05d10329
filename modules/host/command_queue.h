// One ring of packets: fetches them in order, and does each wholly before the next.
//
// A step does one thing: starts a transfer, or acts on what one has brought. Between them the queue waits for
// the bus, for the DMA engine, for a kernel, or for the next look at a signal. An error stops the queue at
// its packet until it is disabled and enabled again; a fault of a kernel stops it until the reset.
#ifndef WEFT_HOST_COMMAND_QUEUE_H
#define WEFT_HOST_COMMAND_QUEUE_H

#include <cstdint>
#include <string>

#include "common/clock_domain.h"
#include "host/dma_engine.h"
#include "host/gpu_control.h"
#include "host/kernel_cache.h"

namespace weft::host {

// Where queues say what happened.
class Events {
 public:
  virtual void raise(std::uint32_t irq) = 0;  // WEFT_IRQ_*
  // WEFT_ERROR_*; `text` is for people.
  virtual void report(std::uint32_t code, std::uint32_t queue, std::uint64_t address,
                      const std::string& text) = 0;

 protected:
  ~Events() = default;
};

class CommandQueue final : private TransferClient {
 public:
  // What the owner shares among its queues.
  struct Parts {
    Bus& bus;
    DmaEngine& dma;
    KernelCache& cache;
    GpuControl& gpu;
    Events& events;
    ClockDomain& domain;
  };
  // As software sets them, while the queue is off.
  struct Registers {
    std::uint64_t ring_base = 0, scratch_base = 0, scratch_bytes = 0, read_pointer = 0;
    std::uint32_t ring_packets = 0;
  };
  struct Counters {
    std::uint64_t packets = 0, kernels = 0, polls = 0;
  };

  Registers registers;

  CommandQueue(std::uint32_t number, const Config& config, const Parts& parts);
  void set_index(std::size_t index) { index_ = index; }

  // False: the registers make no sense; the queue stays off.
  bool enable();
  // False: it is in the middle of a packet. One that waits for a signal or for a packet leaves it there.
  bool disable();
  bool enabled() const { return enabled_; }
  bool stopped() const { return step_ == Step::kStopped; }
  bool busy() const { return step_ != Step::kIdle && step_ != Step::kStopped; }

  // False: the ring has no such packet.
  bool ring(std::uint32_t write_index);
  std::uint32_t doorbell() const { return static_cast<std::uint32_t>(write_index_); }
  std::uint32_t read_index() const { return static_cast<std::uint32_t>(read_index_); }

  Cycle step(Cycle now);
  // After the bus masters' resets.
  void reset();
  Counters& counters() { return counters_; }

 private:
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
    kCopied,      // the DMA engine is done
    kCompletion,  // the completion signal has come
    kCompleted,   // ... and is decremented
    kRetired,     // the packet is marked invalid
    kPublished,   // the read index is written
    kStopped,
  };
  union Packet {
    weft_kernel_dispatch_packet dispatch;
    weft_barrier_packet barrier;
    weft_copy_packet copy;
    unsigned char bytes[WEFT_PACKET_BYTES];
  };

  void transferred(Transfer& transfer) override;
  void read(std::uint64_t address, void* to, std::uint64_t bytes, Step then);
  void write(std::uint64_t address, const void* from, std::uint64_t bytes, Step then);
  void start(std::uint64_t address, void* data, std::uint64_t bytes, Step then);
  void awake();
  void stop(std::uint32_t code, std::uint64_t address, const std::string& text);
  void wait_for_poll(Step then, Cycle now);
  void turn_off();

  void advance(Cycle now);
  void begin_packet();
  void take_packet(Cycle now);
  std::string dispatch_error() const;
  std::string barrier_error() const;
  std::string copy_error() const;
  void begin_dispatch();
  void take_object();
  void take_text();
  void load_kernel();
  void begin_arguments();
  void place_arguments();
  void launch();
  void take_end_of_kernel();
  void look_at_signal(unsigned first);
  void take_signal(Cycle now);
  void begin_copy();
  void take_end_of_copy();
  void complete();
  void retire();
  void publish();
  void finish_packet();

  std::uint64_t packet_address() const {
    return registers.ring_base + read_index_ % registers.ring_packets * WEFT_PACKET_BYTES;
  }
  bool pending() const { return enabled_ && read_index_ != write_index_; }

  const std::uint32_t number_;
  const std::uint64_t poll_cycles_;
  const Parts parts_;
  std::size_t index_ = 0;

  Step step_ = Step::kIdle;
  bool enabled_ = false;
  bool leaving_ = false;  // off as soon as the bus has answered
  bool waiting_ = false;
  Cycle poll_at_ = 0;
  Step after_poll_ = Step::kIdle;
  std::uint64_t read_index_ = 0, write_index_ = 0;

  Transfer transfer_;
  Packet packet_{};
  weft_kernel_object object_{};
  std::string text_;  // PTX or a name
  const KernelCache::Kernel* kernel_ = nullptr;
  dispatch::Launch launch_;
  bool faulted_ = false;
  DmaEngine::Outcome copied_;
  unsigned signal_ = 0;  // of a barrier
  std::int64_t value_ = 0;
  std::uint16_t header_ = 0;
  std::uint64_t completion_signal_ = 0;
  Counters counters_;
};

}  // namespace weft::host

#endif
