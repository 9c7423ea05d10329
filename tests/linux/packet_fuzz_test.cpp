// Random packets of one process: what the driver accepts changes only the process's own memory.
#include <random>

#include "linux/linux_machine.h"

namespace weft::test {
namespace packet_fuzz_test {
namespace {

class Fuzz {
 public:
  explicit Fuzz(LinuxMachine& machine) : machine_(machine), process_(machine), other_(machine) {
    queue_ = process_.queue();
    kernels_ = {process_.kernel("nothing"), other_.kernel("nothing")};
    buffers_ = {process_.page, process_.buffer(WEFT_BUFFER_SYSTEM, 8192),
                process_.buffer(WEFT_BUFFER_DEVICE, 8192)};
    foreign_ = {other_.page, other_.text, other_.buffer(WEFT_BUFFER_SYSTEM, 8192),
                other_.buffer(WEFT_BUFFER_DEVICE, 8192)};
    for (const weft_buffer& buffer : foreign_) std::memset(buffer.data, 0x5A, buffer.bytes);
    other_.queue();
  }

  void run(unsigned packets) {
    const std::vector<unsigned char> ram = machine_.machine.ram.bytes;
    const weft_pool& pool = machine_.core->device;
    const std::vector<unsigned char> device(pool.data, pool.data + pool.bytes);
    unsigned accepted = 0;
    for (unsigned i = 0; i < packets; ++i) {
      if (try_one()) ++accepted;
    }
    EXPECT_GT(accepted, packets / 50) << "too few to say anything";
    EXPECT_LT(accepted, packets / 2);
    expect_same(machine_.core->system, ram);
    expect_same(machine_.core->device, device);
  }

 private:
  std::uint64_t random(std::uint64_t below) { return generator_() % below; }

  // Around the ends of somebody's memory, or anywhere.
  std::uint64_t address() {
    const weft_core& core = *machine_.core;
    const bool own = random(8) != 0;
    const auto& buffers = own ? buffers_ : foreign_;
    const weft_buffer& buffer = buffers[random(buffers.size())];
    switch (random(12)) {
      case 0:
        return 0;
      case 1:
        return buffer.address + buffer.bytes - random(64);
      case 2:
        return buffer.address - random(64);
      case 3:
        return core.queues[random(2)].ring.address + 8 * random(80);
      case 4:
        return kernels_[random(2)] + 8 * random(16);
      case 5:
        return (random(2) != 0 ? core.device.address : core.system.address) + random(1 << 22);
      case 6:
        return generator_();
      default:
        return buffer.address + 8 * random(buffer.bytes / 8);
    }
  }

  bool try_one() {
    weft_kernel_dispatch_packet packet{};
    const std::uint64_t bytes = random(8) == 0 ? generator_() : random(4096);
    switch (random(4)) {
      case 0:
        packet = dispatch_packet(1, 1, 0);
        packet.kernel_object = random(2) != 0 ? kernels_[0] : address();
        packet.kernarg_address = address();
        break;
      case 1: {
        auto barrier = barrier_packet(random(2) != 0 ? WEFT_PACKET_BARRIER_AND : WEFT_PACKET_BARRIER_OR,
                                      address(), random(2) != 0 ? address() : 0, 0);
        std::memcpy(&packet, &barrier, sizeof packet);
        break;
      }
      case 2: {
        auto copy = copy_packet(address(), address(), bytes, 0);
        copy.times_address = random(2) != 0 ? address() : 0;
        std::memcpy(&packet, &copy, sizeof packet);
        break;
      }
      default: {
        weft_fill_packet fill{};
        fill.header = WEFT_PACKET_VENDOR;
        fill.format = WEFT_VENDOR_FILL;
        fill.pattern = static_cast<std::uint32_t>(generator_());
        fill.destination = address();
        fill.bytes = bytes;
        std::memcpy(&packet, &fill, sizeof packet);
      }
    }
    packet.completion_signal = random(3) != 0 ? address() : 0;
    if (random(16) == 0) reinterpret_cast<unsigned char*>(&packet)[random(64)] ^= 1 << random(8);
    const int error = process_.submit(queue_, packet);
    EXPECT_TRUE(error == 0 || error == -EACCES || error == -EINVAL) << error;
    if (error == 0) finish(packet);
    return error == 0;
  }

  // Until the packet is done, or has failed. A barrier may wait for ever; its signals become 0.
  void finish(const weft_kernel_dispatch_packet& packet) {
    const unsigned type = packet.header & WEFT_PACKET_TYPE_MASK;
    if (type == WEFT_PACKET_BARRIER_AND || type == WEFT_PACKET_BARRIER_OR) {
      weft_barrier_packet barrier;
      std::memcpy(&barrier, &packet, sizeof barrier);
      for (const std::uint64_t signal : barrier.dep_signal) {
        if (signal != 0) std::memset(machine_.data(signal), 0, 8);
      }
    }
    const weft_core_queue& queue = machine_.core->queues[queue_];
    const auto status = [&] { return machine_.machine.reg(WEFT_QUEUE(queue_, WEFT_QUEUE_STATUS)); };
    const auto read = [&] { return machine_.machine.reg(WEFT_QUEUE(queue_, WEFT_QUEUE_READ_INDEX)); };
    machine_.pass_until([&] {
      return read() == static_cast<std::uint32_t>(queue.written) && (status() & WEFT_QUEUE_STATUS_BUSY) == 0;
    });
    EXPECT_EQ(weft_queue_resume(process_.device, queue_), 0);
  }

  bool may_change(std::uint64_t address) const {
    const weft_core_queue& queue = machine_.core->queues[queue_];
    if (weft_range_holds(&queue.ring, address, 1) || weft_range_holds(&queue.scratch, address, 1))
      return true;
    const auto holds = [&](const weft_buffer& b) { return address - b.address < b.bytes; };
    for (const weft_buffer& buffer : buffers_) {
      if (holds(buffer)) return true;
    }
    return holds(process_.memory) || holds(process_.text);
  }
  void expect_same(const weft_pool& pool, const std::vector<unsigned char>& before) const {
    for (std::uint64_t i = 0; i < pool.bytes; ++i) {
      if (pool.data[i] != before[i]) {
        ASSERT_TRUE(may_change(pool.address + i)) << std::hex << pool.address + i;
      }
    }
  }

  LinuxMachine& machine_;
  Process process_, other_;
  std::mt19937_64 generator_{20260829};
  std::uint32_t queue_ = 0;
  std::vector<std::uint64_t> kernels_;
  std::vector<weft_buffer> buffers_, foreign_;
};

TEST(LinuxPacketFuzz, WhatIsAcceptedStaysInOwnMemory) {
  LinuxMachine machine;
  machine.run([&] {
    Fuzz fuzz(machine);
    fuzz.run(3000);
  });
}

}  // namespace
}  // namespace packet_fuzz_test
}  // namespace weft::test
