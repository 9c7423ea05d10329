// A run that goes on in another process, from between two launches.
//
// The host's side of a program is code that cannot be kept; it runs again from its beginning. Its calls are
// the same as the first time, so allocations, modules, textures and parameters come out the same by
// themselves. What the GPU did is not done again: launches end as they are made, and what the host then reads
// is what it read the first time, which the state has. When the host waits for a launch that has not run yet,
// or for the last one that has, the state is read, at the same simulated time.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "runtime/device_impl.h"

namespace weft::runtime {
namespace {

constexpr std::uint64_t kPage = kPageBytes;

bool is_zero(const unsigned char* bytes, std::uint64_t count) {
  return bytes[0] == 0 && std::memcmp(bytes, bytes + 1, count - 1) == 0;
}

void append(std::string& text, const void* bytes, std::size_t count) {
  text.append(static_cast<const char*>(bytes), count);
}

[[noreturn]] void refuse(const std::string& why) {
  throw InputError("checkpoint", "cannot be continued from: " + why);
}

}  // namespace

void Device::Impl::rest() {
  using Clock = std::chrono::steady_clock;
  if (checkpoints.streams || Clock::now() < checkpoints.next) return;
  Archive state;
  try {
    archive(state);
  } catch (const NotAtRest&) {
    return;  // something is still on its way to memory: the end of the next launch will do
  }
  options.checkpoint(state.bytes());
  checkpoints.next = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(options.checkpoint_seconds));
}

void Device::Impl::archive(Archive& archive) {
  std::uint64_t time = sc_core::sc_time_stamp().value();
  archive.mark("time");
  archive(time, checkpoints.ended, checkpoints.reads);
  if (!archive.writes()) {
    const sc_core::sc_time then = sc_core::sc_time::from_value(time);
    if (then < sc_core::sc_time_stamp())
      refuse("the time of the simulation is beyond that of the checkpoint");
    // Nothing has been launched: all modules sleep.
    if (then > sc_core::sc_time_stamp()) sc_core::sc_start(then - sc_core::sc_time_stamp());
  }
  gpu.archive(archive);
  archive.mark("runtime");
  archive(runtime);
  archive_memory(archive);
  archive.end();
}

// The pages that are not zero, of what was ever allocated.
void Device::Impl::archive_memory(Archive& archive) {
  memory::MemoryImage& image = gpu.memory();
  std::uint64_t used = highest - gpu.device_base();
  archive.mark("memory");
  archive(used);
  if (used > image.bytes()) throw BadArchive("has more memory than the device");
  const auto page_of = [&](std::uint64_t at) { return std::min(kPage, image.bytes() - at); };
  std::uint64_t at = 0;
  if (archive.writes()) {
    for (; at < used; at += kPage) {
      if (is_zero(image.data() + at, page_of(at))) continue;
      archive(at);
      archive.raw(image.data() + at, page_of(at));
    }
    at = UINT64_MAX;
    archive(at);
    return;
  }
  image.reset();
  for (archive(at); at != UINT64_MAX; archive(at)) {
    if (at % kPage != 0 || at >= image.bytes()) throw BadArchive("has a page outside of device memory");
    archive.raw(image.data() + at, page_of(at));
  }
}

// A record: address, bytes, content.
void Device::Impl::read(void* to, Address from, std::uint64_t bytes) {
  const std::uint8_t* const source = at(from, bytes);
  const std::array<std::uint64_t, 2> heading{from, bytes};
  if (!checkpoints.state.has_value()) {
    std::memcpy(to, source, bytes);
    if (!options.checkpoint) return;
    append(checkpoints.reads, heading.data(), sizeof heading);
    append(checkpoints.reads, source, bytes);
    return;
  }
  const std::string& reads = checkpoints.reads;
  const char* const record = reads.data() + checkpoints.read_at;
  const std::size_t left = reads.size() - checkpoints.read_at;
  if (left < sizeof heading || std::memcmp(record, heading.data(), sizeof heading) != 0 ||
      left - sizeof heading < bytes) {
    refuse("the program reads other results than when the checkpoint was made");
  }
  std::memcpy(to, record + sizeof heading, bytes);
  checkpoints.read_at += sizeof heading + bytes;
}

void Device::Impl::return_to_rest() {
  if (checkpoints.launched < checkpoints.skipped) return;
  if (checkpoints.read_at != checkpoints.reads.size())
    refuse("the program has read less than when the checkpoint was made");
  Archive state = std::move(*checkpoints.state);
  try {
    archive(state);
  } catch (const BadArchive& bad) {
    refuse(std::string("it ") + bad.what());
  }
  checkpoints.state.reset();
  // What waited behind the last launch waits again; then the rest of the instant.
  streams.poll();
  while (sc_core::sc_pending_activity_at_current_time()) sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

void Device::resume(std::string state) {
  Impl::Checkpoints& checkpoints = impl_->checkpoints;
  checkpoints.state.emplace(std::move(state));
  std::uint64_t time = 0;
  try {
    // Read again, and all of it, when the simulation has come there.
    Archive& archive = *checkpoints.state;
    archive.mark("time");
    archive(time, checkpoints.skipped, checkpoints.reads);
    archive.rewind();
  } catch (const BadArchive& bad) {
    refuse(std::string("it ") + bad.what());
  }
}

bool Device::resuming() const {
  return impl_->checkpoints.state.has_value();
}

std::string Device::cannot_be_kept() const {
  const DeviceOptions& options = impl_->options;
  if (options.functional.all || options.functional.launches != 0 || !options.functional.kernel.empty())
    return "launches run without timing (--functional, --fast-forward)";
  if (!options.sleeping) return "its modules do not sleep (--no-sleep)";
  if (options.profile != nullptr || options.observer != nullptr || options.debugger != nullptr)
    return "its launches are observed";
  return impl_->gpu.cannot_be_kept();
}

}  // namespace weft::runtime
