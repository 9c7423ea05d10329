// The driver in C (platform/driver) on a whole GPU: a kernel that faults, one that prints and allocates,
// fills.
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

// Prints "hi" and a line end, and stores an address of 16 bytes.
const char* const kHi = R"(.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 count) vprintf (.param .b64 format, .param .b64 arguments);
.extern .func (.param .b64 pointer) malloc (.param .b64 bytes);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.visible .entry hi(.param .u64 out) {
  .reg .b32 %r<2>; .reg .b64 %rd<5>;
  mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1;
  { .param .b64 a; st.param.b64 [a], %rd2; .param .b64 b; st.param.b64 [b], 0; .param .b32 c;
    call.uni (c), vprintf, (a, b); ld.param.b32 %r1, [c]; }
  { .param .b64 a; st.param.b64 [a], 16; .param .b64 b;
    call.uni (b), malloc, (a); ld.param.b64 %rd3, [b]; }
  ld.param.u64 %rd4, [out]; st.global.u64 [%rd4], %rd3;
  ret;
}
)";

TEST(CDriver, KernelsPrintAndAllocateAndMemoryIsFilled) {
  Machine machine(config_of("gtx480"));
  machine.with_ram();
  ASSERT_TRUE(machine.cpu.run([&] {
    static weft_gpu gpu;
    weft_io io = io_of(machine);
    io.unmask = [](void* context) {
      if (static_cast<Machine*>(context)->irq.read()) weft_interrupt(&gpu);
    };
    weft_queue queue;
    constexpr std::uint64_t kHeapBytes = 64;
    ASSERT_EQ(weft_open(&gpu, &io), 0);
    ASSERT_EQ(weft_open_queue(&queue, &gpu, 0, 8, 1 << 19), 0);
    ASSERT_EQ(weft_open_runtime(&queue, 16 + 7, kHeapBytes), 0) << machine.gpu.host_error();
    const std::uint64_t kernel = weft_kernel(&gpu, kHi, std::strlen(kHi), "hi", 1 << 14);
    const std::uint64_t out = weft_allocate_device(&gpu, 4096);
    const std::uint32_t one[3] = {1, 1, 1};
    const auto finish = [&](auto call) {
      weft_signal* const signal = weft_new_signal(&gpu);
      ASSERT_EQ(call(signal), 0);
      ASSERT_EQ(weft_wait(&gpu, signal), 0) << machine.gpu.host_error();
    };
    const auto say = [&](weft_signal* signal) {
      return weft_dispatch(&queue, kernel, one, one, &out, sizeof out, signal);
    };
    char text[100] = {};
    const auto read = [&](std::uint64_t most) {
      return std::string(text, weft_read_output(&queue, text, most));
    };
    EXPECT_EQ(read(sizeof text), "");
    finish(say);
    EXPECT_EQ(read(sizeof text), "hi\n");
    EXPECT_EQ(read(sizeof text), "");
    const std::uint64_t first = weft_read_device(&gpu, out);
    finish(say);
    EXPECT_EQ(read(2), "hi");
    EXPECT_EQ(weft_read_device(&gpu, out), first + 16);
    finish(say);
    EXPECT_EQ(read(sizeof text), "\nhi\n") << "around the end of the ring";
    for (unsigned i = 0; i < 3; ++i) finish(say);  // 9 bytes, of which the ring holds 7
    EXPECT_EQ(read(sizeof text), "\nhi\nhi\n");
    EXPECT_EQ(weft_read_device(&gpu, out), 0u) << "the heap is full";
    finish([&](weft_signal* signal) { return weft_fill(&queue, out + 4, 6, 0xD4C3'B2A1, signal); });
    EXPECT_EQ(weft_read_device(&gpu, out + 4), 0xD4C3'B2A1);
    EXPECT_EQ(weft_read_device(&gpu, out + 8), 0xB2A1u);
  }));
}

}  // namespace
}  // namespace weft::test
