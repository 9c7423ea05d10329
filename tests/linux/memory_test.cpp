// Buffers and kernels of processes: who has which memory, and when it is given back.
#include "linux/linux_machine.h"

namespace weft::test {
namespace memory_test {
namespace {

TEST(LinuxMemory, PoolTakesTheFirstGapThatIsLargeEnough) {
  weft_pool pool{0x10000, 0x5000, nullptr, nullptr};
  weft_range a{}, b{}, c{}, d{};
  EXPECT_EQ(weft_pool_take(&pool, &a, 0x1001), 0);
  EXPECT_EQ(a.bytes, 0x2000u);
  EXPECT_EQ(weft_pool_take(&pool, &b, 1), 0);
  EXPECT_EQ(weft_pool_take(&pool, &c, 0x2000), 0);
  EXPECT_EQ(c.address, 0x13000u);
  EXPECT_EQ(weft_pool_take(&pool, &d, 1), -ENOMEM);
  EXPECT_EQ(weft_pool_take(&pool, &d, 0), -EINVAL);
  EXPECT_EQ(weft_pool_take(&pool, &d, UINT64_MAX), -ENOMEM);
  weft_pool_give(&pool, &b);
  EXPECT_EQ(weft_pool_take(&pool, &d, 0x2000), -ENOMEM);
  weft_pool_give(&pool, &a);
  EXPECT_EQ(weft_pool_take(&pool, &d, 0x3000), 0);
  EXPECT_EQ(d.address, 0x10000u);
  EXPECT_EQ(weft_pool_take(&pool, &a, 1), -ENOMEM);
}

TEST(LinuxMemory, NewBuffersContainZerosAndAreTheirOwners) {
  LinuxMachine machine;
  machine.run([&] {
    Process process(machine), other(machine);
    for (const std::uint32_t kind : {WEFT_BUFFER_SYSTEM, WEFT_BUFFER_DEVICE}) {
      weft_buffer first = process.buffer(kind, 5000);
      EXPECT_EQ(first.bytes, 8192u);
      std::memset(first.data, 0xAA, first.bytes);
      const std::uint64_t address = first.address;
      ASSERT_EQ(weft_buffer_destroy(process.device, &first), 0);
      ASSERT_EQ(machine.unmapped.size(), 1u);
      EXPECT_EQ(machine.unmapped.back(), std::make_pair(address, std::uint64_t{8192}));
      machine.unmapped.clear();
      weft_buffer second = other.buffer(kind, 8192);
      EXPECT_EQ(second.address, address);
      for (unsigned i = 0; i < 2048; ++i) ASSERT_EQ(other.word(second, i), 0u);
      weft_buffer foreign = second;
      foreign.data = nullptr;
      EXPECT_EQ(weft_buffer_map(process.device, &foreign), -EACCES);
      EXPECT_EQ(foreign.data, nullptr);
      foreign.bytes = 12288;
      EXPECT_EQ(weft_buffer_map(other.device, &foreign), -EACCES) << "beyond its end";
      foreign.handle = 12345;
      EXPECT_EQ(weft_buffer_destroy(process.device, &foreign), -ENOENT);
    }
    weft_buffer wrong{};
    wrong.kind = 3;
    wrong.bytes = 4096;
    EXPECT_EQ(weft_buffer_create(process.device, &wrong), -EINVAL);
    wrong.kind = WEFT_BUFFER_SYSTEM;
    wrong.bytes = 0;
    EXPECT_EQ(weft_buffer_create(process.device, &wrong), -EINVAL);
  });
}

TEST(LinuxMemory, NobodyUsesABufferBeforeItContainsZeros) {
  LinuxMachine machine;
  machine.run([&] {
    Process process(machine);
    const std::uint32_t queue = process.queue();
    weft_context* const context = machine.core->contexts;
    unsigned pauses = 0;
    machine.in_pause = [&] {
      ++pauses;
      const weft_core_buffer& newest = *context->buffers;
      const auto packet = copy_packet(process.page.address, newest.range.address, 8, 0);
      EXPECT_EQ(process.submit(queue, packet), -EACCES);
      weft_ioctl_handle handle{newest.handle, 0};
      EXPECT_EQ(weft_core_call(context, WEFT_IOCTL_BUFFER_DESTROY, &handle), -ENOENT);
    };
    weft_buffer large = process.buffer(WEFT_BUFFER_DEVICE, 3 << 20);
    EXPECT_EQ(pauses, 2u) << "one per MiB";
    machine.in_pause = nullptr;
    EXPECT_EQ(weft_buffer_destroy(process.device, &large), 0);
  });
}

// Takes all that is left of a pool. The buffers are given back with the process.
std::uint64_t fill_up(Process& process, std::uint32_t kind) {
  std::uint64_t bytes = 0;
  for (std::uint64_t piece = 1 << 22; piece >= 4096; piece /= 2) {
    weft_buffer buffer{};
    buffer.kind = kind;
    buffer.bytes = piece;
    int error = 0;
    while ((error = weft_buffer_create(process.device, &buffer)) == 0) {
      bytes += buffer.bytes;
      buffer.bytes = piece;
    }
    EXPECT_EQ(error, -ENOMEM);
  }
  return bytes;
}

TEST(LinuxMemory, WithoutMemoryNothingIsHalfMade) {
  LinuxMachine machine;
  machine.run([&] {
    std::uint64_t system = 0, device = 0;
    {
      Process process(machine);
      system = fill_up(process, WEFT_BUFFER_SYSTEM);
      device = fill_up(process, WEFT_BUFFER_DEVICE);
      EXPECT_EQ(device, 4194304u - process.memory.bytes);
    }
    Process process(machine), other(machine);
    const std::uint64_t kernel = process.kernel("nothing");
    fill_up(other, WEFT_BUFFER_SYSTEM);
    std::uint32_t queue = 0;
    weft_queue_request request{};
    request.packets = 8;
    request.scratch_bytes = 4096;
    request.queue = &queue;
    EXPECT_EQ(weft_queue_create(process.device, &request), -ENOMEM) << "no place for the ring";
    std::uint64_t made = 0;
    weft_kernel_request more = process.kernel_request("add");
    EXPECT_EQ(weft_kernel_create(process.device, &more, &made), -ENOMEM) << "no place for the object";
    more.ptx_bytes -= 1;
    EXPECT_EQ(weft_kernel_create(process.device, &more, &made), -ENOMEM) << "no place for the text";
    // The text finds a page, but not the object. The page is given back.
    weft_buffer last_page{};
    ASSERT_EQ(weft_buffer_destroy(other.device, &other.page), 0);
    EXPECT_EQ(weft_kernel_create(process.device, &more, &made), -ENOMEM);
    last_page.kind = WEFT_BUFFER_SYSTEM;
    last_page.bytes = 4096;
    EXPECT_EQ(weft_buffer_create(other.device, &last_page), 0);
    other.close();
    Process third(machine);
    fill_up(third, WEFT_BUFFER_DEVICE);
    EXPECT_EQ(weft_queue_create(process.device, &request), -ENOMEM) << "no place for scratch";
    third.close();
    EXPECT_EQ(weft_kernel_destroy(process.device, kernel), 0);
    process.close();
    Process last(machine);
    EXPECT_EQ(fill_up(last, WEFT_BUFFER_SYSTEM), system);
    EXPECT_EQ(fill_up(last, WEFT_BUFFER_DEVICE), device);
  });
}

TEST(LinuxMemory, BuffersStayWhileTheyAreUsed) {
  LinuxMachine machine;
  machine.run([&] {
    Process process(machine);
    const std::uint32_t queue = process.queue();
    const std::uint64_t kernel = process.kernel("later");
    weft_buffer out = process.buffer(WEFT_BUFFER_DEVICE, 4096);
    EXPECT_EQ(weft_buffer_destroy(process.device, &process.memory), -EBUSY)
        << "variables of a kernel's module";
    ASSERT_EQ(process.submit(queue, process.dispatch(kernel, LaterArguments{out.address, 9, 5000}, 0)), 0);
    // The library would wait a little.
    weft_context* const context = machine.core->contexts;
    weft_ioctl_handle handle{out.handle, 0};
    weft_ioctl_kernel_handle kernel_handle{kernel};
    EXPECT_EQ(weft_core_call(context, WEFT_IOCTL_BUFFER_DESTROY, &handle), -EBUSY);
    EXPECT_EQ(weft_core_call(context, WEFT_IOCTL_KERNEL_DESTROY, &kernel_handle), -EBUSY);
    handle.handle = queue;
    EXPECT_EQ(weft_core_call(context, WEFT_IOCTL_QUEUE_DESTROY, &handle), -EBUSY);
    handle.reserved = 1;
    EXPECT_EQ(weft_core_call(context, WEFT_IOCTL_QUEUE_DESTROY, &handle), -EINVAL);
    EXPECT_EQ(process.value(0), 1);
    while (process.value(0) == 1) sc_core::wait(sc_core::sc_time(1, sc_core::SC_NS));
    EXPECT_EQ(process.word(out), 9u);
    // The signal has changed, but the GPU is not yet done with the packet. The library waits for that.
    handle = {out.handle, 0};
    EXPECT_EQ(weft_core_call(context, WEFT_IOCTL_BUFFER_DESTROY, &handle), -EBUSY);
    EXPECT_EQ(weft_buffer_destroy(process.device, &out), 0);
    EXPECT_EQ(weft_queue_destroy(process.device, queue), 0);
    EXPECT_EQ(weft_kernel_destroy(process.device, kernel), 0);
    EXPECT_EQ(weft_kernel_destroy(process.device, kernel), -ENOENT);
    EXPECT_EQ(weft_buffer_destroy(process.device, &process.memory), 0);
  });
}

TEST(LinuxMemory, OutputAndHeapStayWithTheirQueue) {
  LinuxMachine machine;
  machine.run([&] {
    Process process(machine), other(machine);
    weft_buffer output = process.buffer(WEFT_BUFFER_SYSTEM, 4096);
    weft_buffer heap = process.buffer(WEFT_BUFFER_DEVICE, 1 << 16);
    std::uint32_t queue = 0;
    weft_queue_request request{8, 4096, output.address, 4096, heap.address, heap.bytes, &queue};
    EXPECT_EQ(weft_queue_create(other.device, &request), -EACCES);
    const auto expect = [&](int error, const weft_queue_request& wrong) {
      EXPECT_EQ(weft_queue_create(process.device, &wrong), error);
    };
    const weft_queue_request fine = request;
    request.output_bytes = 4097;
    expect(-EACCES, request);
    request.output_bytes = 16;
    expect(-EINVAL, request);
    request.output_bytes = 0;
    expect(-EINVAL, request);
    request = fine;
    request.output_address += 4;
    request.output_bytes = 64;
    expect(-EINVAL, request);
    request = fine;
    request.output_address = heap.address;
    expect(-EACCES, request);
    request = fine;
    request.heap_bytes += 1;
    expect(-EACCES, request);
    request.heap_bytes = 0;
    expect(-EINVAL, request);
    request = fine;
    request.heap_address += 8;
    request.heap_bytes = 4096;
    expect(-EINVAL, request);
    request.heap_address = output.address;
    expect(-EACCES, request);
    expect(0, fine);
    EXPECT_EQ(weft_buffer_destroy(process.device, &output), -EBUSY);
    EXPECT_EQ(weft_buffer_destroy(process.device, &heap), -EBUSY);
    const auto reg = [&](std::uint64_t offset) {
      return machine.machine.reg(WEFT_QUEUE_RUNTIME(queue, offset));
    };
    EXPECT_EQ(reg(WEFT_QUEUE_RUNTIME_OUTPUT_BASE_LO), static_cast<std::uint32_t>(output.address));
    EXPECT_EQ(reg(WEFT_QUEUE_RUNTIME_OUTPUT_BYTES), 4096u);
    EXPECT_EQ(reg(WEFT_QUEUE_RUNTIME_HEAP_BASE_LO), static_cast<std::uint32_t>(heap.address));
    EXPECT_EQ(reg(WEFT_QUEUE_RUNTIME_HEAP_BASE_HI), static_cast<std::uint32_t>(heap.address >> 32));
    EXPECT_EQ(reg(WEFT_QUEUE_RUNTIME_HEAP_BYTES_LO), 1u << 16);
    EXPECT_EQ(weft_queue_destroy(process.device, queue), 0);
    EXPECT_EQ(other.queue(), queue);
    EXPECT_EQ(reg(WEFT_QUEUE_RUNTIME_OUTPUT_BYTES), 0u) << "of the owner before";
    EXPECT_EQ(reg(WEFT_QUEUE_RUNTIME_HEAP_BYTES_LO), 0u);
    EXPECT_EQ(weft_buffer_destroy(process.device, &output), 0);
    EXPECT_EQ(weft_buffer_destroy(process.device, &heap), 0);
  });
}

TEST(LinuxMemory, KernelsAreMadeOfOwnMemoryOnly) {
  LinuxMachine machine;
  machine.run([&] {
    Process process(machine), other(machine);
    std::uint64_t kernel = 0;
    const auto expect = [&](int error, const weft_kernel_request& wrong) {
      EXPECT_EQ(weft_kernel_create(process.device, &wrong, &kernel), error);
      EXPECT_EQ(kernel, 0u);
    };
    const weft_kernel_request fine = process.kernel_request("nothing");
    weft_kernel_request request = fine;
    request.ptx_address = other.text.address;
    expect(-EACCES, request);
    request = fine;
    request.ptx_bytes = process.text.bytes + 1;
    expect(-EACCES, request);
    request.ptx_bytes = 0;
    expect(-EINVAL, request);
    request = fine;
    request.memory_address = other.memory.address;
    expect(-EACCES, request);
    request = fine;
    request.memory_bytes += 1;
    expect(-EACCES, request);
    request = fine;
    request.memory_address = process.text.address;
    request.memory_bytes = 4096;
    expect(-EACCES, request);
    request = fine;
    request.memory_address += 128;
    request.memory_bytes = 4096;
    expect(-EINVAL, request);
    request = fine;
    request.name = "";
    expect(-EINVAL, request);
    const std::string endless(4097, 'x');
    request.name = endless.c_str();
    expect(-EINVAL, request);
    const std::uint64_t made = process.kernel("nothing");
    EXPECT_EQ(weft_kernel_destroy(other.device, made), -ENOENT);
    EXPECT_EQ(weft_kernel_destroy(process.device, made), 0);
  });
}

struct CountArguments {
  std::uint64_t to;
};

TEST(LinuxMemory, KernelsOfAModuleShareItsVariables) {
  LinuxMachine machine;
  machine.run([&] {
    Process process(machine);
    const std::uint32_t queue = process.queue();
    const std::uint64_t first = process.kernel("count"), second = process.kernel("count");
    EXPECT_NE(first, second);
    const CountArguments arguments{process.page.address + 512};
    ASSERT_EQ(process.submit(queue, process.dispatch(first, arguments, 0)), 0);
    ASSERT_EQ(process.submit(queue, process.dispatch(second, arguments, 1)), 0);
    EXPECT_EQ(process.wait_for(1), 0);
    EXPECT_EQ(process.word(process.page, 128), 42u);
    // A process cannot change the text of its kernels. The GPU has a copy.
    std::memset(process.text.data, '?', process.text.bytes);
    ASSERT_EQ(process.submit(queue, process.dispatch(first, arguments, 2)), 0);
    EXPECT_EQ(process.wait_for(2), 0);
    EXPECT_EQ(process.word(process.page, 128), 43u);
    // Another text at the same address is another module.
    std::string changed = kKernels;
    changed.replace(changed.find("runs = 40"), 9, "runs = 70");
    std::memcpy(process.text.data, changed.data(), changed.size());
    ASSERT_EQ(process.submit(queue, process.dispatch(process.kernel("count"), arguments, 3)), 0);
    EXPECT_EQ(process.wait_for(3), 0);
    EXPECT_EQ(process.word(process.page, 128), 71u);
  });
}

// The second process gets the same addresses, and has the same text. The GPU must not go on with the module
// of the first.
TEST(LinuxMemory, AProcessBeginsWithFreshVariables) {
  LinuxMachine machine;
  machine.run([&] {
    std::uint64_t kernel_before = 0, memory_before = 0;
    for (unsigned run = 0; run < 2; ++run) {
      Process process(machine);
      const std::uint32_t queue = process.queue();
      const std::uint64_t kernel = process.kernel("count");
      if (run == 1) {
        EXPECT_EQ(kernel, kernel_before);
        EXPECT_EQ(process.memory.address, memory_before);
      }
      kernel_before = kernel;
      memory_before = process.memory.address;
      const CountArguments arguments{process.page.address + 512};
      ASSERT_EQ(process.submit(queue, process.dispatch(kernel, arguments, 0)), 0);
      EXPECT_EQ(process.wait_for(0), 0);
      EXPECT_EQ(process.word(process.page, 128), 41u) << run;
    }
  });
}

}  // namespace
}  // namespace memory_test
}  // namespace weft::test
