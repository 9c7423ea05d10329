#include "runtime/cuda/core/streams.h"

#include <systemc>

#include "common/error.h"
#include "runtime/cuda/core/context.h"
#include "runtime/cuda/core/images.h"
#include "runtime/cuda/core/modules.h"
#include "runtime/cuda/core/profile.h"
#include "runtime/cuda/core/properties.h"
#include "runtime/device.h"

namespace weft::cuda {
namespace {

constexpr std::uintptr_t kLegacy = 1, kPerThread = 2;  // handles that are no pointers
enum class Extra : std::uintptr_t { kEnd = 0, kBuffer = 1, kBytes = 2 };

std::uint64_t threads(const dim3& size) {
  return std::uint64_t{size.x} * size.y * size.z;
}

void add(runtime::Arguments& arguments, const void* from, std::uint64_t bytes) {
  const auto* first = static_cast<const std::uint8_t*>(from);
  arguments.add_bytes({first, first + bytes});
}

// A block of arguments in the layout of the kernel's parameters.
void add_extra(runtime::Arguments& arguments, void** extra, const ptx::Program& program) {
  const std::uint8_t* buffer = nullptr;
  std::uint64_t bytes = 0;
  for (; static_cast<Extra>(reinterpret_cast<std::uintptr_t>(*extra)) != Extra::kEnd; extra += 2) {
    switch (static_cast<Extra>(reinterpret_cast<std::uintptr_t>(extra[0]))) {
      case Extra::kBuffer:
        buffer = static_cast<const std::uint8_t*>(extra[1]);
        break;
      case Extra::kBytes:
        bytes = *static_cast<const std::size_t*>(extra[1]);
        break;
      default:
        fail(Error::kInvalidValue);
    }
  }
  for (const ptx::Parameter& parameter : program.parameters) {
    if (buffer == nullptr || parameter.offset + parameter.size > bytes) fail(Error::kInvalidValue);
    add(arguments, buffer + parameter.offset, parameter.size);
  }
}

runtime::Arguments arguments_of(const Launch& launch, const ptx::Program& program) {
  runtime::Arguments arguments;
  if (launch.extra != nullptr) {
    add_extra(arguments, launch.extra, program);
    return arguments;
  }
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    if (launch.arguments == nullptr || launch.arguments[i] == nullptr) fail(Error::kInvalidValue);
    add(arguments, launch.arguments[i], program.parameters[i].size);
  }
  return arguments;
}

Activity::Kind kind_of_copy(Memory& memory, const End& to, const End& from) {
  const bool to_device = to.array != nullptr || memory.is_device(to.address);
  const bool from_device = from.array != nullptr || memory.is_device(from.address);
  if (to_device) return from_device ? Activity::Kind::kDeviceToDevice : Activity::Kind::kHostToDevice;
  return from_device ? Activity::Kind::kDeviceToHost : Activity::Kind::kHostToHost;
}

}  // namespace

Streams::Streams(Context& context) : context_(context) {}
Streams::~Streams() = default;

Stream& Streams::create(unsigned flags, int priority) {
  if (flags > cudaStreamNonBlocking) fail(Error::kInvalidValue);
  auto stream = std::make_unique<Stream>(Stream{next_number_++, flags, priority});
  Stream& result = *stream;
  streams_.emplace(stream.get(), std::move(stream));
  return result;
}

void Streams::destroy(Stream& stream) {
  if (streams_.erase(&stream) == 0) fail(Error::kInvalidHandle);
}

Stream& Streams::stream(const void* handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value == 0 || value == kLegacy || value == kPerThread) return default_;
  const auto found = streams_.find(handle);
  if (found == streams_.end()) fail(Error::kInvalidHandle);
  return *found->second;
}

Event& Streams::create_event(unsigned flags) {
  auto event = std::make_unique<Event>(Event{flags});
  Event& result = *event;
  events_.emplace(event.get(), std::move(event));
  return result;
}

Event& Streams::event(const void* handle) {
  const auto found = events_.find(handle);
  if (found == events_.end()) fail(Error::kInvalidHandle);
  return *found->second;
}

void Streams::destroy_event(Event& event) {
  events_.erase(&event);
}

void Streams::record(Event& event, Stream& /*stream*/) {
  event.recorded = true;
  event.picoseconds = now();
}

float Streams::milliseconds(const Event& start, const Event& end) const {
  const unsigned flags = start.flags | end.flags;
  if (!start.recorded || !end.recorded || (flags & cudaEventDisableTiming) != 0) fail(Error::kInvalidHandle);
  const auto picoseconds = static_cast<std::int64_t>(end.picoseconds - start.picoseconds);
  return static_cast<float>(static_cast<double>(picoseconds) * 1e-9);
}

// Returns the bytes of shared memory that a block takes.
std::uint64_t Streams::check(const Launch& launch) const {
  const Limits limits = limits_of(context_.config());
  const auto within = [](const dim3& size, const dim3& most) {
    return size.x != 0 && size.y != 0 && size.z != 0 && size.x <= most.x && size.y <= most.y &&
           size.z <= most.z;
  };
  if (!within(launch.grid, limits.grid) || !within(launch.block, limits.block) ||
      threads(launch.block) > limits.block_threads) {
    fail(Error::kInvalidConfiguration);
  }
  const FunctionAttributes attributes = context_.modules().attributes(*launch.function);
  if (launch.dynamic_shared > attributes.max_dynamic_shared) fail(Error::kInvalidValue);
  if (threads(launch.block) > static_cast<std::uint64_t>(attributes.max_threads))
    fail(Error::kOutOfResources);
  return attributes.shared_bytes + launch.dynamic_shared;
}

void Streams::launch(const Launch& launch, Stream& stream) {
  check(launch);
  runtime::Device& device = context_.device();
  const ptx::Program& program = context_.modules().program(*launch.function);
  const runtime::Arguments arguments = arguments_of(launch, program);
  const Profile::Counts before = Profile::counts(device);
  const std::uint64_t start = now();
  try {
    device.launch(launch.function->module->loaded(context_), launch.function->name,
                  {launch.grid.x, launch.grid.y, launch.grid.z},
                  {launch.block.x, launch.block.y, launch.block.z}, arguments, launch.dynamic_shared);
  } catch (const InputError& error) {
    fail(Error::kOutOfResources, error.what());
  }
  try {
    device.synchronise();
  } catch (const SimulatedFault& fault) {
    context_.fault(fault.what());
  }
  Activity activity;
  activity.kind = Activity::Kind::kKernel;
  activity.name = launch.function->name;
  activity.stream = stream.number;
  activity.start = start;
  activity.duration = now() - start;
  activity.grid = launch.grid;
  activity.block = launch.block;
  activity.counts = Profile::counts(device) - before;
  context_.profile().add(std::move(activity));
}

void Streams::copy(const End& to, const End& from, const Box& box, Stream& stream) {
  context_.memory().copy(to, from, box);
  Activity activity;
  activity.kind = kind_of_copy(context_.memory(), to, from);
  activity.stream = stream.number;
  activity.start = context_.has_device() ? now() : 0;
  activity.bytes = box.width * box.height * box.depth;
  context_.profile().add(std::move(activity));
}

void Streams::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, Stream& stream) {
  End to_end, from_end;
  to_end.address = to;
  from_end.address = from;
  if (bytes != 0 && (to == 0 || from == 0)) fail(Error::kInvalidValue);
  copy(to_end, from_end, {bytes}, stream);
}

void Streams::fill(const End& to, const Box& box, std::uint32_t value, unsigned bytes_of_value,
                   Stream& stream) {
  context_.memory().fill(to, box, value, bytes_of_value);
  Activity activity;
  activity.kind = Activity::Kind::kFill;
  activity.stream = stream.number;
  activity.start = now();
  activity.bytes = box.width * box.height * box.depth;
  context_.profile().add(std::move(activity));
}

void Streams::call(Stream& /*stream*/, const std::function<void()>& function) {
  context_.unlocked(function);
}

void Streams::synchronise() {
  context_.flush_output();
}

std::uint64_t Streams::now() const {
  return sc_core::sc_time_stamp().value();
}

void Streams::reset() {
  streams_.clear();
  events_.clear();
}

}  // namespace weft::cuda
