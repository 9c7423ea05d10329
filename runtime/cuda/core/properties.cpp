#include "runtime/cuda/core/properties.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>

#include "execute/occupancy.h"
#include "texture/image.h"
#include "weft/loader/loaded_module.h"
#include "weft/platform/gpu_config.h"

namespace weft::cuda {
namespace {

constexpr std::uint64_t kConstantBytes = 65536;
constexpr int kPciBus = 1;

int clamped(std::uint64_t value) {
  return static_cast<int>(std::min<std::uint64_t>(value, INT_MAX));
}

std::uint64_t l2_bytes(const GpuConfig& config) {
  if (!config.l2.enabled) return 0;
  const auto& tags = config.l2.bank.tags;
  return config.dram.map.channels * config.l2.banks_per_channel * tags.sets * tags.ways * tags.line_bytes;
}

// Of a memory that transfers twice per clock, as programs take it to compute the bandwidth.
int memory_kilohertz(const GpuConfig& config) {
  const auto beats = static_cast<double>(config.dram.channel.scheduler.timing.beats_per_clock);
  return static_cast<int>(std::lround(config.clocks.memory_mhz * 1000 * beats / 2));
}

void copy_text(char* to, std::size_t bytes, const std::string& text) {
  const std::size_t length = std::min(bytes - 1, text.size());
  std::memcpy(to, text.data(), length);
  to[length] = 0;
}

void set_texture_limits(cudaDeviceProp& p) {
  const int extent = texture::kMaxExtent, volume = texture::kMaxVolumeExtent, layers = texture::kMaxLayers;
  const auto set = [](auto& field, std::initializer_list<int> values) {
    std::copy(values.begin(), values.end(), field);
  };
  p.maxTexture1D = p.maxTexture1DMipmap = p.maxTextureCubemap = p.maxSurface1D = p.maxSurfaceCubemap = extent;
  set(p.maxTexture2D, {extent, extent});
  set(p.maxTexture2DMipmap, {extent, extent});
  set(p.maxTexture2DLinear, {extent, extent, extent * 16});
  set(p.maxTexture2DGather, {extent, extent});
  set(p.maxTexture3D, {volume, volume, volume});
  set(p.maxTexture3DAlt, {volume, volume, volume});
  set(p.maxTexture1DLayered, {extent, layers});
  set(p.maxTexture2DLayered, {extent, extent, layers});
  set(p.maxTextureCubemapLayered, {extent, layers});
  set(p.maxSurface2D, {extent, extent});
  set(p.maxSurface3D, {volume, volume, volume});
  set(p.maxSurface1DLayered, {extent, layers});
  set(p.maxSurface2DLayered, {extent, extent, layers});
  set(p.maxSurfaceCubemapLayered, {extent, layers});
}

}  // namespace

Limits limits_of(const GpuConfig& config) {
  Limits limits;
  // Of the smallest kernel. What a kernel of many registers may have, its attributes say.
  execute::BlockNeeds smallest;
  smallest.registers_per_thread = std::max<std::uint64_t>(1, config.sm.registers_per_thread);
  limits.block_threads = execute::most_threads(smallest, config.sm, config.warp_formation.warp_size);
  limits.block.x = limits.block.y = limits.block_threads;
  limits.shared_bytes = execute::most_dynamic_shared({}, 1, config.sm);
  const std::uint64_t by_default = config.sm.default_block_shared_bytes;
  limits.default_shared = by_default == 0 ? limits.shared_bytes : std::min(by_default, limits.shared_bytes);
  return limits;
}

std::string device_name(const GpuConfig& config) {
  return "Weft " + config.name + " (" + config.warp_formation.scheme + ")";
}

cudaDeviceProp properties_of(const GpuConfig& config, unsigned capability) {
  const Limits limits = limits_of(config);
  cudaDeviceProp p{};
  copy_text(p.name, sizeof p.name, device_name(config));
  std::memcpy(p.uuid, "weft-gpu-0000000", sizeof p.uuid);
  p.totalGlobalMem = config.dram.bytes;
  p.sharedMemPerBlock = limits.default_shared;
  p.sharedMemPerBlockOptin = limits.shared_bytes;
  p.reservedSharedMemPerBlock = config.sm.reserved_shared_bytes;
  p.sharedMemPerMultiprocessor =
      config.sm.reserved_shared_bytes == 0 ? limits.shared_bytes : config.sm.shared_bytes;
  p.regsPerBlock = p.regsPerMultiprocessor = clamped(config.sm.registers);
  p.warpSize = kWarpSize;
  p.memPitch = INT_MAX;
  p.maxThreadsPerBlock = static_cast<int>(limits.block_threads);
  const auto set = [](int(&field)[3], const dim3& size) {
    field[0] = static_cast<int>(size.x), field[1] = static_cast<int>(size.y),
    field[2] = static_cast<int>(size.z);
  };
  set(p.maxThreadsDim, limits.block);
  set(p.maxGridSize, limits.grid);
  p.totalConstMem = kConstantBytes;
  p.major = static_cast<int>(capability / 10);
  p.minor = static_cast<int>(capability % 10);
  p.textureAlignment = p.surfaceAlignment = loader::LoadedModule::kAlignment;
  p.texturePitchAlignment = 32;
  p.multiProcessorCount = clamped(config.sm.count);
  p.canMapHostMemory = p.unifiedAddressing = p.asyncEngineCount = 1;
  set_texture_limits(p);
  p.pciBusID = kPciBus;
  const auto& dram = config.dram.channel.scheduler;
  p.memoryBusWidth = clamped(config.dram.map.channels * dram.pseudo_channels * dram.timing.devices *
                             dram.timing.device_bits);
  p.l2CacheSize = clamped(l2_bytes(config));
  p.maxThreadsPerMultiProcessor =
      clamped(std::min(config.sm.max_threads, config.sm.max_warps * config.warp_formation.warp_size));
  p.globalL1CacheSupported = p.localL1CacheSupported = config.sm.l1d.enabled ? 1 : 0;
  p.maxBlocksPerMultiProcessor = clamped(config.sm.max_blocks);
  p.concurrentKernels = p.managedMemory = 1;
  p.hostRegisterSupported = p.canUseHostPointerForRegisteredMem = 1;
  p.unifiedFunctionPointers = p.memoryPoolsSupported = 1;
  p.deviceNumaId = p.hostNumaId = -1;
  return p;
}

std::optional<int> attribute_of(const GpuConfig& config, unsigned capability, int attribute) {
  const cudaDeviceProp p = properties_of(config, capability);
  switch (attribute) {
    case 1:
      return p.maxThreadsPerBlock;
    case 2:
      return p.maxThreadsDim[0];
    case 3:
      return p.maxThreadsDim[1];
    case 4:
      return p.maxThreadsDim[2];
    case 5:
      return p.maxGridSize[0];
    case 6:
      return p.maxGridSize[1];
    case 7:
      return p.maxGridSize[2];
    case 8:
      return clamped(p.sharedMemPerBlock);
    case 9:
      return clamped(p.totalConstMem);
    case 10:
      return p.warpSize;
    case 11:
      return clamped(p.memPitch);
    case 12:
      return p.regsPerBlock;
    case 13:
      return static_cast<int>(std::lround(config.clocks.core_mhz * 1000));  // kHz
    case 14:
      return clamped(p.textureAlignment);
    case 15:
      return 1;  // copies overlap with kernels
    case 16:
      return p.multiProcessorCount;
    case 19:
      return p.canMapHostMemory;
    case 21:
      return p.maxTexture1D;
    case 22:
      return p.maxTexture2D[0];
    case 23:
      return p.maxTexture2D[1];
    case 24:
      return p.maxTexture3D[0];
    case 25:
      return p.maxTexture3D[1];
    case 26:
      return p.maxTexture3D[2];
    case 27:
      return p.maxTexture2DLayered[0];
    case 28:
      return p.maxTexture2DLayered[1];
    case 29:
      return p.maxTexture2DLayered[2];
    case 30:
      return clamped(p.surfaceAlignment);
    case 31:
      return p.concurrentKernels;
    case 33:
      return p.pciBusID;
    case 36:
      return memory_kilohertz(config);
    case 37:
      return p.memoryBusWidth;
    case 38:
      return p.l2CacheSize;
    case 39:
      return p.maxThreadsPerMultiProcessor;
    case 40:
      return p.asyncEngineCount;
    case 41:
      return p.unifiedAddressing;
    case 42:
      return p.maxTexture1DLayered[0];
    case 43:
      return p.maxTexture1DLayered[1];
    case 51:
      return clamped(p.texturePitchAlignment);
    case 52:
      return p.maxTextureCubemap;
    case 53:
      return p.maxTextureCubemapLayered[0];
    case 54:
      return p.maxTextureCubemapLayered[1];
    case 55:
      return p.maxSurface1D;
    case 56:
      return p.maxSurface2D[0];
    case 57:
      return p.maxSurface2D[1];
    case 58:
      return p.maxSurface3D[0];
    case 59:
      return p.maxSurface3D[1];
    case 60:
      return p.maxSurface3D[2];
    case 69:
      return clamped(texture::kMaxLinearExtent);
    case 70:
      return p.maxTexture2DLinear[0];
    case 71:
      return p.maxTexture2DLinear[1];
    case 72:
      return p.maxTexture2DLinear[2];
    case 75:
      return p.major;
    case 76:
      return p.minor;
    case 79:
      return p.globalL1CacheSupported;
    case 80:
      return p.localL1CacheSupported;
    case 81:
      return clamped(p.sharedMemPerMultiprocessor);
    case 82:
      return p.regsPerMultiprocessor;
    case 83:
      return p.managedMemory;
    case 91:
      return p.canUseHostPointerForRegisteredMem;
    case 99:
      return p.hostRegisterSupported;
    case 89:
      return p.concurrentManagedAccess;
    case 95:
      return p.cooperativeLaunch;
    case 97:
      return clamped(p.sharedMemPerBlockOptin);
    case 106:
      return p.maxBlocksPerMultiProcessor;
    case 111:
      return clamped(p.reservedSharedMemPerBlock);
    case 115:
      return p.memoryPoolsSupported;
    default:
      break;
  }
  // Features that the device lacks: 17 time limit, 18 integrated, 20 exclusive mode, 32 ECC, and so on.
  constexpr int kLastAttribute = 147;
  if (attribute < 1 || attribute > kLastAttribute) return std::nullopt;
  return 0;
}

}  // namespace weft::cuda
