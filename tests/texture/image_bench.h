// A device with one module, and images of the oracle's kind on it. One per process: SystemC elaborates once.
#ifndef WEFT_TESTS_TEXTURE_IMAGE_BENCH_H
#define WEFT_TESTS_TEXTURE_IMAGE_BENCH_H

#include <string>
#include <vector>

#include "runtime/images.h"
#include "texture/oracle.h"
#include "weft/platform/gpu_config.h"

namespace weft::test {

using Four = std::array<std::uint32_t, 4>;

inline texture::ChannelKind channel_kind(char kind) {
  return kind == 'f'   ? texture::ChannelKind::kFloat
         : kind == 's' ? texture::ChannelKind::kSigned
                       : texture::ChannelKind::kUnsigned;
}
inline texture::Format format_of(const PlainImage& plain) {
  return {channel_kind(plain.kind), static_cast<std::uint8_t>(plain.bits),
          static_cast<std::uint8_t>(plain.channels)};
}

struct ImageBench {
  // `functional`: launches run without timing.
  explicit ImageBench(const std::string& ptx_file, bool functional = false)
      : device(load_config("gtx480", {"sm.count=2"}), options(functional)),
        module(device.load_module_file(std::string(WEFT_CONFORMANCE) + "/" + ptx_file)) {}

  // An array with the plain image's texels.
  texture::Image array(const PlainImage& plain, bool layered = false) {
    texture::ArrayShape shape;
    shape.geometry = plain.cube              ? texture::Geometry::kCube
                     : plain.dimensions == 1 ? texture::Geometry::k1d
                     : plain.dimensions == 2 ? texture::Geometry::k2d
                                             : texture::Geometry::k3d;
    shape.layered = layered;
    shape.format = format_of(plain);
    shape.width = static_cast<std::uint32_t>(plain.size[0]);
    shape.height = static_cast<std::uint32_t>(plain.size[1]);
    shape.depth = static_cast<std::uint32_t>(plain.size[2]);
    if (layered) shape.layers = static_cast<std::uint32_t>(plain.layers);
    const texture::Image image = runtime::create_array(device, shape);
    runtime::copy_to_array(device, image, plain.texels.data());
    return image;
  }

  runtime::Address vector_of(const std::vector<std::array<float, 4>>& values) {
    const runtime::Address address = device.allocate(values.size() * 16);
    device.copy_to(address, values.data(), values.size() * 16);
    return address;
  }

  // Runs kernel(object, in, out) with one thread per coordinate vector.
  std::vector<Four> run(const std::string& kernel, runtime::Object object,
                        const std::vector<std::array<float, 4>>& coordinates) {
    const runtime::Address in = vector_of(coordinates), out = device.allocate(coordinates.size() * 16);
    device.launch(module, kernel, {static_cast<std::uint32_t>(coordinates.size() / 64), 1, 1}, {64, 1, 1},
                  runtime::Arguments().add(object).add(in).add(out));
    device.synchronise();
    std::vector<Four> result(coordinates.size());
    device.copy_from(result.data(), out, coordinates.size() * 16);
    return result;
  }

  static runtime::DeviceOptions options(bool functional) {
    runtime::DeviceOptions result;
    result.functional.all = functional;
    return result;
  }

  runtime::Device device;
  runtime::LoadedModule& module;
};

inline std::vector<std::array<float, 4>> random_coordinates(std::mt19937& random, std::size_t count,
                                                            float low, float high) {
  std::vector<std::array<float, 4>> result(count);
  for (auto& vector : result) {
    for (float& x : vector) x = low + (high - low) * static_cast<float>(random()) * 0x1p-32f;
  }
  return result;
}

}  // namespace weft::test

#endif
