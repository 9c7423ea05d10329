#include "silicon/stand_in.h"

#include <cstring>
#include <map>

#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"

namespace weft::test::silicon {
namespace {

constexpr int kInvalidValue = 1, kNotInitialised = 3, kInvalidImage = 200, kNotFound = 500,
              kLaunchFailed = 719;

runtime::Device* device = nullptr;
std::vector<std::string> settings_of_device;

// What CUDA's error codes stand for; C functions may not throw.
template <class F>
int guarded(int code, const F& f) {
  if (device == nullptr) return kNotInitialised;
  try {
    f();
    return 0;
  } catch (const std::exception&) {
    return code;
  }
}

int error_string(int code, const char** text) {
  *text = code == kInvalidImage ? "device kernel image is invalid" : "stand-in error";
  return 0;
}
int init(unsigned flags) {
  if (flags != 0) return kInvalidValue;
  static runtime::Device the_device(load_config("gtx480", settings_of_device), {});
  device = &the_device;
  return 0;
}
int version(int* number) {
  *number = 12080;
  return 0;
}
int get_device(int* number, int ordinal) {
  *number = 40 + ordinal;  // a handle is not an ordinal
  return ordinal == 0 ? 0 : kInvalidValue;
}
int get_name(char* name, int bytes, int handle) {
  std::strncpy(name, "Weft", static_cast<std::size_t>(bytes));
  return handle == 40 ? 0 : kInvalidValue;
}
int get_attribute(int* value, int attribute, int handle) {
  // Threads of a block, kHz, SMs, bytes of L2, threads of an SM, capability, shared memory of a block.
  static const std::map<int, int> values = {{1, 1024},  {13, 700'000}, {16, 2}, {38, 768 << 10},
                                            {39, 1536}, {75, 9},       {76, 0}, {97, 48 << 10}};
  const auto found = values.find(attribute);
  if (handle != 40 || found == values.end()) return kInvalidValue;
  *value = found->second;
  return 0;
}
int retain_context(void** context, int handle) {
  *context = static_cast<void*>(&device);
  return handle == 40 ? 0 : kInvalidValue;
}
int set_context(void* context) {
  return context == static_cast<void*>(&device) ? 0 : kInvalidValue;
}
int reset_context(int handle) {
  return handle == 40 ? 0 : kInvalidValue;
}
int synchronise() {
  return guarded(kLaunchFailed, [] { device->synchronise(); });
}
int allocate(unsigned long long* address, std::size_t bytes) {
  return guarded(2, [=] { *address = device->allocate(bytes); });
}
int free_memory(unsigned long long address) {
  return guarded(kInvalidValue, [=] { device->free(address); });
}
int set_attribute(void*, int attribute, int) {
  return attribute == 8 ? 0 : kInvalidValue;  // the most dynamic shared memory
}
int copy_to(unsigned long long to, const void* from, std::size_t bytes) {
  return guarded(kInvalidValue, [=] { device->copy_to(to, from, bytes); });
}
int copy_from(void* to, unsigned long long from, std::size_t bytes) {
  return guarded(kInvalidValue, [=] { device->copy_from(to, from, bytes); });
}
int load(void** module, const void* image, unsigned, const int*, void** values) {
  return guarded(kInvalidImage, [=] {
    try {
      runtime::LoadedModule& loaded = device->load_module(static_cast<const char*>(image), "image.ptx");
      device->program(loaded, "k");  // a driver compiles when it loads
      *module = &loaded;
    } catch (const std::exception& error) {  // into the log, which CudaMachine makes longer than this
      std::strncpy(static_cast<char*>(values[0]), error.what(), 500);
      throw;
    }
  });
}
int unload(void*) {
  return 0;
}
struct Function {
  runtime::LoadedModule* module;
  std::string name;
};
int get_function(void** function, void* module, const char* name) {
  static Function current;
  return guarded(kNotFound, [=] {
    current = {static_cast<runtime::LoadedModule*>(module), name};
    device->program(*current.module, name);
    *function = &current;
  });
}
int get_global(unsigned long long* address, std::size_t* bytes, void* module, const char* name) {
  return guarded(kNotFound, [=] {
    std::uint64_t size = 0;
    *address = device->symbol(*static_cast<runtime::LoadedModule*>(module), name, &size);
    *bytes = size;
  });
}
int launch(void* handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
           unsigned shared, void* stream, void** parameters, void** extra) {
  if (stream != nullptr || extra != nullptr) return kInvalidValue;
  return guarded(kInvalidValue, [=] {
    const auto& function = *static_cast<Function*>(handle);
    runtime::Arguments arguments;
    std::size_t i = 0;
    for (const ptx::Parameter& parameter : device->program(*function.module, function.name).parameters) {
      const auto* bytes = static_cast<const std::uint8_t*>(parameters[i++]);
      arguments.add_bytes({bytes, bytes + parameter.size});
    }
    device->launch(*function.module, function.name, {gx, gy, gz}, {bx, by, bz}, arguments, shared);
  });
}

}  // namespace

Symbols stand_in(std::vector<std::string> settings) {
  settings_of_device = std::move(settings);
  settings_of_device.emplace_back("sm.count=2");
  static const std::map<std::string, void*> functions = {
      {"cuGetErrorString", reinterpret_cast<void*>(error_string)},
      {"cuInit", reinterpret_cast<void*>(init)},
      {"cuDriverGetVersion", reinterpret_cast<void*>(version)},
      {"cuDeviceGet", reinterpret_cast<void*>(get_device)},
      {"cuDeviceGetName", reinterpret_cast<void*>(get_name)},
      {"cuDeviceGetAttribute", reinterpret_cast<void*>(get_attribute)},
      {"cuDevicePrimaryCtxRetain", reinterpret_cast<void*>(retain_context)},
      {"cuDevicePrimaryCtxReset_v2", reinterpret_cast<void*>(reset_context)},
      {"cuCtxSetCurrent", reinterpret_cast<void*>(set_context)},
      {"cuCtxSynchronize", reinterpret_cast<void*>(synchronise)},
      {"cuMemAlloc_v2", reinterpret_cast<void*>(allocate)},
      {"cuMemFree_v2", reinterpret_cast<void*>(free_memory)},
      {"cuFuncSetAttribute", reinterpret_cast<void*>(set_attribute)},
      {"cuMemcpyHtoD_v2", reinterpret_cast<void*>(copy_to)},
      {"cuMemcpyDtoH_v2", reinterpret_cast<void*>(copy_from)},
      {"cuModuleLoadDataEx", reinterpret_cast<void*>(load)},
      {"cuModuleUnload", reinterpret_cast<void*>(unload)},
      {"cuModuleGetFunction", reinterpret_cast<void*>(get_function)},
      {"cuModuleGetGlobal_v2", reinterpret_cast<void*>(get_global)},
      {"cuLaunchKernel", reinterpret_cast<void*>(launch)}};
  return [](const char* name) -> void* {
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
  };
}

}  // namespace weft::test::silicon
