// Kernel-dispatch packets: from the packet to a launch.
#include <cstring>
#include <utility>

#include "common/error.h"
#include "host/command_queue.h"
#include "ptx/limits.h"

namespace weft::host {
namespace {

constexpr std::uint64_t kMostTextBytes = 64u << 20;
constexpr std::uint32_t kMostNameBytes = 4096;
constexpr std::uint64_t kDefaultStack = 1024;

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

}  // namespace

std::string CommandQueue::dispatch_error() const {
  const weft_kernel_dispatch_packet& packet = packet_.dispatch;
  if (packet.reserved0 != 0 || packet.reserved1 != 0) return "reserved fields are not 0";
  if (packet.setup < 1 || packet.setup > 3) {
    return "setup is " + std::to_string(packet.setup) + "; allowed are 1 to 3 dimensions";
  }
  for (unsigned d = 0; d < 3; ++d) {
    const std::uint32_t block = packet.workgroup_size[d];
    const std::uint32_t grid = packet.grid_size[d];
    if (block == 0 || grid == 0 || grid % block != 0) {
      return "grid of " + std::to_string(grid) + " threads in blocks of " + std::to_string(block) +
             "; allowed are whole blocks, 1 or more";
    }
    if (d >= packet.setup && (block != 1 || grid != 1)) return "a dimension that is not used is not 1";
  }
  if (packet.kernel_object == 0 || packet.kernel_object % 8 != 0)
    return "kernel_object is 0 or not a multiple of 8";
  return {};
}

void CommandQueue::begin_dispatch() {
  kernel_ = parts_.cache.find(packet_.dispatch.kernel_object);
  if (kernel_ != nullptr) return begin_arguments();
  read(packet_.dispatch.kernel_object, &object_, sizeof object_, Step::kObject);
}

void CommandQueue::take_object() {
  const auto refuse = [this](const std::string& what) {
    stop(WEFT_ERROR_KERNEL_OBJECT, packet_.dispatch.kernel_object, what);
  };
  if (object_.magic != WEFT_KERNEL_OBJECT_MAGIC) return refuse("magic of a kernel object is wrong");
  if (object_.reserved0 != 0 || object_.reserved1 != 0 || object_.reserved2 != 0) {
    return refuse("reserved fields of a kernel object are not 0");
  }
  if (object_.ptx_bytes == 0 || object_.ptx_bytes > kMostTextBytes) {
    return refuse("PTX of " + std::to_string(object_.ptx_bytes) + " bytes; allowed are 1 to " +
                  std::to_string(kMostTextBytes));
  }
  if (object_.name_bytes == 0 || object_.name_bytes > kMostNameBytes) {
    return refuse("a name of " + std::to_string(object_.name_bytes) + " bytes; allowed are 1 to " +
                  std::to_string(kMostNameBytes));
  }
  if (parts_.cache.has_module(object_)) {
    text_.resize(object_.name_bytes);
    return read(object_.name_address, text_.data(), text_.size(), Step::kName);
  }
  // The text is checked before room is made for it.
  if (parts_.bus.space().place_of(object_.ptx_address, object_.ptx_bytes) == Place::kNowhere) {
    return stop(WEFT_ERROR_BUS, object_.ptx_address, "PTX lies outside device memory and windows");
  }
  text_.resize(object_.ptx_bytes);
  read(object_.ptx_address, text_.data(), text_.size(), Step::kText);
}

void CommandQueue::take_text() {
  try {
    // Another queue may have loaded it meanwhile.
    if (!parts_.cache.has_module(object_)) parts_.cache.load_module(object_, text_);
  } catch (const InputError& error) {
    return stop(WEFT_ERROR_MODULE, object_.ptx_address, error.what());
  } catch (const ModuleMemoryError& error) {
    return stop(WEFT_ERROR_MEMORY, object_.memory_address, error.what());
  }
  text_.resize(object_.name_bytes);
  read(object_.name_address, text_.data(), text_.size(), Step::kName);
}

void CommandQueue::load_kernel() {
  try {
    kernel_ = &parts_.cache.load_kernel(packet_.dispatch.kernel_object, object_, text_);
  } catch (const InputError& error) {
    return stop(WEFT_ERROR_MODULE, object_.ptx_address, error.what());
  } catch (const ModuleMemoryError& error) {
    return stop(WEFT_ERROR_MEMORY, object_.memory_address, error.what());
  }
  begin_arguments();
}

void CommandQueue::begin_arguments() {
  const weft_kernel_dispatch_packet& packet = packet_.dispatch;
  launch_ = {};
  std::uint64_t threads = 1;
  for (unsigned d = 0; d < 3; ++d) {
    launch_.block[d] = packet.workgroup_size[d];
    launch_.grid[d] = packet.grid_size[d] / packet.workgroup_size[d];
    threads *= packet.workgroup_size[d];
  }
  if (threads > dispatch::kMostBlockThreads) {
    return stop(WEFT_ERROR_LAUNCH, packet_address(),
                "a block of " + std::to_string(threads) + " threads; allowed are up to " +
                    std::to_string(dispatch::kMostBlockThreads));
  }
  if (packet.private_segment_size > ptx::kMaxLocalBytes) {
    return stop(WEFT_ERROR_LAUNCH, packet_address(),
                "a stack of " + std::to_string(packet.private_segment_size) + " bytes; allowed are up to " +
                    std::to_string(ptx::kMaxLocalBytes));
  }
  const KernelCache::Kernel* kernel = nullptr;
  try {
    kernel = parts_.cache.fitting(kernel_, threads);
  } catch (const ModuleMemoryError& error) {
    return stop(WEFT_ERROR_MEMORY, packet_address(), error.what());
  }
  launch_.program = kernel->program;
  launch_.code_address = kernel->code_address;
  launch_.dynamic_shared = packet.group_segment_size;
  launch_.stack_bytes =
      packet.private_segment_size == 0 ? kDefaultStack : rounded_up(packet.private_segment_size, 16);
  launch_.parameters.resize(kernel_->program->parameter_bytes);
  if (launch_.parameters.empty()) return place_arguments();
  read(packet.kernarg_address, launch_.parameters.data(), launch_.parameters.size(), Step::kParameters);
}

// Kernels read their parameters from device memory: where they are, or from a copy in the queue's scratch.
// The local variables of all threads that can be resident lie behind it.
void CommandQueue::place_arguments() {
  const std::uint64_t bytes = launch_.parameters.size();
  const std::uint64_t given = packet_.dispatch.kernarg_address;
  const bool copied = bytes != 0 && parts_.bus.space().place_of(given, bytes) != Place::kDevice;
  const std::uint64_t used = copied ? rounded_up(bytes, WEFT_SCRATCH_ALIGNMENT) : 0;
  std::uint64_t local = 0;
  try {
    local = parts_.gpu.local_memory_bytes(launch_);
  } catch (const InputError& error) {
    return stop(WEFT_ERROR_LAUNCH, packet_address(), error.what());
  }
  if (used > registers.scratch_bytes || local > registers.scratch_bytes - used) {
    return stop(WEFT_ERROR_MEMORY, packet_address(),
                "parameters and local variables need " + std::to_string(used + local) +
                    " bytes of the queue's scratch, which has " + std::to_string(registers.scratch_bytes));
  }
  if (local != 0) launch_.local_address = registers.scratch_base + used;
  launch_.parameter_address = bytes == 0 ? 0 : copied ? registers.scratch_base : given;
  if (!copied) return launch();
  write(launch_.parameter_address, launch_.parameters.data(), bytes, Step::kStored);
}

void CommandQueue::launch() {
  step_ = Step::kRunning;
  waiting_ = true;
  faulted_ = false;
  try {
    parts_.gpu.launch(std::move(launch_), number_, [this](bool faulted) {
      faulted_ = faulted;
      waiting_ = false;
      awake();
    });
  } catch (const InputError& error) {
    waiting_ = false;
    return stop(WEFT_ERROR_LAUNCH, packet_address(), error.what());
  }
  ++counters_.kernels;
}

void CommandQueue::take_end_of_kernel() {
  if (faulted_) return stop(WEFT_ERROR_FAULT, packet_address(), parts_.gpu.fault());
  complete();
}

}  // namespace weft::host
