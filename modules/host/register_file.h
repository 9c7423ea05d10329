// The registers of register_table.h: what reading and writing them does. Free of TLM.
#ifndef WEFT_HOST_REGISTER_FILE_H
#define WEFT_HOST_REGISTER_FILE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "common/probes.h"
#include "host/address_space.h"
#include "host/command_queue.h"
#include "host/gpu_control.h"
#include "host/packet_observer.h"
#include "host/register_table.h"

namespace weft::host {

class RegisterFile final : public Events {
 public:
  struct Parts {
    AddressSpace& space;
    std::deque<CommandQueue>& queues;
    KernelCache& cache;
    GpuControl& gpu;
    std::function<bool()> in_reset;
    std::function<void()> request_reset;
    std::function<void()> interrupt_changed;
    const PacketObservers& observers;
    bool functional = false;  // MODE after a reset
  };

  explicit RegisterFile(Parts parts);

  // What the register at this offset, a multiple of 4, allows; kNone: there is none.
  RegisterAccess access(std::uint64_t offset) const;
  // Registers that allow it only. `quiet` reads without side effects.
  std::uint32_t read(std::uint64_t offset, bool quiet = false);
  void write(std::uint64_t offset, std::uint32_t value);

  static bool is_doorbell(std::uint64_t offset) {
    return offset >= WEFT_QUEUE_BASE && offset < WEFT_QUEUE_FAULT_BASE &&
           (offset - WEFT_QUEUE_BASE) % WEFT_QUEUE_STRIDE == WEFT_QUEUE_DOORBELL;
  }

  bool interrupt() const { return state_.irq.line(); }
  // The same of what happened in one queue, by its own IRQ_STATUS and IRQ_ENABLE.
  bool interrupt(unsigned queue) const { return state_.queue_irq[queue].line(); }
  // Kernels that begin now run without timing.
  bool functional() const { return (state_.mode & WEFT_MODE_FUNCTIONAL) != 0; }
  // What the first error since it was cleared was about, for people; empty: there is none.
  const std::string& error_text() const { return state_.error_text; }
  std::uint64_t errors() const { return errors_; }
  std::uint64_t& doorbells() { return doorbells_; }
  std::uint64_t& error_count() { return errors_; }
  void reset();
  void probes(const Probes::Scope& scope) const;

  void raise(std::uint32_t irq, std::uint32_t queue) override;
  void report(std::uint32_t code, std::uint32_t queue, std::uint64_t address,
              const std::string& text) override;

 private:
  struct Interrupt {
    std::uint32_t status = 0, enable = 0;
    bool line() const { return (status & enable) != 0; }
  };
  struct State {
    State(std::size_t queues, bool functional)
        : queue_irq(queues), mode(functional ? WEFT_MODE_FUNCTIONAL : 0) {}
    Interrupt irq;
    std::vector<Interrupt> queue_irq;
    std::uint32_t mode;
    std::uint32_t error_code = WEFT_ERROR_NONE, error_queue = WEFT_NO_QUEUE;
    std::uint64_t error_address = 0;
    std::string error_text;
    std::uint32_t cycles_high = 0;
  };

  void allow(std::uint64_t block, const std::vector<RegisterEntry>& registers);
  std::uint32_t status() const;
  std::uint32_t read_global(std::uint64_t offset, bool quiet);
  std::uint32_t read_window(unsigned window, std::uint64_t offset) const;
  std::uint32_t read_queue(unsigned number, std::uint64_t offset) const;
  static std::uint32_t read_runtime(const CommandQueue::Registers& r, std::uint64_t offset);
  // Tells that software has seen it.
  std::uint32_t read_status(const Interrupt& irq, unsigned queue, bool quiet) const;
  static std::uint32_t read_failure(const CommandQueue::Failure& failure, std::uint64_t offset);
  void write_global(std::uint64_t offset, std::uint32_t value);
  void write_window(unsigned window, std::uint64_t offset, std::uint32_t value);
  void control_window(unsigned window, std::uint32_t value);
  void clear(Interrupt& irq, std::uint32_t bits);
  void enable(Interrupt& irq, std::uint32_t bits);
  void write_queue(unsigned number, std::uint64_t offset, std::uint32_t value);
  void write_runtime(unsigned number, std::uint64_t offset, std::uint32_t value);
  void control_queue(unsigned number, std::uint32_t value);
  void invalidate();
  void locked(std::uint32_t queue, std::uint64_t offset);

  const Parts parts_;
  std::vector<RegisterAccess> access_;  // by offset / 4
  State state_;
  std::uint64_t errors_ = 0, doorbells_ = 0;
};

}  // namespace weft::host

#endif
