// Operations in streams, and waiting for some of them.
#include <cstring>
#include <utility>

#include "runtime/device_impl.h"
#include "texture/image.h"
#include "weft/memory/memory_image.h"

namespace weft::runtime {

Streams& Device::streams() {
  return impl_->streams;
}

void Device::use(CopyEngine* engine) {
  impl_->copies = engine;
}

void Device::launch(StreamId stream, LoadedModule& module, const std::string& kernel, dispatch::Dim3 grid,
                    dispatch::Dim3 block, const Arguments& arguments, std::uint64_t dynamic_shared,
                    const Ended& ended, int preferred_shared_percent) {
  impl_->checkpoints.streams = true;
  impl_->release_scratch(false);
  const Impl::Prepared prepared = impl_->prepare(stream, module, kernel, grid, block, arguments,
                                                 dynamic_shared, preferred_shared_percent);
  impl_->start(prepared, stream, ended);
  if (impl_->options.observer) impl_->options.observer->launching(prepared.kernel->launch, module);
}

// Tells the checks, if the bytes are of device memory.
void Device::Impl::written(const Area& to, const Box& box) {
  if (!checks) return;
  for_each_run(to, to, box, [this](std::uint64_t address, std::uint64_t, std::uint64_t bytes) {
    if (allocator.contains(address, bytes)) checks->written(address, bytes);
  });
}

std::uint8_t* Device::Impl::pointer(std::uint64_t address) const {
  if (is_device(address)) return gpu.memory().data() + (address - gpu.device_base());
  return reinterpret_cast<std::uint8_t*>(address);  // NOLINT(performance-no-int-to-ptr)
}

void Device::Impl::require_inside(const Area& area, const Box& box) const {
  if (area.image == nullptr) {
    if (!is_device(area.address)) return;
    std::uint64_t rows = 0, slices = 0, bytes = box.width;
    const bool too_large = __builtin_mul_overflow(box.height - 1, area.pitch, &rows) ||
                           __builtin_mul_overflow(box.depth - 1, area.slice, &slices) ||
                           __builtin_add_overflow(bytes, rows, &bytes) ||
                           __builtin_add_overflow(bytes, slices, &bytes);
    at(area.address, too_large ? UINT64_MAX : bytes);
    return;
  }
  const texture::Image& image = *area.image;
  const texture::Level& level = image.levels[0];
  const std::uint64_t faces = image.geometry == texture::Geometry::kCube ? texture::kCubeFaces : 1;
  const auto within = [](std::uint64_t first, std::uint64_t count, std::uint64_t all) {
    return first <= all && count <= all - first;
  };
  const std::uint64_t row = std::uint64_t{level.size[0]} * image.format.bytes();
  if (!within(area.x, box.width, row) || !within(area.y, box.height, level.size[1]) ||
      !within(area.z, box.depth, level.size[2] * image.layers * faces)) {
    throw InputError("array", "a copy of " + std::to_string(box.width) + " bytes by " +
                                  std::to_string(box.height) + " by " + std::to_string(box.depth) +
                                  " lies outside of the array: rows of " + std::to_string(row) + " bytes, " +
                                  std::to_string(level.size[1]) + " of them");
  }
  at(image.address, image.bytes);
}

void Device::Impl::copy_now(const Area& to, const Area& from, const Box& box) const {
  for_each_run(to, from, box, [this](std::uint64_t written, std::uint64_t read, std::uint64_t bytes) {
    std::memmove(pointer(written), pointer(read), bytes);
  });
}

void Device::Impl::fill_now(const Area& to, const Box& box, std::uint32_t pattern) const {
  const bool same_bytes = pattern == (pattern & 0xff) * 0x01010101u;
  for_each_run(to, to, box, [&](std::uint64_t address, std::uint64_t, std::uint64_t bytes) {
    std::uint8_t* const place = pointer(address);
    if (same_bytes) {
      std::memset(place, static_cast<int>(pattern & 0xff), bytes);
      return;
    }
    for (std::uint64_t i = 0; i < bytes; ++i) place[i] = static_cast<std::uint8_t>(pattern >> 8 * (i % 4));
  });
}

void Device::copy_to(StreamId stream, Address to, const void* from, std::uint64_t bytes) {
  if (bytes != 0) impl_->at(to, bytes);
  copy(stream, Area::at_address(to), Area::at_address(reinterpret_cast<std::uintptr_t>(from)), {bytes});
}

void Device::copy_from(StreamId stream, void* to, Address from, std::uint64_t bytes) {
  if (bytes != 0) impl_->at(from, bytes);
  copy(stream, Area::at_address(reinterpret_cast<std::uintptr_t>(to)), Area::at_address(from), {bytes});
}

void Device::copy(StreamId stream, Address to, Address from, std::uint64_t bytes) {
  if (bytes != 0) impl_->at(to, bytes), impl_->at(from, bytes);
  copy(stream, Area::at_address(to), Area::at_address(from), {bytes});
}

void Device::fill(StreamId stream, Address to, std::uint8_t value, std::uint64_t bytes) {
  if (bytes != 0) impl_->at(to, bytes);
  fill(stream, Area::at_address(to), {bytes}, value * 0x01010101u);
}

// Without an engine, or where nothing has time, a copy is an instant; between places of the host's always.
void Device::copy(StreamId stream, const Area& to, const Area& from, const Box& box) {
  if (box.empty()) return;
  impl_->require_inside(to, box);
  impl_->require_inside(from, box);
  const auto on_host = [this](const Area& area) {
    return area.image == nullptr && !impl_->is_device(area.address);
  };
  const bool instant = (on_host(to) && on_host(from)) || !impl_->takes_time();
  impl_->checkpoints.streams = true;
  impl_->streams.add(stream, {[this, to, from, box, instant](Streams::Done done) {
                       if (instant || impl_->copies == nullptr) {
                         impl_->copy_now(to, from, box);
                         impl_->written(to, box);
                         return done();
                       }
                       impl_->copies->copy(to, from, box, [this, to, box, done = std::move(done)] {
                         impl_->written(to, box);
                         done();
                       });
                     }});
}

void Device::fill(StreamId stream, const Area& to, const Box& box, std::uint32_t pattern) {
  if (box.empty()) return;
  impl_->require_inside(to, box);
  impl_->checkpoints.streams = true;
  const bool instant = !impl_->takes_time();
  impl_->streams.add(stream, {[this, to, box, pattern, instant](Streams::Done done) {
                       if (instant || impl_->copies == nullptr) {
                         impl_->fill_now(to, box, pattern);
                         impl_->written(to, box);
                         return done();
                       }
                       impl_->copies->fill(to, box, pattern, [this, to, box, done = std::move(done)] {
                         impl_->written(to, box);
                         done();
                       });
                     }});
}

void Device::call(StreamId stream, std::function<void()> function) {
  impl_->checkpoints.streams = true;
  impl_->streams.add(stream, {[act = std::move(function)](const Streams::Done& done) {
                       act();
                       done();
                     }});
}

void Device::call_outside(StreamId stream, std::function<void()> function) {
  impl_->checkpoints.streams = true;
  impl_->streams.add(stream, {[this, act = std::move(function)](const Streams::Done& done) {
                       impl_->outside.push_back({act, done});
                       if (impl_->running) impl_->waiter.look();
                     }});
}

void Device::synchronise(StreamId stream) {
  impl_->throw_if_faulted();
  {
    const EffortTimer timer(impl_->effort);
    impl_->run([this, stream] { return impl_->streams.idle(stream); });
  }
  impl_->throw_if_faulted();
  impl_->release_scratch(false);
}

void Device::wait_for(EventId event) {
  impl_->throw_if_faulted();
  {
    const EffortTimer timer(impl_->effort);
    impl_->run([this, event] { return !impl_->streams.pending(event); });
  }
  impl_->throw_if_faulted();
}

Device::Advance Device::advance(const std::function<bool()>& stop) {
  impl_->throw_if_faulted();
  impl_->kernels_wait = false;
  bool stopped = false;
  {
    const EffortTimer timer(impl_->effort);
    const Running now(impl_->advancing);
    impl_->run([&] { return impl_->streams.idle() || impl_->kernels_wait || (stopped = stopped || stop()); });
  }
  impl_->throw_if_faulted();
  impl_->release_scratch(false);
  if (impl_->streams.idle()) return Advance::kDone;
  return stopped ? Advance::kStopped : Advance::kKernelsWait;
}

}  // namespace weft::runtime
