// What a process has of the GPU behind the kernel's driver (platform/linux): memory, and queues that work is
// put into. Used by LinuxDriver.
#ifndef WEFT_RUNTIME_CUDA_CORE_DRIVER_QUEUE_H
#define WEFT_RUNTIME_CUDA_CORE_DRIVER_QUEUE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/linux/library/weft_device.h"
#include "runtime/allocator.h"
#include "runtime/cuda/core/backend.h"
#include "weft/ptx/program.h"

namespace weft::cuda {

// Fails with an error of CUDA's for a negative number of errno.h; `what` was asked for.
void require_done(int result, const std::string& what);

// Memory of the process: device memory, or system memory that the process sees at the address that the GPU
// uses.
class DriverBuffer {
 public:
  enum class Kind { kDevice, kSystem };
  // Throws std::bad_alloc if there is no room.
  DriverBuffer(weft_device* device, Kind kind, std::uint64_t bytes);
  ~DriverBuffer();
  DriverBuffer(const DriverBuffer&) = delete;
  DriverBuffer& operator=(const DriverBuffer&) = delete;

  std::uint64_t address() const { return buffer_.address; }
  std::uint64_t bytes() const { return buffer_.bytes; }
  std::uint8_t* data() const { return static_cast<std::uint8_t*>(buffer_.data); }  // of system memory

 private:
  weft_device* device_;
  weft_buffer buffer_{};
};

// A packet of any kind. Signal and times are put in by the queue.
struct DriverPacket {
  std::array<std::uint8_t, WEFT_PACKET_BYTES> bytes{};
};

// Work of one operation: packets that follow each other.
struct DriverWork {
  std::vector<DriverPacket> packets{};
  // Of a kernel: its parameters, what it needs of the queue's scratch, its program for messages.
  std::vector<std::uint8_t> parameters{};
  std::uint64_t scratch_bytes = 0;
  std::shared_ptr<const ptx::Program> program{};
  Backend::Ended done{};
};
DriverPacket copy_packet(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
DriverPacket fill_packet(std::uint64_t to, std::uint64_t bytes, std::uint32_t pattern);

// One queue of the GPU. Work is done in the order in which it comes.
class DriverQueue {
 public:
  struct Config {
    std::uint64_t scratch_bytes = 0;  // for parameters and local variables
    std::uint64_t printf_bytes = 0;
    std::uint64_t heap_address = 0, heap_bytes = 0;  // 0: none
  };
  // Throws std::bad_alloc. There may be no queue left: then `is_open` is false.
  DriverQueue(weft_device* device, const Config& config);
  ~DriverQueue();
  DriverQueue(const DriverQueue&) = delete;
  DriverQueue& operator=(const DriverQueue&) = delete;

  bool is_open() const { return open_; }
  const Config& config() const { return config_; }
  void add(DriverWork work) { works_.push_back({std::move(work)}); }
  bool idle() const { return works_.empty(); }
  // Submits what there is room for, and calls `done` of what is done. False: nothing has changed. Stops at
  // work that has failed.
  bool advance();
  // What is not submitted yet never will be; nobody is told of the rest. For a queue that is to be drained.
  void abandon();
  // Why the queue has stopped. Its first work is the one that failed.
  bool failed() const { return failed_; }
  const weft_queue_failure& failure() const { return failure_; }
  const DriverWork& first() const { return works_.front().work; }
  // Adds what kernels have printed since the last call.
  void take_output(std::string& text);

 private:
  static constexpr std::uint32_t kPackets = 256;  // in the ring
  static constexpr std::size_t kSlots = 128, kNoSlot = SIZE_MAX;
  static constexpr std::uint64_t kParameterBytes = 1 << 20;
  // What the GPU writes for one work: a signal for all of its packets, and the times of the first and the
  // last.
  struct Slot {
    std::int64_t signal;
    std::uint64_t unused;
    weft_packet_times first, last;
  };
  struct Entry {
    DriverWork work{};
    std::size_t submitted = 0;     // packets
    std::int64_t last_signal = 0;  // when all of them are done
    std::size_t slot = kNoSlot;
    std::uint64_t parameters = 0;  // their address
  };

  Slot& slot(std::size_t index) const { return reinterpret_cast<Slot*>(slots_.data())[index]; }
  bool start(Entry& entry);
  bool submit();
  bool finish_first();
  void fail_first(std::int64_t signal);
  void refuse(int error);

  weft_device* device_;
  const Config config_;
  DriverBuffer slots_, parameters_;
  std::unique_ptr<DriverBuffer> output_;
  runtime::Allocator parameter_space_;
  std::uint32_t queue_ = 0;
  bool open_ = false, failed_ = false;
  weft_queue_failure failure_{};
  std::deque<Entry> works_;
  std::size_t begun_ = 0;  // of them: those that have a slot
  std::vector<std::size_t> free_slots_;
  std::uint64_t taken_ = 0;  // of the output, in bytes
};

}  // namespace weft::cuda

#endif
