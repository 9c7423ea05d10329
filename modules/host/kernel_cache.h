// Kernels by the address of their kernel objects. PTX is parsed and linked at the first use of a module, a
// kernel decoded at its own first use; both are kept until `clear`, or until their bytes in memory are
// others.
//
// Debug transport compares the bytes at each use, in no time. Where it does not answer, name and text count
// as unchanged, and the caller reads the object.
#ifndef WEFT_HOST_KERNEL_CACHE_H
#define WEFT_HOST_KERNEL_CACHE_H

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

#include "host/bus.h"
#include "host/gpu_control.h"
#include "weft/loader/loaded_module.h"
#include "weft/ptx/program.h"
#include "weft/weft_registers.h"

namespace weft::host {

// The device memory that a kernel object gives is too small, or is none.
class ModuleMemoryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class KernelCache {
 public:
  struct Kernel {
    std::shared_ptr<const ptx::Program> program;
    std::uint64_t code_address = 0;
    std::uint64_t object_address = 0;
  };

  // Variables get their initial values in the device memory of `gpu`, which is that of `bus`.
  KernelCache(Bus& bus, GpuControl& gpu) : bus_(bus), gpu_(gpu) {}

  // nullptr: not yet loaded; or its object, name or text has changed since, or debug transport does not show
  // the object: then the caller reads it.
  const Kernel* find(std::uint64_t object_address);
  // The same for an object that is this.
  const Kernel* find(std::uint64_t object_address, const weft_kernel_object& object);
  // False: not yet loaded, or its text has changed since: the module and its kernels are forgotten then.
  bool has_module(const weft_kernel_object& object);
  // Throws InputError for PTX that is refused, ModuleMemoryError.
  void load_module(const weft_kernel_object& object, const std::string& text);
  // Of a module that is loaded. Throws the same.
  const Kernel& load_kernel(std::uint64_t object_address, const weft_kernel_object& object,
                            const std::string& name);
  // The same kernel for a block of so many threads: where it would need more registers than the GPU has for
  // them, decoded again with fewer. Throws ModuleMemoryError.
  const Kernel* fitting(const Kernel* kernel, std::uint64_t threads);
  void clear();

 private:
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
  struct Module {
    std::string text;
    std::unique_ptr<loader::LoadedModule> loaded;
    std::uint64_t next = 0, end = 0;                    // device memory that is left
    std::map<const ptx::Program*, std::uint64_t> code;  // where its instructions lie
  };

  static Key key_of(const weft_kernel_object& object) {
    return {object.ptx_address, object.ptx_bytes, object.memory_address, object.memory_bytes};
  }
  struct Loaded {
    Kernel kernel;
    Module* module = nullptr;
    weft_kernel_object object{};
    std::string name;
    std::map<std::uint32_t, Kernel> fewer;  // by limit on its registers
  };
  struct State {
    std::map<Key, Module> modules;
    std::map<std::uint64_t, Loaded> kernels;
    std::uint64_t next_function = 0;
  };
  static Kernel kernel_of(Module& module, const std::string& name, std::uint32_t max_registers);
  static std::uint64_t take(Module& module, std::uint64_t bytes, const char* what);

  enum class Seen : std::uint8_t { kSame, kChanged, kNothing };
  Seen look(std::uint64_t address, const void* bytes, std::size_t count) const;

  Bus& bus_;
  GpuControl& gpu_;
  State state_;
};

}  // namespace weft::host

#endif
