#include "platform/host_control.h"

#include <utility>

#include "bus/picoseconds.h"
#include "weft/common/error.h"

namespace weft {

void HostControl::launch(dispatch::Launch launch, std::uint32_t queue, host::LaunchEnded ended) {
  launch.queue = kFirstQueue + queue;
  launch.contained = true;
  launch.done = [ended = std::move(ended)](const dispatch::LaunchOutcome& outcome) {
    ended({outcome.fault, outcome.begin_ps, outcome.end_ps});
  };
  gpu_.launch(launch);
}

void HostControl::run_untimed(dispatch::Launch launch, std::uint32_t queue, host::LaunchEnded ended) {
  launch.queue = kFirstQueue + queue;
  launch.contained = true;
  gpu_.run_untimed(launch, [ended = std::move(ended), begin = now_picoseconds()](const Fault& fault) {
    ended({fault, begin, now_picoseconds()});
  });
}

std::uint64_t HostControl::local_memory_bytes(const dispatch::Launch& launch) const {
  return gpu_.local_memory_bytes(launch);
}

void HostControl::map_memory() {
  gpu_.map(gpu_.device_base(), image_.bytes(), true);
}

bool HostControl::set_window(unsigned index, std::uint64_t base, std::uint64_t bytes) {
  if (!gpu_.config().system.enabled) return true;
  const auto old = windows_.find(index);
  if (old != windows_.end()) {
    gpu_.remove_system_window(old->second);
    windows_.erase(old);
  }
  if (bytes == 0) return true;
  try {
    gpu_.add_system_window(base, bytes);
  } catch (const InputError&) {
    return false;  // there is one that is not of a register
  }
  windows_[index] = base;
  return true;
}

unsigned HostControl::sms() const {
  return static_cast<unsigned>(gpu_.config().sm.count);
}

}  // namespace weft
