// Errors, the device, contexts.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/cuda/core/properties.h"
#include "runtime/cuda/driver/driver.h"

using namespace weft::cuda;

namespace {

constexpr unsigned kApiVersion = 13000;

constexpr const char* kBusId = "0000:01:00.0";

std::vector<CUcontext>& current() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}
void check(CUcontext context) {
  if (context != context_handle()) fail(Error::kInvalidContext);
}

CUresult create_context(const char* name, CUcontext* context, CUdevice device) {
  return driver_call(name, [&](Context& c) {
    require_device(device);
    c.backend();
    required(context) = context_handle();
    current().push_back(context_handle());
  });
}

}  // namespace

CUcontext weft::cuda::context_handle() {
  return reinterpret_cast<CUcontext>(&Context::instance());
}

CUresult cuInit(unsigned flags) {
  return driver_call("cuInit", [&](Context& c) {
    if (flags != 0) fail(Error::kInvalidValue);
    c.config();
  });
}
CUresult cuDriverGetVersion(int* version) {
  return driver_call("cuDriverGetVersion", [&](Context&) { required(version) = kVersion; });
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  const ErrorText* known = describe(error);
  if (text == nullptr || known == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = known->text;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  const ErrorText* known = describe(error);
  if (name == nullptr || known == nullptr || known->driver_name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = known->driver_name;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return driver_call("cuDeviceGet", [&](Context&) {
    require_device(ordinal);
    required(device) = 0;
  });
}
CUresult cuDeviceGetCount(int* count) {
  return driver_call("cuDeviceGetCount", [&](Context& c) {
    c.config();
    required(count) = 1;
  });
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  return driver_call("cuDeviceGetName", [&](Context& c) {
    require_device(device);
    if (name == nullptr || bytes <= 0) fail(Error::kInvalidValue);
    const std::string text = device_name(c.config());
    const auto length = std::min(text.size(), static_cast<std::size_t>(bytes) - 1);
    std::memcpy(name, text.data(), length);
    name[length] = 0;
  });
}
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return driver_call("cuDeviceGetUuid", [&](Context& c) {
    require_device(device);
    const cudaDeviceProp properties = properties_of(c.config(), c.capability());
    std::memcpy(required(uuid).bytes, properties.uuid, sizeof uuid->bytes);
  });
}
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return driver_call("cuDeviceTotalMem", [&](Context& c) {
    require_device(device);
    required(bytes) = properties_of(c.config(), c.capability()).totalGlobalMem;
  });
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return driver_call("cuDeviceGetAttribute", [&](Context& c) {
    require_device(device);
    const auto found = attribute_of(c.config(), c.capability(), attribute);
    if (!found) fail(Error::kInvalidValue);
    required(value) = *found;
  });
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return driver_call("cuDeviceComputeCapability", [&](Context& c) {
    require_device(device);
    required(major) = static_cast<int>(c.capability() / 10);
    required(minor) = static_cast<int>(c.capability() % 10);
  });
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return driver_call("cuDeviceCanAccessPeer", [&](Context&) {
    require_device(device);
    require_device(peer);
    required(can) = 0;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return driver_call("cuDevicePrimaryCtxRetain", [&](Context& c) {
    require_device(device);
    c.backend();
    required(context) = context_handle();
  });
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return driver_call("cuDevicePrimaryCtxRelease", [&](Context&) { require_device(device); });
}
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return driver_call(
      "cuDevicePrimaryCtxReset",
      [&](Context& c) {
        require_device(device);
        c.reset();
      },
      Context::AfterFault::kAllowed);
}
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned /*flags*/) {
  return driver_call("cuDevicePrimaryCtxSetFlags", [&](Context&) { require_device(device); });
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return driver_call("cuDevicePrimaryCtxGetState", [&](Context& c) {
    require_device(device);
    required(flags) = 0;
    required(active) = c.has_backend() ? 1 : 0;
  });
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned /*flags*/, CUdevice device) {
  return create_context("cuCtxCreate", context, device);
}
CUresult cuCtxCreate_v3(CUcontext* context, void* /*affinity*/, int /*count*/, unsigned /*flags*/,
                        CUdevice device) {
  return create_context("cuCtxCreate", context, device);
}
CUresult cuCtxCreate_v4(CUcontext* context, void* /*parameters*/, unsigned /*flags*/, CUdevice device) {
  return create_context("cuCtxCreate", context, device);
}
// All memory, modules and streams go with the context.
CUresult cuCtxDestroy_v2(CUcontext context) {
  return driver_call(
      "cuCtxDestroy",
      [&](Context& c) {
        check(context);
        if (!current().empty()) current().pop_back();
        c.reset();
      },
      Context::AfterFault::kAllowed);
}
CUresult cuCtxSetCurrent(CUcontext context) {
  return driver_call("cuCtxSetCurrent", [&](Context&) {
    if (context != nullptr) check(context);
    if (!current().empty()) current().pop_back();
    if (context != nullptr) current().push_back(context);
  });
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  return driver_call("cuCtxGetCurrent",
                     [&](Context&) { required(context) = current().empty() ? nullptr : current().back(); });
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return driver_call("cuCtxPushCurrent", [&](Context&) {
    check(context);
    current().push_back(context);
  });
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return driver_call("cuCtxPopCurrent", [&](Context&) {
    if (current().empty()) fail(Error::kInvalidContext);
    if (context != nullptr) *context = current().back();
    current().pop_back();
  });
}
CUresult cuCtxGetDevice(CUdevice* device) {
  return driver_call("cuCtxGetDevice", [&](Context&) { required(device) = 0; });
}
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return driver_call("cuCtxGetDevice", [&](Context&) {
    if (context != nullptr) check(context);
    required(device) = 0;
  });
}
CUresult cuCtxGetFlags(unsigned* flags) {
  return driver_call("cuCtxGetFlags", [&](Context&) { required(flags) = 0; });
}
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return driver_call("cuCtxSetLimit", [&](Context& c) { c.set_limit(limit, value); });
}
CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return driver_call("cuCtxGetLimit", [&](Context& c) { required(value) = c.limit(limit); });
}
// How memory is divided between L1 cache and shared memory is a matter of the configuration.
CUresult cuCtxSetCacheConfig(int /*config*/) {
  return driver_call("cuCtxSetCacheConfig", [](Context&) {});
}
CUresult cuCtxGetCacheConfig(int* config) {
  return driver_call("cuCtxGetCacheConfig", [&](Context&) { required(config) = 0; });
}
CUresult cuCtxGetApiVersion(CUcontext /*context*/, unsigned* version) {
  return driver_call("cuCtxGetApiVersion", [&](Context&) { required(version) = kApiVersion; });
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return driver_call("cuCtxGetStreamPriorityRange", [&](Context&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = 0;
  });
}
// No line of a cache is set aside, and no other device writes to memory.
CUresult cuCtxResetPersistingL2Cache() {
  return driver_call("cuCtxResetPersistingL2Cache", [](Context&) {});
}
CUresult cuFlushGPUDirectRDMAWrites(int /*target*/, int /*scope*/) {
  return driver_call("cuFlushGPUDirectRDMAWrites", [](Context&) {});
}
CUresult cuDeviceGetPCIBusId(char* text, int bytes, CUdevice device) {
  return driver_call("cuDeviceGetPCIBusId", [&](Context&) {
    require_device(device);
    if (text == nullptr || bytes <= static_cast<int>(std::strlen(kBusId))) fail(Error::kInvalidValue);
    std::strcpy(text, kBusId);
  });
}
CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  return driver_call("cuDeviceGetByPCIBusId", [&](Context&) {
    if (text == nullptr || std::strcmp(text, kBusId) != 0) fail(Error::kInvalidDevice);
    required(device) = 0;
  });
}
CUresult cuProfilerStart() {
  return driver_call("cuProfilerStart", [](Context& c) { c.selection().region(true); });
}
CUresult cuProfilerStop() {
  return driver_call("cuProfilerStop", [](Context& c) { c.selection().region(false); });
}
