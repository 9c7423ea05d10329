// CUDA arrays, texture objects, surface objects.
#include <algorithm>
#include <cstring>

#include "runtime/cuda/core/images.h"
#include "runtime/cuda/core/streams.h"
#include "runtime/cuda/cudart/cudart.h"

using namespace weft::cuda;

namespace {

End end_of(Context& c, cudaArray_const_t array, std::size_t x, std::size_t y) {
  End end;
  end.image = &c.images().array(array).image;
  end.x = x;
  end.y = static_cast<std::uint32_t>(y);
  return end;
}
End end_of(const void* memory, std::size_t pitch) {
  End end;
  end.address = address_of(memory);
  end.pitch = pitch;
  return end;
}

cudaError_t create_array(const char* name, cudaArray_t* array, const cudaChannelFormatDesc* format,
                         const cudaExtent& extent, unsigned flags) {
  return runtime_call(name, [&](Context& c) {
    required(array) =
        reinterpret_cast<cudaArray_t>(&c.images().create_array(required(format), extent, flags));
  });
}

cudaError_t copy_to_array(const char* name, cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                          std::size_t pitch, std::size_t width, std::size_t height, cudaStream_t stream,
                          Host host) {
  return runtime_call(name, [&](Context& c) {
    if (pitch < width) fail(Error::kInvalidPitch);
    c.streams().copy(end_of(c, to, x, y), end_of(from, pitch), {width, height, 1}, c.streams().stream(stream),
                     host);
  });
}
cudaError_t copy_from_array(const char* name, void* to, std::size_t pitch, cudaArray_const_t from,
                            std::size_t x, std::size_t y, std::size_t width, std::size_t height,
                            cudaStream_t stream, Host host) {
  return runtime_call(name, [&](Context& c) {
    if (pitch < width) fail(Error::kInvalidPitch);
    c.streams().copy(end_of(to, pitch), end_of(c, from, x, y), {width, height, 1}, c.streams().stream(stream),
                     host);
  });
}

// Bytes from (x, y) on that go on in the next rows: the rest of a row, whole rows, the begin of one.
template <class CopyRows>
void for_each_box(const Array& array, std::size_t x, std::size_t y, std::size_t bytes, CopyRows&& copy_rows) {
  const std::size_t row = array.row_bytes();
  for (std::size_t done = 0; done < bytes; x = 0) {
    if (x >= row) fail(Error::kInvalidValue);
    const std::size_t left = bytes - done;
    const Box box = x == 0 && left >= row ? Box{row, left / row, 1} : Box{std::min(left, row - x), 1, 1};
    copy_rows(x, y, done, box);
    done += box.bytes();
    y += box.height;
  }
}

}  // namespace

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return runtime_call("cudaGetChannelDesc",
                      [&](Context& c) { required(format) = c.images().array(array).format; });
}
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, std::size_t width,
                            std::size_t height, unsigned flags) {
  return create_array("cudaMallocArray", array, format, {width, height, 0}, flags);
}
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags) {
  return create_array("cudaMalloc3DArray", array, format, extent, flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  return runtime_call("cudaFreeArray", [&](Context& c) {
    if (array != nullptr) c.images().destroy_array(c.images().array(array));
  });
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  return runtime_call("cudaArrayGetInfo", [&](Context& c) {
    const Array& a = c.images().array(array);
    if (format != nullptr) *format = a.format;
    if (extent != nullptr) *extent = a.extent;
    if (flags != nullptr) *flags = a.flags;
  });
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind /*kind*/) {
  return runtime_call("cudaMemcpyToArray", [&](Context& c) {
    const auto* source = static_cast<const char*>(from);
    for_each_box(c.images().array(to), x, y, bytes,
                 [&](std::size_t at, std::size_t row, std::size_t done, const Box& box) {
                   c.streams().copy(end_of(c, to, at, row), end_of(source + done, box.width), box,
                                    c.streams().stream(nullptr), Host::kWaits);
                 });
  });
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind /*kind*/) {
  return runtime_call("cudaMemcpyFromArray", [&](Context& c) {
    auto* target = static_cast<char*>(to);
    for_each_box(c.images().array(from), x, y, bytes,
                 [&](std::size_t at, std::size_t row, std::size_t done, const Box& box) {
                   c.streams().copy(end_of(target + done, box.width), end_of(c, from, at, row), box,
                                    c.streams().stream(nullptr), Host::kWaits);
                 });
  });
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind /*kind*/) {
  return copy_to_array("cudaMemcpy2DToArray", to, x, y, from, pitch, width, height, nullptr, Host::kWaits);
}
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                  std::size_t y, std::size_t width, std::size_t height,
                                  cudaMemcpyKind /*kind*/) {
  return copy_from_array("cudaMemcpy2DFromArray", to, pitch, from, x, y, width, height, nullptr,
                         Host::kWaits);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind /*kind*/, cudaStream_t stream) {
  return copy_to_array("cudaMemcpy2DToArrayAsync", to, x, y, from, pitch, width, height, stream,
                       Host::kGoesOn);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                       std::size_t y, std::size_t width, std::size_t height,
                                       cudaMemcpyKind /*kind*/, cudaStream_t stream) {
  return copy_from_array("cudaMemcpy2DFromArrayAsync", to, pitch, from, x, y, width, height, stream,
                         Host::kGoesOn);
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                     std::size_t width, std::size_t height, cudaMemcpyKind /*kind*/) {
  return runtime_call("cudaMemcpy2DArrayToArray", [&](Context& c) {
    c.streams().copy(end_of(c, to, to_x, to_y), end_of(c, from, from_x, from_y), {width, height, 1},
                     c.streams().stream(nullptr), Host::kWaits);
  });
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc* view) {
  return runtime_call("cudaCreateTextureObject", [&](Context& c) {
    if (view != nullptr)
      fail(Error::kNotSupported, "views that change the format of an array are not provided");
    required(texture) = c.images().create_texture(required(resource), required(how));
  });
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return runtime_call("cudaDestroyTextureObject", [&](Context& c) { c.images().destroy_texture(texture); });
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture) {
  return runtime_call("cudaGetTextureObjectResourceDesc",
                      [&](Context& c) { required(resource) = c.images().texture_source(texture).resource; });
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* how, cudaTextureObject_t texture) {
  return runtime_call("cudaGetTextureObjectTextureDesc",
                      [&](Context& c) { required(how) = c.images().texture_source(texture).how; });
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
  return runtime_call("cudaCreateSurfaceObject",
                      [&](Context& c) { required(surface) = c.images().create_surface(required(resource)); });
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t surface) {
  return runtime_call("cudaGetSurfaceObjectResourceDesc",
                      [&](Context& c) { required(resource) = c.images().surface_source(surface); });
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return runtime_call("cudaDestroySurfaceObject", [&](Context& c) { c.images().destroy_surface(surface); });
}
