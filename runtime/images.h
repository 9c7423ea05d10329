// Arrays, textures and surfaces of a device.
//
//   texture::ArrayShape shape;
//   shape.format = {texture::ChannelKind::kFloat, 32, 1};
//   shape.width = 64, shape.height = 32;
//   const texture::Image image = runtime::create_array(device, shape);
//   runtime::copy_to_array(device, image, host.data());
//   texture::Sampler sampler;
//   sampler.filter = texture::Filter::kLinear;
//   const runtime::Object object = runtime::create_texture(device, {image, sampler});    // a kernel argument
//   runtime::bind(device, module, "image", object);                                      // or for a .texref
//
// Linear and pitched memory: texture::linear_image or pitched_image, with `address` set to device memory.
#ifndef WEFT_RUNTIME_IMAGES_H
#define WEFT_RUNTIME_IMAGES_H

#include "texture/sampler.h"
#include "weft/runtime/device.h"

namespace weft::runtime {

using Object = std::uint64_t;  // handle of a texture or surface object

// A block-linear image in device memory of its own, to be given back with device.free(image.address). Throws
// InputError for a shape out of range and when memory is exhausted.
texture::Image create_array(Device& device, const texture::ArrayShape& shape);

// Whole levels: texels in the order x, y, then z, or face, then layer, without padding. `bytes` is their
// size.
std::uint64_t level_bytes(const texture::Image& image, unsigned level = 0);
void copy_to_array(Device& device, const texture::Image& image, const void* from, unsigned level = 0);
void copy_from_array(const Device& device, void* to, const texture::Image& image, unsigned level = 0);

// Throw InputError for what hardware cannot do (texture::check) and for images outside of allocated memory.
Object create_texture(Device& device, const texture::Texture& texture);
Object create_surface(Device& device, const texture::Image& image);
// The memory stays. Throws InputError for an unknown object.
void destroy_object(Device& device, Object object);

// Sets a .texref, .surfref or .samplerref of a module; samplers are values made by texture::encode. Throws
// InputError if there is no such reference, or if `object` is of another kind.
void bind(Device& device, const LoadedModule& module, const std::string& reference, Object object);

}  // namespace weft::runtime

#endif
