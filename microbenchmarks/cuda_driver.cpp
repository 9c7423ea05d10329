#include "microbenchmarks/cuda_driver.h"

#include <dlfcn.h>

#include <cstring>

namespace weft::microbenchmarks {
namespace {

// Options of cuModuleLoadDataEx (CUjit_option): where the compiler writes its errors, and how many bytes.
constexpr int kErrorLog = 5, kErrorLogBytes = 6;
constexpr int kOptimisation = 7;  // likewise
// CUfunction_attribute
constexpr int kMostDynamicShared = 8;
constexpr std::uint64_t kSharedWithoutAsking = 48u << 10;

using Handle = void*;                // CUcontext, CUmodule, CUfunction, CUstream
using Address = unsigned long long;  // CUdeviceptr

}  // namespace

Symbols open_library(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw std::runtime_error("no CUDA driver: " + std::string(why != nullptr ? why : path) +
                             "; a machine with an NVIDIA GPU and its driver is needed");
  }
  return [library](const char* name) { return dlsym(library, name); };
}

// The functions, with the signatures of the CUDA driver API 11 and later.
struct CudaDriver::Functions {
  explicit Functions(const Symbols& symbols) {
    find(symbols, "cuGetErrorString", error_string);
    find(symbols, "cuInit", init);
    find(symbols, "cuDriverGetVersion", version);
    find(symbols, "cuDeviceGet", get_device);
    find(symbols, "cuDeviceGetName", get_name);
    find(symbols, "cuDeviceGetAttribute", get_attribute);
    find(symbols, "cuDevicePrimaryCtxRetain", retain_context);
    find(symbols, "cuDevicePrimaryCtxReset_v2", reset_context);
    find(symbols, "cuCtxSetCurrent", set_context);
    find(symbols, "cuCtxSynchronize", synchronise);
    find(symbols, "cuMemAlloc_v2", allocate);
    find(symbols, "cuMemFree_v2", free);
    find(symbols, "cuMemcpyHtoD_v2", copy_to);
    find(symbols, "cuMemcpyDtoH_v2", copy_from);
    find(symbols, "cuModuleLoadDataEx", load);
    find(symbols, "cuModuleUnload", unload);
    find(symbols, "cuModuleGetFunction", get_function);
    find(symbols, "cuModuleGetGlobal_v2", get_global);
    find(symbols, "cuFuncSetAttribute", set_attribute);
    find(symbols, "cuLaunchKernel", launch);
  }

  template <class F>
  static void find(const Symbols& symbols, const char* name, F*& function) {
    function = reinterpret_cast<F*>(symbols(name));
    if (function == nullptr) throw std::runtime_error(std::string("the CUDA driver has no ") + name);
  }
  void check(int result, const char* what) const {
    if (result == 0) return;
    const char* text = nullptr;
    error_string(result, &text);
    throw std::runtime_error(std::string(what) + ": " + (text != nullptr ? text : "unknown error") + " (" +
                             std::to_string(result) + ")");
  }

  int (*error_string)(int, const char**) = nullptr;
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*get_device)(int*, int) = nullptr;
  int (*get_name)(char*, int, int) = nullptr;
  int (*get_attribute)(int*, int, int) = nullptr;
  int (*retain_context)(Handle*, int) = nullptr;
  int (*reset_context)(int) = nullptr;
  int (*set_context)(Handle) = nullptr;
  int (*synchronise)() = nullptr;
  int (*allocate)(Address*, std::size_t) = nullptr;
  int (*free)(Address) = nullptr;
  int (*copy_to)(Address, const void*, std::size_t) = nullptr;
  int (*copy_from)(void*, Address, std::size_t) = nullptr;
  int (*load)(Handle*, const void*, unsigned, int*, void**) = nullptr;
  int (*unload)(Handle) = nullptr;
  int (*get_function)(Handle*, Handle, const char*) = nullptr;
  int (*get_global)(Address*, std::size_t*, Handle, const char*) = nullptr;
  int (*set_attribute)(Handle, int, int) = nullptr;
  int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                void**) = nullptr;
};

CudaDriver::CudaDriver(const Symbols& symbols) : functions_(std::make_unique<Functions>(symbols)) {
  const Functions& f = *functions_;
  char name[256] = {};
  f.check(f.init(0), "cuInit");
  f.check(f.version(&device_.driver), "cuDriverGetVersion");
  f.check(f.get_device(&ordinal_, 0), "cuDeviceGet");
  f.check(f.get_name(name, sizeof name - 1, ordinal_), "cuDeviceGetName");
  const int major = attribute(DeviceAttribute::kCapabilityMajor),
            minor = attribute(DeviceAttribute::kCapabilityMinor);
  use_context();
  device_.name = name;
  device_.capability = std::to_string(major) + "." + std::to_string(minor);
  target_ = "sm_" + std::to_string(major) + std::to_string(minor);
}

CudaDriver::~CudaDriver() = default;

void CudaDriver::use_context() {
  Handle context = nullptr;
  functions_->check(functions_->retain_context(&context, ordinal_), "cuDevicePrimaryCtxRetain");
  functions_->check(functions_->set_context(context), "cuCtxSetCurrent");
}

const CudaDriver::Device& CudaDriver::device() const {
  return device_;
}

int CudaDriver::attribute(DeviceAttribute attribute) const {
  int value = 0;
  functions_->check(functions_->get_attribute(&value, static_cast<int>(attribute), ordinal_),
                    "cuDeviceGetAttribute");
  return value;
}

void CudaDriver::set_optimisation(int level) {
  optimisation_ = level;
}

void CudaDriver::set_target(const std::string& target) {
  target_ = target;
}

// PTX ISA, "PTX release notes": CUDA 11.n reads 7.n, 12.n up to 12.5 reads 8.n, 12.6 to 12.9 one less, 13.n
// 9.n.
std::string CudaDriver::header() const {
  const int major = device_.driver / 1000, minor = device_.driver % 1000 / 10;
  const int ptx_minor = major == 12 && minor > 5 ? minor - 1 : minor;
  return ".version " + std::to_string(major - 4) + "." + std::to_string(ptx_minor) + "\n.target " + target_ +
         "\n";
}

std::uint64_t CudaDriver::allocate(std::uint64_t bytes) {
  Address address = 0;
  functions_->check(functions_->allocate(&address, bytes), "cuMemAlloc");
  return address;
}

void CudaDriver::free(std::uint64_t address) {
  functions_->check(functions_->free(address), "cuMemFree");
}

void CudaDriver::write(std::uint64_t to, const void* from, std::uint64_t bytes) {
  functions_->check(functions_->copy_to(to, from, bytes), "cuMemcpyHtoD");
}

void CudaDriver::read(void* to, std::uint64_t from, std::uint64_t bytes) {
  functions_->check(functions_->copy_from(to, from, bytes), "cuMemcpyDtoH");
}

CudaDriver::Module CudaDriver::load(const std::string& text) {
  Module module = nullptr;
  char log[2048] = {};
  const std::uintptr_t log_bytes = sizeof log - 1;
  int options[] = {kErrorLog, kErrorLogBytes, kOptimisation};
  void* values[] = {log, nullptr, nullptr};  // the others are numbers in the place of a pointer
  const bool chosen = optimisation_ >= 0;
  const std::uintptr_t level = chosen ? static_cast<std::uintptr_t>(optimisation_) : 0;
  std::memcpy(static_cast<void*>(&values[1]), &log_bytes, sizeof log_bytes);
  std::memcpy(static_cast<void*>(&values[2]), &level, sizeof level);
  const int result = functions_->load(&module, text.c_str(), chosen ? 3 : 2, options, values);
  const std::string why = log;
  functions_->check(result, ("cuModuleLoadDataEx" + (why.empty() ? "" : " (" + why + ")")).c_str());
  return module;
}

void CudaDriver::unload(Module module) {
  functions_->check(functions_->unload(module), "cuModuleUnload");
}

std::uint64_t CudaDriver::variable(Module module, const std::string& name) {
  Address address = 0;
  std::size_t bytes = 0;
  functions_->check(functions_->get_global(&address, &bytes, module, name.c_str()), "cuModuleGetGlobal");
  return address;
}

bool CudaDriver::has_variable(Module module, const std::string& name) const {
  Address address = 0;
  std::size_t bytes = 0;
  return functions_->get_global(&address, &bytes, module, name.c_str()) == 0;
}

void CudaDriver::start(Module module, const Launch& launch) {
  const Functions& f = *functions_;
  Handle function = nullptr;
  f.check(f.get_function(&function, module, launch.kernel.c_str()), "cuModuleGetFunction");
  if (launch.dynamic_shared > kSharedWithoutAsking)
    f.check(f.set_attribute(function, kMostDynamicShared, static_cast<int>(launch.dynamic_shared)),
            "cuFuncSetAttribute");
  std::vector<std::vector<std::uint8_t>> values = launch.arguments;
  std::vector<void*> pointers;
  for (auto& value : values) pointers.push_back(value.data());
  f.check(f.launch(function, launch.blocks.x, launch.blocks.y, launch.blocks.z, launch.threads.x,
                   launch.threads.y, launch.threads.z, static_cast<unsigned>(launch.dynamic_shared), nullptr,
                   pointers.data(), nullptr),
          "cuLaunchKernel");
}

void CudaDriver::wait() {
  try {
    functions_->check(functions_->synchronise(), "cuCtxSynchronize");
  } catch (const std::runtime_error& fault) {  // every later call would answer with this error
    functions_->check(functions_->reset_context(ordinal_), "cuDevicePrimaryCtxReset");
    use_context();
    throw ContextLost(fault.what());
  }
}

}  // namespace weft::microbenchmarks
