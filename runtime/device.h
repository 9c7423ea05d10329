// The device API that workloads stand on: memory, modules, launches, in program order.
//
//   runtime::Device device(config, {});
//   auto a = device.allocate(bytes);
//   device.copy_to(a, host.data(), bytes);
//   auto& module = device.load_module(ptx_text, "kernel.ptx");
//   device.launch(module, "vadd", {4096, 1, 1}, {256, 1, 1}, runtime::Arguments().add(a).add(n));
//   device.synchronise();
//
// One Device per process (SystemC elaborates once). Calls from several threads must be serialised by the caller.
#ifndef WEFT_RUNTIME_DEVICE_H
#define WEFT_RUNTIME_DEVICE_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "platform/gpu.h"
#include "ptx/module.h"

namespace weft::runtime {

using Address = std::uint64_t;  // a device address

// Kernel arguments of any trivially copyable type, laid out by the kernel's parameter list when launched.
class Arguments {
 public:
  template <class T>
  Arguments& add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    values_.emplace_back(bytes, bytes + sizeof(T));
    return *this;
  }
  Arguments& add_bytes(std::vector<std::uint8_t> bytes) {
    values_.push_back(std::move(bytes));
    return *this;
  }
  const std::vector<std::vector<std::uint8_t>>& values() const { return values_; }

 private:
  std::vector<std::vector<std::uint8_t>> values_;
};

class LoadedModule;  // a parsed module with its variables placed in device memory

struct DeviceOptions {
  bool sleeping = true;
  bool monitors = false;
  std::uint64_t max_cycles = 0;                        // core cycles over all launches; 0: no limit
  std::function<void(const Progress&)> progress;       // called a few times per second of wall time while running
  std::function<bool()> interrupted;                   // polled; true abandons the launch (SIGINT)
};

class Device {
 public:
  Device(const GpuConfig& config, DeviceOptions options);
  ~Device();

  // 256-byte aligned. Throws InputError when memory is exhausted (bytes asked, bytes free).
  Address allocate(std::uint64_t bytes);
  void free(Address address);
  void copy_to(Address to, const void* from, std::uint64_t bytes);
  void copy_from(void* to, Address from, std::uint64_t bytes);
  void fill(Address to, std::uint8_t value, std::uint64_t bytes);

  LoadedModule& load_module(const std::string& ptx, const std::string& file);
  LoadedModule& load_module_file(const std::string& path);
  Address symbol(LoadedModule& module, const std::string& name, std::uint64_t* bytes = nullptr) const;
  const ptx::Program& program(LoadedModule& module, const std::string& kernel);

  // Throws InputError for an unknown kernel, a wrong number or size of arguments (listing what the kernel takes),
  // a block that does not fit.
  void launch(LoadedModule& module, const std::string& kernel, dispatch::Dim3 grid, dispatch::Dim3 block,
              const Arguments& arguments, std::uint64_t dynamic_shared = 0);
  // Runs the simulation until every launch is done. Throws SimulatedFault if a kernel faulted, hung, was interrupted or
  // reached max_cycles.
  void synchronise();

  Gpu& gpu();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weft::runtime

#endif
