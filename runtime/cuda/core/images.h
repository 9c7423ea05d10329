// CUDA arrays, texture objects and surface objects, over runtime/images.h.
#ifndef WEFT_RUNTIME_CUDA_CORE_IMAGES_H
#define WEFT_RUNTIME_CUDA_CORE_IMAGES_H

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

#include "texture/sampler.h"
#include "weft/cuda_structures.h"

namespace weft::cuda {

class Context;

// What cudaArray_t and CUarray point at.
struct Array {
  texture::Image image;
  cudaChannelFormatDesc format;
  cudaExtent extent;  // as the program gave it: zeros are axes that the array lacks
  unsigned flags = 0;
  std::uint32_t rows() const { return image.levels[0].size[1]; }
  std::uint32_t slices() const;  // of a volume, or layers, or faces
  std::uint64_t row_bytes() const { return std::uint64_t{image.levels[0].size[0]} * image.format.bytes(); }
};

class Images {
 public:
  explicit Images(Context& context) : context_(context) {}

  // Fails with kInvalidChannelDescriptor, kInvalidValue (sizes, flags) or kOutOfMemory.
  Array& create_array(const cudaChannelFormatDesc& format, const cudaExtent& extent, unsigned flags);
  Array& array(const void* handle);  // fails with kInvalidHandle
  void destroy_array(Array& array);

  // Fail with kInvalidValue and a report for what texture units cannot do.
  std::uint64_t create_texture(const cudaResourceDesc& resource, const cudaTextureDesc& how);
  std::uint64_t create_surface(const cudaResourceDesc& resource);
  struct TextureSource {
    cudaResourceDesc resource;
    cudaTextureDesc how;
  };
  const TextureSource& texture_source(std::uint64_t texture) const;     // fails with kInvalidValue
  const cudaResourceDesc& surface_source(std::uint64_t surface) const;  // fails with kInvalidValue
  void destroy_texture(std::uint64_t texture);
  void destroy_surface(std::uint64_t surface);

  void reset();

 private:
  texture::Image image_of(const cudaResourceDesc& resource);

  Context& context_;
  std::unordered_map<const void*, std::unique_ptr<Array>> arrays_;
  std::map<std::uint64_t, TextureSource> textures_;
  std::map<std::uint64_t, cudaResourceDesc> surfaces_;
};

}  // namespace weft::cuda

#endif
