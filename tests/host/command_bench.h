// A HostBench with a kernel in memory, and what a driver does with it.
#ifndef WEFT_TESTS_HOST_COMMAND_BENCH_H
#define WEFT_TESTS_HOST_COMMAND_BENCH_H

#include "host/host_bench.h"
#include "host/packets.h"

namespace weft::test {

class Commands : public ::testing::Test {
 public:
  explicit Commands(const host::Config& config = {}) : bench(config) {
    put_kernel(bench.ram, "fill");
    put_arguments(bench.ram, kDevice + 0x2'0000, 3);
    bench.ram.put<std::int64_t>(kSignal, 1);
  }
  // Runs the script with the window and queue 0 open.
  void run(std::function<void()> script) {
    ASSERT_TRUE(bench.cpu.run([&] {
      bench.open_window();
      bench.open_queue(0, kRing);
      script();
    }));
    bench.expect_quiet();
  }
  std::uint32_t reg(std::uint64_t address) { return bench.cpu.read32(address); }
  std::uint32_t queue(std::uint64_t address) { return reg(WEFT_QUEUE(0, address)); }
  std::uint64_t error_address() {
    return reg(WEFT_REG_ERROR_ADDRESS_LO) | std::uint64_t{reg(WEFT_REG_ERROR_ADDRESS_HI)} << 32;
  }
  std::int64_t signal(unsigned i = 0) { return bench.ram.get<std::int64_t>(kSignal + 8 * i); }
  // Writes a packet into queue 0's ring and rings.
  template <class Packet>
  void submit(const Packet& packet) {
    bench.put_packet(kRing, submitted_, packet);
    bench.doorbell(0, ++submitted_);
  }
  void expect_error(std::uint32_t code, std::uint64_t address, const std::string& text) {
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), code) << bench.host.error_text();
    EXPECT_EQ(error_address(), address);
    EXPECT_NE(bench.host.error_text().find(text), std::string::npos) << bench.host.error_text();
  }

  HostBench bench;
  std::uint32_t submitted_ = 0;
};

}  // namespace weft::test

#endif
