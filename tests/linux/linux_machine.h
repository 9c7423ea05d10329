// A whole GPU, the core of its Linux driver, and processes that use the library. All of them are in one
// thread of the simulation. The seam below the library stands for Linux: a wait lets simulated time pass.
#ifndef WEFT_TESTS_LINUX_LINUX_MACHINE_H
#define WEFT_TESTS_LINUX_LINUX_MACHINE_H

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "host/gpu_machine.h"
#include "platform/linux/core/weft_core.h"
#include "platform/linux/core/weft_core_state.h"
#include "platform/linux/library/weft_device.h"
#include "platform/linux/library/weft_device_calls.h"
#include "platform/linux/weft_ioctl.h"

namespace weft::test {

class LinuxMachine {
 public:
  static constexpr unsigned kQueues = 4;

  explicit LinuxMachine(bool interrupts = true)
      : machine(config_of("gtx480", {"system.enabled=true"})), lines_("lines", kQueues) {
    machine.with_ram();
    for (unsigned q = 0; q < kQueues; ++q) {
      machine.gpu.queue_irq[q].bind(lines_[q]);
      sc_core::sc_spawn_options options;
      options.spawn_method();
      options.dont_initialize();
      options.set_sensitivity(&lines_[q].posedge_event());
      sc_core::sc_spawn([this, q] { edges_[q] = true; }, sc_core::sc_gen_unique_name("edge"), &options);
    }
    fill_in_os(interrupts);
  }

  // Runs the script with a driver that has started.
  void run(const std::function<void()>& script) {
    const auto limit = sc_core::sc_time(500, sc_core::SC_MS);
    ASSERT_TRUE(machine.cpu.run(
        [&] {
          ASSERT_NO_FATAL_FAILURE(find_device_memory());
          ASSERT_EQ(weft_core_start(&core, &os_), 0);
          script();
          weft_core_stop(core);
        },
        limit))
        << "the script has not ended";
    EXPECT_EQ(allocations_, 0) << "of the driver's memory";
  }

  weft_device_calls calls() {
    weft_device_calls calls{};
    calls.context = this;
    calls.open = [](void* context, const char*) { return self(context)->open(); };
    calls.close = [](void* context, int file) { weft_core_close(self(context)->files_[file]); };
    calls.call = [](void* context, int file, unsigned long request, void* argument) {
      return self(context)->call(file, request, argument);
    };
    calls.map = [](void* context, int file, std::uint64_t address, std::uint64_t bytes, void*, void** data) {
      const auto nothing = [](void*) {};
      const int error = weft_core_map(self(context)->files_[file], address, bytes, nothing, nullptr);
      if (error == 0) *data = self(context)->data(address);
      return error;
    };
    calls.unmap = [](void*, void*, std::uint64_t) {};
    return calls;
  }

  // A microsecond passes, and the driver handles interrupts and its timer.
  void pass() {
    sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
    serve();
  }
  void pass_until(const std::function<bool()>& condition, int microseconds = 5000) {
    while (!condition() && microseconds-- > 0) pass();
    ASSERT_TRUE(condition());
  }

  // What is at an address of the GPU.
  unsigned char* data(std::uint64_t address) {
    const bool system = weft_range_holds(&pool_range_, address, 1) != 0;
    return weft_pool_data(system ? &core->system : &core->device, address);
  }

  Machine machine;
  weft_core* core = nullptr;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> unmapped;
  unsigned polls = 0;
  std::function<void()> in_pause;                 // what others do while the driver clears a buffer
  std::function<void(std::uint64_t)> after_read;  // what happens behind a read of a register

 private:
  static LinuxMachine* self(void* context) { return static_cast<LinuxMachine*>(context); }

  void fill_in_os(bool interrupts) {
    os_.os = this;
    os_.read32 = [](void* os, std::uint64_t offset) {
      const std::uint32_t value = self(os)->machine.reg(offset);
      if (self(os)->after_read) self(os)->after_read(offset);
      return value;
    };
    os_.write32 = [](void* os, std::uint64_t offset, std::uint32_t value) {
      EXPECT_EQ(self(os)->machine.cpu.write32(offset, value), tlm::TLM_OK_RESPONSE) << std::hex << offset;
    };
    os_.allocate = [](void* os, std::uint64_t bytes) {
      ++self(os)->allocations_;
      return static_cast<void*>(new std::uint64_t[(bytes + 7) / 8]());
    };
    os_.release = [](void* os, void* memory) {
      --self(os)->allocations_;
      delete[] static_cast<std::uint64_t*>(memory);
    };
    os_.lock = [](void* os) { EXPECT_FALSE(std::exchange(self(os)->locked_, true)); };
    os_.unlock = [](void* os) { EXPECT_TRUE(std::exchange(self(os)->locked_, false)); };
    os_.wake = [](void* os, void*) { EXPECT_TRUE(self(os)->locked_); };
    os_.poll_soon = [](void* os) { self(os)->poll_wanted_ = true; };
    os_.pause = [](void* os) {
      EXPECT_FALSE(self(os)->locked_);
      sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
      if (self(os)->in_pause) self(os)->in_pause();
    };
    os_.from_process = [](void* os, void* to, std::uint64_t from, std::uint64_t bytes) {
      EXPECT_FALSE(self(os)->locked_) << "a page fault would need the lock";
      if (from == 0) return -EFAULT;
      std::memcpy(to, reinterpret_cast<const void*>(from), bytes);  // NOLINT(performance-no-int-to-ptr)
      return 0;
    };
    os_.unmap = [](void* os, void* user, std::uint64_t address, std::uint64_t bytes) {
      EXPECT_EQ(user, os);
      self(os)->unmapped.emplace_back(address, bytes);
    };
    os_.system = machine.ram.bytes.data();
    os_.system_address = kRam;
    os_.system_bytes = kRamBytes;
    os_.interrupts = interrupts ? 1 : 0;
  }

  void find_device_memory() {
    tlm::tlm_generic_payload payload;
    payload.set_read();
    payload.set_address(WEFT_APERTURE);
    tlm::tlm_dmi region;
    ASSERT_TRUE(machine.cpu.socket->get_direct_mem_ptr(payload, region));
    ASSERT_EQ(region.get_start_address(), WEFT_APERTURE);
    os_.device = region.get_dmi_ptr();
    os_.device_bytes = region.get_end_address() - region.get_start_address() + 1;
  }

  int open() {
    weft_context* const context = weft_core_open(core, this);
    if (context == nullptr) return -ENOMEM;
    files_.push_back(context);
    return static_cast<int>(files_.size()) - 1;
  }

  int call(int file, unsigned long request, void* argument) {
    if (request != WEFT_IOCTL_WAIT)
      return weft_core_call(files_[file], static_cast<unsigned>(request), argument);
    auto* const wait = static_cast<weft_ioctl_wait*>(argument);
    const int most = wait->timeout_ms < 0 || wait->timeout_ms > 20 ? 20 : wait->timeout_ms;
    const sc_core::sc_time end = sc_core::sc_time_stamp() + sc_core::sc_time(most, sc_core::SC_MS);
    while (weft_core_events(files_[file]) == wait->seen) {
      if (sc_core::sc_time_stamp() >= end) return -ETIMEDOUT;
      pass();
    }
    wait->seen = weft_core_events(files_[file]);
    return 0;
  }

  void serve() {
    for (unsigned q = 0; q < kQueues; ++q) {
      if (std::exchange(edges_[q], false) && os_.interrupts != 0) weft_core_interrupt(core, q);
    }
    if (!std::exchange(poll_wanted_, false)) return;
    ++polls;
    if (weft_core_poll(core) != 0) poll_wanted_ = true;
  }

  const weft_range pool_range_{kRam, kRamBytes, nullptr};
  weft_core_os os_{};
  sc_core::sc_vector<sc_core::sc_signal<bool>> lines_;
  bool edges_[kQueues] = {};
  bool locked_ = false, poll_wanted_ = false;
  int allocations_ = 0;
  std::vector<weft_context*> files_;
};

// Kernels of the tests.
inline const char* const kKernels = R"(.version 7.0
.target sm_70
.address_size 64
.global .u32 runs = 40;
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c) {
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd1, %r4, 4;
  ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [b]; ld.param.u64 %rd4, [c];
  add.u64 %rd2, %rd2, %rd1; add.u64 %rd3, %rd3, %rd1; add.u64 %rd4, %rd4, %rd1;
  ld.global.u32 %r5, [%rd2]; ld.global.u32 %r6, [%rd3];
  add.u32 %r7, %r5, %r6;
  st.global.u32 [%rd4], %r7;
  ret;
}
// Adds `value` to what is at `to`, after so many rounds.
.visible .entry later(.param .u64 to, .param .u32 value, .param .u32 rounds) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p;
  ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [value]; ld.param.u32 %r2, [rounds];
  mov.u32 %r3, 0;
again:
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p, %r3, %r2;
  @%p bra again;
  ld.global.u32 %r4, [%rd1];
  add.u32 %r4, %r4, %r1;
  st.global.u32 [%rd1], %r4;
  ret;
}
// Counts its runs in a variable of the module, and stores the number.
.visible .entry count(.param .u64 to) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  ld.global.u32 %r1, [runs];
  add.u32 %r1, %r1, 1;
  st.global.u32 [runs], %r1;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry nothing() { ret; }
)";

// A process with the device open: one page of signals and parameters, and the module of kKernels.
class Process {
 public:
  explicit Process(LinuxMachine& machine) {
    const weft_device_calls calls = machine.calls();
    EXPECT_EQ(weft_device_open_by(&device, nullptr, &calls), 0);
    page = buffer(WEFT_BUFFER_SYSTEM, 4096);
    text = buffer(WEFT_BUFFER_SYSTEM, std::strlen(kKernels));
    std::memcpy(text.data, kKernels, std::strlen(kKernels));
    memory = buffer(WEFT_BUFFER_DEVICE, 1 << 14);
  }
  ~Process() { close(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  void close() { weft_device_close(std::exchange(device, nullptr)); }

  weft_buffer buffer(std::uint32_t kind, std::uint64_t bytes) {
    weft_buffer made{};
    made.kind = kind;
    made.bytes = bytes;
    EXPECT_EQ(weft_buffer_create(device, &made), 0);
    EXPECT_EQ(weft_buffer_map(device, &made), 0);
    return made;
  }
  std::uint32_t queue(std::uint32_t packets = 8) {
    std::uint32_t made = 0;
    weft_queue_request request{};
    request.packets = packets;
    request.scratch_bytes = 1 << 16;
    request.queue = &made;
    EXPECT_EQ(weft_queue_create(device, &request), 0);
    return made;
  }
  weft_kernel_request kernel_request(const char* name) const {
    return {text.address, std::strlen(kKernels), name, memory.address, memory.bytes};
  }
  std::uint64_t kernel(const char* name) {
    std::uint64_t made = 0;
    const weft_kernel_request request = kernel_request(name);
    EXPECT_EQ(weft_kernel_create(device, &request, &made), 0);
    return made;
  }

  // Signal i of the page has this value.
  std::uint64_t signal(unsigned i, std::int64_t value = 1) {
    static_cast<std::int64_t*>(page.data)[i] = value;
    return page.address + 8 * i;
  }
  std::int64_t value(unsigned i) const { return static_cast<const volatile std::int64_t*>(page.data)[i]; }
  template <class Arguments>
  weft_kernel_dispatch_packet dispatch(std::uint64_t kernel, const Arguments& arguments,
                                       unsigned signal_index, std::uint32_t blocks = 1,
                                       std::uint16_t threads = 1) {
    weft_kernel_dispatch_packet packet = dispatch_packet(blocks, threads, signal(signal_index));
    packet.kernel_object = kernel;
    packet.kernarg_address = page.address + next_arguments_;
    std::memcpy(static_cast<char*>(page.data) + next_arguments_, &arguments, sizeof arguments);
    next_arguments_ = next_arguments_ == 4032 ? 1024 : next_arguments_ + 64;
    return packet;
  }
  template <class Packet>
  int submit(std::uint32_t queue, const Packet& packet) {
    static_assert(sizeof packet == WEFT_PACKET_BYTES);
    return weft_submit(device, queue, &packet, 1);
  }
  // As programs wait: until the signal is 0 or negative. Its last value.
  std::int64_t wait_for(unsigned i) {
    std::uint64_t seen = 0;
    while (value(i) > 0) {
      if (weft_device_wait(device, &seen, -1) != 0) {
        ADD_FAILURE() << "no event; signal " << i << " is " << value(i);
        break;
      }
    }
    return value(i);
  }
  // What is at this address of the process.
  std::uint32_t word(const weft_buffer& buffer, std::uint64_t i = 0) const {
    return static_cast<const volatile std::uint32_t*>(buffer.data)[i];
  }

  weft_device* device = nullptr;
  weft_buffer page, text, memory;

 private:
  std::uint64_t next_arguments_ = 1024;
};

struct LaterArguments {
  std::uint64_t to;
  std::uint32_t value, rounds;
};

}  // namespace weft::test

#endif
