#include "runtime/cuda/core/linux_driver.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "common/hex.h"
#include "execute/fault_place.h"
#include "runtime/cuda/core/context.h"
#include "weft/common/error.h"
#include "weft/runtime/device.h"

namespace weft::cuda {
namespace {

constexpr std::uint32_t kPackets = 1;  // runtime::Streams::Operation::kind: a queue keeps their order
constexpr int kWait = 100;             // milliseconds between two looks at whether the program is to end
constexpr int kStandInWait = 5, kQuietWaits = 4;

std::uint32_t version_part(std::uint32_t version, unsigned shift) {
  return version >> shift & 0xffff;
}

// What only the simulator in the program's own process has.
void refuse_settings(const Settings& settings) {
  const std::pair<const char*, bool> asked[] = {
      {"functional", settings.functional},
      {"instant_copies", settings.instant_copies},
      {"first_launch", settings.first_launch != 1},
      {"last_launch", settings.last_launch != 0},
      {"profiler_region", settings.profiler_region},
      {"max_cycles", settings.max_cycles != 0},
      {"max_instructions", settings.max_instructions != 0},
      {"sample", settings.sample != 0},
      {"characteristics", settings.characteristics},
      {"check", !settings.checks.empty()},
      {"gdb", settings.gdb >= 0},
  };
  for (const auto& [key, given] : asked) {
    if (!given) continue;
    throw InputError(std::string(kSettingsVariable) + ": " + key,
                     "cannot be used with the GPU's driver; allowed with \"backend\": \"simulator\"");
  }
}

const char* words_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::kIllegalAddress:
      return "there is no memory at this address";
    case FaultKind::kMisalignedAddress:
      return "the address is not aligned to the size of the access";
    case FaultKind::kIllegalAddressSpace:
      return "the instruction cannot reach memory of this kind";
    case FaultKind::kInvalidPc:
      return "a jump to an address without code";
    case FaultKind::kIllegalInstruction:
      return "an operand that the instruction does not allow";
    case FaultKind::kStackOverflow:
      return "calls are too deep for the thread's stack (cudaLimitStackSize)";
    case FaultKind::kTrap:
      return "trap";
    case FaultKind::kAssert:
      return "assertion failed";
    case FaultKind::kInvalidFree:
      return "free of an address that malloc did not return";
    case FaultKind::kHang:
      return "hangs: its threads wait for each other, or repeat a loop without effect";
    case FaultKind::kStopped:
      return "was stopped from outside";
    case FaultKind::kNone:
      break;
  }
  return "faulted";
}

static_assert(static_cast<int>(FaultKind::kIllegalAddress) == WEFT_FAULT_ILLEGAL_ADDRESS &&
              static_cast<int>(FaultKind::kTrap) == WEFT_FAULT_TRAP &&
              static_cast<int>(FaultKind::kHang) == WEFT_FAULT_HANG &&
              static_cast<int>(FaultKind::kStopped) == WEFT_FAULT_STOPPED);

Fault fault_of(const weft_queue_failure& failure, const DriverWork& work) {
  Fault fault;
  fault.address = failure.address;
  if (failure.code != WEFT_ERROR_FAULT) {
    fault.kind = failure.code == WEFT_ERROR_BUS ? FaultKind::kIllegalAddress : FaultKind::kTrap;
    fault.text = "the GPU refused a packet: error " + std::to_string(failure.code) +
                 " (WEFT_ERROR_*), address " + hex(failure.address);
    return fault;
  }
  fault.kind = static_cast<FaultKind>(failure.kind);
  fault.place.pc = failure.pc;
  std::copy(std::begin(failure.thread), std::end(failure.thread), fault.place.thread.begin());
  std::copy(std::begin(failure.block), std::end(failure.block), fault.place.block.begin());
  if (work.program != nullptr) fault.text = execute::place_name(*work.program, fault.place) + ": ";
  fault.text += words_of(fault.kind);
  const bool access = fault.kind == FaultKind::kIllegalAddress ||
                      fault.kind == FaultKind::kMisalignedAddress ||
                      fault.kind == FaultKind::kIllegalAddressSpace;
  if (access || failure.address != 0) fault.text += "; the access is to " + hex(failure.address);
  return fault;
}

}  // namespace

LinuxDriver::LinuxDriver(const Settings& settings, const GpuConfig& config,
                         const runtime::DeviceLimits& limits, std::function<bool()> interrupted)
    : path_(settings.device),
      config_(config),
      limits_(limits),
      interrupted_(std::move(interrupted)),
      streams_([this] { return now(); }) {
  refuse_settings(settings);
  open();
}

LinuxDriver::~LinuxDriver() = default;

void LinuxDriver::open() {
  weft_device* device = nullptr;
  const int opened = weft_device_open(&device, path_.c_str());
  if (opened != 0) {
    throw InputError(path_,
                     std::string("the GPU's device cannot be opened: ") + std::strerror(-opened) +
                         "; needed: the kernel module weft, and the right to read and write its device");
  }
  device_.reset(device);
  require_done(weft_device_get_info(device, &info_), path_);
  if (version_part(info_.version, 16) != version_part(WEFT_VERSION_VALUE, 16) ||
      version_part(info_.version, 0) < version_part(WEFT_VERSION_VALUE, 0)) {
    throw InputError(path_, "the GPU's registers have version " +
                                std::to_string(version_part(info_.version, 16)) + "." +
                                std::to_string(version_part(info_.version, 0)) +
                                "; needed: " + std::to_string(version_part(WEFT_VERSION_VALUE, 16)) + "." +
                                std::to_string(version_part(WEFT_VERSION_VALUE, 0)));
  }
  const auto compare = [&](const char* what, std::uint64_t found, std::uint64_t expected) {
    if (found == expected) return;
    throw InputError(path_, std::string("the GPU has ") + what + " " + std::to_string(found) +
                                ", the configuration " + std::to_string(expected) +
                                "; needed: the GPU's effective configuration (config of WEFT_CUDA)");
  };
  compare("sm.count", info_.sms, config_.sm.count);
  compare("addresses.device_base", info_.device_base, config_.sm.addresses.device_base);
  // The driver may reach less than there is.
  if (info_.device_bytes > config_.dram.bytes) compare("dram.bytes", info_.device_bytes, config_.dram.bytes);
}

// Within what an operation calls when it ends: the time of this end.
std::uint64_t LinuxDriver::now() const {
  if (ending_ps_) return *ending_ps_;
  std::uint64_t cycles = 0;
  require_done(weft_device_cycles(device_.get(), &cycles), path_);
  const double picoseconds = static_cast<double>(cycles) * 1e6 / config_.clocks.core_mhz;
  return std::max(latest_ps_, static_cast<std::uint64_t>(std::llround(picoseconds)));
}

// ---- memory

std::uint64_t LinuxDriver::allocate(std::uint64_t bytes) {
  if (bytes == 0) throw InputError("device memory", "found 0 bytes; allowed: 1 or more");
  try {
    auto buffer = std::make_unique<DriverBuffer>(device_.get(), DriverBuffer::Kind::kDevice, bytes);
    const std::uint64_t address = buffer->address();
    memory_[address] = {std::move(buffer), bytes};
    return address;
  } catch (const std::bad_alloc&) {
    throw runtime::OutOfDeviceMemory("no room for " + std::to_string(bytes) +
                                         " bytes in device memory, which has " +
                                         std::to_string(info_.device_bytes) + " for all processes",
                                     UINT64_MAX);
  }
}

void LinuxDriver::free(std::uint64_t address) {
  memory_.erase(address);
}

void* LinuxDriver::allocate_shared(std::uint64_t bytes) {
  auto buffer = std::make_unique<DriverBuffer>(device_.get(), DriverBuffer::Kind::kSystem, bytes);
  void* const memory = buffer->data();
  memory_[reinterpret_cast<std::uintptr_t>(memory)] = {std::move(buffer), bytes};
  return memory;
}

void LinuxDriver::free_shared(void* memory, std::uint64_t /*bytes*/) {
  memory_.erase(reinterpret_cast<std::uintptr_t>(memory));  // a reset has given it back already
}

bool LinuxDriver::is_device(std::uint64_t address) const {
  return address >= info_.device_base && address - info_.device_base < config_.dram.bytes;
}

void LinuxDriver::require_inside(const runtime::Area& area, const runtime::Box& box) const {
  if (!is_device(area.address)) return;
  std::uint64_t rows = 0, slices = 0, bytes = box.width;
  const bool too_large = __builtin_mul_overflow(box.height - 1, area.pitch, &rows) ||
                         __builtin_mul_overflow(box.depth - 1, area.slice, &slices) ||
                         __builtin_add_overflow(bytes, rows, &bytes) ||
                         __builtin_add_overflow(bytes, slices, &bytes);
  const auto holds = [&](std::uint64_t begin, std::uint64_t size) {
    return area.address >= begin && area.address - begin <= size && bytes <= size - (area.address - begin);
  };
  if (!too_large) {
    const auto after = memory_.upper_bound(area.address);
    if (after != memory_.begin()) {
      const auto& [begin, owned] = *std::prev(after);
      if (holds(begin, owned.bytes)) return;
    }
    for (const auto& [loaded, module] : modules_) {
      if (holds(module->memory->address(), module->memory->bytes())) return;
    }
  }
  throw InputError("device memory", "a copy of " + std::to_string(bytes) + " bytes at " + hex(area.address) +
                                        " lies outside every allocation");
}

// ---- queues

DriverQueue& LinuxDriver::queue_of(runtime::StreamId stream) {
  constexpr std::size_t kMostQueues = 4;
  constexpr std::uint64_t kFirstScratch = 1 << 20;
  const auto known = queue_of_stream_.find(stream);
  if (known != queue_of_stream_.end()) return *queues_[known->second];
  std::size_t index = queue_of_stream_.size() % kMostQueues;
  if (index >= queues_.size() && queues_.size() < kMostQueues) {
    auto queue = open_queue(kFirstScratch);
    if (queue->is_open()) {
      index = queues_.size();
      queues_.push_back(std::move(queue));
    }
  }
  if (queues_.empty()) fail(Error::kOutOfResources, "other processes have all queues of the GPU");
  index %= queues_.size();
  queue_of_stream_[stream] = index;
  return *queues_[index];
}

std::unique_ptr<DriverQueue> LinuxDriver::open_queue(std::uint64_t scratch_bytes) {
  DriverQueue::Config config;
  config.scratch_bytes = scratch_bytes;
  config.printf_bytes = limits_.printf_bytes;
  if (heap_ != nullptr) {
    config.heap_address = heap_->address();
    config.heap_bytes = heap_->bytes();
  }
  return std::make_unique<DriverQueue>(device_.get(), config);
}

void LinuxDriver::drain(DriverQueue& queue) {
  while (!queue.idle() && !queue.failed() && !fault_) {
    if (!progress()) wait(kWait);
  }
  throw_if_faulted();
  queue.take_output(output_);
}

void LinuxDriver::need_scratch(runtime::StreamId stream, std::uint64_t bytes) {
  DriverQueue& queue = queue_of(stream);
  std::uint64_t enough = queue.config().scratch_bytes;
  if (bytes <= enough) return;
  while (enough < bytes) enough *= 2;
  drain(queue);
  const auto place =
      std::find_if(queues_.begin(), queues_.end(), [&](const auto& q) { return q.get() == &queue; });
  try {
    // The new one first: a heap stays as it is while a queue has it.
    auto larger = open_queue(enough);
    if (!larger->is_open()) {
      if (heap_ != nullptr && queues_.size() == 1) {
        fail(Error::kOutOfResources,
             "the kernel needs a queue with more memory for local variables, and other processes have all "
             "queues of the GPU");
      }
      place->reset();
      larger = open_queue(enough);
    }
    if (!larger->is_open()) fail(Error::kOutOfResources, "other processes have all queues of the GPU");
    *place = std::move(larger);
  } catch (const std::bad_alloc&) {
    if (*place == nullptr) *place = open_queue(0);
    throw runtime::OutOfDeviceMemory(
        "no room for " + std::to_string(enough) + " bytes of local variables of threads in device memory",
        UINT64_MAX);
  }
}

void LinuxDriver::need_heap() {
  if (heap_ != nullptr || limits_.heap_bytes == 0) return;
  try {
    heap_ = std::make_unique<DriverBuffer>(device_.get(), DriverBuffer::Kind::kDevice, limits_.heap_bytes);
  } catch (const std::bad_alloc&) {
    throw runtime::OutOfDeviceMemory("no room for a heap of " + std::to_string(limits_.heap_bytes) +
                                         " bytes in device memory (cudaLimitMallocHeapSize)",
                                     UINT64_MAX);
  }
  renew_queues();
}

// With the printf buffer and the heap that there are now.
void LinuxDriver::renew_queues() {
  for (const auto& queue : queues_) drain(*queue);
  for (auto& queue : queues_) {
    const std::uint64_t scratch = queue->config().scratch_bytes;
    queue.reset();
    queue = open_queue(scratch);
    if (!queue->is_open()) fail(Error::kOutOfResources, "other processes have all queues of the GPU");
  }
}

// ---- operations in streams

void LinuxDriver::add(runtime::StreamId stream, DriverWork work, const Ended& ended) {
  DriverQueue& queue = queue_of(stream);
  const auto shared = std::make_shared<DriverWork>(std::move(work));
  runtime::Streams::Operation operation;
  operation.kind = kPackets;
  operation.begin = [this, stream, shared, ended](const runtime::Streams::Done& done) {
    shared->done = [this, ended, done, kernel = shared->program != nullptr](const Outcome& how) {
      Outcome outcome = how;
      const auto picoseconds = static_cast<double>(how.end_ps - how.begin_ps);
      // Both cycles count, that of the begin and that of the end.
      if (kernel)
        outcome.cycles =
            static_cast<std::uint64_t>(std::llround(picoseconds * config_.clocks.core_mhz * 1e-6)) + 1;
      latest_ps_ = std::max(latest_ps_, how.end_ps);
      ending_ps_ = how.end_ps;
      if (ended) ended(outcome);
      done();
      ending_ps_.reset();
    };
    queue_of(stream).add(std::move(*shared));
  };
  streams_.add(stream, std::move(operation));
  if (!fault_ && queue.advance() && queue.failed()) stop(queue);
}

// What the host does at once, when it is its turn.
void LinuxDriver::act(runtime::StreamId stream, std::function<void()> work, const Ended& ended) {
  streams_.add(stream, {[this, work = std::move(work), ended](const runtime::Streams::Done& done) {
                 work();
                 const std::uint64_t time = now();
                 if (ended) ended({time, time, 0});
                 done();
               }});
}

void LinuxDriver::launch(runtime::StreamId stream, const Launch& launch, const Ended& ended) {
  Module& module = *modules_.at(launch.module);
  DriverWork work = dispatch(module, launch);
  const ptx::Program& program = *work.program;
  need_scratch(stream, work.scratch_bytes);
  if (program.uses_heap) need_heap();
  add(stream, std::move(work), ended);
}

void LinuxDriver::copy(runtime::StreamId stream, const runtime::Area& to, const runtime::Area& from,
                       const runtime::Box& box, const Ended& ended) {
  if (box.empty()) return;
  require_inside(to, box);
  require_inside(from, box);
  if (!is_device(to.address) && !is_device(from.address)) {
    const auto copy = [](std::uint64_t written, std::uint64_t read, std::uint64_t bytes) {
      std::memmove(reinterpret_cast<void*>(written), reinterpret_cast<const void*>(read), bytes);
    };
    return act(stream, [to, from, box, copy] { runtime::for_each_run(to, from, box, copy); }, ended);
  }
  DriverWork work;
  runtime::for_each_run(to, from, box, [&](std::uint64_t written, std::uint64_t read, std::uint64_t bytes) {
    if (written < read + bytes && read < written + bytes)
      return copy_overlapping(work, stream, {written, read, bytes});
    work.packets.push_back(copy_packet(written, read, bytes));
  });
  if (work.packets.empty()) return act(stream, [] {}, ended);
  add(stream, std::move(work), ended);
}

// By pieces that go through memory of the queue's, from the end at which nothing is overwritten too early.
void LinuxDriver::copy_overlapping(DriverWork& work, runtime::StreamId stream, const Run& run) {
  constexpr std::uint64_t kPiece = 1 << 20;
  if (run.to == run.from) return;
  queue_of(stream);  // which has a number then
  std::unique_ptr<DriverBuffer>& between = between_[queue_of_stream_.at(stream)];
  if (between == nullptr)
    between = std::make_unique<DriverBuffer>(device_.get(), DriverBuffer::Kind::kDevice, kPiece);
  for (std::uint64_t done = 0; done < run.bytes; done += kPiece) {
    const std::uint64_t bytes = std::min(kPiece, run.bytes - done);
    const std::uint64_t offset = run.to > run.from ? run.bytes - done - bytes : done;
    work.packets.push_back(copy_packet(between->address(), run.from + offset, bytes));
    work.packets.push_back(copy_packet(run.to + offset, between->address(), bytes));
  }
}

void LinuxDriver::fill(runtime::StreamId stream, const runtime::Area& to, const runtime::Box& box,
                       std::uint32_t pattern, const Ended& ended) {
  if (box.empty()) return;
  require_inside(to, box);
  DriverWork work;
  runtime::for_each_run(to, to, box, [&](std::uint64_t address, std::uint64_t, std::uint64_t bytes) {
    work.packets.push_back(fill_packet(address, bytes, pattern));
  });
  add(stream, std::move(work), ended);
}

void LinuxDriver::call(runtime::StreamId stream, std::function<void()> function) {
  streams_.add(stream, {[this, act = std::move(function)](const runtime::Streams::Done& done) {
                 outside_.push_back({act, done});
               }});
}

// ---- waiting

bool LinuxDriver::progress() {
  bool any = false;
  for (std::size_t i = 0; i < queues_.size() && !fault_; ++i) {
    DriverQueue& queue = *queues_[i];
    any = queue.advance() || any;
    if (queue.failed()) stop(queue);
  }
  return any;
}

bool LinuxDriver::run_outside() {
  if (outside_.empty()) return false;
  const Outside next = std::move(outside_.front());
  outside_.pop_front();
  next.function();
  next.done();
  return true;
}

void LinuxDriver::wait(int milliseconds) {
  const int result = weft_device_wait(device_.get(), &seen_, milliseconds);
  if (result != -ETIMEDOUT && result != -EINTR) require_done(result, path_);
  if (interrupted_ && interrupted_()) fault_ = {FaultKind::kStopped, "interrupted"};
}

void LinuxDriver::stop(const DriverQueue& queue) {
  fault_ = fault_of(queue.failure(), queue.first());
}

void LinuxDriver::throw_if_faulted() const {
  if (fault_) throw SimulatedFault(fault_.text);
}

void LinuxDriver::run(const std::function<bool()>& reached) {
  throw_if_faulted();
  streams_.poll();
  while (!reached() && !fault_) {
    if (!run_outside() && !progress()) wait(kWait);
  }
  throw_if_faulted();
}

void LinuxDriver::synchronise() {
  run([this] { return streams_.idle(); });
}

void LinuxDriver::synchronise(runtime::StreamId stream) {
  run([this, stream] { return streams_.idle(stream); });
}

void LinuxDriver::wait_for(runtime::EventId event) {
  run([this, event] { return !streams_.pending(event); });
}

// The GPU goes on by itself; functions, and what waits for another stream, do not.
Backend::Advance LinuxDriver::advance(const std::function<bool()>& stop) {
  throw_if_faulted();
  streams_.poll();
  int quiet = 0;
  while (!streams_.idle() && !fault_) {
    if (stop()) return Advance::kStopped;
    if (run_outside() || progress()) {
      quiet = 0;
      continue;
    }
    if (++quiet > kQuietWaits) return Advance::kKernelsWait;
    wait(kStandInWait);
  }
  throw_if_faulted();
  return Advance::kDone;
}

// ---- the rest

std::string LinuxDriver::take_output() {
  for (const auto& queue : queues_) queue->take_output(output_);
  return std::exchange(output_, {});
}

void LinuxDriver::set_limits(const runtime::DeviceLimits& limits) {
  runtime::check_limits(limits);
  const bool renew = limits.printf_bytes != limits_.printf_bytes;
  limits_ = limits;
  if (renew && !fault_) renew_queues();
}

void LinuxDriver::reset() {
  for (const auto& queue : queues_) {
    queue->abandon();
    while (!queue->idle() && !queue->failed()) {
      if (!queue->advance()) wait(kWait);
    }
  }
  outside_.clear();
  streams_.reset();
  queues_.clear();
  queue_of_stream_.clear();
  for (const auto& [loaded, module] : modules_) {
    for (const auto& [name, object] : module->kernels) weft_kernel_destroy(device_.get(), object);
  }
  modules_.clear();
  memory_.clear();
  between_.clear();
  heap_.reset();
  output_.clear();
  next_function_ = 0;
  fault_ = {};
}

}  // namespace weft::cuda
