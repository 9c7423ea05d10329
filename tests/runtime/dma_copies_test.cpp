// Copies in streams that the DMA engine makes.
#include "runtime/dma_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "platform/gpu_config.h"
#include "runtime/device.h"

namespace weft::runtime {
namespace {

constexpr std::size_t kWords = 4096;

struct Bench {
  Bench()
      : device(load_config("gtx480", {"sm.count=1", "system.enabled=true"}), options()),
        copies(device.gpu()) {
    device.use(&copies);
    std::iota(source.begin(), source.end(), 7u);
    there = device.allocate(2 * kBytes);
  }
  static DeviceOptions options() {
    DeviceOptions options;
    options.host_memory.emplace();
    return options;
  }
  double nanoseconds(const std::function<void()>& copy) {
    sc_core::sc_time begin = sc_core::sc_time_stamp();
    copy();
    device.synchronise(stream);
    return (sc_core::sc_time_stamp() - begin).to_seconds() * 1e9;
  }

  static constexpr std::uint64_t kBytes = kWords * 4;
  Device device;
  DmaCopies copies;
  std::vector<std::uint32_t> source = std::vector<std::uint32_t>(kWords);
  std::vector<std::uint32_t> back = std::vector<std::uint32_t>(kWords);
  Address there = 0;
  StreamId stream = device.streams().create();
};

TEST(DmaCopies, MoveBytesBothWaysInTime) {
  Bench bench;
  bench.device.share(bench.source.data(), Bench::kBytes);
  bench.device.share(bench.back.data(), Bench::kBytes);
  const double in = bench.nanoseconds(
      [&] { bench.device.copy_to(bench.stream, bench.there, bench.source.data(), Bench::kBytes); });
  const double out = bench.nanoseconds(
      [&] { bench.device.copy_from(bench.stream, bench.back.data(), bench.there, Bench::kBytes); });
  EXPECT_EQ(bench.back, bench.source);
  // Whatever overlaps: the link moves 24 bytes per nanosecond, and an access takes 600 ns.
  EXPECT_GT(in, 600 + Bench::kBytes / 24.0);
  EXPECT_GT(out, 600 + Bench::kBytes / 24.0);
}

TEST(DmaCopies, OverlappingRangesKeepTheirBytes) {
  Bench bench;
  bench.device.copy_to(bench.there, bench.source.data(), Bench::kBytes);
  bench.device.copy(bench.stream, bench.there + 100, bench.there, Bench::kBytes);
  bench.device.synchronise(bench.stream);
  bench.device.copy_from(bench.back.data(), bench.there + 100, Bench::kBytes);
  EXPECT_EQ(bench.back, bench.source);
}

TEST(DmaCopies, MemoryThatIsNotSharedIsAFault) {
  Bench bench;
  bench.device.copy_to(bench.stream, bench.there, bench.source.data(), Bench::kBytes);
  try {
    bench.device.synchronise(bench.stream);
    ADD_FAILURE() << "copied";
  } catch (const SimulatedFault& fault) {
    EXPECT_THAT(fault.what(), ::testing::HasSubstr("a copy was refused at 0x"));
  }
}

}  // namespace
}  // namespace weft::runtime
