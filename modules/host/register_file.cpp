#include "host/register_file.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace weft::host {
namespace {

std::uint32_t low(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}
std::uint64_t with_low(std::uint64_t value, std::uint32_t word) {
  return (value & ~std::uint64_t{UINT32_MAX}) | word;
}
std::uint64_t with_high(std::uint64_t value, std::uint32_t word) {
  return (value & UINT32_MAX) | std::uint64_t{word} << 32;
}

}  // namespace

RegisterFile::RegisterFile(Parts parts)
    : parts_(std::move(parts)),
      access_(WEFT_REGISTER_BYTES / 4, RegisterAccess::kNone),
      state_(parts_.queues.size(), parts_.functional) {
  allow(0, global_registers());
  for (unsigned i = 0; i < parts_.space.windows().size(); ++i) allow(WEFT_WINDOW(i, 0), window_registers());
  for (unsigned i = 0; i < parts_.queues.size(); ++i) {
    allow(WEFT_QUEUE(i, 0), queue_registers());
    allow(WEFT_QUEUE_FAULT(i, 0), queue_fault_registers());
    allow(WEFT_QUEUE_RUNTIME(i, 0), queue_runtime_registers());
  }
}

void RegisterFile::allow(std::uint64_t block, const std::vector<RegisterEntry>& registers) {
  for (const RegisterEntry& entry : registers) access_[(block + entry.offset) / 4] = entry.access;
}

RegisterAccess RegisterFile::access(std::uint64_t offset) const {
  return offset / 4 < access_.size() ? access_[offset / 4] : RegisterAccess::kNone;
}

void RegisterFile::reset() {
  state_ = State(parts_.queues.size(), parts_.functional);
  parts_.interrupt_changed();
}

void RegisterFile::raise(std::uint32_t irq, std::uint32_t queue) {
  state_.irq.status |= irq;
  const bool of_queue = queue < state_.queue_irq.size();
  if (of_queue) state_.queue_irq[queue].status |= irq;
  if (of_queue) parts_.observers.tell(&PacketObserver::raised, queue, interrupt() || interrupt(queue));
  parts_.interrupt_changed();
}

void RegisterFile::report(std::uint32_t code, std::uint32_t queue, std::uint64_t address,
                          const std::string& text) {
  ++errors_;
  if (state_.error_code == WEFT_ERROR_NONE) {
    state_.error_code = code;
    state_.error_queue = queue;
    state_.error_address = address;
    state_.error_text = text;
  }
  raise(WEFT_IRQ_ERROR | (code == WEFT_ERROR_FAULT ? WEFT_IRQ_FAULT : 0), queue);
}

std::uint32_t RegisterFile::read(std::uint64_t offset, bool quiet) {
  if (offset >= WEFT_QUEUE_RUNTIME_BASE) {
    const std::uint64_t place = offset - WEFT_QUEUE_RUNTIME_BASE;
    const auto queue = static_cast<unsigned>(place / WEFT_QUEUE_RUNTIME_STRIDE);
    return read_runtime(parts_.queues[queue].registers(), place % WEFT_QUEUE_RUNTIME_STRIDE);
  }
  if (offset >= WEFT_QUEUE_FAULT_BASE) {
    const std::uint64_t place = offset - WEFT_QUEUE_FAULT_BASE;
    const auto queue = static_cast<unsigned>(place / WEFT_QUEUE_FAULT_STRIDE);
    return read_failure(parts_.queues[queue].failure(), place % WEFT_QUEUE_FAULT_STRIDE);
  }
  if (offset >= WEFT_QUEUE_BASE) {
    const std::uint64_t place = offset - WEFT_QUEUE_BASE;
    const auto queue = static_cast<unsigned>(place / WEFT_QUEUE_STRIDE);
    if (place % WEFT_QUEUE_STRIDE == WEFT_QUEUE_IRQ_STATUS)
      return read_status(state_.queue_irq[queue], queue, quiet);
    return read_queue(queue, place % WEFT_QUEUE_STRIDE);
  }
  if (offset >= WEFT_WINDOW_BASE) {
    const std::uint64_t place = offset - WEFT_WINDOW_BASE;
    return read_window(static_cast<unsigned>(place / WEFT_WINDOW_STRIDE), place % WEFT_WINDOW_STRIDE);
  }
  return read_global(offset, quiet);
}

void RegisterFile::write(std::uint64_t offset, std::uint32_t value) {
  if (offset >= WEFT_QUEUE_RUNTIME_BASE) {
    const std::uint64_t place = offset - WEFT_QUEUE_RUNTIME_BASE;
    write_runtime(static_cast<unsigned>(place / WEFT_QUEUE_RUNTIME_STRIDE), place % WEFT_QUEUE_RUNTIME_STRIDE,
                  value);
  } else if (offset >= WEFT_QUEUE_BASE) {
    const std::uint64_t place = offset - WEFT_QUEUE_BASE;
    write_queue(static_cast<unsigned>(place / WEFT_QUEUE_STRIDE), place % WEFT_QUEUE_STRIDE, value);
  } else if (offset >= WEFT_WINDOW_BASE) {
    const std::uint64_t place = offset - WEFT_WINDOW_BASE;
    write_window(static_cast<unsigned>(place / WEFT_WINDOW_STRIDE), place % WEFT_WINDOW_STRIDE, value);
  } else {
    write_global(offset, value);
  }
}

std::uint32_t RegisterFile::status() const {
  const bool busy = std::any_of(parts_.queues.begin(), parts_.queues.end(),
                                [](const CommandQueue& queue) { return queue.busy(); });
  const bool fault = parts_.gpu.fault() ||
                     std::any_of(parts_.queues.begin(), parts_.queues.end(), [](const CommandQueue& queue) {
                       return queue.failure().code == WEFT_ERROR_FAULT;
                     });
  return (busy ? WEFT_STATUS_BUSY : 0u) | (fault ? WEFT_STATUS_FAULT : 0u) |
         (parts_.in_reset() ? WEFT_STATUS_IN_RESET : 0u);
}

std::uint32_t RegisterFile::read_global(std::uint64_t offset, bool quiet) {
  switch (offset) {
    case WEFT_REG_ID:
      return WEFT_ID_VALUE;
    case WEFT_REG_VERSION:
      return WEFT_VERSION_VALUE;
    case WEFT_REG_STATUS:
      return status();
    case WEFT_REG_IRQ_STATUS:
      return read_status(state_.irq, PacketObserver::kAllQueues, quiet);
    case WEFT_REG_IRQ_ENABLE:
      return state_.irq.enable;
    case WEFT_REG_ERROR_CODE:
      return state_.error_code;
    case WEFT_REG_ERROR_QUEUE:
      return state_.error_queue;
    case WEFT_REG_ERROR_ADDRESS_LO:
      return low(state_.error_address);
    case WEFT_REG_ERROR_ADDRESS_HI:
      return high(state_.error_address);
    case WEFT_REG_MEMORY_BYTES_LO:
      return low(parts_.space.device_bytes());
    case WEFT_REG_MEMORY_BYTES_HI:
      return high(parts_.space.device_bytes());
    case WEFT_REG_DEVICE_BASE_LO:
      return low(parts_.space.device_base());
    case WEFT_REG_DEVICE_BASE_HI:
      return high(parts_.space.device_base());
    case WEFT_REG_QUEUES:
      return static_cast<std::uint32_t>(parts_.queues.size());
    case WEFT_REG_SMS:
      return parts_.gpu.sms();
    case WEFT_REG_CYCLES_LO: {
      const std::uint64_t cycles = parts_.gpu.cycles();
      if (!quiet) state_.cycles_high = high(cycles);
      return low(cycles);
    }
    case WEFT_REG_CYCLES_HI:
      return state_.cycles_high;
    case WEFT_REG_WINDOWS:
      return static_cast<std::uint32_t>(parts_.space.windows().size());
    case WEFT_REG_MODE:
      return state_.mode;
    default:
      return 0;
  }
}

std::uint32_t RegisterFile::read_window(unsigned window, std::uint64_t offset) const {
  const AddressSpace::Window& w = parts_.space.windows()[window];
  switch (offset) {
    case WEFT_WINDOW_BASE_LO:
      return low(w.base);
    case WEFT_WINDOW_BASE_HI:
      return high(w.base);
    case WEFT_WINDOW_BYTES_LO:
      return low(w.bytes);
    case WEFT_WINDOW_BYTES_HI:
      return high(w.bytes);
    default:
      return w.enabled ? WEFT_WINDOW_ENABLE : 0;
  }
}

std::uint32_t RegisterFile::read_queue(unsigned number, std::uint64_t offset) const {
  const CommandQueue& queue = parts_.queues[number];
  const CommandQueue::Registers& r = queue.registers();
  switch (offset) {
    case WEFT_QUEUE_RING_BASE_LO:
      return low(r.ring_base);
    case WEFT_QUEUE_RING_BASE_HI:
      return high(r.ring_base);
    case WEFT_QUEUE_RING_PACKETS:
      return r.ring_packets;
    case WEFT_QUEUE_CONTROL:
      return queue.enabled() ? WEFT_QUEUE_ENABLE : 0;
    case WEFT_QUEUE_READ_INDEX:
      return queue.read_index();
    case WEFT_QUEUE_DOORBELL:
      return queue.doorbell();
    case WEFT_QUEUE_STATUS:
      return (queue.enabled() ? WEFT_QUEUE_STATUS_ENABLED : 0u) |
             (queue.busy() ? WEFT_QUEUE_STATUS_BUSY : 0u) | (queue.stopped() ? WEFT_QUEUE_STATUS_ERROR : 0u);
    case WEFT_QUEUE_SCRATCH_BASE_LO:
      return low(r.scratch_base);
    case WEFT_QUEUE_SCRATCH_BASE_HI:
      return high(r.scratch_base);
    case WEFT_QUEUE_SCRATCH_BYTES_LO:
      return low(r.scratch_bytes);
    case WEFT_QUEUE_SCRATCH_BYTES_HI:
      return high(r.scratch_bytes);
    case WEFT_QUEUE_READ_POINTER_LO:
      return low(r.read_pointer);
    case WEFT_QUEUE_READ_POINTER_HI:
      return high(r.read_pointer);
    default:
      return state_.queue_irq[number].enable;
  }
}

std::uint32_t RegisterFile::read_runtime(const CommandQueue::Registers& r, std::uint64_t offset) {
  switch (offset) {
    case WEFT_QUEUE_RUNTIME_OUTPUT_BASE_LO:
      return low(r.output_base);
    case WEFT_QUEUE_RUNTIME_OUTPUT_BASE_HI:
      return high(r.output_base);
    case WEFT_QUEUE_RUNTIME_OUTPUT_BYTES:
      return r.output_bytes;
    case WEFT_QUEUE_RUNTIME_HEAP_BASE_LO:
      return low(r.heap_base);
    case WEFT_QUEUE_RUNTIME_HEAP_BASE_HI:
      return high(r.heap_base);
    case WEFT_QUEUE_RUNTIME_HEAP_BYTES_LO:
      return low(r.heap_bytes);
    default:
      return high(r.heap_bytes);
  }
}

std::uint32_t RegisterFile::read_status(const Interrupt& irq, unsigned queue, bool quiet) const {
  if (irq.status != 0 && !quiet) parts_.observers.tell(&PacketObserver::status_read, queue);
  return irq.status;
}

std::uint32_t RegisterFile::read_failure(const CommandQueue::Failure& failure, std::uint64_t offset) {
  static_assert(static_cast<int>(FaultKind::kIllegalAddress) == WEFT_FAULT_ILLEGAL_ADDRESS &&
                static_cast<int>(FaultKind::kStopped) == WEFT_FAULT_STOPPED);
  const FaultPlace& place = failure.fault.place;
  switch (offset) {
    case WEFT_QUEUE_FAULT_CODE:
      return failure.code;
    case WEFT_QUEUE_FAULT_KIND:
      return static_cast<std::uint32_t>(failure.fault.kind);
    case WEFT_QUEUE_FAULT_ADDRESS_LO:
      return low(failure.address);
    case WEFT_QUEUE_FAULT_ADDRESS_HI:
      return high(failure.address);
    case WEFT_QUEUE_FAULT_PC:
      return place.pc;
    default: {
      const bool block = offset >= WEFT_QUEUE_FAULT_BLOCK_X;
      const std::uint64_t first = block ? WEFT_QUEUE_FAULT_BLOCK_X : WEFT_QUEUE_FAULT_THREAD_X;
      return (block ? place.block : place.thread)[(offset - first) / 4];
    }
  }
}

void RegisterFile::write_global(std::uint64_t offset, std::uint32_t value) {
  switch (offset) {
    case WEFT_REG_CONTROL:
      if ((value & WEFT_CONTROL_INVALIDATE) != 0) invalidate();
      if ((value & WEFT_CONTROL_RESET) != 0) parts_.request_reset();
      return;
    case WEFT_REG_IRQ_STATUS:
      return clear(state_.irq, value);
    case WEFT_REG_IRQ_ENABLE:
      return enable(state_.irq, value);
    case WEFT_REG_MODE:
      state_.mode = value & WEFT_MODE_FUNCTIONAL;
      return;
    case WEFT_REG_ERROR_CODE:
      state_.error_code = WEFT_ERROR_NONE;
      state_.error_queue = WEFT_NO_QUEUE;
      state_.error_address = 0;
      state_.error_text.clear();
      return;
    default:
      return;
  }
}

void RegisterFile::clear(Interrupt& irq, std::uint32_t bits) {
  irq.status &= ~bits;
  parts_.interrupt_changed();
}

void RegisterFile::enable(Interrupt& irq, std::uint32_t bits) {
  irq.enable = bits & (WEFT_IRQ_COMPLETION | WEFT_IRQ_ERROR | WEFT_IRQ_FAULT);
  parts_.interrupt_changed();
}

void RegisterFile::invalidate() {
  if ((status() & WEFT_STATUS_BUSY) != 0) return locked(WEFT_NO_QUEUE, WEFT_REG_CONTROL);
  parts_.cache.clear();
}

void RegisterFile::locked(std::uint32_t queue, std::uint64_t offset) {
  report(WEFT_ERROR_LOCKED, queue, offset, "a write to a register that cannot be written now");
}

void RegisterFile::write_window(unsigned window, std::uint64_t offset, std::uint32_t value) {
  if (offset == WEFT_WINDOW_CONTROL) return control_window(window, value);
  const AddressSpace::Window& w = parts_.space.windows()[window];
  if (w.enabled) return locked(WEFT_NO_QUEUE, WEFT_WINDOW(window, offset));
  switch (offset) {
    case WEFT_WINDOW_BASE_LO:
      return parts_.space.set_base(window, with_low(w.base, value));
    case WEFT_WINDOW_BASE_HI:
      return parts_.space.set_base(window, with_high(w.base, value));
    case WEFT_WINDOW_BYTES_LO:
      return parts_.space.set_bytes(window, with_low(w.bytes, value));
    default:
      return parts_.space.set_bytes(window, with_high(w.bytes, value));
  }
}

void RegisterFile::control_window(unsigned window, std::uint32_t value) {
  const AddressSpace::Window& w = parts_.space.windows()[window];
  const bool on = (value & WEFT_WINDOW_ENABLE) != 0;
  if (on == w.enabled) return;
  if (!on) {
    parts_.space.disable(window);
    parts_.gpu.set_window(window, 0, 0);
    return;
  }
  std::string refused = parts_.space.enable(window);
  if (refused.empty() && !parts_.gpu.set_window(window, w.base, w.bytes)) {
    parts_.space.disable(window);
    refused = "window " + std::to_string(window) + ", " +
              machine::AddressRange{nullptr, w.base, w.bytes}.extent() +
              ", overlaps an address without a register";
  }
  if (!refused.empty()) report(WEFT_ERROR_WINDOW, WEFT_NO_QUEUE, w.base, refused);
}

void RegisterFile::write_queue(unsigned number, std::uint64_t offset, std::uint32_t value) {
  CommandQueue& queue = parts_.queues[number];
  CommandQueue::Registers& r = queue.registers();
  if (offset == WEFT_QUEUE_CONTROL) return control_queue(number, value);
  if (offset == WEFT_QUEUE_DOORBELL) {
    ++doorbells_;
    if (queue.ring(value)) return;
    return report(WEFT_ERROR_DOORBELL, number, value,
                  "write index " + std::to_string(value) + ": the ring has " +
                      std::to_string(r.ring_packets) + " packets, the read index is " +
                      std::to_string(queue.read_index()) + (queue.enabled() ? "" : ", and the queue is off"));
  }
  if (offset == WEFT_QUEUE_IRQ_STATUS) return clear(state_.queue_irq[number], value);
  if (offset == WEFT_QUEUE_IRQ_ENABLE) return enable(state_.queue_irq[number], value);
  if (queue.enabled()) return locked(number, WEFT_QUEUE(number, offset));
  if (offset <= WEFT_QUEUE_RING_PACKETS) queue.restart();
  switch (offset) {
    case WEFT_QUEUE_RING_BASE_LO:
      r.ring_base = with_low(r.ring_base, value);
      return;
    case WEFT_QUEUE_RING_BASE_HI:
      r.ring_base = with_high(r.ring_base, value);
      return;
    case WEFT_QUEUE_RING_PACKETS:
      r.ring_packets = value;
      return;
    case WEFT_QUEUE_SCRATCH_BASE_LO:
      r.scratch_base = with_low(r.scratch_base, value);
      return;
    case WEFT_QUEUE_SCRATCH_BASE_HI:
      r.scratch_base = with_high(r.scratch_base, value);
      return;
    case WEFT_QUEUE_SCRATCH_BYTES_LO:
      r.scratch_bytes = with_low(r.scratch_bytes, value);
      return;
    case WEFT_QUEUE_SCRATCH_BYTES_HI:
      r.scratch_bytes = with_high(r.scratch_bytes, value);
      return;
    case WEFT_QUEUE_READ_POINTER_LO:
      r.read_pointer = with_low(r.read_pointer, value);
      return;
    default:
      r.read_pointer = with_high(r.read_pointer, value);
  }
}

void RegisterFile::write_runtime(unsigned number, std::uint64_t offset, std::uint32_t value) {
  CommandQueue& queue = parts_.queues[number];
  CommandQueue::Registers& r = queue.registers();
  if (queue.enabled()) return locked(number, WEFT_QUEUE_RUNTIME(number, offset));
  switch (offset) {
    case WEFT_QUEUE_RUNTIME_OUTPUT_BASE_LO:
      r.output_base = with_low(r.output_base, value);
      return;
    case WEFT_QUEUE_RUNTIME_OUTPUT_BASE_HI:
      r.output_base = with_high(r.output_base, value);
      return;
    case WEFT_QUEUE_RUNTIME_OUTPUT_BYTES:
      r.output_bytes = value;
      return;
    case WEFT_QUEUE_RUNTIME_HEAP_BASE_LO:
      r.heap_base = with_low(r.heap_base, value);
      return;
    case WEFT_QUEUE_RUNTIME_HEAP_BASE_HI:
      r.heap_base = with_high(r.heap_base, value);
      return;
    case WEFT_QUEUE_RUNTIME_HEAP_BYTES_LO:
      r.heap_bytes = with_low(r.heap_bytes, value);
      return;
    default:
      r.heap_bytes = with_high(r.heap_bytes, value);
  }
}

void RegisterFile::probes(const Probes::Scope& scope) const {
  constexpr unsigned kBits = Probes::kNumberBits;
  scope.signal("irq_status", kBits, [this](std::uint64_t) { return state_.irq.status; });
  scope.signal("irq_enable", kBits, [this](std::uint64_t) { return state_.irq.enable; });
  scope.signal("mode", 1, [this](std::uint64_t) { return state_.mode; });
  scope.signal("error_code", kBits, [this](std::uint64_t) { return state_.error_code; });
}

void RegisterFile::control_queue(unsigned number, std::uint32_t value) {
  CommandQueue& queue = parts_.queues[number];
  const bool on = (value & WEFT_QUEUE_ENABLE) != 0;
  if (on == queue.enabled()) return;
  if (!on) {
    if (!queue.disable()) locked(number, WEFT_QUEUE(number, WEFT_QUEUE_CONTROL));
  } else if (const std::optional<CommandQueue::Refusal> refusal = queue.enable()) {
    report(WEFT_ERROR_QUEUE, number, refusal->address, refusal->text);
  }
}

}  // namespace weft::host
