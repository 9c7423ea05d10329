// Libraries (modules that belong to no context, of which there is one) and their kernels. A library is a
// module, and a kernel a function: handles of both kinds may stand for each other.
#include "runtime/cuda/core/modules.h"
#include "runtime/cuda/driver/driver.h"

using namespace weft::cuda;

namespace {

CUlibrary library_handle(Module& module) {
  return reinterpret_cast<CUlibrary>(&module);
}
CUkernel kernel_handle(Function& function) {
  return reinterpret_cast<CUkernel>(&function);
}

void hand_out(Context& c, CUlibrary* library, Module& module, unsigned max_registers) {
  c.modules().place(module, max_registers);
  required(library) = library_handle(module);
}

}  // namespace

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, int* options, void** values, unsigned count,
                           int* /*library_options*/, void** /*library_values*/, unsigned /*library_count*/) {
  return driver_call("cuLibraryLoadData", [&](Context& c) {
    hand_out(c, library, c.modules().load(code), max_registers_of(count, options, values));
  });
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file, int* options, void** values,
                               unsigned count, int* /*library_options*/, void** /*library_values*/,
                               unsigned /*library_count*/) {
  return driver_call("cuLibraryLoadFromFile", [&](Context& c) {
    if (file == nullptr) fail(Error::kInvalidValue);
    hand_out(c, library, c.modules().load_file(file), max_registers_of(count, options, values));
  });
}
CUresult cuLibraryUnload(CUlibrary library) {
  return driver_call("cuLibraryUnload", [&](Context& c) { c.modules().unload(c.modules().module(library)); });
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return driver_call("cuLibraryGetKernel", [&](Context& c) {
    if (name == nullptr) fail(Error::kInvalidValue);
    required(kernel) = kernel_handle(c.modules().module(library).function(c, name));
  });
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return driver_call("cuLibraryGetKernelCount", [&](Context& c) {
    required(count) = static_cast<unsigned>(c.modules().kernels(c.modules().module(library)).size());
  });
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned most, CUlibrary library) {
  return driver_call("cuLibraryEnumerateKernels", [&](Context& c) {
    unsigned found = 0;
    for (Function* function : c.modules().kernels(c.modules().module(library))) {
      if (found < most) (&required(kernels))[found++] = kernel_handle(*function);
    }
  });
}
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return driver_call("cuLibraryGetModule", [&](Context& c) {
    required(module) = reinterpret_cast<CUmodule>(&c.modules().module(library));
  });
}
CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name) {
  return cuModuleGetGlobal_v2(address, bytes, reinterpret_cast<CUmodule>(library), name);
}
CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name) {
  return driver_call("cuLibraryGetManaged", [&](Context& c) {
    if (name == nullptr) fail(Error::kInvalidValue);
    std::uint64_t size = 0;
    const std::uint64_t found = c.modules().managed_variable(c.modules().module(library), name, &size);
    if (address != nullptr) *address = found;
    if (bytes != nullptr) *bytes = size;
  });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return driver_call("cuKernelGetFunction", [&](Context& c) {
    required(function) = reinterpret_cast<CUfunction>(&c.modules().function(kernel));
  });
}
CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return driver_call("cuKernelGetLibrary", [&](Context& c) {
    required(library) = library_handle(*c.modules().function(kernel).module);
  });
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return driver_call("cuKernelGetName",
                     [&](Context& c) { required(name) = c.modules().function(kernel).name.c_str(); });
}
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return driver_call("cuKernelGetParamInfo", [&](Context& c) {
    c.modules().parameter(c.modules().function(kernel), index, offset, bytes);
  });
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  return driver_call("cuKernelGetAttribute", [&](Context& c) {
    require_device(device);
    required(value) = attribute_of(c.modules().attributes(c.modules().function(kernel)), attribute);
  });
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  return driver_call("cuKernelSetAttribute", [&](Context& c) {
    require_device(device);
    set_attribute(c, c.modules().function(kernel), attribute, value);
  });
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, int /*config*/, CUdevice device) {
  return driver_call("cuKernelSetCacheConfig", [&](Context& c) {
    require_device(device);
    c.modules().function(kernel);
  });
}
