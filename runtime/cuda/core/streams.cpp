#include "runtime/cuda/core/streams.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "execute/occupancy.h"
#include "runtime/cuda/core/context.h"
#include "runtime/cuda/core/images.h"
#include "runtime/cuda/core/modules.h"
#include "runtime/cuda/core/profile.h"
#include "runtime/cuda/core/properties.h"
#include "runtime/cuda/core/simulator.h"
#include "weft/common/error.h"
#include "weft/runtime/device.h"

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

}  // namespace

Stream& Streams::create(unsigned flags, int priority) {
  if (flags > cudaStreamNonBlocking) fail(Error::kInvalidValue);
  auto stream = std::make_unique<Stream>(Stream{flags, priority, context_.backend().streams().create()});
  Stream& result = *stream;
  streams_.emplace(stream.get(), std::move(stream));
  return result;
}

void Streams::destroy(Stream& stream) {
  const auto found = streams_.find(&stream);
  if (found == streams_.end()) fail(Error::kInvalidHandle);
  if (asked_ == &stream) asked_ = nullptr;
  context_.backend().streams().destroy(stream.number);
  streams_.erase(found);
}

Stream& Streams::stream(const void* handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value == 0 || value == kLegacy) return default_;
  if (value == kPerThread) {
    auto& own = of_threads_[std::this_thread::get_id()];
    if (own == nullptr) own = std::make_unique<Stream>(Stream{0, 0, context_.backend().streams().create()});
    return *own;
  }
  const auto found = streams_.find(handle);
  if (found == streams_.end()) fail(Error::kInvalidHandle);
  return *found->second;
}

Event& Streams::create_event(unsigned flags) {
  auto event = std::make_unique<Event>(Event{flags, context_.backend().streams().create_event()});
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
  context_.backend().streams().destroy_event(event.number);
  events_.erase(&event);
}

// What is put into the default stream waits for what blocking streams hold, and the other way round.
void Streams::order(Stream& stream) {
  runtime::Streams& all = context_.backend().streams();
  if (!barrier_) barrier_ = all.create_event();
  const auto join = [&](const Stream& before, const Stream& after) {
    if (all.idle(before.number)) return;
    all.record(before.number, *barrier_);
    all.wait(after.number, *barrier_);
  };
  if (&stream != &default_) {
    if (stream.blocking()) join(default_, stream);
    return;
  }
  for (const auto& [handle, other] : streams_) {
    if (other->blocking()) join(*other, default_);
  }
  for (const auto& [thread, other] : of_threads_) join(*other, default_);
}

void Streams::record(Event& event, Stream& stream) {
  order(stream);
  event.asked = false;
  context_.backend().streams().record(stream.number, event.number);
}

void Streams::wait(Stream& stream, Event& event) {
  order(stream);
  context_.backend().streams().wait(stream.number, event.number);
}

void Streams::query(Event& event) {
  if (!context_.backend().streams().pending(event.number)) return;
  if (!event.asked) {
    event.asked = true;
    fail(Error::kNotReady);
  }
  synchronise(event);
}

void Streams::query(Stream& stream) {
  order(stream);
  if (context_.backend().streams().idle(stream.number)) return;
  if (asked_ != &stream) {
    asked_ = &stream;
    fail(Error::kNotReady);
  }
  synchronise(stream);
}

void Streams::attach(Stream& stream, std::uint64_t address, unsigned flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
    fail(Error::kInvalidValue);
  if (context_.memory().block(address).kind != Memory::Kind::kManaged) fail(Error::kInvalidValue);
  order(stream);
}

float Streams::milliseconds(const Event& start, const Event& end) {
  const runtime::Streams& all = context_.backend().streams();
  if (((start.flags | end.flags) & cudaEventDisableTiming) != 0) fail(Error::kInvalidHandle);
  for (const Event* event : {&start, &end}) {
    if (all.pending(event->number)) fail(Error::kNotReady);
    if (!all.recorded(event->number)) fail(Error::kInvalidHandle);
  }
  const auto picoseconds = static_cast<std::int64_t>(all.time_of(end.number) - all.time_of(start.number));
  return static_cast<float>(static_cast<double>(picoseconds) * 1e-9);
}

void Streams::check(const Launch& launch) const {
  const Limits limits = limits_of(context_.config());
  const auto within = [](const dim3& size, const dim3& most) {
    return size.x != 0 && size.y != 0 && size.z != 0 && size.x <= most.x && size.y <= most.y &&
           size.z <= most.z;
  };
  constexpr std::uint32_t kMost = dispatch::kMostBlockThreads;
  if (!within(launch.grid, limits.grid) || !within(launch.block, {kMost, kMost, limits.block.z}) ||
      threads(launch.block) > kMost) {
    fail(Error::kInvalidConfiguration);
  }
  // What the program has asked for, or what it gets without, which the machine may limit.
  const std::uint64_t asked = launch.function->most_dynamic_shared;
  if (asked == 0 && context_.config().sm.default_block_shared_bytes == 0) return;
  const std::uint64_t allowed = context_.modules().most_dynamic_shared(*launch.function);
  if (launch.dynamic_shared <= allowed) return;
  fail(Error::kInvalidValue,
       "kernel " + launch.function->name + ": found " + std::to_string(launch.dynamic_shared) +
           " bytes of dynamic shared memory; allowed: " + std::to_string(allowed) +
           (asked != 0 ? ", as the program has set (cudaFuncAttributeMaxDynamicSharedMemorySize)"
                       : ", or what the program sets before (cudaFuncAttributeMaxDynamicSharedMemorySize)"));
}

void Streams::add_kernel(Activity activity) {
  if (Simulator* const simulator = context_.backend().simulator())
    activity.up_to_its_end = Profile::counts(simulator->device());
  context_.profile().add(std::move(activity));
}

void Streams::launch(const Launch& launch, Stream& stream) {
  check(launch);
  order(stream);
  Backend& backend = context_.backend();
  const ptx::Program& program = context_.modules().program(*launch.function);
  Backend::Launch work;
  work.arguments = arguments_of(launch, program);
  Activity activity;
  activity.kind = Activity::Kind::kKernel;
  activity.name = launch.function->name;
  activity.stream = stream.number;
  activity.grid = launch.grid;
  activity.block = launch.block;
  Selection& selection = context_.selection();
  activity.timed = selection.times_next_launch();
  if (selection.is_some()) {
    activity.launch = selection.launches() + 1;
    backend.set_timed(activity.timed);
  }
  const auto told = [this, activity](const Backend::Outcome& how) {
    Activity ended = activity;
    ended.start = how.begin_ps;
    ended.duration = how.end_ps - how.begin_ps;
    ended.counts.cycles = how.cycles;
    add_kernel(std::move(ended));
  };
  work.module = &launch.function->module->loaded(context_);
  work.kernel = launch.function->name;
  work.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  work.block = {launch.block.x, launch.block.y, launch.block.z};
  work.dynamic_shared = launch.dynamic_shared;
  work.preferred_shared_percent =
      launch.preferred_carveout >= 0 ? launch.preferred_carveout : launch.function->preferred_carveout;
  try {
    backend.launch(stream.number, work, told);
  } catch (const runtime::OutOfDeviceMemory& error) {
    fail(Error::kOutOfMemory, error.what());
  } catch (const InputError& error) {
    // What no kernel may have, and what is too much for this one. The text names the setting that would help.
    if (launch.dynamic_shared > context_.modules().most_dynamic_shared(*launch.function, 1))
      fail(Error::kInvalidValue, error.what());
    const bool any = threads(launch.block) > limits_of(context_.config()).block_threads;
    fail(any ? Error::kInvalidConfiguration : Error::kOutOfResources, error.what());
  }
  selection.launched();
  for (Event* event : launch.events) record(*event, stream);
}

void Streams::call(Stream& stream, std::function<void()> function) {
  order(stream);
  ++functions_;
  context_.backend().call(stream.number, [this, act = std::move(function)] {
    --functions_;
    context_.call_back(act);
  });
}

template <class Work>
void Streams::run(Work&& work) {
  context_.await_turn();
  asked_ = nullptr;
  try {
    work(context_.backend());
  } catch (const SimulatedFault& fault) {
    context_.fault(context_.backend().fault_kind(), fault.what());
    fail(context_.sticky());
  }
  context_.flush_output();
}

void Streams::synchronise(Stream& stream) {
  context_.await_turn();
  order(stream);
  run([&](Backend& backend) { backend.synchronise(stream.number); });
}

void Streams::synchronise(Event& event) {
  run([&](Backend& backend) { backend.wait_for(event.number); });
}

void Streams::synchronise() {
  run([](Backend& backend) { backend.synchronise(); });
}

Streams::Advance Streams::advance(const std::function<bool()>& stop) {
  using Ended = Backend::Advance;
  try {
    const Ended ended = context_.backend().advance(stop);
    return ended == Ended::kDone      ? Advance::kDone
           : ended == Ended::kStopped ? Advance::kStopped
                                      : Advance::kKernelsWait;
  } catch (const SimulatedFault& fault) {
    context_.fault(context_.backend().fault_kind(), fault.what());
    return Advance::kFaulted;
  }
}

void Streams::reset() {
  streams_.clear();
  of_threads_.clear();
  events_.clear();
  barrier_.reset();
  functions_ = 0;
  asked_ = nullptr;
}

}  // namespace weft::cuda
