// Names of the driver API without a suffix whose functions have newer versions. <cuda.h> replaces such a name
// by that with a suffix, so that programs refer to one of these in three ways: they were compiled with the
// header of a CUDA version that had no newer one, they declare it themselves, or they look it up by dlsym (as
// cuFFT does).
//
// What a program of CUDA 12 or 13 means by it:
// - Where the parameters never changed, the newer function: a version only changed what happens.
// - Where they changed with CUDA 12 or 13, the parameters of before: cuMemPrefetchAsync and cuMemAdvise name
// a device.
// - Where they changed with CUDA 3.2, from 32 bits to 64, nothing that could work: the driver of hardware
// takes 32
//   bits, too, and device memory lies beyond them. A call says so.
#include "runtime/cuda/core/hints.h"
#include "runtime/cuda/core/unsupported.h"
#include "runtime/cuda/driver/driver.h"

extern "C" {
#pragma GCC visibility push(default)
CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device);
CUresult cuCtxDestroy(CUcontext context);
CUresult cuCtxPopCurrent(CUcontext* context);
CUresult cuCtxPushCurrent(CUcontext context);
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device);
CUresult cuDevicePrimaryCtxRelease(CUdevice device);
CUresult cuDevicePrimaryCtxReset(CUdevice device);
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags);
CUresult cuEventDestroy(CUevent event);
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end);
CUresult cuStreamDestroy(CUstream stream);
CUresult cuMemAllocHost(void** memory, unsigned bytes);
CUresult cuMemHostRegister(void* memory, size_t bytes, unsigned flags);
CUresult cuMemPrefetchAsync(CUdeviceptr memory, size_t bytes, CUdevice device, CUstream stream);
CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr memory, size_t bytes, CUdevice device, CUstream stream);
CUresult cuMemAdvise(CUdeviceptr memory, size_t bytes, int advice, CUdevice device);
CUresult cuGetProcAddress(const char* name, void** function, int version, uint64_t flags);
#pragma GCC visibility pop
}

namespace {

CUmemLocation place_of_device(CUdevice device) {
  const cudaMemLocation place = weft::cuda::location_of(device);
  return {place.type, place.id};
}

}  // namespace

CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}
CUresult cuCtxDestroy(CUcontext context) {
  return cuCtxDestroy_v2(context);
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  return cuCtxPopCurrent_v2(context);
}
CUresult cuCtxPushCurrent(CUcontext context) {
  return cuCtxPushCurrent_v2(context);
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return cuDevicePrimaryCtxRelease_v2(device);
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return cuDevicePrimaryCtxReset_v2(device);
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}
CUresult cuEventDestroy(CUevent event) {
  return cuEventDestroy_v2(event);
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}
CUresult cuStreamDestroy(CUstream stream) {
  return cuStreamDestroy_v2(stream);
}
CUresult cuMemAllocHost(void** memory, unsigned bytes) {
  return cuMemAllocHost_v2(memory, bytes);
}
CUresult cuMemHostRegister(void* memory, size_t bytes, unsigned flags) {
  return cuMemHostRegister_v2(memory, bytes, flags);
}
CUresult cuMemPrefetchAsync(CUdeviceptr memory, size_t bytes, CUdevice device, CUstream stream) {
  return cuMemPrefetchAsync_v2(memory, bytes, place_of_device(device), 0, stream);
}
CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr memory, size_t bytes, CUdevice device, CUstream stream) {
  return cuMemPrefetchAsync(memory, bytes, device, stream == nullptr ? CU_STREAM_PER_THREAD : stream);
}
CUresult cuMemAdvise(CUdeviceptr memory, size_t bytes, int advice, CUdevice device) {
  return cuMemAdvise_v2(memory, bytes, advice, place_of_device(device));
}
CUresult cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

WEFT_OLD_FORM(cuDeviceTotalMem)
WEFT_OLD_FORM(cuModuleGetGlobal)
WEFT_OLD_FORM(cuMemGetInfo)
WEFT_OLD_FORM(cuMemAlloc)
WEFT_OLD_FORM(cuMemAllocPitch)
WEFT_OLD_FORM(cuMemFree)
WEFT_OLD_FORM(cuMemGetAddressRange)
WEFT_OLD_FORM(cuMemHostGetDevicePointer)
WEFT_OLD_FORM(cuMemcpyHtoD)
WEFT_OLD_FORM(cuMemcpyDtoH)
WEFT_OLD_FORM(cuMemcpyDtoD)
WEFT_OLD_FORM(cuMemcpyDtoA)
WEFT_OLD_FORM(cuMemcpyAtoD)
WEFT_OLD_FORM(cuMemcpyHtoA)
WEFT_OLD_FORM(cuMemcpyAtoH)
WEFT_OLD_FORM(cuMemcpyAtoA)
WEFT_OLD_FORM(cuMemcpyHtoAAsync)
WEFT_OLD_FORM(cuMemcpyAtoHAsync)
WEFT_OLD_FORM(cuMemcpy2D)
WEFT_OLD_FORM(cuMemcpy2DUnaligned)
WEFT_OLD_FORM(cuMemcpy3D)
WEFT_OLD_FORM(cuMemcpyHtoDAsync)
WEFT_OLD_FORM(cuMemcpyDtoHAsync)
WEFT_OLD_FORM(cuMemcpyDtoDAsync)
WEFT_OLD_FORM(cuMemcpy2DAsync)
WEFT_OLD_FORM(cuMemcpy3DAsync)
WEFT_OLD_FORM(cuMemsetD8)
WEFT_OLD_FORM(cuMemsetD16)
WEFT_OLD_FORM(cuMemsetD32)
WEFT_OLD_FORM(cuMemsetD2D8)
WEFT_OLD_FORM(cuMemsetD2D16)
WEFT_OLD_FORM(cuMemsetD2D32)
WEFT_OLD_FORM(cuArrayCreate)
WEFT_OLD_FORM(cuArrayGetDescriptor)
WEFT_OLD_FORM(cuArray3DCreate)
WEFT_OLD_FORM(cuArray3DGetDescriptor)
