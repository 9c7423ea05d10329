#include "runtime/cuda/core/images.h"

#include <algorithm>

#include "runtime/cuda/core/context.h"
#include "runtime/cuda/core/simulator.h"
#include "runtime/cuda/core/streams.h"
#include "runtime/images.h"
#include "weft/common/error.h"
#include "weft/runtime/device.h"

namespace weft::cuda {
namespace {

texture::Format format_of(const cudaChannelFormatDesc& format) {
  const int bits[] = {format.x, format.y, format.z, format.w};
  texture::Format result;
  result.channels = 0;
  for (const int width : bits) {
    if (width == 0) break;
    if (width != format.x) fail(Error::kInvalidChannelDescriptor);
    ++result.channels;
  }
  // No channel behind one that is missing.
  if (std::count(std::begin(bits), std::end(bits), 0) != 4 - result.channels)
    fail(Error::kInvalidChannelDescriptor);
  result.bits = static_cast<std::uint8_t>(format.x);
  switch (format.f) {
    case cudaChannelFormatKindSigned:
      result.kind = texture::ChannelKind::kSigned;
      break;
    case cudaChannelFormatKindUnsigned:
      result.kind = texture::ChannelKind::kUnsigned;
      break;
    case cudaChannelFormatKindFloat:
      result.kind = texture::ChannelKind::kFloat;
      break;
    default:
      fail(Error::kInvalidChannelDescriptor);
  }
  try {
    texture::check(result, "channel format");
  } catch (const InputError&) {
    fail(Error::kInvalidChannelDescriptor);
  }
  return result;
}

texture::ArrayShape shape_of(const texture::Format& format, const cudaExtent& extent, unsigned flags) {
  constexpr std::size_t kMost = texture::kMaxExtent;
  const bool layered = (flags & cudaArrayLayered) != 0, cube = (flags & cudaArrayCubemap) != 0;
  if (extent.width == 0 || extent.width > kMost || extent.height > kMost || extent.depth > kMost)
    fail(Error::kInvalidValue);
  texture::ArrayShape shape;
  shape.format = format;
  shape.width = static_cast<std::uint32_t>(extent.width);
  shape.height = static_cast<std::uint32_t>(std::max<std::size_t>(extent.height, 1));
  const auto depth = static_cast<std::uint32_t>(extent.depth);
  shape.layered = layered;
  if (cube) {
    if (depth % texture::kCubeFaces != 0 || depth == 0) fail(Error::kInvalidValue);
    shape.geometry = texture::Geometry::kCube;
    shape.layers = depth / texture::kCubeFaces;
  } else if (layered) {
    shape.geometry = extent.height == 0 ? texture::Geometry::k1d : texture::Geometry::k2d;
    shape.layers = depth;
  } else {
    shape.geometry = extent.depth != 0    ? texture::Geometry::k3d
                     : extent.height != 0 ? texture::Geometry::k2d
                                          : texture::Geometry::k1d;
    shape.depth = std::max<std::uint32_t>(depth, 1);
  }
  return shape;
}

texture::AddressMode mode_of(cudaTextureAddressMode mode) {
  switch (mode) {
    case cudaAddressModeWrap:
      return texture::AddressMode::kWrap;
    case cudaAddressModeMirror:
      return texture::AddressMode::kMirror;
    case cudaAddressModeBorder:
      return texture::AddressMode::kBorder;
    default:
      return texture::AddressMode::kClamp;
  }
}

texture::Sampler sampler_of(const cudaTextureDesc& how, const texture::Image& image) {
  const auto filter = [](cudaTextureFilterMode mode) {
    return mode == cudaFilterModeLinear ? texture::Filter::kLinear : texture::Filter::kPoint;
  };
  if (how.sRGB != 0) fail(Error::kNotSupported, "textures that convert from sRGB are not modelled");
  texture::Sampler sampler;
  for (unsigned i = 0; i < 3; ++i) {
    sampler.address[i] = mode_of(how.addressMode[i]);
    const bool repeats = sampler.address[i] == texture::AddressMode::kWrap ||
                         sampler.address[i] == texture::AddressMode::kMirror;
    // CUDA C++ programming guide: without normalised coordinates these two mean clamp.
    if (repeats && how.normalizedCoords == 0) sampler.address[i] = texture::AddressMode::kClamp;
  }
  sampler.filter = filter(how.filterMode);
  sampler.normalized_coordinates = how.normalizedCoords != 0;
  const bool is_integer = image.format.kind != texture::ChannelKind::kFloat;
  sampler.normalized_values = how.readMode == cudaReadModeNormalizedFloat && is_integer;
  std::copy(std::begin(how.borderColor), std::end(how.borderColor), sampler.border.begin());
  sampler.level_filter = filter(how.mipmapFilterMode);
  sampler.level_bias = how.mipmapLevelBias;
  sampler.least_level = how.minMipmapLevelClamp;
  sampler.greatest_level = how.maxMipmapLevelClamp;
  return sampler;
}

// Texture and surface objects are a table of the simulated GPU.
runtime::Device& device_of(Context& context) {
  if (Simulator* const simulator = context.backend().simulator()) return simulator->device();
  fail(Error::kNotSupported,
       "arrays, textures and surfaces are provided by the simulator in the program's own process only");
}

}  // namespace

std::uint32_t Array::slices() const {
  const std::uint32_t faces = image.geometry == texture::Geometry::kCube ? texture::kCubeFaces : 1;
  return image.levels[0].size[2] * image.layers * faces;
}

Array& Images::create_array(const cudaChannelFormatDesc& format, const cudaExtent& extent, unsigned flags) {
  const texture::ArrayShape shape = shape_of(format_of(format), extent, flags);
  texture::array_image(shape);  // refuses sizes out of range
  auto array = std::make_unique<Array>();
  try {
    array->image = runtime::create_array(device_of(context_), shape);
  } catch (const InputError&) {
    fail(Error::kOutOfMemory);
  }
  array->format = format;
  array->extent = extent;
  array->flags = flags;
  Array& result = *array;
  arrays_.emplace(array.get(), std::move(array));
  return result;
}

Array& Images::array(const void* handle) {
  const auto found = arrays_.find(handle);
  if (found == arrays_.end()) fail(Error::kInvalidHandle);
  return *found->second;
}

void Images::destroy_array(Array& array) {
  context_.streams().synchronise();
  device_of(context_).free(array.image.address);
  arrays_.erase(&array);
}

texture::Image Images::image_of(const cudaResourceDesc& resource) {
  const auto narrow = [](std::size_t size) {
    if (size > UINT32_MAX) fail(Error::kInvalidValue);
    return static_cast<std::uint32_t>(size);
  };
  switch (resource.resType) {
    case cudaResourceTypeArray:
      return array(resource.res.array.array).image;
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      const texture::Format format = format_of(linear.desc);
      texture::Image image = texture::linear_image(format, narrow(linear.sizeInBytes / format.bytes()));
      image.address = reinterpret_cast<std::uint64_t>(linear.devPtr);
      return image;
    }
    case cudaResourceTypePitch2D: {
      const auto& pitched = resource.res.pitch2D;
      texture::Image image = texture::pitched_image(format_of(pitched.desc), narrow(pitched.width),
                                                    narrow(pitched.height), pitched.pitchInBytes);
      image.address = reinterpret_cast<std::uint64_t>(pitched.devPtr);
      return image;
    }
    default:
      fail(Error::kNotSupported, "textures of mipmapped arrays are not provided");
  }
}

std::uint64_t Images::create_texture(const cudaResourceDesc& resource, const cudaTextureDesc& how) {
  try {
    const texture::Image image = image_of(resource);
    const std::uint64_t texture =
        runtime::create_texture(device_of(context_), {image, sampler_of(how, image)});
    textures_[texture] = {resource, how};
    return texture;
  } catch (const InputError& error) {
    fail(Error::kInvalidValue, error.what());
  }
}

std::uint64_t Images::create_surface(const cudaResourceDesc& resource) {
  if (resource.resType != cudaResourceTypeArray) fail(Error::kInvalidValue);
  try {
    const std::uint64_t surface =
        runtime::create_surface(device_of(context_), array(resource.res.array.array).image);
    surfaces_[surface] = resource;
    return surface;
  } catch (const InputError& error) {
    fail(Error::kInvalidValue, error.what());
  }
}

const Images::TextureSource& Images::texture_source(std::uint64_t texture) const {
  const auto found = textures_.find(texture);
  if (found == textures_.end()) fail(Error::kInvalidValue);
  return found->second;
}

const cudaResourceDesc& Images::surface_source(std::uint64_t surface) const {
  const auto found = surfaces_.find(surface);
  if (found == surfaces_.end()) fail(Error::kInvalidValue);
  return found->second;
}

void Images::destroy_texture(std::uint64_t texture) {
  if (textures_.erase(texture) == 0) fail(Error::kInvalidValue);
  context_.streams().synchronise();
  runtime::destroy_object(device_of(context_), texture);
}

void Images::destroy_surface(std::uint64_t surface) {
  if (surfaces_.erase(surface) == 0) fail(Error::kInvalidValue);
  context_.streams().synchronise();
  runtime::destroy_object(device_of(context_), surface);
}

void Images::reset() {
  arrays_.clear();
  textures_.clear();
  surfaces_.clear();
}

}  // namespace weft::cuda
