// Operations in streams, and waiting for some of them.
#include <cstring>
#include <utility>

#include "gddr5/memory_image.h"
#include "runtime/device_impl.h"

namespace weft::runtime {

Streams& Device::streams() {
  return impl_->streams;
}

void Device::use(CopyEngine* engine) {
  impl_->copies = engine;
}

void Device::launch(StreamId stream, LoadedModule& module, const std::string& kernel, dispatch::Dim3 grid,
                    dispatch::Dim3 block, const Arguments& arguments, std::uint64_t dynamic_shared,
                    const Ended& ended) {
  impl_->release_scratch(false);
  const Impl::Prepared prepared =
      impl_->prepare(stream, module, kernel, grid, block, arguments, dynamic_shared);
  impl_->start(prepared, stream, ended);
  if (impl_->options.observer) impl_->options.observer->launching(prepared.launch, module);
}

// Tells the checks, if the bytes are of device memory.
void Device::Impl::written(std::uint64_t to, std::uint64_t bytes) {
  if (checks && allocator.contains(to, bytes)) checks->written(to, bytes);
}

// Without an engine, or where nothing has time, a copy is an instant.
void Device::Impl::copy(StreamId stream, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                        std::function<void()> at_once) {
  Streams::Operation operation;
  if (copies == nullptr || options.functional.all) {
    operation.begin = [this, to, bytes, act = std::move(at_once)](const Streams::Done& done) {
      act();
      written(to, bytes);
      done();
    };
  } else {
    operation.begin = [this, to, from, bytes](Streams::Done done) {
      copies->copy(to, from, bytes, [this, to, bytes, done = std::move(done)] {
        written(to, bytes);
        done();
      });
    };
  }
  streams.add(stream, std::move(operation));
}

void Device::copy_to(StreamId stream, Address to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::uint8_t* const place = impl_->at(to, bytes);
  impl_->copy(stream, to, reinterpret_cast<std::uintptr_t>(from), bytes,
              [place, from, bytes] { std::memcpy(place, from, bytes); });
}

void Device::copy_from(StreamId stream, void* to, Address from, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::uint8_t* const place = impl_->at(from, bytes);
  impl_->copy(stream, reinterpret_cast<std::uintptr_t>(to), from, bytes,
              [to, place, bytes] { std::memcpy(to, place, bytes); });
}

void Device::copy(StreamId stream, Address to, Address from, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::uint8_t* const place = impl_->at(to, bytes);
  const std::uint8_t* const source = impl_->at(from, bytes);
  impl_->copy(stream, to, from, bytes, [place, source, bytes] { std::memmove(place, source, bytes); });
}

void Device::fill(StreamId stream, Address to, std::uint8_t value, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::uint8_t* const place = impl_->at(to, bytes);
  call(stream, [this, place, to, value, bytes] {
    std::memset(place, value, bytes);
    impl_->written(to, bytes);
  });
}

void Device::call(StreamId stream, std::function<void()> function) {
  impl_->streams.add(stream, {[act = std::move(function)](const Streams::Done& done) {
                       act();
                       done();
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

}  // namespace weft::runtime
