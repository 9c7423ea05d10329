#include "silicon/cuda_machine.h"

#include <dlfcn.h>

#include <cstring>
#include <optional>
#include <stdexcept>

namespace weft::test::silicon {
namespace {

// Attributes of a device (CUDA driver API, CUdevice_attribute).
constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76;
// Options of cuModuleLoadDataEx (CUjit_option): where the compiler writes its errors, and how many bytes.
constexpr int kErrorLog = 5, kErrorLogBytes = 6;
constexpr int kOptimisation = 7;  // likewise

using Handle = void*;                // CUcontext, CUmodule, CUfunction, CUstream
using Address = unsigned long long;  // CUdeviceptr

}  // namespace

Symbols open_library(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw std::runtime_error("no CUDA driver: " + std::string(why != nullptr ? why : path) +
                             "; vectors come from a machine with an NVIDIA GPU and its driver");
  }
  return [library](const char* name) { return dlsym(library, name); };
}

// The functions, with the signatures of the CUDA driver API 11 and later, and what they made.
struct CudaMachine::Driver {
  explicit Driver(const Symbols& symbols) {
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
    find(symbols, "cuMemcpyHtoD_v2", copy_to);
    find(symbols, "cuMemcpyDtoH_v2", copy_from);
    find(symbols, "cuModuleLoadDataEx", load);
    find(symbols, "cuModuleUnload", unload);
    find(symbols, "cuModuleGetFunction", get_function);
    find(symbols, "cuModuleGetGlobal_v2", get_global);
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
  int (*copy_to)(Address, const void*, std::size_t) = nullptr;
  int (*copy_from)(void*, Address, std::size_t) = nullptr;
  int (*load)(Handle*, const void*, unsigned, int*, void**) = nullptr;
  int (*unload)(Handle) = nullptr;
  int (*get_function)(Handle*, Handle, const char*) = nullptr;
  int (*get_global)(Address*, std::size_t*, Handle, const char*) = nullptr;
  int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                void**) = nullptr;

  void use_context() {
    Handle context = nullptr;
    check(retain_context(&context, ordinal), "cuDevicePrimaryCtxRetain");
    check(set_context(context), "cuCtxSetCurrent");
  }

  int ordinal = 0;  // the device's handle
  Device device;
  std::string target;  // "sm_90"
  Handle module = nullptr;
  std::optional<int> optimisation;
};

CudaMachine::CudaMachine(const Symbols& symbols) : driver_(std::make_unique<Driver>(symbols)) {
  Driver& d = *driver_;
  int major = 0, minor = 0;
  char name[256] = {};
  d.check(d.init(0), "cuInit");
  d.check(d.version(&d.device.driver), "cuDriverGetVersion");
  d.check(d.get_device(&d.ordinal, 0), "cuDeviceGet");
  d.check(d.get_name(name, sizeof name - 1, d.ordinal), "cuDeviceGetName");
  d.check(d.get_attribute(&major, kCapabilityMajor, d.ordinal), "cuDeviceGetAttribute");
  d.check(d.get_attribute(&minor, kCapabilityMinor, d.ordinal), "cuDeviceGetAttribute");
  d.use_context();
  d.device.name = name;
  d.device.capability = std::to_string(major) + "." + std::to_string(minor);
  d.target = "sm_" + std::to_string(major) + std::to_string(minor);
}

CudaMachine::~CudaMachine() {
  if (driver_->module != nullptr) driver_->unload(driver_->module);
}

const Device& CudaMachine::device() const {
  return driver_->device;
}

void CudaMachine::set_optimisation(int level) {
  driver_->optimisation = level;
}

void CudaMachine::set_target(const std::string& target) {
  driver_->target = target;
}

std::uint64_t CudaMachine::allocate(std::uint64_t bytes) {
  Address address = 0;
  driver_->check(driver_->allocate(&address, bytes), "cuMemAlloc");
  return address;
}

void CudaMachine::write(std::uint64_t to, const void* from, std::uint64_t bytes) {
  driver_->check(driver_->copy_to(to, from, bytes), "cuMemcpyHtoD");
}

void CudaMachine::read(void* to, std::uint64_t from, std::uint64_t bytes) {
  driver_->check(driver_->copy_from(to, from, bytes), "cuMemcpyDtoH");
}

// The newest PTX that the driver reads (PTX ISA, "PTX release notes"): CUDA 11.n reads 7.n, 12.n up to 12.5
// reads 8.n, 12.6 to 12.9 one less, 13.n 9.n.
std::string CudaMachine::header() const {
  const int major = driver_->device.driver / 1000, minor = driver_->device.driver % 1000 / 10;
  const int ptx_minor = major == 12 && minor > 5 ? minor - 1 : minor;
  return ".version " + std::to_string(major - 4) + "." + std::to_string(ptx_minor) + "\n.target " +
         driver_->target + "\n";
}

void CudaMachine::load(const std::string& text) {
  Driver& d = *driver_;
  if (d.module != nullptr) d.check(d.unload(d.module), "cuModuleUnload");
  d.module = nullptr;
  char log[2048] = {};
  const std::uintptr_t log_bytes = sizeof log - 1;
  int options[] = {kErrorLog, kErrorLogBytes, kOptimisation};
  void* values[] = {log, nullptr, nullptr};  // the others are numbers in the place of a pointer
  const std::uintptr_t level = d.optimisation ? static_cast<std::uintptr_t>(*d.optimisation) : 0;
  std::memcpy(static_cast<void*>(&values[1]), &log_bytes, sizeof log_bytes);
  std::memcpy(static_cast<void*>(&values[2]), &level, sizeof level);
  const int result = d.load(&d.module, text.c_str(), d.optimisation ? 3 : 2, options, values);
  const std::string why = log;
  d.check(result, ("cuModuleLoadDataEx" + (why.empty() ? "" : " (" + why + ")")).c_str());
}

std::uint64_t CudaMachine::variable(const std::string& name) {
  Address address = 0;
  std::size_t bytes = 0;
  driver_->check(driver_->get_global(&address, &bytes, driver_->module, name.c_str()), "cuModuleGetGlobal");
  return address;
}

void CudaMachine::launch(unsigned blocks, unsigned threads,
                         const std::vector<std::vector<std::uint8_t>>& arguments) {
  Driver& d = *driver_;
  Handle function = nullptr;
  d.check(d.get_function(&function, d.module, "k"), "cuModuleGetFunction");
  std::vector<std::vector<std::uint8_t>> values = arguments;
  std::vector<void*> pointers;
  for (auto& value : values) pointers.push_back(value.data());
  d.check(d.launch(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, pointers.data(), nullptr),
          "cuLaunchKernel");
  try {
    d.check(d.synchronise(), "cuCtxSynchronize");
  } catch (const std::runtime_error& fault) {  // every later call would answer with this error
    d.module = nullptr;
    d.check(d.reset_context(d.ordinal), "cuDevicePrimaryCtxReset");
    d.use_context();
    throw conformance::Lost(fault.what());
  }
}

}  // namespace weft::test::silicon
