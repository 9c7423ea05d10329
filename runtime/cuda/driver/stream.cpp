// Streams, events, and finding functions by name.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "runtime/cuda/core/streams.h"
#include "runtime/cuda/driver/driver.h"

using namespace weft::cuda;

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return driver_call("cuStreamCreate", [&](Context& c) {
    required(stream) = reinterpret_cast<CUstream>(&c.streams().create(flags, priority));
  });
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  return driver_call("cuStreamDestroy", [&](Context& c) { c.streams().destroy(c.streams().stream(stream)); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return driver_call("cuStreamSynchronize",
                     [&](Context& c) { c.streams().synchronise(c.streams().stream(stream)); });
}
CUresult cuStreamQuery(CUstream stream) {
  return driver_call("cuStreamQuery", [&](Context& c) { c.streams().query(c.streams().stream(stream)); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned /*flags*/) {
  return driver_call("cuStreamWaitEvent", [&](Context& c) {
    c.streams().wait(c.streams().stream(stream), c.streams().event(event));
  });
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned /*flags*/) {
  return driver_call("cuStreamAddCallback", [&](Context& c) {
    if (callback == nullptr) fail(Error::kInvalidValue);
    c.streams().call(c.streams().stream(stream), [=] { callback(stream, CUDA_SUCCESS, data); });
  });
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return driver_call("cuLaunchHostFunc", [&](Context& c) {
    if (function == nullptr) fail(Error::kInvalidValue);
    c.streams().call(c.streams().stream(stream), [=] { function(data); });
  });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return driver_call("cuStreamGetFlags",
                     [&](Context& c) { required(flags) = c.streams().stream(stream).flags; });
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return driver_call("cuStreamGetPriority",
                     [&](Context& c) { required(priority) = c.streams().stream(stream).priority; });
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return driver_call("cuStreamGetId", [&](Context& c) { required(id) = c.streams().stream(stream).number; });
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return driver_call("cuStreamGetDevice", [&](Context& c) {
    c.streams().stream(stream);
    required(device) = 0;
  });
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return driver_call("cuStreamGetCtx", [&](Context& c) {
    c.streams().stream(stream);
    required(context) = context_handle();
  });
}
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, void** green) {
  const CUresult result = cuStreamGetCtx(stream, context);
  if (result == CUDA_SUCCESS && green != nullptr) *green = nullptr;
  return result;
}
// Nothing ever captures: graphs are not provided.
CUresult cuStreamIsCapturing(CUstream stream, int* status) {
  return driver_call("cuStreamIsCapturing", [&](Context& c) {
    c.streams().stream(stream);
    required(status) = 0;
  });
}
CUresult cuStreamSetAttribute(CUstream stream, int attribute, const CUlaunchAttributeValue* value) {
  return driver_call("cuStreamSetAttribute", [&](Context& c) {
    set(c.streams().stream(stream), attribute,
        reinterpret_cast<const cudaLaunchAttributeValue&>(required(value)));
  });
}
CUresult cuStreamGetAttribute(CUstream stream, int attribute, CUlaunchAttributeValue* value) {
  return driver_call("cuStreamGetAttribute", [&](Context& c) {
    const cudaLaunchAttributeValue found = get(c.streams().stream(stream), attribute);
    std::memcpy(&required(value), &found, sizeof *value);
  });
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return driver_call("cuStreamCopyAttributes",
                     [&](Context& c) { copy_attributes(c.streams().stream(to), c.streams().stream(from)); });
}
// Kernels see managed memory whatever stream it belongs to.
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr memory, size_t /*bytes*/, unsigned flags) {
  return driver_call("cuStreamAttachMemAsync",
                     [&](Context& c) { c.streams().attach(c.streams().stream(stream), memory, flags); });
}
CUresult cuCtxSynchronize_v2(CUcontext context) {
  if (context != nullptr && context != context_handle()) return CUDA_ERROR_INVALID_CONTEXT;
  return cuCtxSynchronize();
}
CUresult cuCtxSynchronize() {
  return driver_call("cuCtxSynchronize", [](Context& c) { c.streams().synchronise(); });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return driver_call("cuEventCreate", [&](Context& c) {
    required(event) = reinterpret_cast<CUevent>(&c.streams().create_event(flags));
  });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return driver_call("cuEventRecord", [&](Context& c) {
    c.streams().record(c.streams().event(event), c.streams().stream(stream));
  });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned /*flags*/) {
  return cuEventRecord(event, stream);
}
CUresult cuEventQuery(CUevent event) {
  return driver_call("cuEventQuery", [&](Context& c) { c.streams().query(c.streams().event(event)); });
}
CUresult cuEventSynchronize(CUevent event) {
  return driver_call("cuEventSynchronize",
                     [&](Context& c) { c.streams().synchronise(c.streams().event(event)); });
}
CUresult cuEventDestroy_v2(CUevent event) {
  return driver_call("cuEventDestroy",
                     [&](Context& c) { c.streams().destroy_event(c.streams().event(event)); });
}
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return driver_call("cuEventElapsedTime", [&](Context& c) {
    required(milliseconds) = c.streams().milliseconds(c.streams().event(start), c.streams().event(end));
  });
}

namespace {

// Functions whose parameters changed after CUDA 11.3, which brought the search by version: from which version
// on the plain name means the function with this suffix. All others are the newest that there are.
struct Change {
  const char *name, *suffix;
  int version;
};
constexpr Change kChanges[] = {{"cuCtxCreate", "_v3", 11040},        {"cuCtxCreate", "_v4", 12050},
                               {"cuGetProcAddress", "_v2", 12000},   {"cuMemAdvise", "_v2", 12020},
                               {"cuMemPrefetchAsync", "_v2", 12020}, {"cuStreamGetCtx", "_v2", 12050},
                               {"cuCtxGetDevice", "_v2", 13000},     {"cuCtxSynchronize", "_v2", 13000}};

bool is_too_new(const char* name, const char* suffix, int version) {
  return std::any_of(std::begin(kChanges), std::end(kChanges), [&](const Change& change) {
    return std::strcmp(change.name, name) == 0 && std::strcmp(change.suffix, suffix) == 0 &&
           version < change.version;
  });
}

}  // namespace

// Programs ask by the plain name for the newest form of a function that they know.
CUresult cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status) {
  return driver_call("cuGetProcAddress", [&](Context&) {
    constexpr int kFound = 0, kNotThere = 1;
    if (name == nullptr) fail(Error::kInvalidValue);
    required(function) = nullptr;
    // By a symbol that only this library has, so that the names are looked up here and nowhere else.
    Dl_info here{};
    void* library = dladdr(reinterpret_cast<void*>(&cuInit), &here) != 0
                        ? dlopen(here.dli_fname, RTLD_NOLOAD | RTLD_LAZY)
                        : nullptr;
    if (library == nullptr) fail(Error::kUnknown);
    const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
      if (is_too_new(name, suffix, version)) continue;
      for (const char* stream : {"_ptsz", "_ptds", ""}) {
        if (*function != nullptr || (*stream != '\0' && !per_thread)) continue;
        *function = dlsym(library, (std::string(name) + suffix + stream).c_str());
      }
    }
    dlclose(library);
    if (status != nullptr) *status = *function != nullptr ? kFound : kNotThere;
    if (*function == nullptr) fail(Error::kNotFound);
  });
}
