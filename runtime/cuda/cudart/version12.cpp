// What only libcudart.so.12 has: other forms of three functions, and names that CUDA 13 dropped.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

#define WEFT_CUDART_12
#include "runtime/cuda/cudart/hints.h"

using namespace weft::cuda;

namespace {

// cudaDeviceProp as CUDA 12 lays it out: with clock rates and a few more fields between those of CUDA 13.
struct Properties12 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  std::size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  std::size_t totalConstMem;
  int major, minor;
  std::size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear;
  int rest_of_textures[37];  // maxTexture2D to maxSurfaceCubemapLayered, as in CUDA 13
  std::size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount,
      unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize,
      maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
      singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess,
      computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch,
      cooperativeMultiDeviceLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
      accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, others[3], memoryPoolsSupported, more[8], reserved[63];
};
static_assert(sizeof(Properties12) == 1032, "cudaDeviceProp of CUDA 12");

}  // namespace

extern "C" {
#pragma GCC visibility push(default)
cudaError_t cudaGetDeviceProperties_v2(Properties12* properties, int device);
cudaError_t cudaMemPrefetchAsync(const void* memory, std::size_t bytes, int device, cudaStream_t stream);
cudaError_t cudaMemAdvise(const void* memory, std::size_t bytes, int advice, int device);
cudaError_t cudaThreadSynchronize();
cudaError_t cudaThreadExit();
#pragma GCC visibility pop
}

cudaError_t cudaGetDeviceProperties_v2(Properties12* properties, int device) {
  cudaDeviceProp p;
  const cudaError_t result = device_properties(properties == nullptr ? nullptr : &p, device);
  if (result != cudaSuccess) return result;
  Properties12& out = *properties;
  std::memset(&out, 0, sizeof out);
  std::memcpy(out.name, p.name, sizeof out.name);
  std::memcpy(out.uuid, p.uuid, sizeof out.uuid);
  out.totalGlobalMem = p.totalGlobalMem;
  out.sharedMemPerBlock = p.sharedMemPerBlock;
  out.regsPerBlock = p.regsPerBlock;
  out.warpSize = p.warpSize;
  out.memPitch = p.memPitch;
  out.maxThreadsPerBlock = p.maxThreadsPerBlock;
  std::copy(std::begin(p.maxThreadsDim), std::end(p.maxThreadsDim), out.maxThreadsDim);
  std::copy(std::begin(p.maxGridSize), std::end(p.maxGridSize), out.maxGridSize);
  constexpr int kClockRate = 13, kOverlap = 15, kMemoryClockRate = 36, kLinearWidth = 69;
  cudaDeviceGetAttribute(&out.clockRate, kClockRate, device);
  cudaDeviceGetAttribute(&out.deviceOverlap, kOverlap, device);
  cudaDeviceGetAttribute(&out.memoryClockRate, kMemoryClockRate, device);
  cudaDeviceGetAttribute(&out.maxTexture1DLinear, kLinearWidth, device);
  out.totalConstMem = p.totalConstMem;
  out.major = p.major;
  out.minor = p.minor;
  out.textureAlignment = p.textureAlignment;
  out.texturePitchAlignment = p.texturePitchAlignment;
  out.multiProcessorCount = p.multiProcessorCount;
  out.canMapHostMemory = p.canMapHostMemory;
  out.maxTexture1D = p.maxTexture1D;
  out.maxTexture1DMipmap = p.maxTexture1DMipmap;
  static_assert(offsetof(cudaDeviceProp, surfaceAlignment) - offsetof(cudaDeviceProp, maxTexture2D) ==
                sizeof out.rest_of_textures);
  std::memcpy(out.rest_of_textures, p.maxTexture2D, sizeof out.rest_of_textures);
  out.surfaceAlignment = p.surfaceAlignment;
  out.concurrentKernels = p.concurrentKernels;
  out.pciBusID = p.pciBusID;
  out.asyncEngineCount = p.asyncEngineCount;
  out.unifiedAddressing = p.unifiedAddressing;
  out.memoryBusWidth = p.memoryBusWidth;
  out.l2CacheSize = p.l2CacheSize;
  out.maxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
  out.globalL1CacheSupported = p.globalL1CacheSupported;
  out.localL1CacheSupported = p.localL1CacheSupported;
  out.sharedMemPerMultiprocessor = p.sharedMemPerMultiprocessor;
  out.regsPerMultiprocessor = p.regsPerMultiprocessor;
  out.managedMemory = p.managedMemory;
  out.concurrentManagedAccess = p.concurrentManagedAccess;
  out.sharedMemPerBlockOptin = p.sharedMemPerBlockOptin;
  out.maxBlocksPerMultiProcessor = p.maxBlocksPerMultiProcessor;
  out.hostRegisterSupported = p.hostRegisterSupported;
  out.memoryPoolsSupported = p.memoryPoolsSupported;
  return cudaSuccess;
}
cudaError_t cudaMemPrefetchAsync(const void* memory, std::size_t /*bytes*/, int device, cudaStream_t stream) {
  return prefetch_hint(memory, location_of(device), stream);
}
cudaError_t cudaMemAdvise(const void* memory, std::size_t /*bytes*/, int what, int device) {
  return advice(memory, what, location_of(device));
}
cudaError_t cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
cudaError_t cudaThreadExit() {
  return cudaDeviceReset();
}
