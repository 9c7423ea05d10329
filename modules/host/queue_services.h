// printf, malloc and free of the kernels of one queue, as its registers WEFT_QUEUE_RUNTIME_* say.
#ifndef WEFT_HOST_QUEUE_SERVICES_H
#define WEFT_HOST_QUEUE_SERVICES_H

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "execute/device_heap.h"
#include "execute/device_services.h"
#include "execute/print_buffer.h"

namespace weft::host {

// The heaps that enabled queues have. Queues with the same range share one.
class DeviceHeaps {
 public:
  // The heap of this range: the one that a queue has already, or a new one. nullptr: the range overlaps a
  // heap that is another one.
  std::shared_ptr<execute::DeviceHeap> join(std::uint64_t base, std::uint64_t bytes);

 private:
  struct Entry {
    std::uint64_t base = 0, bytes = 0;
    std::weak_ptr<execute::DeviceHeap> heap;  // the queues own it
  };
  std::vector<Entry> entries_;
};

class QueueServices final : public execute::DeviceServices {
 public:
  // `output_bytes` 0: what is printed goes nowhere. `heap` nullptr: malloc returns 0.
  void open(std::uint64_t output_bytes, std::shared_ptr<execute::DeviceHeap> heap) {
    has_output_ = output_bytes != 0;
    output_ = execute::PrintBuffer(output_bytes);
    lost_before_ = 0;
    heap_ = std::move(heap);
  }
  void close() { open(0, nullptr); }
  // The queue has an output or a heap.
  bool opened() const { return has_output_ || heap_ != nullptr; }

  struct Printed {
    std::string text;        // the newest that fits
    std::uint64_t lost = 0;  // calls of printf that were given up
  };
  // What was printed since the last call of this.
  Printed take();

  void print(const std::string& text) override {
    if (has_output_) output_.print(text);
  }
  std::uint64_t allocate(std::uint64_t bytes) override {
    return heap_ == nullptr ? 0 : heap_->allocate(bytes);
  }
  bool release(std::uint64_t address) override { return heap_ != nullptr && heap_->release(address); }

 private:
  bool has_output_ = false;
  execute::PrintBuffer output_;
  std::uint64_t lost_before_ = 0;
  std::shared_ptr<execute::DeviceHeap> heap_;
};

}  // namespace weft::host

#endif
