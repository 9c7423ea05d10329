// Modules and their functions. PTX is parsed at the first use of a module, and decoded at that of a kernel.
#ifndef WEFT_RUNTIME_CUDA_CORE_MODULES_H
#define WEFT_RUNTIME_CUDA_CORE_MODULES_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft::loader {
class LoadedModule;
}
namespace weft::ptx {
struct Program;
}

namespace weft::cuda {

class Context;
class Module;

// What CUfunction, cudaFunction_t and cudaKernel_t point at.
struct Function {
  Module* module = nullptr;
  std::string name;
  std::uint64_t most_dynamic_shared = 0;  // set by the program; 0: as by default
  int preferred_carveout = -1;  // percent of the largest shared memory; -1: the program does not say
};

struct FunctionAttributes {
  std::uint64_t shared_bytes = 0, constant_bytes = 0, local_bytes = 0;
  int max_threads = 0, registers = 0, ptx_version = 0, binary_version = 0;
  std::uint64_t max_dynamic_shared = 0;
  int preferred_carveout = -1;
};

class Module {
 public:
  Module(std::string ptx, std::string name) : ptx_(std::move(ptx)), name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  // The module on the device. Fails with kInvalidPtx and a report.
  loader::LoadedModule& loaded(Context& context);
  // Fails with kNotFound.
  Function& function(Context& context, const std::string& name);
  // Of a thread, as the program asks when it loads the module; 0: as the machine has. Before `loaded`.
  void limit_registers(unsigned most) { max_registers_ = most; }
  std::string target() const;  // "sm_75"
  void unload();               // the device was reset; functions stay
  bool is_loaded() const { return loaded_ != nullptr; }

 private:
  std::string ptx_, name_;
  unsigned max_registers_ = 0;
  loader::LoadedModule* loaded_ = nullptr;
  std::map<std::string, std::unique_ptr<Function>> functions_;
};

// What the options with which a program loads a module say of registers, the only ones that change a program;
// 0: nothing. Others concern messages and optimisation, which Weft does not do.
unsigned max_registers_of(unsigned count, const int* options, void* const* values);

class Modules {
 public:
  explicit Modules(Context& context) : context_(context) {}

  // PTX text (ends with a zero byte), a fat binary, or a wrapper of one, at `image`. Fails with kNoBinary or
  // kInvalidImage and a report.
  Module& load(const void* image);
  Module& load_file(const std::string& path);
  // Puts a module that was just loaded onto the device, so that its mistakes are the call's errors; then
  // there is no such module.
  void place(Module& module, unsigned max_registers);
  // Handles from programs: fail with kInvalidHandle.
  Module& module(const void* handle);
  Function& function(const void* handle);
  void unload(Module& module);

  // The program of a kernel. Fails with kInvalidPtx and a report.
  const ptx::Program& program(Function& function);
  FunctionAttributes attributes(Function& function);
  // Of a block: as the program set it, or what the machine gives without.
  std::uint64_t most_dynamic_shared(Function& function);
  // Of each of so many blocks that an SM holds at a time, by what the machine has.
  std::uint64_t most_dynamic_shared(Function& function, std::uint64_t blocks);
  // Fails with kInvalidValue beyond what a block can have.
  void set_most_dynamic_shared(Function& function, int bytes);
  // Percent, or -1. Fails with kInvalidValue for another number.
  static void set_preferred_carveout(Function& function, int percent);
  // Thread blocks that an SM holds at a time; 0: a launch would be refused.
  std::uint32_t blocks_per_sm(Function& function, std::uint32_t block, std::uint64_t dynamic_shared);
  // The same of the whole device.
  std::uint64_t blocks_on_device(Function& function, std::uint32_t block, std::uint64_t dynamic_shared);
  // Of a module, in the order in which they stand there.
  std::vector<Function*> kernels(Module& module);
  // Where a parameter lies among a kernel's, and its size. Fails with kInvalidValue beyond the last.
  void parameter(Function& function, std::size_t index, std::size_t* offset, std::size_t* bytes);
  // As `variable`, of __managed__ ones only.
  std::uint64_t managed_variable(Module& module, const std::string& name, std::uint64_t* bytes);
  // A variable's address and size. Fails with kNotFound.
  std::uint64_t variable(Module& module, const std::string& name, std::uint64_t* bytes);

  void reset();

 private:
  Context& context_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::unordered_map<const void*, Function*> functions_;
  std::uint64_t loaded_ = 0;
  friend class Module;
};

}  // namespace weft::cuda

#endif
