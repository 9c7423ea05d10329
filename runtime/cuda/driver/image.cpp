// Arrays, texture objects, surface objects.
#include <algorithm>
#include <iterator>

#include "runtime/cuda/core/images.h"
#include "runtime/cuda/driver/driver.h"

using namespace weft::cuda;

namespace {

struct Format {
  int number;
  int bits;
  cudaChannelFormatKind kind;
};
constexpr Format kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

int number_of(const cudaChannelFormatDesc& format) {
  for (const Format& known : kFormats) {
    if (known.bits == format.x && known.kind == format.f) return known.number;
  }
  fail(Error::kInvalidValue);
}
unsigned channels_of(const cudaChannelFormatDesc& format) {
  const int bits[] = {format.x, format.y, format.z, format.w};
  return static_cast<unsigned>(
      std::count_if(std::begin(bits), std::end(bits), [](int width) { return width != 0; }));
}

cudaChannelFormatDesc format_of(int number, unsigned channels) {
  for (const Format& format : kFormats) {
    if (format.number != number || channels == 0 || channels > 4) continue;
    const auto bits = [&](unsigned channel) { return channel < channels ? format.bits : 0; };
    return {bits(0), bits(1), bits(2), bits(3), format.kind};
  }
  fail(Error::kInvalidValue);
}

// The runtime API's descriptors and the driver's differ in formats and flags only.
cudaResourceDesc resource_of(const CUDA_RESOURCE_DESC& given) {
  cudaResourceDesc resource{};
  resource.resType = static_cast<cudaResourceType>(given.resType);
  switch (given.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      resource.res.array.array = reinterpret_cast<cudaArray_t>(given.res.array.hArray);
      break;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = given.res.linear;
      resource.res.linear.devPtr = reinterpret_cast<void*>(linear.devPtr);
      resource.res.linear.desc = format_of(linear.format, linear.numChannels);
      resource.res.linear.sizeInBytes = linear.sizeInBytes;
      break;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& pitched = given.res.pitch2D;
      auto& to = resource.res.pitch2D;
      to.devPtr = reinterpret_cast<void*>(pitched.devPtr);
      to.desc = format_of(pitched.format, pitched.numChannels);
      to.width = pitched.width, to.height = pitched.height, to.pitchInBytes = pitched.pitchInBytes;
      break;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      break;  // refused with the reason when an object is made of it
    default:
      fail(Error::kInvalidValue);
  }
  return resource;
}

CUDA_RESOURCE_DESC resource_of(const cudaResourceDesc& kept) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = kept.resType;
  switch (kept.resType) {
    case cudaResourceTypeLinear: {
      const auto& linear = kept.res.linear;
      resource.res.linear = {reinterpret_cast<CUdeviceptr>(linear.devPtr), number_of(linear.desc),
                             channels_of(linear.desc), linear.sizeInBytes};
      break;
    }
    case cudaResourceTypePitch2D: {
      const auto& pitched = kept.res.pitch2D;
      resource.res.pitch2D = {reinterpret_cast<CUdeviceptr>(pitched.devPtr),
                              number_of(pitched.desc),
                              channels_of(pitched.desc),
                              pitched.width,
                              pitched.height,
                              pitched.pitchInBytes};
      break;
    }
    default:
      resource.res.array.hArray = reinterpret_cast<CUarray>(kept.res.array.array);
  }
  return resource;
}

// CUDA driver API, cuTexObjectCreate: 32-bit integers are never read as floats.
cudaTextureReadMode read_mode(Context& c, unsigned flags, const cudaResourceDesc& resource) {
  const cudaChannelFormatDesc format =
      resource.resType == cudaResourceTypeArray    ? c.images().array(resource.res.array.array).format
      : resource.resType == cudaResourceTypeLinear ? resource.res.linear.desc
                                                   : resource.res.pitch2D.desc;
  const bool as_it_is =
      (flags & CU_TRSF_READ_AS_INTEGER) != 0 || format.f == cudaChannelFormatKindFloat || format.x == 32;
  return as_it_is ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
}

cudaTextureDesc texture_of(const CUDA_TEXTURE_DESC& given, cudaTextureReadMode read_mode) {
  cudaTextureDesc how{};
  for (unsigned i = 0; i < 3; ++i)
    how.addressMode[i] = static_cast<cudaTextureAddressMode>(given.addressMode[i]);
  how.filterMode = static_cast<cudaTextureFilterMode>(given.filterMode);
  how.readMode = read_mode;
  const auto flag = [&](unsigned bit) { return (given.flags & bit) != 0 ? 1 : 0; };
  how.sRGB = flag(CU_TRSF_SRGB);
  how.normalizedCoords = flag(CU_TRSF_NORMALIZED_COORDINATES);
  how.disableTrilinearOptimization = flag(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  how.seamlessCubemap = flag(CU_TRSF_SEAMLESS_CUBEMAP);
  how.maxAnisotropy = given.maxAnisotropy;
  how.mipmapFilterMode = static_cast<cudaTextureFilterMode>(given.mipmapFilterMode);
  how.mipmapLevelBias = given.mipmapLevelBias;
  how.minMipmapLevelClamp = given.minMipmapLevelClamp;
  how.maxMipmapLevelClamp = given.maxMipmapLevelClamp;
  std::copy(std::begin(given.borderColor), std::end(given.borderColor), std::begin(how.borderColor));
  return how;
}

// CU_TRSF_READ_AS_INTEGER is of what is read as it is, whether or not it was given.
CUDA_TEXTURE_DESC texture_of(const cudaTextureDesc& kept) {
  CUDA_TEXTURE_DESC how{};
  std::copy(std::begin(kept.addressMode), std::end(kept.addressMode), std::begin(how.addressMode));
  how.filterMode = kept.filterMode;
  const auto add = [&](bool wanted, unsigned bit) { how.flags |= wanted ? bit : 0; };
  add(kept.readMode == cudaReadModeElementType, CU_TRSF_READ_AS_INTEGER);
  add(kept.normalizedCoords != 0, CU_TRSF_NORMALIZED_COORDINATES);
  add(kept.sRGB != 0, CU_TRSF_SRGB);
  add(kept.disableTrilinearOptimization != 0, CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  add(kept.seamlessCubemap != 0, CU_TRSF_SEAMLESS_CUBEMAP);
  how.maxAnisotropy = kept.maxAnisotropy;
  how.mipmapFilterMode = kept.mipmapFilterMode;
  how.mipmapLevelBias = kept.mipmapLevelBias;
  how.minMipmapLevelClamp = kept.minMipmapLevelClamp;
  how.maxMipmapLevelClamp = kept.maxMipmapLevelClamp;
  std::copy(std::begin(kept.borderColor), std::end(kept.borderColor), std::begin(how.borderColor));
  return how;
}

}  // namespace

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
  return driver_call("cuArrayCreate", [&](Context& c) {
    const CUDA_ARRAY_DESCRIPTOR& d = required(descriptor);
    required(array) = reinterpret_cast<CUarray>(
        &c.images().create_array(format_of(d.Format, d.NumChannels), {d.Width, d.Height, 0}, 0));
  });
}
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray array) {
  return driver_call("cuArrayGetDescriptor", [&](Context& c) {
    const Array& a = c.images().array(array);
    required(descriptor) = {a.extent.width, a.extent.height, number_of(a.format), channels_of(a.format)};
  });
}
CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  return driver_call("cuArray3DCreate", [&](Context& c) {
    const CUDA_ARRAY3D_DESCRIPTOR& d = required(descriptor);
    required(array) = reinterpret_cast<CUarray>(
        &c.images().create_array(format_of(d.Format, d.NumChannels), {d.Width, d.Height, d.Depth}, d.Flags));
  });
}
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray array) {
  return driver_call("cuArray3DGetDescriptor", [&](Context& c) {
    const Array& a = c.images().array(array);
    required(descriptor) = {a.extent.width,      a.extent.height,       a.extent.depth,
                            number_of(a.format), channels_of(a.format), a.flags};
  });
}
CUresult cuArrayDestroy(CUarray array) {
  return driver_call("cuArrayDestroy",
                     [&](Context& c) { c.images().destroy_array(c.images().array(array)); });
}

CUresult cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* how, const void* view) {
  return driver_call("cuTexObjectCreate", [&](Context& c) {
    if (view != nullptr)
      fail(Error::kNotSupported, "views that change the format of an array are not provided");
    const cudaResourceDesc source = resource_of(required(resource));
    const CUDA_TEXTURE_DESC& given = required(how);
    required(texture) =
        c.images().create_texture(source, texture_of(given, read_mode(c, given.flags, source)));
  });
}
CUresult cuTexObjectDestroy(CUtexObject texture) {
  return driver_call("cuTexObjectDestroy", [&](Context& c) { c.images().destroy_texture(texture); });
}
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject texture) {
  return driver_call("cuTexObjectGetResourceDesc", [&](Context& c) {
    required(resource) = resource_of(c.images().texture_source(texture).resource);
  });
}
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* how, CUtexObject texture) {
  return driver_call("cuTexObjectGetTextureDesc",
                     [&](Context& c) { required(how) = texture_of(c.images().texture_source(texture).how); });
}
CUresult cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource) {
  return driver_call("cuSurfObjectCreate", [&](Context& c) {
    required(surface) = c.images().create_surface(resource_of(required(resource)));
  });
}
CUresult cuSurfObjectDestroy(CUsurfObject surface) {
  return driver_call("cuSurfObjectDestroy", [&](Context& c) { c.images().destroy_surface(surface); });
}
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject surface) {
  return driver_call("cuSurfObjectGetResourceDesc", [&](Context& c) {
    required(resource) = resource_of(c.images().surface_source(surface));
  });
}
