// Copies in streams that the DMA engine makes.
#include "runtime/dma_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "runtime/images.h"
#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"

namespace weft::runtime::dma_copies_test {
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

// As `weft cuda` sets the engine up, so that it can keep the links busy.
struct WideBench {
  explicit WideBench(unsigned outstanding = 64)
      : device(
            load_config("gtx480", {"sm.count=1", "system.enabled=true", "host.burst_bytes=4096",
                                   "host.dma_slots=64", "host.outstanding=" + std::to_string(outstanding)}),
            Bench::options()),
        copies(device.gpu()) {
    device.use(&copies);
    device.share(host.data(), host.size());
    memory = device.allocate(kBytes);
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i * 7 + i / 256);
  }
  double nanoseconds(const Area& to, const Area& from, const Box& box) {
    return timed([&] { device.copy(0, to, from, box); });
  }
  double fill_nanoseconds(const Area& to, const Box& box, std::uint32_t pattern) {
    return timed([&] { device.fill(0, to, box, pattern); });
  }
  double timed(const std::function<void()>& work) {
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    work();
    device.synchronise();
    return (sc_core::sc_time_stamp() - begin).to_seconds() * 1e9;
  }
  Area in_host(std::uint64_t offset, std::uint64_t pitch) {
    return rows(reinterpret_cast<std::uintptr_t>(host.data()) + offset, pitch);
  }
  static Area rows(std::uint64_t address, std::uint64_t pitch) {
    Area area;
    area.address = address, area.pitch = pitch;
    return area;
  }
  std::vector<unsigned char> read(Address from, std::uint64_t bytes) {
    std::vector<unsigned char> result(bytes);
    device.copy_from(result.data(), from, bytes);
    return result;
  }

  static constexpr std::uint64_t kBytes = 4 << 20;
  std::vector<unsigned char> host = std::vector<unsigned char>(kBytes);
  Device device;
  DmaCopies copies;
  Address memory = 0;
};

// What moving so many bytes takes at least, in nanoseconds. Over the link to the host's memory: 24 bytes per
// nanosecond, after the latency. Through the crossbar: bursts to device memory are of 256 bytes
// (memory.interleave_bytes), packets of 264 bytes, 7 flits of 40 at 700 MHz, which is 25.6 bytes per
// nanosecond; a read asks with 1 flit.
constexpr double kLatency = 600;
double link(double bytes) {
  return kLatency + bytes / 24;
}
double crossbar(double bytes, unsigned flits) {
  return bytes / 256 * flits / 0.7;
}
// Reads from device memory take turns between the 64 slots, burst by burst: all slots are read before the
// first one writes.
double first_reads() {
  return crossbar(64 * 4096, 7);
}

TEST(DmaCopies, RowsTakeTheTimeOfTheNarrowestStage) {
  WideBench bench;
  const Box box{2048, 512, 1};
  const double bytes = 2048 * 512;
  const double in = bench.nanoseconds(WideBench::rows(bench.memory, 2560), bench.in_host(0, 4096), box);
  EXPECT_NEAR(in, link(bytes), 0.1 * in);
  EXPECT_GT(in, link(bytes));
  std::vector<unsigned char> expected = bench.host;
  for (unsigned y = 0; y < 512; ++y) {
    const auto row = bench.read(bench.memory + y * 2560, 2048);
    ASSERT_EQ(std::memcmp(row.data(), &bench.host[y * 4096], 2048), 0) << y;
  }
  // Back, 2,048 bytes further right.
  const double out = bench.nanoseconds(bench.in_host(2048, 4096), WideBench::rows(bench.memory, 2560), box);
  EXPECT_NEAR(out, first_reads() + link(bytes), 0.1 * out);
  for (unsigned y = 0; y < 512; ++y) std::memcpy(&expected[y * 4096 + 2048], &expected[y * 4096], 2048);
  EXPECT_TRUE(bench.host == expected);
}

// The requests of reads and the writes share the way in. With 256 transactions under way it is the narrowest
// stage; 64 do not keep it busy.
TEST(DmaCopies, RowsWithinDeviceMemory) {
  const Box box{2048, 512, 1};
  WideBench bench(256);
  bench.device.copy_to(bench.memory, bench.host.data(), 2 << 20);
  const double took = bench.nanoseconds(WideBench::rows(bench.memory + (2 << 20), 2048),
                                        WideBench::rows(bench.memory, 2560), box);
  EXPECT_NEAR(took, first_reads() + crossbar(2048 * 512, 8), 0.1 * took);
  for (unsigned y = 0; y < 512; ++y) {
    const auto row = bench.read(bench.memory + (2 << 20) + y * 2048, 2048);
    ASSERT_EQ(std::memcmp(row.data(), &bench.host[y * 2560], 2048), 0) << y;
  }
}

// Rows of 64 bytes are bursts of 64 bytes: 64 of them are under way at a time, each for the latency, its time
// on the link, and 4 cycles in and out of the bus master (tests/host/dma_test.cpp).
TEST(DmaCopies, NarrowRowsTakeTheTimeOfTheirLatency) {
  WideBench bench;
  const double rows = 8192;
  const double took =
      bench.nanoseconds(WideBench::rows(bench.memory, 64), bench.in_host(0, 128), {64, 8192, 1});
  EXPECT_NEAR(took, rows / 64 * (kLatency + 64 / 24.0 + 4 / 0.7), 0.1 * took);
  for (unsigned y = 0; y < 8192; y += 97) {
    const auto row = bench.read(bench.memory + y * 64, 64);
    ASSERT_EQ(std::memcmp(row.data(), &bench.host[y * 128], 64), 0) << y;
  }
}

TEST(DmaCopies, ArraysTakeTheTimeOfTheirBytes) {
  WideBench bench;
  texture::ArrayShape shape;
  shape.geometry = texture::Geometry::k3d;
  shape.format = {texture::ChannelKind::kFloat, 32, 4};
  shape.width = 128, shape.height = 128, shape.depth = 4;
  const texture::Image image = create_array(bench.device, shape);
  Area array;
  array.image = &image;
  const Box box{2048, 128, 4};
  const double bytes = 2048.0 * 128 * 4;
  Area rows = bench.in_host(0, 2048);
  rows.slice = 2048 * 128;
  const double in = bench.nanoseconds(array, rows, box);
  EXPECT_NEAR(in, link(bytes), 0.1 * in);
  std::vector<unsigned char> packed(box.bytes());
  copy_from_array(bench.device, packed.data(), image, 0);
  EXPECT_EQ(std::memcmp(packed.data(), bench.host.data(), packed.size()), 0);
  Area back = bench.in_host(2 << 20, 2048);
  back.slice = 2048 * 128;
  const double out = bench.nanoseconds(back, array, box);
  EXPECT_NEAR(out, first_reads() + link(bytes), 0.1 * out);
  EXPECT_EQ(std::memcmp(&bench.host[2 << 20], bench.host.data(), box.bytes()), 0);
}

TEST(DmaCopies, FillsTakeTheTimeOfTheirWrites) {
  WideBench bench;
  const double bytes = 2 << 20;
  const double fill = bench.fill_nanoseconds(Area::at_address(bench.memory), {2 << 20}, 0x04030201);
  EXPECT_NEAR(fill, crossbar(bytes, 7), 0.1 * fill);
  const auto filled = bench.read(bench.memory, 2 << 20);
  for (std::size_t i = 0; i < filled.size(); ++i) ASSERT_EQ(filled[i], i % 4 + 1) << i;
  const double rows = bench.fill_nanoseconds(WideBench::rows(bench.memory, 1280), {1024, 512, 1}, 0);
  EXPECT_NEAR(rows, crossbar(1024 * 512, 7), 0.1 * rows);
  EXPECT_EQ(bench.read(bench.memory + 1280 * 511 + 1023, 2), (std::vector<unsigned char>{0, 1}));
  // Over the link.
  const double host = bench.fill_nanoseconds(bench.in_host(0, 0), {1 << 20}, 0x55555555);
  EXPECT_NEAR(host, link(1 << 20), 0.1 * host);
  EXPECT_EQ(bench.host[0], 0x55);
  EXPECT_EQ(bench.host[(1 << 20) - 1], 0x55);
  EXPECT_NE(bench.host[(1 << 20) + 1], 0x55);
}

TEST(DmaCopies, BoxesOutsideOfMemoryAreRefused) {
  WideBench bench;
  const Area rows = WideBench::rows(bench.memory, 4096), host = bench.in_host(0, 4096);
  EXPECT_THROW(bench.device.copy(0, rows, host, {4096, 1025, 1}), InputError);
  EXPECT_THROW(bench.device.copy(0, host, rows, {4096, UINT64_MAX / 4096, 2}), InputError);
  EXPECT_THROW(bench.device.fill(0, rows, {4097, 1024, 1}, 0), InputError);
  texture::ArrayShape shape;
  shape.format = {texture::ChannelKind::kFloat, 32, 1};
  shape.width = 16, shape.height = 8;
  const texture::Image image = create_array(bench.device, shape);
  Area array;
  array.image = &image;
  array.x = 4;
  EXPECT_THROW(bench.device.copy(0, array, host, {64, 8, 1}), InputError);
  EXPECT_THROW(bench.device.copy(0, array, host, {60, 9, 1}), InputError);
  EXPECT_THROW(bench.device.copy(0, array, host, {60, 8, 2}), InputError);
  bench.device.copy(0, array, host, {60, 8, 1});
  bench.device.synchronise();
}

}  // namespace
}  // namespace weft::runtime::dma_copies_test
