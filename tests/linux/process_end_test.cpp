// Processes that end while the GPU works for them.
#include "linux/linux_machine.h"

namespace weft::test {
namespace process_end_test {
namespace {

// What the driver has given out of device memory.
std::uint64_t device_bytes_used(const LinuxMachine& machine) {
  std::uint64_t bytes = 0;
  for (const weft_range* range = machine.core->device.used; range != nullptr; range = range->next)
    bytes += range->bytes;
  return bytes;
}

TEST(LinuxProcessEnd, MemoryAndQueueComeBackAfterTheKernel) {
  LinuxMachine machine;
  machine.run([&] {
    Process other(machine);
    const std::uint32_t other_queue = other.queue();
    const std::uint64_t other_kernel = other.kernel("later");
    const std::uint64_t used = device_bytes_used(machine);
    std::uint64_t first = 0, second = 0;
    {
      Process dying(machine);
      const std::uint32_t queue = dying.queue();
      const weft_buffer out = dying.buffer(WEFT_BUFFER_DEVICE, 4096);
      const std::uint64_t kernel = dying.kernel("later");
      ASSERT_EQ(dying.submit(queue, dying.dispatch(kernel, LaterArguments{out.address, 1, 20000}, 0)), 0);
      ASSERT_EQ(dying.submit(queue, dying.dispatch(kernel, LaterArguments{out.address, 2, 20000}, 1)), 0);
      first = dying.page.address - kRam;
      second = first + 8;
      for (unsigned i = 0; i < 20; ++i) machine.pass();
      EXPECT_EQ(dying.value(0), 1) << "the kernel is under way";
    }
    EXPECT_GT(device_bytes_used(machine), used) << "the kernel still writes there";
    const LaterArguments arguments{other.page.address + 512, 7, 1};
    ASSERT_EQ(other.submit(other_queue, other.dispatch(other_kernel, arguments, 0)), 0);
    EXPECT_EQ(other.wait_for(0), 0);
    EXPECT_GT(device_bytes_used(machine), used);
    machine.pass_until([&] { return device_bytes_used(machine) == used; });
    // Nobody has cleared these pages yet.
    EXPECT_EQ(machine.machine.ram.get<std::int64_t>(kRam + first), 0) << "the packet that had begun";
    EXPECT_EQ(machine.machine.ram.get<std::int64_t>(kRam + second), 1) << "the one behind it";
    Process next(machine);
    for (unsigned q = 0; q < LinuxMachine::kQueues - 1; ++q) next.queue();
    const unsigned polls = machine.polls;
    for (unsigned i = 0; i < 20; ++i) machine.pass();
    EXPECT_EQ(machine.polls, polls) << "nothing is left to do";
  });
}

TEST(LinuxProcessEnd, ABarrierThatWaitsForEverIsLeft) {
  LinuxMachine machine;
  machine.run([&] {
    const std::uint64_t used = device_bytes_used(machine);
    for (const int type : {WEFT_PACKET_BARRIER_AND, WEFT_PACKET_BARRIER_OR}) {
      Process dying(machine);
      const std::uint32_t queue = dying.queue();
      const auto packet =
          barrier_packet(static_cast<std::uint16_t>(type), dying.signal(0), 0, dying.signal(1));
      ASSERT_EQ(dying.submit(queue, packet), 0);
      for (unsigned i = 0; i < 20; ++i) machine.pass();
      dying.close();
      machine.pass_until([&] { return device_bytes_used(machine) == used; }, 100);
    }
  });
}

TEST(LinuxProcessEnd, AQueueThatHasStoppedIsTakenBackAtOnce) {
  LinuxMachine machine;
  machine.run([&] {
    const std::uint64_t used = device_bytes_used(machine);
    Process dying(machine);
    const std::uint32_t queue = dying.queue();
    const std::uint64_t kernel = dying.kernel("later");
    ASSERT_EQ(dying.submit(queue, dying.dispatch(kernel, LaterArguments{4096, 1, 1}, 0)), 0);
    ASSERT_EQ(dying.submit(queue, dying.dispatch(kernel, LaterArguments{4096, 1, 1}, 1)), 0);
    EXPECT_EQ(dying.wait_for(0), -WEFT_ERROR_FAULT);
    for (unsigned i = 0; i < 20; ++i) machine.pass();
    dying.close();
    EXPECT_EQ(device_bytes_used(machine), used);
    Process next(machine);
    EXPECT_EQ(next.queue(), queue);
    ASSERT_EQ(next.submit(queue, next.dispatch(next.kernel("nothing"), 0, 0)), 0);
    EXPECT_EQ(next.wait_for(0), 0);
  });
}

TEST(LinuxProcessEnd, WithoutInterruptsToo) {
  LinuxMachine machine(false);
  machine.run([&] {
    const std::uint64_t used = device_bytes_used(machine);
    Process dying(machine);
    const std::uint32_t queue = dying.queue();
    const LaterArguments arguments{dying.page.address + 512, 1, 5000};
    ASSERT_EQ(dying.submit(queue, dying.dispatch(dying.kernel("later"), arguments, 0)), 0);
    dying.close();
    EXPECT_GT(device_bytes_used(machine), used);
    machine.pass_until([&] { return device_bytes_used(machine) == used; });
  });
}

TEST(LinuxProcessEnd, TheDriverCanStopAndStartMeanwhile) {
  LinuxMachine machine;
  machine.run([&] {
    Process dying(machine);
    const std::uint32_t queue = dying.queue();
    const LaterArguments arguments{dying.page.address + 512, 1, 2000000};
    ASSERT_EQ(dying.submit(queue, dying.dispatch(dying.kernel("later"), arguments, 0)), 0);
    dying.close();
    const weft_core_os* const os = machine.core->os;
    weft_core_stop(machine.core);
    ASSERT_EQ(weft_core_start(&machine.core, os), 0);
    Process next(machine);
    EXPECT_EQ(next.queue(), queue);
  });
}

}  // namespace
}  // namespace process_end_test
}  // namespace weft::test
