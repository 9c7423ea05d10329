// Processes that use the GPU through the library: results, several at once, failures.
#include <algorithm>

#include "linux/linux_machine.h"

namespace weft::test {
namespace driver_test {
namespace {

struct AddArguments {
  std::uint64_t a, b, c;
};

TEST(LinuxDriver, SaysWhatTheGpuHas) {
  LinuxMachine machine;
  machine.run([&] {
    Process process(machine);
    weft_device_info info{};
    ASSERT_EQ(weft_device_get_info(process.device, &info), 0);
    EXPECT_EQ(info.device_base, kDeviceBase);
    EXPECT_EQ(info.device_bytes, 4194304u);
    EXPECT_EQ(info.system_bytes, kRamBytes);
    EXPECT_EQ(info.version, static_cast<std::uint32_t>(WEFT_VERSION_VALUE));
    EXPECT_EQ(info.sms, 2u);
    EXPECT_EQ(info.queues, LinuxMachine::kQueues);
    EXPECT_EQ(info.interrupts, 1u);
    EXPECT_EQ(weft_core_call(weft_core_open(machine.core, &machine), WEFT_IOCTL_WAIT, &info), -ENOTTY);
  });
}

void add_vectors(LinuxMachine& machine) {
  constexpr unsigned kNumbers = 640;
  Process process(machine);
  const weft_buffer host = process.buffer(WEFT_BUFFER_SYSTEM, 3 * kNumbers * 4);
  const weft_buffer device = process.buffer(WEFT_BUFFER_DEVICE, 3 * kNumbers * 4);
  auto* const numbers = static_cast<std::uint32_t*>(host.data);
  for (unsigned i = 0; i < 2 * kNumbers; ++i) numbers[i] = i * i + 7;
  const std::uint64_t kernel = process.kernel("add");
  const std::uint32_t queue = process.queue();
  const AddArguments arguments{device.address, device.address + 4 * kNumbers, device.address + 8 * kNumbers};
  weft_kernel_dispatch_packet packets[3];
  const auto there = copy_packet(host.address, device.address, 8 * kNumbers, 0);
  std::memcpy(&packets[0], &there, sizeof there);
  packets[1] = process.dispatch(kernel, arguments, 0, kNumbers / 64, 64);
  const auto back = copy_packet(arguments.c, host.address + 8 * kNumbers, 4 * kNumbers, process.signal(1));
  std::memcpy(&packets[2], &back, sizeof back);
  std::uint64_t before = 0, after = 0;
  EXPECT_EQ(weft_device_cycles(process.device, &before), 0);
  ASSERT_EQ(weft_submit(process.device, queue, packets, 3), 0);
  EXPECT_EQ(process.wait_for(1), 0);
  EXPECT_EQ(process.value(0), 0);
  EXPECT_EQ(weft_device_cycles(process.device, &after), 0);
  EXPECT_GT(after, before);
  for (unsigned i = 0; i < kNumbers; ++i)
    ASSERT_EQ(numbers[2 * kNumbers + i], numbers[i] + numbers[kNumbers + i]) << i;
}

TEST(LinuxDriver, AddsVectors) {
  LinuxMachine machine;
  machine.run([&] {
    add_vectors(machine);
    EXPECT_EQ(machine.polls, 0u);
  });
}

TEST(LinuxDriver, AddsVectorsWithoutInterrupts) {
  LinuxMachine machine(false);
  machine.run([&] {
    add_vectors(machine);
    EXPECT_GT(machine.polls, 0u);
  });
}

TEST(LinuxDriver, EachProcessHasItsOwnQueueAndWaits) {
  LinuxMachine machine;
  machine.run([&] {
    Process slow(machine), fast(machine);
    const std::uint32_t slow_queue = slow.queue(), fast_queue = fast.queue();
    EXPECT_NE(slow_queue, fast_queue);
    const LaterArguments long_one{slow.page.address + 512, 5, 20000};
    const LaterArguments short_one{fast.page.address + 512, 6, 1};
    ASSERT_EQ(slow.submit(slow_queue, slow.dispatch(slow.kernel("later"), long_one, 0)), 0);
    ASSERT_EQ(fast.submit(fast_queue, fast.dispatch(fast.kernel("later"), short_one, 0)), 0);
    EXPECT_EQ(fast.wait_for(0), 0);
    EXPECT_EQ(slow.value(0), 1) << "the long kernel still runs";
    std::uint64_t seen = 0;
    EXPECT_EQ(weft_device_wait(slow.device, &seen, 0), -ETIMEDOUT) << "the event was of another process";
    EXPECT_EQ(slow.wait_for(0), 0);
    EXPECT_EQ(fast.word(fast.page, 128), 6u);
    EXPECT_EQ(slow.word(slow.page, 128), 5u);
  });
}

TEST(LinuxDriver, AFaultStopsItsOwnQueueUntilItIsResumed) {
  constexpr std::uint64_t kNowhere = 0x7'0000'0000;
  LinuxMachine machine;
  machine.run([&] {
    Process bad(machine), good(machine);
    const std::uint32_t bad_queue = bad.queue(), good_queue = good.queue();
    const std::uint64_t kernel = bad.kernel("later");
    weft_queue_failure failure{};
    ASSERT_EQ(weft_queue_get_failure(bad.device, bad_queue, &failure), 0);
    EXPECT_EQ(failure.code, static_cast<std::uint32_t>(WEFT_ERROR_NONE));
    EXPECT_EQ(weft_queue_resume(bad.device, bad_queue), 0) << "it has not stopped";
    ASSERT_EQ(bad.submit(bad_queue, bad.dispatch(kernel, LaterArguments{kNowhere, 1, 1}, 0)), 0);
    ASSERT_EQ(bad.submit(bad_queue, bad.dispatch(kernel, LaterArguments{bad.page.address + 512, 3, 1}, 1)),
              0);
    const LaterArguments fine{good.page.address + 512, 4, 2000};
    ASSERT_EQ(good.submit(good_queue, good.dispatch(good.kernel("later"), fine, 0)), 0);
    EXPECT_EQ(bad.wait_for(0), -WEFT_ERROR_FAULT);
    EXPECT_EQ(good.wait_for(0), 0);
    EXPECT_EQ(good.word(good.page, 128), 4u);
    ASSERT_EQ(weft_queue_get_failure(bad.device, bad_queue, &failure), 0);
    EXPECT_EQ(failure.code, static_cast<std::uint32_t>(WEFT_ERROR_FAULT));
    EXPECT_EQ(failure.kind, static_cast<std::uint32_t>(WEFT_FAULT_ILLEGAL_ADDRESS));
    EXPECT_EQ(failure.address, kNowhere);
    EXPECT_NE(failure.pc, WEFT_NO_PC);
    EXPECT_EQ(bad.value(1), 1) << "the packet behind waits";
    EXPECT_EQ(weft_queue_get_failure(good.device, bad_queue, &failure), -ENOENT);
    EXPECT_EQ(weft_queue_resume(good.device, bad_queue), -ENOENT);
    EXPECT_EQ(bad.value(1), 1);
    EXPECT_EQ(weft_buffer_destroy(bad.device, &bad.text), -EBUSY) << "a packet waits behind the failure";
    ASSERT_EQ(weft_queue_resume(bad.device, bad_queue), 0);
    EXPECT_EQ(bad.wait_for(1), 0);
    EXPECT_EQ(bad.word(bad.page, 128), 3u);
    ASSERT_EQ(weft_queue_get_failure(bad.device, bad_queue, &failure), 0);
    EXPECT_EQ(failure.code, static_cast<std::uint32_t>(WEFT_ERROR_NONE));
  });
}

TEST(LinuxDriver, AQueueThatHasStoppedCanBeDestroyed) {
  LinuxMachine machine;
  machine.run([&] {
    Process process(machine);
    const std::uint32_t queue = process.queue();
    const std::uint64_t kernel = process.kernel("later");
    ASSERT_EQ(process.submit(queue, process.dispatch(kernel, LaterArguments{4096, 1, 1}, 0)), 0);
    ASSERT_EQ(process.submit(queue, process.dispatch(kernel, LaterArguments{4096, 1, 1}, 1)), 0);
    EXPECT_EQ(process.wait_for(0), -WEFT_ERROR_FAULT);
    EXPECT_EQ(weft_queue_destroy(process.device, queue), 0);
    EXPECT_EQ(process.queue(), queue);
    const LaterArguments fine{process.page.address + 512, 4, 1};
    ASSERT_EQ(process.submit(queue, process.dispatch(kernel, fine, 2)), 0);
    EXPECT_EQ(process.wait_for(2), 0);
    EXPECT_EQ(process.value(1), 1) << "the packet behind the failure is gone with its queue";
  });
}

TEST(LinuxDriver, OneProcessMayTakeAllQueues) {
  LinuxMachine machine;
  machine.run([&] {
    Process greedy(machine), late(machine);
    std::vector<std::uint32_t> queues;
    for (unsigned q = 0; q < LinuxMachine::kQueues; ++q) queues.push_back(greedy.queue());
    std::sort(queues.begin(), queues.end());
    EXPECT_EQ(std::unique(queues.begin(), queues.end()), queues.end());
    std::uint32_t none = 99;
    weft_queue_request request{};
    request.packets = 8;
    request.queue = &none;
    EXPECT_EQ(weft_queue_create(late.device, &request), -EBUSY);
    EXPECT_EQ(weft_queue_create(greedy.device, &request), -EBUSY);
    EXPECT_EQ(none, 99u);
    EXPECT_EQ(weft_queue_destroy(late.device, queues[2]), -ENOENT);
    EXPECT_EQ(weft_queue_destroy(greedy.device, queues[2]), 0);
    EXPECT_EQ(weft_queue_destroy(greedy.device, queues[2]), -ENOENT);
    EXPECT_EQ(late.queue(), queues[2]);
  });
}

TEST(LinuxDriver, ARingTakesAllPacketsOrNone) {
  LinuxMachine machine;
  machine.run([&] {
    Process process(machine);
    const std::uint32_t queue = process.queue(4);
    const std::uint64_t kernel = process.kernel("later");
    const LaterArguments arguments{process.page.address + 512, 1, 5000};
    std::vector<weft_kernel_dispatch_packet> packets;
    for (unsigned i = 0; i < 5; ++i) packets.push_back(process.dispatch(kernel, arguments, i));
    EXPECT_EQ(weft_submit(process.device, queue, packets.data(), 5), -EINVAL) << "more than the ring has";
    EXPECT_EQ(weft_submit(process.device, queue, packets.data(), 0), -EINVAL);
    EXPECT_EQ(weft_submit(process.device, queue, nullptr, 1), -EFAULT);
    EXPECT_EQ(weft_submit(process.device, queue + 1, packets.data(), 1), -ENOENT);
    ASSERT_EQ(weft_submit(process.device, queue, packets.data(), 3), 0);
    EXPECT_EQ(weft_submit(process.device, queue, packets.data() + 3, 2), -EAGAIN);
    ASSERT_EQ(weft_submit(process.device, queue, packets.data() + 3, 1), 0);
    EXPECT_EQ(weft_submit(process.device, queue, packets.data() + 4, 1), -EAGAIN);
    EXPECT_EQ(process.wait_for(3), 0);
    machine.pass_until([&] { return weft_submit(process.device, queue, packets.data() + 4, 1) == 0; });
    EXPECT_EQ(process.wait_for(4), 0);
    EXPECT_EQ(process.word(process.page, 128), 5u);
  });
}

// The queue's line stays high if something happens between the handler's read and its write. There is no edge
// then.
TEST(LinuxDriver, EventsBesideTheHandlerAreNotLost) {
  LinuxMachine machine;
  machine.run([&] {
    Process process(machine);
    const std::uint32_t queue = process.queue();
    const std::uint64_t kernel = process.kernel("later");
    const LaterArguments fine{process.page.address + 512, 1, 1};
    bool waited = false;
    machine.after_read = [&](std::uint64_t offset) {
      if (waited || offset != WEFT_QUEUE(queue, WEFT_QUEUE_IRQ_STATUS)) return;
      waited = true;
      sc_core::wait(sc_core::sc_time(200, sc_core::SC_US));
    };
    ASSERT_EQ(process.submit(queue, process.dispatch(kernel, fine, 0)), 0);
    ASSERT_EQ(process.submit(queue, process.dispatch(kernel, LaterArguments{4096, 1, 1}, 1)), 0);
    EXPECT_EQ(process.wait_for(1), -WEFT_ERROR_FAULT);
    EXPECT_TRUE(waited);
    ASSERT_EQ(weft_queue_resume(process.device, queue), 0);
    ASSERT_EQ(process.submit(queue, process.dispatch(kernel, fine, 2)), 0);
    EXPECT_EQ(process.wait_for(2), 0);
  });
}

TEST(LinuxDriver, RefusesRingsThatTheGpuDoesNotHave) {
  LinuxMachine machine;
  machine.run([&] {
    Process process(machine);
    std::uint32_t queue = 0;
    weft_queue_request request{};
    request.queue = &queue;
    for (const std::uint32_t packets : {0u, 3u, 131072u}) {
      request.packets = packets;
      EXPECT_EQ(weft_queue_create(process.device, &request), -EINVAL) << packets;
    }
  });
}

}  // namespace
}  // namespace driver_test
}  // namespace weft::test
