// Libraries and their kernels, and functions of the driver by name.
#include <dlfcn.h>

#include <string>

#include "runtime/cuda/core/modules.h"
#include "runtime/cuda/core/properties.h"
#include "runtime/cuda/cudart/cudart.h"

using namespace weft::cuda;

namespace {

void hand_out(Context& c, cudaLibrary_t* library, Module& module, unsigned max_registers) {
  c.modules().place(module, max_registers);
  required(library) = reinterpret_cast<cudaLibrary_t>(&module);
}

const char* text_of(const char* name) {
  if (name == nullptr) fail(Error::kInvalidValue);
  return name;
}

void tell(std::uint64_t found, std::uint64_t size, void** address, std::size_t* bytes) {
  if (address != nullptr) *address = reinterpret_cast<void*>(found);
  if (bytes != nullptr) *bytes = size;
}

// cudaDriverEntryPointQueryResult
constexpr int kFound = 0, kNotThere = 1;

using GetProcAddress = int (*)(const char*, void**, int, std::uint64_t, int*);

// The driver beside this library, which the program need not have loaded.
GetProcAddress search_of_driver() {
  static const auto search = [] {
    Dl_info here{};
    if (dladdr(reinterpret_cast<void*>(&cudaGetDriverEntryPoint), &here) == 0) return GetProcAddress();
    const std::string path = here.dli_fname;
    void* const driver = dlopen((path.substr(0, path.rfind('/') + 1) + "libcuda.so.1").c_str(), RTLD_NOW);
    return driver == nullptr ? GetProcAddress()
                             : reinterpret_cast<GetProcAddress>(dlsym(driver, "cuGetProcAddress_v2"));
  }();
  return search;
}

}  // namespace

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, int* options, void** values,
                                unsigned count, int* /*library_options*/, void** /*library_values*/,
                                unsigned /*library_count*/) {
  return runtime_call("cudaLibraryLoadData", [&](Context& c) {
    hand_out(c, library, c.modules().load(code), max_registers_of(count, options, values));
  });
}
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file, int* options, void** values,
                                    unsigned count, int* /*library_options*/, void** /*library_values*/,
                                    unsigned /*library_count*/) {
  return runtime_call("cudaLibraryLoadFromFile", [&](Context& c) {
    if (file == nullptr) fail(Error::kInvalidValue);
    hand_out(c, library, c.modules().load_file(file), max_registers_of(count, options, values));
  });
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return runtime_call("cudaLibraryUnload",
                      [&](Context& c) { c.modules().unload(c.modules().module(library)); });
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return runtime_call("cudaLibraryGetKernel", [&](Context& c) {
    if (name == nullptr) fail(Error::kInvalidValue);
    required(kernel) = reinterpret_cast<cudaKernel_t>(&c.modules().module(library).function(c, name));
  });
}
cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return runtime_call("cudaLibraryGetKernelCount", [&](Context& c) {
    required(count) = static_cast<unsigned>(c.modules().kernels(c.modules().module(library)).size());
  });
}
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned most, cudaLibrary_t library) {
  return runtime_call("cudaLibraryEnumerateKernels", [&](Context& c) {
    unsigned found = 0;
    for (Function* function : c.modules().kernels(c.modules().module(library))) {
      if (found < most) (&required(kernels))[found++] = reinterpret_cast<cudaKernel_t>(function);
    }
  });
}
cudaError_t cudaLibraryGetGlobal(void** address, std::size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return runtime_call("cudaLibraryGetGlobal", [&](Context& c) {
    std::uint64_t size = 0;
    const std::uint64_t found = c.modules().variable(c.modules().module(library), text_of(name), &size);
    tell(found, size, address, bytes);
  });
}
cudaError_t cudaLibraryGetManaged(void** address, std::size_t* bytes, cudaLibrary_t library,
                                  const char* name) {
  return runtime_call("cudaLibraryGetManaged", [&](Context& c) {
    std::uint64_t size = 0;
    const std::uint64_t found =
        c.modules().managed_variable(c.modules().module(library), text_of(name), &size);
    tell(found, size, address, bytes);
  });
}
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, int attribute, int value, int device) {
  if (device != 0) return last_error() = cudaErrorInvalidDevice;
  return cudaFuncSetAttribute(kernel, attribute, value);
}
cudaError_t cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset,
                                 std::size_t* bytes) {
  return runtime_call("cudaFuncGetParamInfo", [&](Context& c) {
    c.modules().parameter(function_of(c, function), index, offset, bytes);
  });
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags, int* status) {
  if (name == nullptr || function == nullptr) return last_error() = cudaErrorInvalidValue;
  const GetProcAddress search = search_of_driver();
  if (search == nullptr) return last_error() = cudaErrorNotSupported;
  const int found = search(name, function, static_cast<int>(version), flags, nullptr);
  if (status != nullptr) *status = found == 0 ? kFound : kNotThere;
  // With a status to tell it, a function that is not there is no error.
  if (found == 0 || status != nullptr) return cudaSuccess;
  return last_error() = cudaErrorSymbolNotFound;
}
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    int* status) {
  return cudaGetDriverEntryPointByVersion(name, function, kVersion, flags, status);
}
