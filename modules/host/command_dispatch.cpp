// Kernel-dispatch packets: from the packet to a launch.
#include <algorithm>
#include <cstring>
#include <utility>

#include "host/command_queue.h"
#include "weft/common/error.h"
#include "weft/ptx/limits.h"

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
  const weft_kernel_dispatch_packet& packet = state_.packet.dispatch;
  if (packet.reserved0 != 0) return "reserved fields are not 0";
  if (packet.setup < 1 || packet.setup > 3) {
    return "setup is " + std::to_string(packet.setup) + "; allowed: 1 to 3 dimensions";
  }
  for (unsigned d = 0; d < 3; ++d) {
    const std::uint32_t block = packet.workgroup_size[d];
    const std::uint32_t grid = packet.grid_size[d];
    if (block == 0 || grid == 0 || grid % block != 0) {
      return "grid of " + std::to_string(grid) + " threads in blocks of " + std::to_string(block) +
             "; allowed: whole blocks, 1 or more";
    }
    if (d >= packet.setup && (block != 1 || grid != 1)) return "a dimension that is not used is not 1";
  }
  if (packet.kernel_object == 0 || packet.kernel_object % 8 != 0)
    return "kernel_object is 0 or not a multiple of 8";
  return {};
}

void CommandQueue::begin_dispatch() {
  state_.kernel = parts_.cache.find(state_.packet.dispatch.kernel_object);
  if (state_.kernel != nullptr) return begin_arguments();
  read(state_.packet.dispatch.kernel_object, &state_.object, sizeof state_.object, Step::kObject);
}

void CommandQueue::take_object() {
  const auto refuse = [this](const std::string& what) {
    stop(WEFT_ERROR_KERNEL_OBJECT, state_.packet.dispatch.kernel_object, what);
  };
  if (state_.object.magic != WEFT_KERNEL_OBJECT_MAGIC) return refuse("magic of a kernel object is wrong");
  if (state_.object.reserved0 != 0 || state_.object.reserved1 != 0 || state_.object.reserved2 != 0) {
    return refuse("reserved fields of a kernel object are not 0");
  }
  if (state_.object.ptx_bytes == 0 || state_.object.ptx_bytes > kMostTextBytes) {
    return refuse("PTX of " + std::to_string(state_.object.ptx_bytes) + " bytes; allowed: 1 to " +
                  std::to_string(kMostTextBytes));
  }
  if (state_.object.name_bytes == 0 || state_.object.name_bytes > kMostNameBytes) {
    return refuse("a name of " + std::to_string(state_.object.name_bytes) + " bytes; allowed: 1 to " +
                  std::to_string(kMostNameBytes));
  }
  state_.kernel = parts_.cache.find(state_.packet.dispatch.kernel_object, state_.object);
  if (state_.kernel != nullptr) return begin_arguments();
  if (parts_.cache.has_module(state_.object)) {
    state_.text.resize(state_.object.name_bytes);
    return read(state_.object.name_address, state_.text.data(), state_.text.size(), Step::kName);
  }
  // The text is checked before room is made for it.
  if (parts_.bus.space().place_of(state_.object.ptx_address, state_.object.ptx_bytes) == Place::kNowhere) {
    return stop(WEFT_ERROR_BUS, state_.object.ptx_address, "PTX lies outside device memory and windows");
  }
  state_.text.resize(state_.object.ptx_bytes);
  read(state_.object.ptx_address, state_.text.data(), state_.text.size(), Step::kText);
}

void CommandQueue::take_text() {
  try {
    // Another queue may have loaded it meanwhile.
    if (!parts_.cache.has_module(state_.object)) parts_.cache.load_module(state_.object, state_.text);
  } catch (const InputError& error) {
    return stop(WEFT_ERROR_MODULE, state_.object.ptx_address, error.what());
  } catch (const ModuleMemoryError& error) {
    return stop(WEFT_ERROR_MEMORY, state_.object.memory_address, error.what());
  }
  state_.text.resize(state_.object.name_bytes);
  read(state_.object.name_address, state_.text.data(), state_.text.size(), Step::kName);
}

void CommandQueue::load_kernel() {
  // Another queue may have found meanwhile that the text has changed.
  if (!parts_.cache.has_module(state_.object)) return take_object();
  try {
    state_.kernel =
        &parts_.cache.load_kernel(state_.packet.dispatch.kernel_object, state_.object, state_.text);
  } catch (const InputError& error) {
    return stop(WEFT_ERROR_MODULE, state_.object.ptx_address, error.what());
  } catch (const ModuleMemoryError& error) {
    return stop(WEFT_ERROR_MEMORY, state_.object.memory_address, error.what());
  }
  begin_arguments();
}

void CommandQueue::begin_arguments() {
  const weft_kernel_dispatch_packet& packet = state_.packet.dispatch;
  state_.launch = {};
  std::uint64_t threads = 1;
  for (unsigned d = 0; d < 3; ++d) {
    state_.launch.block[d] = packet.workgroup_size[d];
    state_.launch.grid[d] = packet.grid_size[d] / packet.workgroup_size[d];
    threads *= packet.workgroup_size[d];
  }
  if (threads > dispatch::kMostBlockThreads) {
    return stop(WEFT_ERROR_LAUNCH, packet_address(),
                "a block of " + std::to_string(threads) + " threads; allowed: up to " +
                    std::to_string(dispatch::kMostBlockThreads));
  }
  if (packet.private_segment_size > ptx::kMaxLocalBytes) {
    return stop(WEFT_ERROR_LAUNCH, packet_address(),
                "a stack of " + std::to_string(packet.private_segment_size) + " bytes; allowed: up to " +
                    std::to_string(ptx::kMaxLocalBytes));
  }
  const KernelCache::Kernel* kernel = nullptr;
  try {
    kernel = parts_.cache.fitting(state_.kernel, threads);
  } catch (const ModuleMemoryError& error) {
    return stop(WEFT_ERROR_MEMORY, packet_address(), error.what());
  }
  state_.launch.program = kernel->program;
  state_.launch.code_address = kernel->code_address;
  state_.launch.dynamic_shared = packet.group_segment_size;
  state_.launch.stack_bytes =
      packet.private_segment_size == 0 ? kDefaultStack : rounded_up(packet.private_segment_size, 16);
  state_.launch.parameters.resize(state_.kernel->program->parameter_bytes);
  if (state_.launch.parameters.empty()) return place_arguments();
  read(packet.kernarg_address, state_.launch.parameters.data(), state_.launch.parameters.size(),
       Step::kParameters);
}

// Kernels read their parameters from device memory: where they are, or from a copy in the queue's scratch.
// The local variables of all threads that can be resident lie behind it.
void CommandQueue::place_arguments() {
  const std::uint64_t bytes = state_.launch.parameters.size();
  const std::uint64_t given = state_.packet.dispatch.kernarg_address;
  const bool copied = bytes != 0 && parts_.bus.space().place_of(given, bytes) != Place::kDevice;
  const std::uint64_t used = copied ? rounded_up(bytes, WEFT_SCRATCH_ALIGNMENT) : 0;
  std::uint64_t local = 0;
  try {
    local = parts_.gpu.local_memory_bytes(state_.launch);
  } catch (const InputError& error) {
    return stop(WEFT_ERROR_LAUNCH, packet_address(), error.what());
  }
  if (used > state_.registers.scratch_bytes || local > state_.registers.scratch_bytes - used) {
    return stop(WEFT_ERROR_MEMORY, packet_address(),
                "parameters and local variables need " + std::to_string(used + local) +
                    " bytes of the queue's scratch, which has " +
                    std::to_string(state_.registers.scratch_bytes));
  }
  if (local != 0) state_.launch.local_address = state_.registers.scratch_base + used;
  state_.launch.parameter_address = bytes == 0 ? 0 : copied ? state_.registers.scratch_base : given;
  if (!copied) return launch();
  write(state_.launch.parameter_address, state_.launch.parameters.data(), bytes, Step::kStored);
}

void CommandQueue::launch() {
  const bool functional = parts_.functional();
  state_.step = Step::kRunning;
  state_.waiting = true;
  const LaunchEnded ended = [this](const LaunchEnd& end) {
    state_.fault = end.fault;
    state_.times = {end.begin_ps, end.end_ps};
    state_.waiting = false;
    awake();
  };
  parts_.observers.tell(&PacketObserver::launched, place(), state_.launch);
  try {
    if (functional) {
      parts_.gpu.run_untimed(std::move(state_.launch), number_, ended);
    } else {
      parts_.gpu.launch(std::move(state_.launch), number_, ended);
    }
  } catch (const InputError& error) {
    state_.waiting = false;
    return stop(WEFT_ERROR_LAUNCH, packet_address(), error.what());
  }
  ++counters_.kernels;
  if (functional) ++counters_.untimed_kernels;
}

void CommandQueue::take_end_of_kernel() {
  parts_.observers.tell(&PacketObserver::ended, place());
  state_.printed = state_.services.take();
  if (state_.printed.text.empty() && state_.printed.lost == 0) return end_kernel();
  state_.text_written = 0;
  read(state_.registers.output_base, &state_.output, sizeof state_.output, Step::kOutput);
}

// The next part of the text: up to its end, or to that of the ring.
void CommandQueue::write_text() {
  const Registers& r = state_.registers;
  const std::string& text = state_.printed.text;
  if (state_.text_written == text.size()) return count_text();
  const std::uint64_t ring_bytes = r.output_bytes - WEFT_OUTPUT_BYTES_BEFORE_RING;
  const std::uint64_t at = (state_.output.written + state_.text_written) % ring_bytes;
  const std::uint64_t bytes = std::min(text.size() - state_.text_written, ring_bytes - at);
  const char* const part = text.data() + state_.text_written;
  state_.text_written += bytes;
  write(r.output_base + WEFT_OUTPUT_BYTES_BEFORE_RING + at, part, bytes, Step::kPrinted);
}

void CommandQueue::count_text() {
  state_.output.written += state_.printed.text.size();
  state_.output.lost += state_.printed.lost;
  write(state_.registers.output_base, &state_.output, sizeof state_.output, Step::kCounted);
}

void CommandQueue::end_kernel() {
  if (state_.fault) return stop_by(state_.fault);
  complete();
}

}  // namespace weft::host
