#include "runtime/cuda/core/unsupported.h"

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
    Remedy{"ExportTable",
           "the program contains NVIDIA's static runtime library; link it with nvcc -cudart shared"},
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
    Remedy{"Pool", "memory pools are not provided; use cudaMalloc or cudaMallocAsync"},
    Remedy{"Mipmapped", "mipmapped arrays are not provided; use one array per level"},
    Remedy{"Link", "PTX is not linked at run time; load one PTX text, or compile without -rdc=true"},
    Remedy{"TexRef", "CUDA 12 removed texture references; use texture objects"},
};

}  // namespace

int unsupported(const char* function) {
  const std::string name = function;
  const Error error = Context::instance().call(
      function,
      [&](Context&) {
        static std::set<std::string> reported;
        if (!reported.insert(name).second) fail(Error::kNotSupported);
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

}  // namespace weft::cuda
