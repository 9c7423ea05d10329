#include "runtime/cuda/core/modules.h"

#include <algorithm>
#include <cstring>

#include "execute/occupancy.h"
#include "runtime/cuda/core/backend.h"
#include "runtime/cuda/core/context.h"
#include "runtime/cuda/core/memory.h"
#include "runtime/cuda/core/properties.h"
#include "runtime/cuda/fatbin/fatbin.h"
#include "runtime/occupancy.h"
#include "weft/common/error.h"
#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"

namespace weft::cuda {
namespace {

// What stands at the beginning of an image.
constexpr std::uint32_t kElfMagic = 0x464C457F;
constexpr std::uint32_t kSeparateLinking = 2;  // version of a wrapper

struct Wrapper {
  std::uint32_t magic, version;
  const std::uint8_t* fatbin;
  const std::uint8_t* const* linked;
};

std::uint32_t first_word(const void* image) {
  std::uint32_t word = 0;
  std::memcpy(&word, image, sizeof word);
  return word;
}

std::string ptx_of_fatbin(const std::uint8_t* data, unsigned capability, const std::string& name) {
  const auto entries = read_fatbin(data, fatbin_bytes(data, name), name);
  return ptx_of(choose_ptx(entries, capability, name), name);
}

std::string ptx_of_image(const void* image, unsigned capability, const std::string& name) {
  switch (first_word(image)) {
    case kFatbinMagic:
      return ptx_of_fatbin(static_cast<const std::uint8_t*>(image), capability, name);
    case kElfMagic:
      throw InputError(name,
                       "the module is machine code (a cubin), which Weft cannot execute; give it PTX "
                       "(nvcc -ptx) or a fat binary with PTX (nvcc -fatbin -arch=compute_75)");
    case kWrapperMagic: {
      Wrapper wrapper{};
      std::memcpy(&wrapper, image, sizeof wrapper);
      if (wrapper.version >= kSeparateLinking) {
        throw InputError(name,
                         "the program was compiled with -rdc=true, and Weft does not link the device code of "
                         "fat binaries; compile it without -rdc=true (whole programs per file), or give the "
                         "PTX files to `weft run --ptx A --ptx B`");
      }
      return ptx_of_fatbin(wrapper.fatbin, capability, name);
    }
    default:
      return static_cast<const char*>(image);
  }
}

int version_number(const std::string& text) {  // "sm_75" -> 75
  int number = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace

loader::LoadedModule& Module::loaded(Context& context) {
  if (loaded_ != nullptr) return *loaded_;
  try {
    const auto managed = [&](std::uint64_t bytes) {
      return reinterpret_cast<std::uint64_t>(context.memory().allocate_managed(bytes, cudaMemAttachGlobal));
    };
    loaded_ = &context.backend().load(ptx_, name_, managed, max_registers_);
  } catch (const runtime::OutOfDeviceMemory& error) {
    fail(Error::kOutOfMemory, error.what());
  } catch (const InputError& error) {
    fail(Error::kInvalidPtx, error.what());
  }
  return *loaded_;
}

Function& Module::function(Context& context, const std::string& name) {
  auto& function = functions_[name];
  if (function != nullptr) return *function;
  const auto& kernels = loaded(context).kernels();
  if (std::find(kernels.begin(), kernels.end(), name) == kernels.end()) {
    functions_.erase(name);
    fail(Error::kNotFound);
  }
  function = std::make_unique<Function>(Function{this, name});
  context.modules().functions_.emplace(function.get(), function.get());
  return *function;
}

std::string Module::target() const {
  const auto at = ptx_.find(".target");
  if (at == std::string::npos) return "";
  const auto begin = ptx_.find_first_not_of(" \t", at + 7);
  return begin == std::string::npos ? "" : ptx_.substr(begin, ptx_.find_first_of(" \t\r\n,", begin) - begin);
}

void Module::unload() {
  loaded_ = nullptr;
}

unsigned max_registers_of(unsigned count, const int* options, void* const* values) {
  constexpr int kMaxRegisters = 0;  // CU_JIT_MAX_REGISTERS, cudaJitMaxRegisters
  unsigned most = 0;
  for (unsigned i = 0; i < count && options != nullptr && values != nullptr; ++i) {
    if (options[i] == kMaxRegisters)
      most = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i]));
  }
  return most;
}

Module& Modules::load(const void* image) {
  if (image == nullptr) fail(Error::kInvalidValue);
  const std::string name = "module " + std::to_string(++loaded_);
  std::string ptx;
  try {
    ptx = ptx_of_image(image, context_.capability(), name);
  } catch (const InputError& error) {
    --loaded_;  // tried again, it has the same name: its report is one
    fail(Error::kNoBinary, error.what());
  }
  modules_.push_back(std::make_unique<Module>(std::move(ptx), name));
  return *modules_.back();
}

Module& Modules::load_file(const std::string& path) {
  std::string content;
  try {
    content = runtime::read_text(path);
  } catch (const InputError& error) {
    fail(Error::kFileNotFound, error.what());
  }
  if (content.size() < sizeof(std::uint64_t) * 2) fail(Error::kInvalidImage, path + ": is not a module");
  std::string ptx;
  try {
    const auto* data = reinterpret_cast<const std::uint8_t*>(content.data());
    const bool is_fatbin = first_word(data) == kFatbinMagic;
    const unsigned capability = context_.capability();
    // A fat binary's own size must not reach beyond the file.
    ptx = is_fatbin ? ptx_of(choose_ptx(read_fatbin(data, content.size(), path), capability, path), path)
                    : ptx_of_image(data, capability, path);
  } catch (const InputError& error) {
    fail(Error::kNoBinary, error.what());
  }
  modules_.push_back(std::make_unique<Module>(std::move(ptx), path));
  return *modules_.back();
}

void Modules::place(Module& module, unsigned max_registers) {
  module.limit_registers(max_registers);
  try {
    module.loaded(context_);
  } catch (const Failure&) {
    if (module.name() == "module " + std::to_string(loaded_)) --loaded_;  // as in load()
    unload(module);
    throw;
  }
}

Module& Modules::module(const void* handle) {
  const auto found =
      std::find_if(modules_.begin(), modules_.end(), [&](const auto& m) { return m.get() == handle; });
  if (found == modules_.end()) fail(Error::kInvalidHandle);
  return **found;
}

Function& Modules::function(const void* handle) {
  const auto found = functions_.find(handle);
  if (found == functions_.end()) fail(Error::kInvalidHandle);
  return *found->second;
}

void Modules::unload(Module& module) {
  for (auto at = functions_.begin(); at != functions_.end();) {
    at = at->second->module == &module ? functions_.erase(at) : std::next(at);
  }
  modules_.erase(
      std::find_if(modules_.begin(), modules_.end(), [&](const auto& m) { return m.get() == &module; }));
}

const ptx::Program& Modules::program(Function& function) {
  loader::LoadedModule& loaded = function.module->loaded(context_);
  try {
    return *loaded.program(function.name);
  } catch (const InputError& error) {
    fail(Error::kInvalidPtx, error.what());
  }
}

FunctionAttributes Modules::attributes(Function& function) {
  const ptx::Program& code = program(function);
  FunctionAttributes attributes;
  attributes.shared_bytes = code.shared_bytes;
  attributes.local_bytes = code.local_bytes;
  attributes.registers =
      static_cast<int>(context_.config().sm.register_estimate.enabled
                           ? execute::needs_of(code, 1, 0, context_.config().sm).registers_per_thread
                           : code.registers_per_thread);
  attributes.max_threads = static_cast<int>(
      runtime::most_threads(function.module->loaded(context_), function.name, context_.config()));
  attributes.ptx_version = version_number(function.module->target());
  attributes.binary_version = static_cast<int>(context_.capability());
  attributes.max_dynamic_shared = most_dynamic_shared(function);
  attributes.preferred_carveout = function.preferred_carveout;
  return attributes;
}

std::uint64_t Modules::most_dynamic_shared(Function& function) {
  if (function.most_dynamic_shared != 0) return function.most_dynamic_shared;
  const std::uint64_t most = most_dynamic_shared(function, 1);
  const std::uint64_t by_default = context_.config().sm.default_block_shared_bytes;
  const std::uint64_t fixed = program(function).shared_bytes;
  return by_default == 0 ? most : std::min(most, by_default - std::min(by_default, fixed));
}

std::uint64_t Modules::most_dynamic_shared(Function& function, std::uint64_t blocks) {
  return execute::most_dynamic_shared(execute::needs_of(program(function), 1, 0, context_.config().sm),
                                      blocks, context_.config().sm);
}

void Modules::set_most_dynamic_shared(Function& function, int bytes) {
  if (bytes < 0) fail(Error::kInvalidValue);
  if (static_cast<std::uint64_t>(bytes) > most_dynamic_shared(function, 1)) {
    // The text that a launch would have.
    dispatch::Launch launch;
    launch.program = std::shared_ptr<const ptx::Program>(std::shared_ptr<void>(), &program(function));
    launch.block = {1, 1, 1};
    launch.dynamic_shared = static_cast<std::uint64_t>(bytes);
    try {
      execute::occupancy(launch, context_.config().sm, context_.config().warp_formation.warp_size);
    } catch (const InputError& error) {
      fail(Error::kInvalidValue, error.what());
    }
    fail(Error::kInvalidValue);
  }
  function.most_dynamic_shared = static_cast<std::uint64_t>(bytes);
}

void Modules::set_preferred_carveout(Function& function, int percent) {
  if (percent < -1 || percent > 100) fail(Error::kInvalidValue);
  function.preferred_carveout = percent;
}

std::uint32_t Modules::blocks_per_sm(Function& function, std::uint32_t block, std::uint64_t dynamic_shared) {
  program(function);  // reports what it cannot decode
  return runtime::blocks_per_sm(function.module->loaded(context_), function.name, block, dynamic_shared,
                                context_.config());
}

std::uint64_t Modules::blocks_on_device(Function& function, std::uint32_t block,
                                        std::uint64_t dynamic_shared) {
  return blocks_per_sm(function, block, dynamic_shared) * context_.config().sm.count;
}

std::vector<Function*> Modules::kernels(Module& module) {
  std::vector<Function*> functions;
  for (const std::string& name : module.loaded(context_).kernels())
    functions.push_back(&module.function(context_, name));
  return functions;
}

void Modules::parameter(Function& function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  const auto& parameters = program(function).parameters;
  if (index >= parameters.size() || offset == nullptr) fail(Error::kInvalidValue);
  *offset = parameters[index].offset;
  if (bytes != nullptr) *bytes = parameters[index].size;
}

std::uint64_t Modules::managed_variable(Module& module, const std::string& name, std::uint64_t* bytes) {
  const std::uint64_t address = variable(module, name, bytes);
  const Memory::Block* block = context_.memory().find(address);
  if (block == nullptr || block->kind != Memory::Kind::kManaged) fail(Error::kNotFound);
  return address;
}

std::uint64_t Modules::variable(Module& module, const std::string& name, std::uint64_t* bytes) {
  loader::LoadedModule& loaded = module.loaded(context_);
  try {
    return loaded.address_of(name, bytes);
  } catch (const InputError&) {
    fail(Error::kNotFound);
  }
}

void Modules::reset() {
  for (const auto& module : modules_) module->unload();
}

}  // namespace weft::cuda
