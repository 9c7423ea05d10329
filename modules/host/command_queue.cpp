#include "host/command_queue.h"

#include <algorithm>
#include <cstring>

namespace weft::host {

CommandQueue::CommandQueue(std::uint32_t number, const Config& config, const Parts& parts)
    : number_(number), poll_cycles_(config.poll_cycles), parts_(parts) {
  transfer_.client = this;
}

bool CommandQueue::enable() {
  const AddressSpace& space = parts_.bus.space();
  const Registers& r = registers;
  const bool power_of_two = r.ring_packets != 0 && (r.ring_packets & (r.ring_packets - 1)) == 0;
  if (!power_of_two || r.ring_packets > WEFT_RING_MOST_PACKETS || r.ring_base % WEFT_PACKET_BYTES != 0)
    return false;
  if (space.place_of(r.ring_base, std::uint64_t{r.ring_packets} * WEFT_PACKET_BYTES) == Place::kNowhere)
    return false;
  if (r.scratch_bytes != 0 && (r.scratch_base % WEFT_SCRATCH_ALIGNMENT != 0 ||
                               space.place_of(r.scratch_base, r.scratch_bytes) != Place::kDevice)) {
    return false;
  }
  if (r.read_pointer != 0 &&
      (r.read_pointer % 8 != 0 || space.place_of(r.read_pointer, 8) == Place::kNowhere)) {
    return false;
  }
  enabled_ = true;
  leaving_ = false;
  step_ = Step::kIdle;
  read_index_ = write_index_ = 0;
  parts_.gpu.map_memory();
  return true;
}

bool CommandQueue::disable() {
  if (step_ == Step::kIdle || step_ == Step::kStopped || step_ == Step::kPoll) {
    turn_off();
    return true;
  }
  leaving_ = step_ == Step::kSignal || step_ == Step::kPacket;
  return leaving_;
}

void CommandQueue::turn_off() {
  enabled_ = leaving_ = false;
  step_ = Step::kIdle;
}

bool CommandQueue::ring(std::uint32_t write_index) {
  // Of 64 bits the doorbell has the low 32: the index is the next one, from the read index on, that ends so.
  const std::uint32_t pending = write_index - static_cast<std::uint32_t>(read_index_);
  if (!enabled_ || stopped() || pending > registers.ring_packets) return false;
  write_index_ = read_index_ + pending;
  awake();
  return true;
}

void CommandQueue::awake() {
  parts_.domain.wake(index_);
}

void CommandQueue::reset() {
  turn_off();
  registers = {};
  waiting_ = false;
  transfer_.status = tlm::TLM_OK_RESPONSE;
  read_index_ = write_index_ = 0;
  launch_ = {};
  kernel_ = nullptr;
}

void CommandQueue::transferred(Transfer&) {
  waiting_ = false;
}

void CommandQueue::start(std::uint64_t address, void* data, std::uint64_t bytes, Step then) {
  transfer_.address = address;
  transfer_.bytes = bytes;
  transfer_.data = static_cast<unsigned char*>(data);
  step_ = then;
  waiting_ = true;
  parts_.bus.start(transfer_);
}

void CommandQueue::read(std::uint64_t address, void* to, std::uint64_t bytes, Step then) {
  transfer_.command = tlm::TLM_READ_COMMAND;
  start(address, to, bytes, then);
}

void CommandQueue::write(std::uint64_t address, const void* from, std::uint64_t bytes, Step then) {
  transfer_.command = tlm::TLM_WRITE_COMMAND;
  start(address, const_cast<void*>(from), bytes, then);  // a write only reads it
}

void CommandQueue::stop(std::uint32_t code, std::uint64_t address, const std::string& text) {
  step_ = Step::kStopped;
  parts_.events.report(code, number_, address, text);
}

void CommandQueue::wait_for_poll(Step then, Cycle now) {
  step_ = Step::kPoll;
  after_poll_ = then;
  poll_at_ = now + poll_cycles_;
  ++counters_.polls;
}

Cycle CommandQueue::step(Cycle now) {
  if (waiting_ || step_ == Step::kStopped) return kNever;
  if (step_ == Step::kPoll && now < poll_at_) return poll_at_;
  if (leaving_) {
    turn_off();
    return kNever;
  }
  if (transfer_.status != tlm::TLM_OK_RESPONSE) {
    transfer_.status = tlm::TLM_OK_RESPONSE;
    stop(WEFT_ERROR_BUS, transfer_.failed_address,
         transfer_.command == tlm::TLM_READ_COMMAND ? "a read was refused" : "a write was refused");
    return kNever;
  }
  advance(now);
  if (waiting_ || step_ == Step::kStopped || (step_ == Step::kIdle && !pending())) return kNever;
  return step_ == Step::kPoll ? poll_at_ : now + 1;
}

void CommandQueue::advance(Cycle now) {
  switch (step_) {
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
      if (after_poll_ == Step::kPacket) return begin_packet();
      return look_at_signal(0);
    case Step::kCopied:
      return take_end_of_copy();
    case Step::kCompletion:
      value_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(value_) - 1);
      return write(completion_signal_, &value_, sizeof value_, Step::kCompleted);
    case Step::kCompleted:
      return retire();
    case Step::kRetired:
      return publish();
    case Step::kPublished:
      return finish_packet();
    case Step::kStopped:
      return;
  }
}

void CommandQueue::begin_packet() {
  if (*parts_.gpu.fault() != '\0') return stop(WEFT_ERROR_FAULT, packet_address(), parts_.gpu.fault());
  read(packet_address(), &packet_, sizeof packet_, Step::kPacket);
}

void CommandQueue::take_packet(Cycle now) {
  constexpr unsigned kAllowed = WEFT_PACKET_TYPE_MASK | WEFT_PACKET_BARRIER_BIT | WEFT_PACKET_FENCE_MASK;
  header_ = packet_.barrier.header;
  const unsigned type = header_ & WEFT_PACKET_TYPE_MASK;
  if (type == WEFT_PACKET_INVALID) return wait_for_poll(Step::kPacket, now);  // the doorbell came before it
  std::string error;
  switch (type) {
    case WEFT_PACKET_KERNEL_DISPATCH:
      error = dispatch_error();
      completion_signal_ = packet_.dispatch.completion_signal;
      break;
    case WEFT_PACKET_BARRIER_AND:
    case WEFT_PACKET_BARRIER_OR:
      error = barrier_error();
      completion_signal_ = packet_.barrier.completion_signal;
      break;
    case WEFT_PACKET_VENDOR:
      error = copy_error();
      completion_signal_ = packet_.copy.completion_signal;
      break;
    default:
      error = "packet of type " + std::to_string(type) + "; allowed: 0, 2, 3 and 5";
  }
  if (error.empty() && (header_ & ~kAllowed) != 0) error = "reserved bits of the header are set";
  if (error.empty() && completion_signal_ % 8 != 0) error = "completion_signal is not a multiple of 8";
  if (!error.empty()) return stop(WEFT_ERROR_PACKET, packet_address(), error);
  if (type == WEFT_PACKET_KERNEL_DISPATCH) return begin_dispatch();
  if (type == WEFT_PACKET_VENDOR) return begin_copy();
  look_at_signal(0);
}

// ---- barriers

std::string CommandQueue::barrier_error() const {
  const weft_barrier_packet& packet = packet_.barrier;
  if (packet.reserved0 != 0 || packet.reserved1 != 0 || packet.reserved2 != 0)
    return "reserved fields are not 0";
  for (const std::uint64_t signal : packet.dep_signal) {
    if (signal % 8 != 0) return "a dep_signal is not a multiple of 8";
  }
  return {};
}

// Reads the next signal from number `first` on. Without one all are 0 (AND), or none is (OR); a barrier that
// names no signal waits for nothing.
void CommandQueue::look_at_signal(unsigned first) {
  const auto& signals = packet_.barrier.dep_signal;
  signal_ = first;
  while (signal_ < std::size(signals) && signals[signal_] == 0) ++signal_;
  if (signal_ == std::size(signals)) return complete();
  read(signals[signal_], &value_, sizeof value_, Step::kSignal);
}

void CommandQueue::take_signal(Cycle now) {
  const bool all = (header_ & WEFT_PACKET_TYPE_MASK) == WEFT_PACKET_BARRIER_AND;
  if (all && value_ == 0) return look_at_signal(signal_ + 1);
  if (!all && value_ == 0) return complete();
  const auto& signals = packet_.barrier.dep_signal;
  const bool others =
      std::any_of(signals + signal_ + 1, std::end(signals), [](std::uint64_t s) { return s != 0; });
  if (!all && others) return look_at_signal(signal_ + 1);
  wait_for_poll(Step::kSignal, now);
}

// ---- copies

std::string CommandQueue::copy_error() const {
  const weft_copy_packet& packet = packet_.copy;
  if (packet.format != WEFT_VENDOR_COPY) {
    return "vendor packet of format " + std::to_string(packet.format) + "; allowed: 1";
  }
  if (packet.reserved0 != 0 || packet.reserved1[0] != 0 || packet.reserved1[1] != 0 ||
      packet.reserved1[2] != 0) {
    return "reserved fields are not 0";
  }
  if (packet.bytes > UINT64_MAX - std::max(packet.source, packet.destination)) return "the copy wraps around";
  if (packet.source < packet.destination + packet.bytes &&
      packet.destination < packet.source + packet.bytes) {
    return "source and destination overlap";
  }
  return {};
}

void CommandQueue::begin_copy() {
  const weft_copy_packet& packet = packet_.copy;
  if (packet.bytes == 0) return complete();
  for (const std::uint64_t address : {packet.source, packet.destination}) {
    if (parts_.bus.space().place_of(address, packet.bytes) == Place::kNowhere) {
      return stop(WEFT_ERROR_BUS, address, "a copy reaches beyond device memory and windows");
    }
  }
  step_ = Step::kCopied;
  waiting_ = true;
  parts_.dma.copy(
      {packet.source, packet.destination, packet.bytes, [this](const DmaEngine::Outcome& outcome) {
         copied_ = outcome;
         waiting_ = false;
         awake();
       }});
}

void CommandQueue::take_end_of_copy() {
  if (!copied_.done) return stop(WEFT_ERROR_BUS, copied_.failed_address, "an access of a copy was refused");
  complete();
}

// ---- the end of a packet

void CommandQueue::complete() {
  if (completion_signal_ == 0) return retire();
  read(completion_signal_, &value_, sizeof value_, Step::kCompletion);
}

void CommandQueue::retire() {
  header_ = WEFT_PACKET_INVALID;
  write(packet_address(), &header_, sizeof header_, Step::kRetired);
}

void CommandQueue::publish() {
  ++read_index_;
  ++counters_.packets;
  if (registers.read_pointer == 0) return finish_packet();
  write(registers.read_pointer, &read_index_, sizeof read_index_, Step::kPublished);
}

void CommandQueue::finish_packet() {
  step_ = Step::kIdle;
  if (completion_signal_ != 0) parts_.events.raise(WEFT_IRQ_COMPLETION);
}

}  // namespace weft::host
