// Errors and the device.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/cuda/core/properties.h"
#include "runtime/cuda/core/streams.h"
#include "runtime/cuda/cudart/cudart.h"

using namespace weft::cuda;

cudaError_t& weft::cuda::last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

namespace {

constexpr const char* kBusId = "0000:01:00.0";

}  // namespace

// An error that ended the context stays until it is reset.
cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error();
  if (static_cast<Error>(error) != Context::instance().sticky()) last_error() = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() {
  return last_error();
}
const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* known = describe(error);
  return known == nullptr ? "unrecognized error code" : known->text;
}
const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* known = describe(error);
  return known == nullptr ? "unrecognized error code" : known->runtime_name;
}

cudaError_t cudaGetDeviceCount(int* count) {
  return runtime_call("cudaGetDeviceCount", [&](Context& c) {
    c.config();
    required(count) = 1;
  });
}
cudaError_t cudaGetDevice(int* device) {
  return runtime_call("cudaGetDevice", [&](Context&) { required(device) = 0; });
}
cudaError_t cudaSetDevice(int device) {
  return runtime_call("cudaSetDevice", [&](Context& c) {
    require_device(device);
    c.backend();
  });
}
cudaError_t cudaSetValidDevices(int* devices, int count) {
  return runtime_call("cudaSetValidDevices", [&](Context&) {
    for (int i = 0; i < count; ++i) require_device((&required(devices))[i]);
  });
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return runtime_call("cudaChooseDevice", [&](Context&) {
    required(wanted);
    required(device) = 0;
  });
}
cudaError_t cudaInitDevice(int device, unsigned /*device_flags*/, unsigned /*flags*/) {
  return cudaSetDevice(device);
}
cudaError_t cudaSetDeviceFlags(unsigned /*flags*/) {
  return runtime_call("cudaSetDeviceFlags", [](Context&) {});
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return runtime_call("cudaGetDeviceFlags", [&](Context&) { required(flags) = 0; });
}
cudaError_t weft::cuda::device_properties(cudaDeviceProp* properties, int device) {
  return runtime_call("cudaGetDeviceProperties", [&](Context& c) {
    require_device(device);
    required(properties) = properties_of(c.config(), c.capability());
  });
}
cudaError_t cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return runtime_call("cudaDeviceGetAttribute", [&](Context& c) {
    require_device(device);
    const auto found = attribute_of(c.config(), c.capability(), attribute);
    if (!found) fail(Error::kInvalidValue);
    required(value) = *found;
  });
}
cudaError_t cudaDeviceSynchronize() {
  return runtime_call("cudaDeviceSynchronize", [](Context& c) { c.streams().synchronise(); });
}
cudaError_t cudaDeviceReset() {
  last_error() = cudaSuccess;
  return runtime_call("cudaDeviceReset", [](Context& c) { c.reset(); }, Context::AfterFault::kAllowed);
}
cudaError_t cudaDeviceSetLimit(int limit, std::size_t value) {
  return runtime_call("cudaDeviceSetLimit", [&](Context& c) { c.set_limit(limit, value); });
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, int limit) {
  return runtime_call("cudaDeviceGetLimit", [&](Context& c) { required(value) = c.limit(limit); });
}
// How memory is divided between L1 cache and shared memory, and the width of its banks, are the
// configuration's.
cudaError_t cudaDeviceSetCacheConfig(int /*config*/) {
  return runtime_call("cudaDeviceSetCacheConfig", [](Context&) {});
}
cudaError_t cudaDeviceGetCacheConfig(int* config) {
  return runtime_call("cudaDeviceGetCacheConfig", [&](Context&) { required(config) = 0; });
}
cudaError_t cudaDeviceSetSharedMemConfig(int /*config*/) {
  return runtime_call("cudaDeviceSetSharedMemConfig", [](Context&) {});
}
cudaError_t cudaDeviceGetSharedMemConfig(int* config) {
  return runtime_call("cudaDeviceGetSharedMemConfig", [&](Context&) { required(config) = 1; });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return runtime_call("cudaDeviceGetStreamPriorityRange", [&](Context&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = 0;
  });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return runtime_call("cudaDeviceCanAccessPeer", [&](Context&) {
    require_device(device);
    require_device(peer);
    required(can) = 0;
  });
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned /*flags*/) {
  return runtime_call("cudaDeviceEnablePeerAccess", [&](Context&) {
    fail(peer == 0 ? Error::kInvalidDevice : Error::kPeerUnsupported);  // a device is no peer of itself
  });
}
cudaError_t cudaDeviceDisablePeerAccess(int /*peer*/) {
  return runtime_call("cudaDeviceDisablePeerAccess", [](Context&) { fail(Error::kPeerNotEnabled); });
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return runtime_call("cudaDeviceGetPCIBusId", [&](Context&) {
    require_device(device);
    if (text == nullptr || bytes <= static_cast<int>(std::strlen(kBusId))) fail(Error::kInvalidValue);
    std::strcpy(text, kBusId);
  });
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return runtime_call("cudaDeviceGetByPCIBusId", [&](Context&) {
    if (text == nullptr || std::strcmp(text, kBusId) != 0) fail(Error::kInvalidDevice);
    required(device) = 0;
  });
}
cudaError_t cudaDriverGetVersion(int* version) {
  return runtime_call("cudaDriverGetVersion", [&](Context&) { required(version) = kVersion; });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return runtime_call("cudaRuntimeGetVersion", [&](Context&) { required(version) = kVersion; });
}
// No line of a cache is set aside, and no other device writes to memory.
cudaError_t cudaCtxResetPersistingL2Cache() {
  return runtime_call("cudaCtxResetPersistingL2Cache", [](Context&) {});
}
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(int /*target*/, int /*scope*/) {
  return runtime_call("cudaDeviceFlushGPUDirectRDMAWrites", [](Context&) {});
}
cudaError_t cudaProfilerStart() {
  return runtime_call("cudaProfilerStart", [](Context& c) { c.selection().region(true); });
}
cudaError_t cudaProfilerStop() {
  return runtime_call("cudaProfilerStop", [](Context& c) { c.selection().region(false); });
}
