#include "host/queue_services.h"

#include <algorithm>

#include "weft/machine/address_windows.h"

namespace weft::host {

std::shared_ptr<execute::DeviceHeap> DeviceHeaps::join(std::uint64_t base, std::uint64_t bytes) {
  const auto unused = [](const Entry& entry) { return entry.heap.expired(); };
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(), unused), entries_.end());
  for (const Entry& entry : entries_) {
    if (entry.base == base && entry.bytes == bytes) return entry.heap.lock();
    if (machine::AddressRange{nullptr, entry.base, entry.bytes}.overlaps(base, bytes)) return nullptr;
  }
  auto heap = std::make_shared<execute::DeviceHeap>(base, bytes);
  entries_.push_back({base, bytes, heap});
  return heap;
}

QueueServices::Printed QueueServices::take() {
  Printed printed{output_.take(), output_.lost() - lost_before_};
  lost_before_ = output_.lost();
  return printed;
}

}  // namespace weft::host
