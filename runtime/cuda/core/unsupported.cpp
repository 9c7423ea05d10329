#include "runtime/cuda/core/unsupported.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <set>
#include <string>

#include "runtime/cuda/core/context.h"

namespace weft::cuda {
namespace {

struct Remedy {
  const char* part;  // of the function's name
  const char* text;
};
constexpr std::array kRemedies{
    Remedy{"Graphics", "graphics interoperability is not modelled; copy results to host memory"},
    Remedy{"GL", "graphics interoperability is not modelled; copy results to host memory"},
    Remedy{"EGL", "graphics interoperability is not modelled; copy results to host memory"},
    Remedy{"VDPAU", "graphics interoperability is not modelled; copy results to host memory"},
    Remedy{"Graph", "CUDA graphs are not provided; launch the kernels in streams"},
    Remedy{"Capture", "CUDA graphs are not provided; launch the kernels in streams"},
    Remedy{"External", "there is no other device to share memory or semaphores with"},
    Remedy{"Peer", "the simulation has one device"},
    Remedy{"P2P", "the simulation has one device"},
    Remedy{"Ipc", "device memory belongs to one process"},
    Remedy{"Pool", "device memory belongs to one process"},
    Remedy{"MemAddress", "device memory is not mapped piece by piece; use cudaMalloc"},
    Remedy{"MemCreate", "device memory is not mapped piece by piece; use cudaMalloc"},
    Remedy{"MemMap", "device memory is not mapped piece by piece; use cudaMalloc"},
    Remedy{"MemUnmap", "device memory is not mapped piece by piece; use cudaMalloc"},
    Remedy{"MemSetAccess", "device memory is not mapped piece by piece; use cudaMalloc"},
    Remedy{"Value32", "streams do not wait for memory, or write to it; use events"},
    Remedy{"Value64", "streams do not wait for memory, or write to it; use events"},
    Remedy{"BatchMemOp", "streams do not wait for memory, or write to it; use events"},
    Remedy{"GreenCtx", "SMs are not divided among contexts; use streams"},
    Remedy{"Multicast", "the simulation has one device"},
    Remedy{"TensorMap", "copies by tensor maps are not provided; compile for an architecture before sm_90"},
    Remedy{"Mipmapped", "mipmapped arrays are not provided; use one array per level"},
    Remedy{"Link", "PTX is not linked at run time; load one PTX text, or compile without -rdc=true"},
    Remedy{"TexRef", "CUDA 12 removed texture references; use texture objects"},
};

// The file of the shared library that an address lies in; empty: the program itself.
std::string library_of(const void* address) {
  Dl_info info{};
  void* found = nullptr;
  if (dladdr1(address, &info, &found, RTLD_DL_LINKMAP) == 0 || found == nullptr) return "";
  return static_cast<const link_map*>(found)->l_name;
}

// Compilers ask for it to learn of a driver that is newer than they are, and go on without an answer.
bool does_without(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  return file.rfind("libnvrtc", 0) == 0 || file.rfind("libnvJitLink", 0) == 0;
}

// NVIDIA's runtime library begins with functions of the driver that are not public. Who asks for them
// contains it: the program, or a library of CUDA's that it uses.
std::string without_export_table(const void* caller) {
  const std::string path = library_of(caller);
  if (path.empty())
    return "the program contains NVIDIA's static runtime library; link it with nvcc -cudart shared";
  const std::string file = path.substr(path.rfind('/') + 1);
  if (file.rfind("libcudart.so", 0) == 0)
    return path + " is NVIDIA's runtime library, found in place of Weft's; run the program with --preload";
  return file + " needs it: Weft replaces CUDA's runtime and driver, but this library needs NVIDIA's (" +
         path + "); calls to this library cannot run";
}

}  // namespace

int unsupported(const char* function, const void* caller) {
  const std::string name = function;
  const Error error = Context::instance().call(
      function,
      [&](Context&) {
        static std::set<std::string> reported;
        const bool is_export_table = name.find("ExportTable") != std::string::npos;
        // Once for each library that asks.
        const std::string asked = is_export_table ? name + library_of(caller) : name;
        if (!reported.insert(asked).second) fail(Error::kNotSupported);
        if (is_export_table && does_without(library_of(caller))) fail(Error::kNotSupported);
        if (is_export_table) fail(Error::kNotSupported, "is not provided: " + without_export_table(caller));
        for (const Remedy& remedy : kRemedies) {
          if (name.find(remedy.part) != std::string::npos) {
            fail(Error::kNotSupported, std::string("is not provided: ") + remedy.text);
          }
        }
        fail(Error::kNotSupported, "is not provided by Weft (runtime/cuda/README.md lists what is)");
      },
      Context::AfterFault::kAllowed);
  return static_cast<int>(error);
}

int old_form(const char* function) {
  const Error error = Context::instance().call(
      function,
      [&](Context&) {
        static std::set<std::string> reported;
        const std::string name = function;
        if (!reported.insert(name).second) fail(Error::kNotSupported);
        fail(Error::kNotSupported,
             "is not provided: this name has the parameters of CUDA 3.1 (sizes and addresses of 32 bits); "
             "programs of CUDA 3.2 and later use " +
                 name + "_v2");
      },
      Context::AfterFault::kAllowed);
  return static_cast<int>(error);
}

}  // namespace weft::cuda
