// What compilers emit into every program: its fat binaries, kernels and variables register themselves before
// main(). Nothing is parsed before it is used.
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/cuda/core/modules.h"
#include "runtime/cuda/core/streams.h"
#include "runtime/cuda/cudart/cudart.h"

namespace weft::cuda {
namespace {

// One fat binary of the program; its address is the handle that registrations name.
struct Image {
  void* wrapper = nullptr;
  Module* module = nullptr;  // once loaded
  // Managed variables: where the program keeps the address, and the name.
  std::vector<std::pair<void**, std::string>> managed;
};
struct Symbol {
  Image* image = nullptr;
  std::string name;
  Function* function = nullptr;  // of a kernel, once looked up
};

// Under the context's lock, but for registrations, which come before anything else can.
struct Registry {
  std::unordered_map<const void*, std::unique_ptr<Image>> images;
  std::unordered_map<const void*, Symbol> kernels, variables;
};
Registry& registry() {
  static Registry* const registry = new Registry;  // programs unregister from destructors
  return *registry;
}

Module& module_of(Context& context, Image* known) {
  if (known == nullptr) fail(Error::kInvalidImage);  // registered with a handle that is none
  Image& image = *known;
  if (image.module != nullptr) return *image.module;
  image.module = &context.modules().load(image.wrapper);
  for (const auto& [host, name] : image.managed)
    *host = reinterpret_cast<void*>(context.modules().variable(*image.module, name, nullptr));
  return *image.module;
}

Image* image_of(void** handle) {
  const auto found = registry().images.find(handle);
  return found == registry().images.end() ? nullptr : found->second.get();
}

struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};
std::vector<Configuration>& configurations() {
  thread_local std::vector<Configuration> stack;
  return stack;
}

}  // namespace

Function& function_of_symbol(Context& context, const void* symbol) {
  const auto found = registry().kernels.find(symbol);
  if (found == registry().kernels.end()) fail(Error::kInvalidDeviceFunction);
  Symbol& kernel = found->second;
  if (kernel.function == nullptr) {
    try {
      kernel.function = &module_of(context, kernel.image).function(context, kernel.name);
    } catch (const Failure& failure) {
      if (failure.error == Error::kNotFound) fail(Error::kInvalidDeviceFunction);
      throw;
    }
  }
  return *kernel.function;
}

std::uint64_t variable_of_symbol(Context& context, const void* symbol, std::uint64_t* bytes) {
  const auto found = registry().variables.find(symbol);
  if (found == registry().variables.end()) fail(Error::kInvalidSymbol);
  try {
    return context.modules().variable(module_of(context, found->second.image), found->second.name, bytes);
  } catch (const Failure& failure) {
    if (failure.error == Error::kNotFound) fail(Error::kInvalidSymbol);
    throw;
  }
}

Function& function_of(Context& context, const void* symbol_or_handle) {
  if (registry().kernels.count(symbol_or_handle) != 0) return function_of_symbol(context, symbol_or_handle);
  try {
    return context.modules().function(symbol_or_handle);
  } catch (const Failure&) {
    fail(Error::kInvalidDeviceFunction);
  }
}

}  // namespace weft::cuda

using namespace weft::cuda;

void** __cudaRegisterFatBinary(void* wrapper) {
  auto image = std::make_unique<Image>();
  image->wrapper = wrapper;
  auto** const handle = reinterpret_cast<void**>(image.get());
  Context::instance().call(
      "__cudaRegisterFatBinary", [&](Context&) { registry().images.emplace(handle, std::move(image)); },
      Context::AfterFault::kAllowed);
  return handle;
}
void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}
void __cudaUnregisterFatBinary(void** /*handle*/) {
}  // at the program's end: what is left is needed by reports

void __cudaRegisterFunction(void** handle, const char* host, char* /*device*/, const char* name,
                            int /*thread_limit*/, uint3* /*thread*/, uint3* /*block*/, dim3* /*block_size*/,
                            dim3* /*grid_size*/, int* /*warp_size*/) {
  Context::instance().call(
      "__cudaRegisterFunction", [&](Context&) { registry().kernels[host] = {image_of(handle), name}; },
      Context::AfterFault::kAllowed);
}
void __cudaRegisterVar(void** handle, char* host, char* /*device*/, const char* name, int /*is_extern*/,
                       std::size_t /*bytes*/, int /*constant*/, int /*global*/) {
  Context::instance().call(
      "__cudaRegisterVar", [&](Context&) { registry().variables[host] = {image_of(handle), name}; },
      Context::AfterFault::kAllowed);
}
void __cudaRegisterManagedVar(void** handle, void** host, char* /*device*/, const char* name,
                              int /*is_extern*/, std::size_t /*bytes*/, int /*constant*/, int /*global*/) {
  Context::instance().call(
      "__cudaRegisterManagedVar",
      [&](Context&) {
        registry().variables[host] = {image_of(handle), name};
        if (Image* image = image_of(handle)) image->managed.emplace_back(host, name);
      },
      Context::AfterFault::kAllowed);
}
// A program calls this before it uses a managed variable for the first time.
char __cudaInitModule(void** handle) {
  return runtime_call("__cudaInitModule", [&](Context& c) { module_of(c, image_of(handle)); }) == cudaSuccess
             ? 1
             : 0;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream) {
  configurations().push_back({grid, block, shared_bytes, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  auto& stack = configurations();
  if (stack.empty()) return last_error() = cudaErrorMissingConfiguration;
  const Configuration top = stack.back();
  stack.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}
