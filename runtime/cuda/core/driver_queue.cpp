#include "runtime/cuda/core/driver_queue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "weft/common/error.h"

namespace weft::cuda {
namespace {

constexpr std::size_t kSignalAt = 56;  // in all packets
static_assert(offsetof(weft_kernel_dispatch_packet, completion_signal) == kSignalAt);
static_assert(offsetof(weft_copy_packet, completion_signal) == kSignalAt);
static_assert(offsetof(weft_fill_packet, completion_signal) == kSignalAt);
static_assert(offsetof(weft_copy_packet, times_address) == offsetof(weft_fill_packet, times_address));

void put(DriverPacket& packet, std::size_t at, std::uint64_t value) {
  std::memcpy(packet.bytes.data() + at, &value, sizeof value);
}

bool is_dispatch(const DriverPacket& packet) {
  std::uint16_t header = 0;
  std::memcpy(&header, packet.bytes.data(), sizeof header);
  return (header & WEFT_PACKET_TYPE_MASK) == WEFT_PACKET_KERNEL_DISPATCH;
}

template <class Packet>
DriverPacket packed(const Packet& packet) {
  DriverPacket result;
  static_assert(sizeof packet == sizeof result.bytes);
  std::memcpy(result.bytes.data(), &packet, sizeof packet);
  return result;
}

}  // namespace

void require_done(int result, const std::string& what) {
  if (result >= 0) return;
  if (result == -ENOMEM) throw std::bad_alloc();
  fail(Error::kUnknown, what + ": the GPU's driver refused it: " + std::strerror(-result));
}

DriverBuffer::DriverBuffer(weft_device* device, Kind kind, std::uint64_t bytes) : device_(device) {
  buffer_.kind = kind == Kind::kDevice ? WEFT_BUFFER_DEVICE : WEFT_BUFFER_SYSTEM;
  buffer_.bytes = bytes;
  require_done(weft_buffer_create(device, &buffer_), "memory of " + std::to_string(bytes) + " bytes");
  if (kind == Kind::kDevice) return;
  const int mapped = weft_buffer_map(device, &buffer_);
  if (mapped == 0 && reinterpret_cast<std::uintptr_t>(buffer_.data) == buffer_.address) return;
  weft_buffer_destroy(device, &buffer_);
  require_done(mapped, "mapping of " + std::to_string(bytes) + " bytes");
  fail(Error::kOutOfMemory,
       "memory that host and GPU share: the process has something else at the address that the GPU uses");
}

DriverBuffer::~DriverBuffer() {
  weft_buffer_destroy(device_, &buffer_);  // else when the device is closed
}

DriverPacket copy_packet(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  weft_copy_packet packet{};
  packet.header = WEFT_PACKET_VENDOR;
  packet.format = WEFT_VENDOR_COPY;
  packet.source = from;
  packet.destination = to;
  packet.bytes = bytes;
  return packed(packet);
}

DriverPacket fill_packet(std::uint64_t to, std::uint64_t bytes, std::uint32_t pattern) {
  weft_fill_packet packet{};
  packet.header = WEFT_PACKET_VENDOR;
  packet.format = WEFT_VENDOR_FILL;
  packet.pattern = pattern;
  packet.destination = to;
  packet.bytes = bytes;
  return packed(packet);
}

DriverQueue::DriverQueue(weft_device* device, const Config& config)
    : device_(device),
      config_(config),
      slots_(device, DriverBuffer::Kind::kSystem, kSlots * sizeof(Slot)),
      parameters_(device, DriverBuffer::Kind::kSystem, kParameterBytes),
      parameter_space_(parameters_.address(), kParameterBytes) {
  if (config.printf_bytes != 0) {
    output_ = std::make_unique<DriverBuffer>(device, DriverBuffer::Kind::kSystem,
                                             sizeof(weft_output) + config.printf_bytes);
  }
  for (std::size_t i = 0; i < kSlots; ++i) free_slots_.push_back(i);
  weft_queue_request request{};
  request.packets = kPackets;
  request.scratch_bytes = config.scratch_bytes;
  if (output_ != nullptr) {
    request.output_address = output_->address();
    request.output_bytes = sizeof(weft_output) + config.printf_bytes;
  }
  request.heap_address = config.heap_address;
  request.heap_bytes = config.heap_bytes;
  request.queue = &queue_;
  const int result = weft_queue_create(device, &request);
  if (result == -EBUSY) return;
  require_done(result, "a queue of the GPU");
  open_ = true;
}

DriverQueue::~DriverQueue() {
  if (open_) weft_queue_destroy(device_, queue_);  // else when the device is closed
}

// Gives work its place for the signal, and its parameters to memory that the GPU sees. False: no room yet.
bool DriverQueue::start(Entry& entry) {
  if (free_slots_.empty()) return false;
  DriverWork& work = entry.work;
  if (!work.parameters.empty()) {
    try {
      entry.parameters = parameter_space_.allocate(work.parameters.size());
    } catch (const InputError&) {
      return false;
    }
    std::memcpy(parameters_.data() + (entry.parameters - parameters_.address()), work.parameters.data(),
                work.parameters.size());
    put(work.packets[0], offsetof(weft_kernel_dispatch_packet, kernarg_address), entry.parameters);
  }
  entry.slot = free_slots_.back();
  free_slots_.pop_back();
  Slot& mine = slot(entry.slot);
  mine = {};
  mine.signal = static_cast<std::int64_t>(work.packets.size());
  const auto address = [&](const void* member) {
    return slots_.address() +
           static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(member) - slots_.data());
  };
  for (std::size_t i = 0; i < work.packets.size(); ++i) {
    DriverPacket& packet = work.packets[i];
    put(packet, kSignalAt, address(&mine.signal));
    const bool last = i + 1 == work.packets.size();
    if (i != 0 && !last) continue;
    const std::size_t at = is_dispatch(packet) ? offsetof(weft_kernel_dispatch_packet, times_address)
                                               : offsetof(weft_copy_packet, times_address);
    put(packet, at, address(last ? &mine.last : &mine.first));
  }
  ++begun_;
  return true;
}

bool DriverQueue::submit() {
  bool any = false;
  for (std::size_t i = begun_ == 0 ? 0 : begun_ - 1; i < works_.size(); ++i) {
    Entry& entry = works_[i];
    if (entry.slot == kNoSlot && !start(entry)) return any;
    std::vector<DriverPacket>& packets = entry.work.packets;
    while (entry.submitted < packets.size()) {
      const std::size_t count = std::min<std::size_t>(packets.size() - entry.submitted, kPackets / 4);
      const int result =
          weft_submit(device_, queue_, &packets[entry.submitted], static_cast<std::uint32_t>(count));
      if (result == -EAGAIN) return any;
      if (result < 0) {
        refuse(result);
        return true;
      }
      entry.submitted += count;
      any = true;
    }
  }
  return any;
}

// The driver takes no packet with an address of another process, and none that is malformed.
void DriverQueue::refuse(int error) {
  failed_ = true;
  failure_ = {};
  failure_.code = error == -EACCES ? WEFT_ERROR_BUS : WEFT_ERROR_PACKET;
  failure_.pc = WEFT_NO_PC;
}

void DriverQueue::fail_first(std::int64_t signal) {
  failed_ = true;
  if (weft_queue_get_failure(device_, queue_, &failure_) != 0 || failure_.code == WEFT_ERROR_NONE) {
    failure_ = {};
    failure_.code = static_cast<std::uint32_t>(-signal);
    failure_.pc = WEFT_NO_PC;
  }
}

// Calls `done` of the first work, if the GPU has done it.
bool DriverQueue::finish_first() {
  if (begun_ == 0 || failed_) return false;
  Entry& entry = works_.front();
  Slot& mine = slot(entry.slot);
  // The GPU writes the signal after all else.
  const std::int64_t signal = __atomic_load_n(&mine.signal, __ATOMIC_ACQUIRE);
  if (signal > entry.last_signal) return false;
  if (signal < 0) {
    fail_first(signal);
    return true;
  }
  const bool single = entry.work.packets.size() == 1;
  const Backend::Outcome outcome{(single ? mine.last : mine.first).begin_ps, mine.last.end_ps, 0};
  if (entry.parameters != 0) parameter_space_.release(entry.parameters);
  free_slots_.push_back(entry.slot);
  const Backend::Ended done = std::move(entry.work.done);
  works_.pop_front();
  --begun_;
  if (done) done(outcome);
  return true;
}

bool DriverQueue::advance() {
  bool any = false;
  while (finish_first()) any = true;
  return (!failed_ && submit()) || any;
}

void DriverQueue::abandon() {
  while (!works_.empty() && works_.back().submitted == 0) {
    if (works_.back().slot != kNoSlot) --begun_;
    works_.pop_back();
  }
  for (Entry& entry : works_) {
    entry.last_signal = static_cast<std::int64_t>(entry.work.packets.size() - entry.submitted);
    entry.work.packets.resize(entry.submitted);
    entry.work.done = nullptr;
  }
}

void DriverQueue::take_output(std::string& text) {
  if (output_ == nullptr) return;
  const auto* const output = reinterpret_cast<const weft_output*>(output_->data());
  const std::uint64_t written = __atomic_load_n(&output->written, __ATOMIC_ACQUIRE);
  const auto* const ring = reinterpret_cast<const char*>(output_->data() + sizeof(weft_output));
  // Older text gives way to newer.
  if (written - taken_ > config_.printf_bytes) taken_ = written - config_.printf_bytes;
  while (taken_ != written) {
    const std::uint64_t at = taken_ % config_.printf_bytes;
    const std::uint64_t bytes = std::min(written - taken_, config_.printf_bytes - at);
    text.append(ring + at, bytes);
    taken_ += bytes;
  }
}

}  // namespace weft::cuda
