// libweft-device.so for tests: the GPU's driver for Linux and the GPU itself in the process that uses them.
//
//   LD_PRELOAD=libweft-device-stand-in.so WEFT_CUDA='{"backend": "driver", "device": "gpu.json",
//                                                     "config": "gpu.json"}' ./program
//
// The functions of weft_device.h are those of the library. Below them the core of the kernel module runs over
// a simulated GPU. The name of the device is the file of its configuration. Simulated time passes while a
// process waits.
#include <sys/mman.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <systemc>
#include <vector>

#include "platform/linux/core/weft_core.h"
#include "platform/linux/library/weft_device.h"
#include "platform/linux/library/weft_device_calls.h"
#include "platform/linux/weft_ioctl.h"
#include "runtime/host_memory.h"
#include "weft/common/error.h"
#include "weft/memory/memory_image.h"
#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"

namespace weft::test {
namespace {

constexpr std::uint64_t kPool = std::uint64_t{1} << 38, kPoolBytes = 256 << 20;

class Machine : public sc_core::sc_module {
 public:
  Machine(sc_core::sc_module_name name, const GpuConfig& config)
      : sc_module(name),
        gpu_("gpu", config, Gpu::Options()),
        memory_("memory", runtime::HostLink()),
        cpu_("cpu"),
        irq_("irq"),
        lines_("lines", config.host.queues) {
    cpu_.bind(gpu_.host_socket);
    gpu_.dma_socket.bind(memory_.socket);
    for (unsigned q = 0; q < lines_.size(); ++q) gpu_.queue_irq[q].bind(lines_[q]);
    was_high_.resize(lines_.size());
  }

  // Once, when the machine is complete: its simulated time begins.
  void start() {
    void* const pool = mmap(reinterpret_cast<void*>(kPool), kPoolBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (pool == MAP_FAILED) throw InputError("stand-in", "its memory cannot be mapped");
    memory_.add(pool, kPoolBytes);
    pass(sc_core::SC_ZERO_TIME);
    fill_in_os(static_cast<unsigned char*>(pool));
    const int started = weft_core_start(&core_, &os_);
    if (started != 0) throw InputError("stand-in", std::string("no driver: ") + std::strerror(-started));
  }

  int open() {
    weft_context* const context = weft_core_open(core_, this);
    if (context == nullptr) return -ENOMEM;
    files_.push_back(context);
    return static_cast<int>(files_.size()) - 1;
  }
  void close(int file) { weft_core_close(files_[static_cast<std::size_t>(file)]); }
  int call(int file, unsigned long request, void* argument) {
    weft_context* const context = files_[static_cast<std::size_t>(file)];
    if (request == WEFT_IOCTL_WAIT) return wait_for_event(context, *static_cast<weft_ioctl_wait*>(argument));
    return weft_core_call(context, static_cast<unsigned>(request), argument);
  }
  int map(int file, std::uint64_t address, std::uint64_t bytes, void** data) {
    const int error =
        weft_core_map(files_[static_cast<std::size_t>(file)], address, bytes, [](void*) {}, nullptr);
    if (error != 0) return error;
    const std::uint64_t base = gpu_.device_base();
    const bool device = address >= base && address - base < gpu_.memory().bytes();
    *data = device ? gpu_.memory().data() + (address - base) : reinterpret_cast<unsigned char*>(address);
    return 0;
  }

 private:
  static Machine* self(void* machine) { return static_cast<Machine*>(machine); }

  void fill_in_os(unsigned char* pool) {
    os_.os = this;
    os_.read32 = [](void* os, std::uint64_t offset) {
      std::uint32_t value = 0;
      self(os)->access(tlm::TLM_READ_COMMAND, offset, value);
      return value;
    };
    os_.write32 = [](void* os, std::uint64_t offset, std::uint32_t value) {
      self(os)->access(tlm::TLM_WRITE_COMMAND, offset, value);
    };
    os_.allocate = [](void*, std::uint64_t bytes) {
      void* const memory = ::operator new(bytes, std::nothrow);
      if (memory != nullptr) std::memset(memory, 0, bytes);
      return memory;
    };
    os_.release = [](void*, void* memory) { ::operator delete(memory); };
    os_.lock = os_.unlock = [](void*) {};  // calls of the context are serialised
    os_.wake = [](void*, void*) {};
    os_.poll_soon = [](void*) {};
    os_.pause = [](void* os) { self(os)->pass(sc_core::sc_time(1, sc_core::SC_US)); };
    os_.from_process = [](void*, void* to, std::uint64_t from, std::uint64_t bytes) {
      std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
      return 0;
    };
    os_.unmap = [](void*, void*, std::uint64_t, std::uint64_t) {};
    os_.system = pool;
    os_.system_address = kPool;
    os_.system_bytes = kPoolBytes;
    os_.device = gpu_.memory().data();
    os_.device_bytes = gpu_.memory().bytes();
    os_.interrupts = 1;
  }

  void access(tlm::tlm_command command, std::uint64_t offset, std::uint32_t& value) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(offset);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(sizeof value);
    payload.set_streaming_width(sizeof value);
    sc_core::sc_time delay;
    cpu_->b_transport(payload, delay);
    if (!payload.is_response_ok()) std::fprintf(stderr, "stand-in: register 0x%lx is refused\n", offset);
  }

  void pass(const sc_core::sc_time& time) {
    sc_core::sc_start(time);
    if (core_ == nullptr) return;
    for (unsigned q = 0; q < lines_.size(); ++q) {
      const bool high = lines_[q].read();
      if (high && !was_high_[q]) weft_core_interrupt(core_, q);
      was_high_[q] = lines_[q].read();
    }
  }

  int wait_for_event(weft_context* context, weft_ioctl_wait& wanted) {
    using Clock = std::chrono::steady_clock;
    const auto limit = Clock::now() + std::chrono::milliseconds(wanted.timeout_ms);
    while (weft_core_events(context) == wanted.seen) {
      if (wanted.timeout_ms >= 0 && Clock::now() >= limit) return -ETIMEDOUT;
      pass(sc_core::sc_time(1, sc_core::SC_US));
    }
    wanted.seen = weft_core_events(context);
    return 0;
  }

  Gpu gpu_;
  runtime::HostMemory memory_;
  tlm_utils::simple_initiator_socket<Machine> cpu_;
  sc_core::sc_signal<bool> irq_;
  sc_core::sc_vector<sc_core::sc_signal<bool>> lines_;
  std::vector<bool> was_high_;
  weft_core_os os_{};
  weft_core* core_ = nullptr;
  std::vector<weft_context*> files_;
};

Machine* machine = nullptr;  // never destroyed, as the simulation

weft_device_calls calls_of(Machine& of) {
  weft_device_calls calls{};
  calls.context = &of;
  calls.open = [](void* context, const char*) { return static_cast<Machine*>(context)->open(); };
  calls.close = [](void* context, int file) { static_cast<Machine*>(context)->close(file); };
  calls.call = [](void* context, int file, unsigned long request, void* argument) {
    return static_cast<Machine*>(context)->call(file, request, argument);
  };
  calls.map = [](void* context, int file, std::uint64_t address, std::uint64_t bytes, void*, void** data) {
    return static_cast<Machine*>(context)->map(file, address, bytes, data);
  };
  calls.unmap = [](void*, void*, std::uint64_t) {};
  return calls;
}

}  // namespace
}  // namespace weft::test

// libsystemc.so refers to it; nothing calls it here.
extern "C" __attribute__((visibility("default"))) int sc_main(int /*argc*/, char** /*argv*/) {
  return 1;
}

extern "C" int weft_device_open(weft_device** device, const char* path) {
  using weft::test::machine;
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  try {
    if (machine == nullptr) {
      machine = new weft::test::Machine("machine", weft::load_config(path));
      machine->start();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stand-in: %s\n", error.what());
    return -ENODEV;
  }
  const weft_device_calls calls = weft::test::calls_of(*machine);
  return weft_device_open_by(device, path, &calls);
}
