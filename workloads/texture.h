// Texture objects over values that a host side uploads; freed with their owner.
#ifndef WEFT_WORKLOADS_TEXTURE_H
#define WEFT_WORKLOADS_TEXTURE_H

#include "runtime/images.h"
#include "workloads/host.h"

namespace weft::workloads {

// Linear memory, for tex1Dfetch: T is what one texel of `format` is on the host.
template <class T>
class LinearTexture {
 public:
  LinearTexture(runtime::Device& device, const texture::Format& format, const std::vector<T>& texels)
      : device_(device), array_(device, texels) {
    texture::Texture texture;
    texture.image = texture::linear_image(format, static_cast<std::uint32_t>(texels.size()));
    texture.image.address = array_.address();
    object_ = runtime::create_texture(device, texture);
  }
  ~LinearTexture() { runtime::destroy_object(device_, object_); }
  LinearTexture(const LinearTexture&) = delete;
  LinearTexture& operator=(const LinearTexture&) = delete;
  runtime::Object object() const { return object_; }

 private:
  runtime::Device& device_;
  DeviceArray<T> array_;
  runtime::Object object_;
};

// A block-linear array in two dimensions, for tex2D with coordinates in texels. Texels are row by row;
// a last row that is not whole is filled with T{}.
template <class T>
class ArrayTexture {
 public:
  ArrayTexture(runtime::Device& device, const texture::Format& format, std::uint32_t width,
               std::vector<T> texels)
      : device_(device) {
    texture::ArrayShape shape;
    shape.format = format;
    shape.width = width;
    shape.height = blocks_for(texels.size(), width);
    texels.resize(std::size_t{width} * shape.height);
    image_ = runtime::create_array(device, shape);
    runtime::copy_to_array(device, image_, texels.data());
    object_ = runtime::create_texture(device, {image_, {}});
  }
  ~ArrayTexture() {
    runtime::destroy_object(device_, object_);
    device_.free(image_.address);
  }
  ArrayTexture(const ArrayTexture&) = delete;
  ArrayTexture& operator=(const ArrayTexture&) = delete;
  runtime::Object object() const { return object_; }

 private:
  runtime::Device& device_;
  texture::Image image_;
  runtime::Object object_ = 0;
};

}  // namespace weft::workloads

#endif
