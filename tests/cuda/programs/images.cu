// Pitched and three-dimensional memory, arrays, textures, surfaces.
#include <cstring>

#include "program.h"

#ifndef __NVCC__
template <class T>
__device__ T tex1D(cudaTextureObject_t texture, float x);
template <>
__device__ inline float tex1D<float>(cudaTextureObject_t texture, float x) {
  float4 v;
  asm("tex.1d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5}];"
      : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
      : "l"(texture), "f"(x));
  return v.x;
}
template <class T>
__device__ T tex3D(cudaTextureObject_t texture, float x, float y, float z);
template <>
__device__ inline float tex3D<float>(cudaTextureObject_t texture, float x, float y, float z) {
  float4 v;
  asm("tex.3d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
      : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
      : "l"(texture), "f"(x), "f"(y), "f"(z));
  return v.x;
}
__device__ inline void surf2Dwrite(float value, cudaSurfaceObject_t surface, int x, int y) {
  asm volatile("sust.b.2d.b32.trap [%0, {%1, %2}], {%3};" ::"l"(surface), "r"(x), "r"(y), "f"(value)
               : "memory");
}
#endif

__global__ void fetch_linear(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, static_cast<int>(threadIdx.x));
}
__global__ void sample_1d(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1D<float>(texture, 0.25f * static_cast<float>(threadIdx.x));
}
__global__ void sample_2d(cudaTextureObject_t texture, float* out, int width, float shift) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(blockIdx.x);
  out[y * width + x] = tex2D<float>(texture, static_cast<float>(x) + shift, static_cast<float>(y) + shift);
}
__global__ void sample_3d(cudaTextureObject_t texture, float* out) {
  const int x = static_cast<int>(threadIdx.x), z = static_cast<int>(blockIdx.x);
  out[z * 8 + x] = tex3D<float>(texture, static_cast<float>(x) + 0.5f, 1.5f, static_cast<float>(z) + 0.5f);
}
__global__ void paint(cudaSurfaceObject_t surface) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(blockIdx.x);
  surf2Dwrite(static_cast<float>(100 * y + x), surface, x * 4, y);
}
__global__ void add_rows(float* memory, std::size_t pitch, float* out) {
  const float* row =
      reinterpret_cast<const float*>(reinterpret_cast<const char*>(memory) + threadIdx.x * pitch);
  out[threadIdx.x] = row[0] + row[9];
}

cudaTextureObject_t texture_of(cudaResourceDesc& resource, cudaTextureFilterMode filter,
                               cudaTextureAddressMode mode = cudaAddressModeClamp) {
  cudaTextureDesc how;
  std::memset(&how, 0, sizeof how);
  how.filterMode = filter;
  for (auto& axis : how.addressMode) axis = mode;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

float* device_floats(std::size_t count) {
  float* memory = nullptr;
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&memory), count * sizeof(float)));
  return memory;
}
std::vector<float> from_device(const float* memory, std::size_t count) {
  std::vector<float> host(count);
  EXPECT_OK(cudaMemcpy(host.data(), memory, count * sizeof(float), cudaMemcpyDeviceToHost));
  return host;
}

void test_linear() {
  float* memory = device_floats(64);
  float* out = device_floats(64);
  std::vector<float> host(64);
  for (int i = 0; i < 64; ++i) host[i] = static_cast<float>(i * i);
  EXPECT_OK(cudaMemcpy(memory, host.data(), 256, cudaMemcpyHostToDevice));
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  resource.res.linear.sizeInBytes = 60 * 4;  // the last four texels lie outside
  const cudaTextureObject_t texture = texture_of(resource, cudaFilterModePoint);
  fetch_linear<<<1, 64>>>(texture, out);
  const std::vector<float> got = from_device(out, 64);
  EXPECT(got[7] == 49 && got[59] == 59 * 59 && got[60] == 0 && got[63] == 0);
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_ERROR(cudaDestroyTextureObject(texture), cudaErrorInvalidValue);
  EXPECT_OK(cudaFree(memory));
  EXPECT_OK(cudaFree(out));
}

void test_arrays() {
  constexpr int width = 20, height = 6;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t array = nullptr;
  EXPECT_OK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  std::vector<float> host(width * height);
  for (int i = 0; i < width * height; ++i) host[i] = static_cast<float>(i % width + 10 * (i / width));
  EXPECT_OK(
      cudaMemcpy2DToArray(array, 0, 0, host.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureObject_t point = texture_of(resource, cudaFilterModePoint);
  const cudaTextureObject_t linear = texture_of(resource, cudaFilterModeLinear);
  float* out = device_floats(width * height);
  sample_2d<<<height, width>>>(point, out, width, 0.5f);
  EXPECT(from_device(out, width * height) == host);
  // Between four texels: f(x, y) = x + 10 y is linear, so the filter gives f(x + 1/2, y + 1/2), where none is
  // clamped.
  sample_2d<<<height, width>>>(linear, out, width, 1.0f);
  std::vector<float> got = from_device(out, width * height);
  EXPECT(got[0] == 5.5f && got[width + 3] == 3 + 10 + 5.5f);
  EXPECT(got[width - 1] == width - 1 + 5.0f);  // clamped along x

  cudaSurfaceObject_t surface = 0;
  EXPECT_OK(cudaCreateSurfaceObject(&surface, &resource));
  paint<<<height, width>>>(surface);
  std::vector<float> part(5 * 2);
  EXPECT_OK(cudaMemcpy2DFromArray(part.data(), 5 * 4, array, 3 * 4, 2, 5 * 4, 2, cudaMemcpyDeviceToHost));
  EXPECT(part[0] == 203 && part[4] == 207 && part[5] == 303 && part[9] == 307);
  EXPECT_ERROR(cudaMemcpy2DFromArray(part.data(), 20, array, 17 * 4, 2, 20, 2, cudaMemcpyDeviceToHost),
               cudaErrorInvalidValue);
  cudaExtent extent;
  cudaChannelFormatDesc same;
  unsigned flags = 0;
  EXPECT_OK(cudaArrayGetInfo(&same, &extent, &flags, array));
  EXPECT(extent.width == width && extent.height == height && extent.depth == 0 && same.x == 32 &&
         flags == cudaArraySurfaceLoadStore);
  EXPECT_OK(cudaDestroySurfaceObject(surface));
  EXPECT_OK(cudaDestroyTextureObject(point));
  EXPECT_OK(cudaDestroyTextureObject(linear));
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaFree(out));
  const cudaChannelFormatDesc bad = cudaCreateChannelDesc(32, 16, 0, 0, cudaChannelFormatKindFloat);
  EXPECT_ERROR(cudaMallocArray(&array, &bad, 4, 4, 0), cudaErrorInvalidChannelDescriptor);
}

void test_one_dimension() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t array = nullptr;
  EXPECT_OK(cudaMallocArray(&array, &format, 16, 0, 0));
  float host[16];
  for (int i = 0; i < 16; ++i) host[i] = static_cast<float>(8 * i);
  EXPECT_OK(cudaMemcpy2DToArray(array, 0, 0, host, 64, 64, 1, cudaMemcpyHostToDevice));
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureObject_t texture = texture_of(resource, cudaFilterModeLinear);
  float* out = device_floats(32);
  sample_1d<<<1, 32>>>(texture, out);
  const std::vector<float> got = from_device(out, 32);
  EXPECT(got[0] == 0 && got[2] == 0 && got[6] == 8 && got[7] == 10 && got[31] == 58);  // 8 (x - 1/2)
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaFree(out));
}

void test_volume() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t array = nullptr;
  cudaExtent extent;
  extent.width = 8, extent.height = 4, extent.depth = 3;
  EXPECT_OK(cudaMalloc3DArray(&array, &format, extent, 0));
  std::vector<float> host(8 * 4 * 3);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  cudaMemcpy3DParms copy;
  std::memset(&copy, 0, sizeof copy);
  copy.srcPtr.ptr = host.data(), copy.srcPtr.pitch = 8 * 4, copy.srcPtr.xsize = 8, copy.srcPtr.ysize = 4;
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT_OK(cudaMemcpy3D(&copy));
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureObject_t texture = texture_of(resource, cudaFilterModePoint);
  float* out = device_floats(24);
  sample_3d<<<3, 8>>>(texture, out);
  const std::vector<float> got = from_device(out, 24);
  EXPECT(got[0] == 8 && got[7] == 15 && got[8] == 40 && got[23] == 79);  // row 1 of each slice of 32
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaFree(out));
}

void test_pitched() {
  constexpr int width = 10, height = 7;
  float* memory = nullptr;
  std::size_t pitch = 0;
  EXPECT_OK(cudaMallocPitch(reinterpret_cast<void**>(&memory), &pitch, width * 4, height));
  EXPECT(pitch >= width * 4 && pitch % 32 == 0);
  std::vector<float> host(width * height);
  for (int i = 0; i < width * height; ++i) host[i] = static_cast<float>(i);
  EXPECT_OK(cudaMemcpy2D(memory, pitch, host.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  float* out = device_floats(height);
  add_rows<<<1, height>>>(memory, pitch, out);
  std::vector<float> got = from_device(out, height);
  EXPECT(got[0] == 9 && got[6] == 60 + 69);
  EXPECT_OK(cudaMemset2D(memory, pitch, 0, 4, height));  // the first column
  add_rows<<<1, height>>>(memory, pitch, out);
  got = from_device(out, height);
  EXPECT(got[0] == 9 && got[6] == 69);
  EXPECT_ERROR(cudaMemcpy2D(memory, 4, host.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice),
               cudaErrorInvalidPitchValue);

  cudaExtent extent;
  extent.width = 12, extent.height = 3, extent.depth = 2;
  cudaPitchedPtr volume;
  EXPECT_OK(cudaMalloc3D(&volume, extent));
  EXPECT(volume.xsize == 12 && volume.ysize == 3);
  EXPECT_OK(cudaMemset3D(volume, 0x11, extent));
  std::vector<unsigned char> bytes(12 * 3 * 2);
  cudaMemcpy3DParms copy;
  std::memset(&copy, 0, sizeof copy);
  copy.srcPtr = volume;
  copy.dstPtr.ptr = bytes.data(), copy.dstPtr.pitch = 12, copy.dstPtr.xsize = 12, copy.dstPtr.ysize = 3;
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  EXPECT_OK(cudaMemcpy3D(&copy));
  bool all = true;
  for (const unsigned char byte : bytes) all = all && byte == 0x11;
  EXPECT(all);
  EXPECT_OK(cudaFree(volume.ptr));
  EXPECT_OK(cudaFree(memory));
  EXPECT_OK(cudaFree(out));
}

int main() {
  test_linear();
  test_arrays();
  test_one_dimension();
  test_volume();
  test_pitched();
  EXPECT_OK(cudaGetLastError() == cudaErrorInvalidPitchValue ? cudaSuccess : cudaErrorUnknown);
  return verdict();
}
