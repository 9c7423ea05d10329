// The driver in C (platform/driver) on a whole GPU: what a program sees of a kernel that faults.
#include "driver/weft_driver.h"
#include "host/gpu_machine.h"

namespace weft::test {
namespace {

weft_io io_of(Machine& machine) {
  weft_io io{};
  io.context = &machine;
  io.read32 = [](void* context, std::uint64_t offset) { return static_cast<Machine*>(context)->reg(offset); };
  io.write32 = [](void* context, std::uint64_t offset, std::uint32_t value) {
    static_cast<Machine*>(context)->cpu.write32(offset, value);
  };
  io.mask = [](void*) {};
  io.sleep = [](void* context) { static_cast<Machine*>(context)->wait_for_interrupt(); };
  io.memory = machine.ram.bytes.data();
  io.memory_address = kRam;
  io.memory_bytes = kRamBytes;
  return io;
}

TEST(CDriver, AFaultIsReturnedAndTheQueueResumes) {
  constexpr std::uint64_t kNowhere = 0x7'0000'0000;
  struct Arguments {
    std::uint64_t out;
    std::uint32_t factor;
  };
  Machine machine(config_of("gtx480"));
  machine.with_ram();
  ASSERT_TRUE(machine.cpu.run([&] {
    static weft_gpu gpu;  // for `unmask`, which gets the machine
    weft_io io = io_of(machine);
    io.unmask = [](void* context) {
      if (static_cast<Machine*>(context)->irq.read()) weft_interrupt(&gpu);
    };
    weft_queue queue;
    ASSERT_EQ(weft_open(&gpu, &io), 0);
    ASSERT_EQ(weft_open_queue(&queue, &gpu, 0, 8, 1 << 16), 0);
    const std::uint64_t kernel = weft_kernel(&gpu, kFillText, std::strlen(kFillText), "fill", 1 << 16);
    const std::uint64_t out = weft_allocate_device(&gpu, 4096);
    weft_failure failure;
    weft_get_failure(&failure, &queue);
    EXPECT_EQ(failure.code, static_cast<std::uint32_t>(WEFT_ERROR_NONE));
    const std::uint32_t grid[3] = {2, 1, 1}, block[3] = {32, 1, 1};
    const auto launch = [&](std::uint64_t to, weft_signal* signal) {
      const Arguments arguments{to, 3};
      EXPECT_EQ(weft_dispatch(&queue, kernel, grid, block, &arguments, 12, signal), 0);
    };
    weft_signal* const first = weft_new_signal(&gpu);
    weft_signal* const second = weft_new_signal(&gpu);
    launch(kNowhere, first);
    launch(out, second);
    EXPECT_EQ(weft_wait(&gpu, first), WEFT_ERROR_FAULT);
    EXPECT_EQ(weft_wait(&gpu, second), WEFT_ERROR_FAULT) << "its queue has stopped";
    weft_get_failure(&failure, &queue);
    EXPECT_EQ(failure.code, static_cast<std::uint32_t>(WEFT_ERROR_FAULT));
    EXPECT_EQ(failure.kind, static_cast<std::uint32_t>(WEFT_FAULT_ILLEGAL_ADDRESS));
    EXPECT_EQ(failure.address, kNowhere + 4 * (32 * failure.block[0] + failure.thread[0]));
    EXPECT_EQ(failure.pc, 10u) << machine.gpu.host_error();
    EXPECT_EQ(weft_resume(&queue), 0);
    EXPECT_EQ(weft_wait(&gpu, second), 0);
    for (std::uint32_t i = 0; i < 64; ++i) ASSERT_EQ(weft_read_device(&gpu, out + 4 * i), 3 * i + 5);
  }));
}

}  // namespace
}  // namespace weft::test
