#include "host/command_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bus/picoseconds.h"
#include "common/hex.h"

namespace weft::host {

CommandQueue::CommandQueue(std::uint32_t number, const Config& config, const Parts& parts)
    : number_(number), poll_cycles_(config.poll_cycles), parts_(parts) {}

std::optional<CommandQueue::Refusal> CommandQueue::wrong_ring() const {
  const AddressSpace& space = parts_.bus.space();
  const Registers& r = state_.registers;
  const auto nowhere = [&](std::uint64_t address, std::uint64_t bytes) {
    return space.place_of(address, bytes) == Place::kNowhere;
  };
  const bool power_of_two = r.ring_packets != 0 && (r.ring_packets & (r.ring_packets - 1)) == 0;
  if (!power_of_two || r.ring_packets > WEFT_RING_MOST_PACKETS) {
    return Refusal{r.ring_base, "a ring of " + std::to_string(r.ring_packets) +
                                    " packets; allowed: a power of two up to " +
                                    std::to_string(WEFT_RING_MOST_PACKETS)};
  }
  if (r.ring_base % WEFT_PACKET_BYTES != 0 ||
      nowhere(r.ring_base, std::uint64_t{r.ring_packets} * WEFT_PACKET_BYTES)) {
    return Refusal{r.ring_base, "a ring at " + hex(r.ring_base) + "; allowed: a multiple of " +
                                    std::to_string(WEFT_PACKET_BYTES) +
                                    ", all of it in device memory or a window"};
  }
  if (r.scratch_bytes != 0 && (r.scratch_base % WEFT_SCRATCH_ALIGNMENT != 0 ||
                               space.place_of(r.scratch_base, r.scratch_bytes) != Place::kDevice)) {
    return Refusal{r.scratch_base, "a scratch of " + std::to_string(r.scratch_bytes) + " bytes at " +
                                       hex(r.scratch_base) + "; allowed: a multiple of " +
                                       std::to_string(WEFT_SCRATCH_ALIGNMENT) +
                                       ", all of it in device memory"};
  }
  if (r.read_pointer != 0 && (r.read_pointer % 8 != 0 || nowhere(r.read_pointer, 8))) {
    return Refusal{r.read_pointer, "a read pointer at " + hex(r.read_pointer) +
                                       "; allowed: a multiple of 8 in device memory or a window"};
  }
  return {};
}

std::optional<CommandQueue::Refusal> CommandQueue::wrong_runtime() const {
  const AddressSpace& space = parts_.bus.space();
  const Registers& r = state_.registers;
  if (r.output_base != 0 && (r.output_base % 8 != 0 || r.output_bytes <= WEFT_OUTPUT_BYTES_BEFORE_RING ||
                             space.place_of(r.output_base, r.output_bytes) == Place::kNowhere)) {
    return Refusal{r.output_base, "an output of " + std::to_string(r.output_bytes) + " bytes at " +
                                      hex(r.output_base) + "; allowed: more than " +
                                      std::to_string(WEFT_OUTPUT_BYTES_BEFORE_RING) +
                                      " bytes, at a multiple of 8, all of them in device memory or a window"};
  }
  if (r.heap_base != 0 && (r.heap_base % WEFT_HEAP_ALIGNMENT != 0 ||
                           space.place_of(r.heap_base, r.heap_bytes) != Place::kDevice)) {
    return Refusal{r.heap_base, "a heap of " + std::to_string(r.heap_bytes) + " bytes at " +
                                    hex(r.heap_base) + "; allowed: 1 or more bytes, at a multiple of " +
                                    std::to_string(WEFT_HEAP_ALIGNMENT) + ", all of them in device memory"};
  }
  return {};
}

std::optional<CommandQueue::Refusal> CommandQueue::enable() {
  const Registers& r = state_.registers;
  if (std::optional<Refusal> wrong = wrong_ring()) return wrong;
  if (std::optional<Refusal> wrong = wrong_runtime()) return wrong;
  std::shared_ptr<execute::DeviceHeap> heap;
  if (r.heap_base != 0) {
    heap = parts_.heaps.join(r.heap_base, r.heap_bytes);
    if (heap == nullptr) {
      return Refusal{r.heap_base,
                     "a heap of " + std::to_string(r.heap_bytes) + " bytes at " + hex(r.heap_base) +
                         " overlaps another one of an enabled queue; allowed: the same range, or "
                         "one that overlaps none"};
    }
  }
  state_.services.open(r.output_base == 0 ? 0 : r.output_bytes - WEFT_OUTPUT_BYTES_BEFORE_RING,
                       std::move(heap));
  state_.enabled = true;
  state_.leaving = false;
  state_.step = Step::kIdle;
  state_.failure = {};
  parts_.gpu.map_memory();
  awake();  // packets may be left
  return {};
}

bool CommandQueue::disable() {
  if (state_.step == Step::kIdle || state_.step == Step::kStopped || state_.step == Step::kPoll) {
    turn_off();
    return true;
  }
  state_.leaving = state_.step == Step::kSignal || state_.step == Step::kPacket;
  return state_.leaving;
}

void CommandQueue::turn_off() {
  state_.enabled = state_.leaving = false;
  state_.step = Step::kIdle;
  state_.services.close();
}

bool CommandQueue::ring(std::uint32_t write_index) {
  // Of 64 bits the doorbell has the low 32: the index is the next one, from the read index on, that ends so.
  const std::uint32_t pending = write_index - static_cast<std::uint32_t>(state_.read_index);
  if (!state_.enabled || pending > state_.registers.ring_packets) return false;
  state_.write_index = state_.read_index + pending;
  parts_.observers.tell(&PacketObserver::rung, PacketPlace{number_, state_.write_index});
  awake();
  return true;
}

void CommandQueue::awake() {
  parts_.domain.wake(index_);
}

void CommandQueue::reset() {
  state_ = {};
}

void CommandQueue::transferred(Transfer&) {
  state_.waiting = false;
}

void CommandQueue::start(std::uint64_t address, void* data, std::uint64_t bytes, Step then) {
  state_.transfer.client = this;
  state_.transfer.address = address;
  state_.transfer.bytes = bytes;
  state_.transfer.data = static_cast<unsigned char*>(data);
  state_.step = then;
  state_.waiting = true;
  parts_.bus.start(state_.transfer);
}

void CommandQueue::read(std::uint64_t address, void* to, std::uint64_t bytes, Step then) {
  state_.transfer.command = tlm::TLM_READ_COMMAND;
  start(address, to, bytes, then);
}

void CommandQueue::write(std::uint64_t address, const void* from, std::uint64_t bytes, Step then) {
  state_.transfer.command = tlm::TLM_WRITE_COMMAND;
  start(address, const_cast<void*>(from), bytes, then);  // a write only reads it
}

void CommandQueue::stop(std::uint32_t code, std::uint64_t address, const std::string& text) {
  fail({code, address, text, {}});
}

void CommandQueue::stop_by(const Fault& fault) {
  fail({WEFT_ERROR_FAULT, fault.address, fault.text, fault});
}

// The packet ends as one that is done, but its signal becomes negative. What the bus refuses of that is lost.
void CommandQueue::fail(Failure failure) {
  state_.failure = std::move(failure);
  const bool tells = state_.completion_signal != 0 && state_.completion_signal % 8 == 0;
  if (!tells || state_.signalled) return retire();
  take_completion_signal();
}

void CommandQueue::wait_for_poll(Step then, Cycle now) {
  state_.step = Step::kPoll;
  state_.after_poll = then;
  state_.poll_at = now + poll_cycles_;
  ++counters_.polls;
}

Cycle CommandQueue::step(Cycle now) {
  if (state_.waiting || state_.step == Step::kStopped) return kNever;
  if (state_.step == Step::kPoll && now < state_.poll_at) return state_.poll_at;
  if (state_.leaving) {
    turn_off();
    return kNever;
  }
  if (state_.transfer.status != tlm::TLM_OK_RESPONSE) {
    state_.transfer.status = tlm::TLM_OK_RESPONSE;
    if (!failed()) {
      if (state_.fault) {
        stop_by(state_.fault);  // of the kernel whose text was to be written
      } else {
        stop(WEFT_ERROR_BUS, state_.transfer.failed_address,
             state_.transfer.command == tlm::TLM_READ_COMMAND ? "a read was refused" : "a write was refused");
      }
      return kNever;  // the bus wakes it
    }
  }
  advance(now);
  if (state_.waiting || state_.step == Step::kStopped || (state_.step == Step::kIdle && !pending()))
    return kNever;
  return state_.step == Step::kPoll ? state_.poll_at : now + 1;
}

void CommandQueue::advance(Cycle now) {
  switch (state_.step) {
    case Step::kIdle:
      if (pending()) begin_packet();
      return;
    case Step::kPacket:
      return take_packet(now);
    case Step::kObject:
      return take_object();
    case Step::kText:
      return take_text();
    case Step::kName:
      return load_kernel();
    case Step::kParameters:
      return place_arguments();
    case Step::kStored:
      return launch();
    case Step::kRunning:
      return take_end_of_kernel();
    case Step::kSignal:
      return take_signal(now);
    case Step::kPoll:
      if (state_.after_poll == Step::kPacket) return begin_packet();
      state_.all_negative = true;
      return look_at_signal(0);
    case Step::kMoved:
      return take_end_of_move();
    default:
      return advance_end();
  }
}

// The steps after a packet's work.
void CommandQueue::advance_end() {
  switch (state_.step) {
    case Step::kOutput:
    case Step::kPrinted:
      return write_text();
    case Step::kCounted:
      return end_kernel();
    case Step::kTimed:
      return signal_completion();
    case Step::kCompletion:
      if (!state_.locked) return change_signal();
      state_.value = static_cast<std::int64_t>(static_cast<std::uint64_t>(state_.value) - 1);
      return write(state_.completion_signal, &state_.value, sizeof state_.value, Step::kCompleted);
    case Step::kCompleted:
      state_.signalled = true;
      state_.locked = false;
      parts_.signals.give(state_.completion_signal);
      parts_.observers.tell(&PacketObserver::signalled, place());
      return retire();
    case Step::kRetired:
      return publish();
    case Step::kPublished:
      return finish_packet();
    default:
      return;
  }
}

void CommandQueue::begin_packet() {
  state_.completion_signal = 0;
  state_.signalled = state_.counted = false;
  state_.fault = {};
  parts_.observers.tell(&PacketObserver::begun, place());
  read(packet_address(), &state_.packet, sizeof state_.packet, Step::kPacket);
}

void CommandQueue::take_packet(Cycle now) {
  constexpr unsigned kAllowed = WEFT_PACKET_TYPE_MASK | WEFT_PACKET_BARRIER_BIT | WEFT_PACKET_FENCE_MASK;
  state_.header = state_.packet.barrier.header;
  const unsigned type = packet_type();
  if (type == WEFT_PACKET_INVALID) return wait_for_poll(Step::kPacket, now);  // the doorbell came before it
  parts_.observers.tell(&PacketObserver::arrived, place());
  state_.completion_signal = completion_signal();
  std::string error;
  switch (type) {
    case WEFT_PACKET_KERNEL_DISPATCH:
      error = dispatch_error();
      break;
    case WEFT_PACKET_BARRIER_AND:
    case WEFT_PACKET_BARRIER_OR:
      error = barrier_error();
      break;
    case WEFT_PACKET_VENDOR:
      error = vendor_error();
      break;
    default:
      error = "packet of type " + std::to_string(type) + "; allowed: 0, 2, 3 and 5";
  }
  if (error.empty() && (state_.header & ~kAllowed) != 0) error = "reserved bits of the header are set";
  if (error.empty() && state_.completion_signal % 8 != 0) error = "completion_signal is not a multiple of 8";
  if (error.empty() && times_address() % 8 != 0) error = "times_address is not a multiple of 8";
  if (!error.empty()) return stop(WEFT_ERROR_PACKET, packet_address(), error);
  if (times_address() != 0 && !reachable(times_address(), sizeof state_.times)) {
    return stop(WEFT_ERROR_BUS, times_address(), "times_address lies outside device memory and windows");
  }
  const Fault gpu_fault = parts_.gpu.fault();
  if (gpu_fault) return stop_by(gpu_fault);
  state_.all_negative = true;
  if (type == WEFT_PACKET_KERNEL_DISPATCH) return begin_dispatch();
  if (type == WEFT_PACKET_VENDOR)
    return state_.packet.copy.format == WEFT_VENDOR_FILL ? begin_fill() : begin_copy();
  look_at_signal(0);
}

// ---- barriers

std::string CommandQueue::barrier_error() const {
  const weft_barrier_packet& packet = state_.packet.barrier;
  if (packet.reserved0 != 0 || packet.reserved1 != 0) return "reserved fields are not 0";
  for (const std::uint64_t signal : packet.dep_signal) {
    if (signal % 8 != 0) return "a dep_signal is not a multiple of 8";
  }
  return {};
}

// Reads the next signal from number `first` on. Without one all are 0 (AND), or none is (OR); a barrier that
// names no signal waits for nothing.
void CommandQueue::look_at_signal(unsigned first) {
  const auto& signals = state_.packet.barrier.dep_signal;
  state_.signal = first;
  while (state_.signal < std::size(signals) && signals[state_.signal] == 0) ++state_.signal;
  if (state_.signal == std::size(signals)) return complete_at_once();
  read(signals[state_.signal], &state_.value, sizeof state_.value, Step::kSignal);
}

void CommandQueue::take_signal(Cycle now) {
  const bool all = packet_type() == WEFT_PACKET_BARRIER_AND;
  state_.all_negative = state_.all_negative && state_.value < 0;
  const auto never = [this] {
    stop(WEFT_ERROR_DEPENDENCY, state_.packet.barrier.dep_signal[state_.signal],
         "a dep_signal is " + std::to_string(state_.value) + ": what it stands for has failed");
  };
  if (all && state_.value < 0) return never();
  if (all && state_.value == 0) return look_at_signal(state_.signal + 1);
  if (!all && state_.value == 0) return complete_at_once();
  const auto& signals = state_.packet.barrier.dep_signal;
  const bool others =
      std::any_of(signals + state_.signal + 1, std::end(signals), [](std::uint64_t s) { return s != 0; });
  if (!all && others) return look_at_signal(state_.signal + 1);
  if (!all && state_.all_negative) return never();
  wait_for_poll(Step::kSignal, now);
}

// ---- copies and fills

std::string CommandQueue::vendor_error() const {
  switch (state_.packet.copy.format) {
    case WEFT_VENDOR_COPY:
      return copy_error();
    case WEFT_VENDOR_FILL:
      return fill_error();
    default:
      return "vendor packet of format " + std::to_string(state_.packet.copy.format) + "; allowed: 1 and 2";
  }
}

std::string CommandQueue::copy_error() const {
  const weft_copy_packet& packet = state_.packet.copy;
  if (packet.reserved0 != 0 || packet.reserved1[0] != 0 || packet.reserved1[1] != 0)
    return "reserved fields are not 0";
  if (packet.bytes > UINT64_MAX - std::max(packet.source, packet.destination)) return "the copy wraps around";
  if (packet.source < packet.destination + packet.bytes &&
      packet.destination < packet.source + packet.bytes) {
    return "source and destination overlap";
  }
  return {};
}

std::string CommandQueue::fill_error() const {
  const weft_fill_packet& packet = state_.packet.fill;
  if (packet.reserved0 != 0 || packet.reserved1[0] != 0 || packet.reserved1[1] != 0)
    return "reserved fields are not 0";
  if (packet.bytes > UINT64_MAX - packet.destination) return "the fill wraps around";
  return {};
}

bool CommandQueue::reachable(std::uint64_t address, std::uint64_t bytes) {
  return parts_.bus.space().place_of(address, bytes) != Place::kNowhere;
}

void CommandQueue::begin_copy() {
  const weft_copy_packet& packet = state_.packet.copy;
  if (packet.bytes == 0) return complete_at_once();
  for (const std::uint64_t address : {packet.source, packet.destination}) {
    if (!reachable(address, packet.bytes))
      return stop(WEFT_ERROR_BUS, address, "a copy reaches beyond device memory and windows");
  }
  parts_.dma.copy({packet.source, packet.destination, packet.bytes, begin_move()});
}

void CommandQueue::begin_fill() {
  const weft_fill_packet& packet = state_.packet.fill;
  if (packet.bytes == 0) return complete_at_once();
  if (!reachable(packet.destination, packet.bytes)) {
    return stop(WEFT_ERROR_BUS, packet.destination, "a fill reaches beyond device memory and windows");
  }
  parts_.dma.fill({packet.destination, packet.bytes, packet.pattern, begin_move()});
}

DmaEngine::Done CommandQueue::begin_move() {
  state_.step = Step::kMoved;
  state_.waiting = true;
  state_.times.begin_ps = now_picoseconds();
  return [this](const DmaEngine::Outcome& outcome) {
    state_.times.end_ps = now_picoseconds();
    state_.moved = outcome;
    state_.waiting = false;
    awake();
  };
}

void CommandQueue::take_end_of_move() {
  if (!state_.moved.done)
    return stop(WEFT_ERROR_BUS, state_.moved.failed_address, "an access of a copy or fill was refused");
  complete();
}

// ---- the end of a packet

// Of a packet that takes no time.
void CommandQueue::complete_at_once() {
  state_.times.begin_ps = state_.times.end_ps = now_picoseconds();
  complete();
}

void CommandQueue::complete() {
  if (times_address() == 0) return signal_completion();
  write(times_address(), &state_.times, sizeof state_.times, Step::kTimed);
}

void CommandQueue::signal_completion() {
  if (state_.completion_signal == 0) return retire();
  take_completion_signal();
}

void CommandQueue::take_completion_signal() {
  if (state_.locked || parts_.signals.take(state_.completion_signal, *this)) return change_signal();
  state_.step = Step::kCompletion;
  state_.waiting = true;
}

void CommandQueue::granted() {
  state_.waiting = false;
  awake();
}

void CommandQueue::change_signal() {
  state_.locked = true;
  if (!failed()) return read(state_.completion_signal, &state_.value, sizeof state_.value, Step::kCompletion);
  state_.value = -static_cast<std::int64_t>(state_.failure.code);
  write(state_.completion_signal, &state_.value, sizeof state_.value, Step::kCompleted);
}

void CommandQueue::retire() {
  state_.header = WEFT_PACKET_INVALID;
  if (state_.counted) return finish_packet();
  write(packet_address(), &state_.header, sizeof state_.header, Step::kRetired);
}

void CommandQueue::publish() {
  if (!state_.counted) ++state_.read_index;
  state_.counted = true;
  if (state_.registers.read_pointer == 0) return finish_packet();
  write(state_.registers.read_pointer, &state_.read_index, sizeof state_.read_index, Step::kPublished);
}

void CommandQueue::probes(const Probes::Scope& scope) const {
  constexpr unsigned kStepBits = 5, kTypeBits = 8;
  static_assert(kSteps <= 1u << kStepBits);
  scope.signal("enabled", 1, [this](Cycle) { return state_.enabled ? 1u : 0u; });
  scope.signal("step", kStepBits, [this](Cycle) { return static_cast<std::uint64_t>(state_.step); });
  scope.signal("packet", kTypeBits, [this](Cycle) {
    // Until it has come, and after it is done, there is none.
    return busy() && state_.step != Step::kPacket ? packet_type() : Probes::kUndriven;
  });
  scope.signal("read_index", Probes::kNumberBits, [this](Cycle) { return read_index(); });
  scope.signal("write_index", Probes::kNumberBits, [this](Cycle) { return doorbell(); });
}

void CommandQueue::finish_packet() {
  if (failed()) {
    state_.step = Step::kStopped;
    const Failure& failure = state_.failure;
    return parts_.events.report(failure.code, number_, failure.address, failure.text);
  }
  state_.step = Step::kIdle;
  ++counters_.packets;
  if (state_.completion_signal != 0) parts_.events.raise(WEFT_IRQ_COMPLETION, number_);
}

}  // namespace weft::host
