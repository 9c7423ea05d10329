// Arrays, copies of three dimensions, texture and surface objects of the driver API.
#include <cstring>
#include <vector>

#include "driver_program.h"

namespace {

const char* const kPtx = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry fetch_volume(.param .u64 out, .param .u64 texture, .param .u32 width, .param .u32 height) {
  .reg .b64 %rd<5>; .reg .b32 %r<12>; .reg .f32 %f<4>;
  ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [texture];
  ld.param.u32 %r0, [width]; ld.param.u32 %r1, [height];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y;
  mov.u32 %r5, 0;
  tex.3d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd1, {%r2, %r3, %r4, %r5}];
  mad.lo.u32 %r6, %r4, %r1, %r3;
  mad.lo.u32 %r6, %r6, %r0, %r2;
  mul.wide.u32 %rd2, %r6, 4;
  add.u64 %rd3, %rd0, %rd2;
  st.global.f32 [%rd3], %f0;
  ret;
}
.visible .entry fetch_row(.param .u64 out, .param .u64 texture, .param .u32 row) {
  .reg .b64 %rd<5>; .reg .b32 %r<12>;
  ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [texture]; ld.param.u32 %r0, [row];
  mov.u32 %r1, %tid.x;
  tex.2d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1, %r0}];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd0, %rd2;
  st.global.u32 [%rd3], %r2;
  ret;
}
.visible .entry fetch_linear(.param .u64 out, .param .u64 texture) {
  .reg .b64 %rd<5>; .reg .b32 %r<12>;
  ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [texture];
  mov.u32 %r1, %tid.x;
  tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd0, %rd2;
  st.global.u32 [%rd3], %r2;
  ret;
}
.visible .entry add_to_surface(.param .u64 surface, .param .u32 addend) {
  .reg .b64 %rd<2>; .reg .b32 %r<6>;
  ld.param.u64 %rd0, [surface]; ld.param.u32 %r0, [addend];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  shl.b32 %r1, %r1, 2;
  suld.b.2d.b32.trap %r3, [%rd0, {%r1, %r2}];
  add.u32 %r3, %r3, %r0;
  sust.b.2d.b32.trap [%rd0, {%r1, %r2}], %r3;
  ret;
}
)";

CUfunction function_of(CUmodule module, const char* kernel) {
  CUfunction function = nullptr;
  EXPECT_OK(cuModuleGetFunction(&function, module, kernel));
  return function;
}

CUDA_RESOURCE_DESC of_array(CUarray array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}

CUDA_TEXTURE_DESC clamped(unsigned flags) {
  CUDA_TEXTURE_DESC how{};
  for (int& mode : how.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  how.flags = flags;
  return how;
}

void test_descriptors() {
  CUarray array = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR back{};
  const CUDA_ARRAY3D_DESCRIPTOR layered{32, 16, 5, CU_AD_FORMAT_SIGNED_INT16, 2, CUDA_ARRAY3D_LAYERED};
  EXPECT_OK(cuArray3DCreate_v2(&array, &layered));
  EXPECT_OK(cuArray3DGetDescriptor_v2(&back, array));
  EXPECT(std::memcmp(&back, &layered, sizeof back) == 0);
  CUDA_ARRAY_DESCRIPTOR flat{};
  EXPECT_OK(cuArrayGetDescriptor_v2(&flat, array));
  EXPECT(flat.Width == 32 && flat.Height == 16 && flat.Format == CU_AD_FORMAT_SIGNED_INT16 &&
         flat.NumChannels == 2);
  EXPECT_OK(cuArrayDestroy(array));
  EXPECT_ERROR(cuArray3DGetDescriptor_v2(&back, array), CUDA_ERROR_INVALID_HANDLE);
  const CUDA_ARRAY3D_DESCRIPTOR three_channels{32, 16, 5, CU_AD_FORMAT_FLOAT, 3, 0};
  EXPECT_ERROR(cuArray3DCreate_v2(&array, &three_channels), CUDA_ERROR_INVALID_VALUE);
  const CUDA_ARRAY3D_DESCRIPTOR no_format{32, 16, 5, 77, 1, 0};
  EXPECT_ERROR(cuArray3DCreate_v2(&array, &no_format), CUDA_ERROR_INVALID_VALUE);
}

// A volume of 24 by 12 by 5 floats; the copies are of 10 by 6 by 3 of them.
constexpr unsigned kWidth = 24, kHeight = 12, kDepth = 5, kX = 3, kY = 2, kZ = 1, kW = 10, kH = 6, kD = 3;

CUarray make_volume() {
  CUarray array = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR volume{kWidth, kHeight, kDepth, CU_AD_FORMAT_FLOAT, 1, 0};
  EXPECT_OK(cuArray3DCreate_v2(&array, &volume));
  return array;
}

CUDA_MEMCPY3D box() {
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = kW * 4, copy.Height = kH, copy.Depth = kD;
  return copy;
}

void to_array(CUDA_MEMCPY3D& copy, CUarray array) {
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array;
  copy.dstXInBytes = kX * 4, copy.dstY = kY, copy.dstZ = kZ;
}

// Host to array, array to pitched device memory, that to the host, each with a pitch and height of its own.
void test_copies(bool asynchronous) {
  constexpr unsigned kPitch = 17, kRows = 9;  // of the host's
  const CUarray array = make_volume();
  float *source = nullptr, *target = nullptr;
  CUdeviceptr device = 0;
  CUstream stream = nullptr;
  EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuMemAllocHost_v2(reinterpret_cast<void**>(&source), kPitch * kRows * kD * 4));
  EXPECT_OK(cuMemAllocHost_v2(reinterpret_cast<void**>(&target), kPitch * kRows * kD * 4));
  EXPECT_OK(cuMemAlloc_v2(&device, 64 * 8 * kD));
  EXPECT_OK(cuMemsetD8_v2(device, 0xff, 64 * 8 * kD));
  for (unsigned i = 0; i < kPitch * kRows * kD; ++i) source[i] = static_cast<float>(i), target[i] = -1;
  const auto run = [&](const CUDA_MEMCPY3D& copy) {
    return asynchronous ? cuMemcpy3DAsync_v2(&copy, stream) : cuMemcpy3D_v2(&copy);
  };
  CUDA_MEMCPY3D in = box();
  in.srcMemoryType = CU_MEMORYTYPE_HOST, in.srcHost = source, in.srcPitch = kPitch * 4, in.srcHeight = kRows;
  in.srcXInBytes = 8, in.srcY = 1;
  to_array(in, array);
  EXPECT_OK(run(in));
  CUDA_MEMCPY3D through = box();
  through.srcMemoryType = CU_MEMORYTYPE_ARRAY, through.srcArray = array;
  through.srcXInBytes = kX * 4, through.srcY = kY, through.srcZ = kZ;
  through.dstMemoryType = CU_MEMORYTYPE_DEVICE, through.dstDevice = device, through.dstPitch = 64;
  through.dstHeight = 8;
  EXPECT_OK(run(through));
  CUDA_MEMCPY3D out = box();
  out.srcMemoryType = CU_MEMORYTYPE_UNIFIED, out.srcDevice = device, out.srcPitch = 64, out.srcHeight = 8;
  out.dstMemoryType = CU_MEMORYTYPE_HOST, out.dstHost = target, out.dstPitch = kPitch * 4,
  out.dstHeight = kRows;
  out.dstXInBytes = 16, out.dstY = 3;
  EXPECT_OK(run(out));
  if (asynchronous) EXPECT_OK(cuStreamSynchronize(stream));
  for (unsigned z = 0; z < kD; ++z) {
    for (unsigned y = 0; y < kRows; ++y) {
      for (unsigned x = 0; x < kPitch; ++x) {
        const bool inside = x >= 4 && x < 4 + kW && y >= 3 && y < 3 + kH;
        const float expected = inside ? source[(z * kRows + y - 2) * kPitch + x - 2] : -1;
        EXPECT(target[(z * kRows + y) * kPitch + x] == expected);
      }
    }
  }
  // Rows of device memory between those of the copy are as they were.
  unsigned beside = 0;
  EXPECT_OK(cuMemcpyDtoH_v2(&beside, device + kW * 4, 4));
  EXPECT(beside == 0xffffffff);
  CUDA_MEMCPY3D wrong = in;
  wrong.dstZ = kDepth - kD + 1;
  EXPECT_ERROR(run(wrong), CUDA_ERROR_INVALID_VALUE);
  wrong = in, wrong.srcLOD = 1;
  EXPECT_ERROR(run(wrong), CUDA_ERROR_INVALID_VALUE);
  wrong = in, wrong.srcHost = nullptr;
  EXPECT_ERROR(run(wrong), CUDA_ERROR_INVALID_VALUE);
  wrong = through, wrong.dstHeight = 100000;
  EXPECT_ERROR(run(wrong), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMemFreeHost(source));
  EXPECT_OK(cuMemFreeHost(target));
  EXPECT_OK(cuMemFree_v2(device));
  EXPECT_OK(cuArrayDestroy(array));
  EXPECT_OK(cuStreamDestroy_v2(stream));
}

void test_volume_texture(CUmodule module) {
  const CUarray array = make_volume();
  std::vector<float> source(kWidth * kHeight * kDepth), back(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<float>(i) * 0.5f;
  CUDA_MEMCPY3D in{};
  in.WidthInBytes = kWidth * 4, in.Height = kHeight, in.Depth = kDepth;
  in.srcMemoryType = CU_MEMORYTYPE_HOST, in.srcHost = source.data();  // pageable, and packed
  in.dstMemoryType = CU_MEMORYTYPE_ARRAY, in.dstArray = array;
  EXPECT_OK(cuMemcpy3D_v2(&in));
  CUtexObject texture = 0;
  const CUDA_RESOURCE_DESC resource = of_array(array);
  const CUDA_TEXTURE_DESC how = clamped(0);
  EXPECT_OK(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  CUdeviceptr out = 0;
  EXPECT_OK(cuMemAlloc_v2(&out, source.size() * 4));
  unsigned width = kWidth, height = kHeight;
  void* parameters[] = {&out, &texture, &width, &height};
  EXPECT_OK(cuLaunchKernel(function_of(module, "fetch_volume"), kHeight, kDepth, 1, kWidth, 1, 1, 0, nullptr,
                           parameters, nullptr));
  EXPECT_OK(cuMemcpyDtoH_v2(back.data(), out, back.size() * 4));
  EXPECT(back == source);
  const int view = 0;
  EXPECT_ERROR(cuTexObjectCreate(&texture, &resource, &how, &view), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_OK(cuTexObjectDestroy(texture));
  EXPECT_ERROR(cuTexObjectDestroy(texture), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMemFree_v2(out));
  EXPECT_OK(cuArrayDestroy(array));
}

// Bytes in pitched memory, read as they are or as floats from 0 to 1; what the objects say of themselves.
void test_read_modes(CUmodule module) {
  constexpr unsigned kPitch = 512, kTexels = 40;
  CUdeviceptr memory = 0, out = 0;
  EXPECT_OK(cuMemAlloc_v2(&memory, 2 * kPitch));
  EXPECT_OK(cuMemAlloc_v2(&out, kTexels * 4));
  EXPECT_OK(cuMemsetD2D8_v2(memory, kPitch, 255, kTexels, 2));
  EXPECT_OK(cuMemsetD8_v2(memory + kPitch + 7, 51, 1));
  CUDA_RESOURCE_DESC pitched{};
  pitched.resType = CU_RESOURCE_TYPE_PITCH2D;
  pitched.res.pitch2D = {memory, CU_AD_FORMAT_UNSIGNED_INT8, 1, kTexels, 2, kPitch};
  const auto row = [&](unsigned flags) {
    CUtexObject texture = 0;
    CUDA_TEXTURE_DESC how = clamped(flags), kept{};
    how.borderColor[2] = 0.25f, how.maxAnisotropy = 3;
    EXPECT_OK(cuTexObjectCreate(&texture, &pitched, &how, nullptr));
    CUDA_RESOURCE_DESC resource{};
    EXPECT_OK(cuTexObjectGetResourceDesc(&resource, texture));
    EXPECT(std::memcmp(&resource, &pitched, sizeof resource) == 0);
    EXPECT_OK(cuTexObjectGetTextureDesc(&kept, texture));
    EXPECT(std::memcmp(&kept, &how, sizeof kept) == 0);
    unsigned number = 1;
    void* parameters[] = {&out, &texture, &number};
    EXPECT_OK(cuLaunchKernel(function_of(module, "fetch_row"), 1, 1, 1, kTexels, 1, 1, 0, nullptr, parameters,
                             nullptr));
    std::vector<unsigned> texels(kTexels);
    EXPECT_OK(cuMemcpyDtoH_v2(texels.data(), out, kTexels * 4));
    EXPECT_OK(cuTexObjectDestroy(texture));
    EXPECT_ERROR(cuTexObjectGetTextureDesc(&kept, texture), CUDA_ERROR_INVALID_VALUE);
    return texels;
  };
  const std::vector<unsigned> integers = row(CU_TRSF_READ_AS_INTEGER), floats = row(0);
  const auto bits = [](float value) {
    unsigned word = 0;
    std::memcpy(&word, &value, 4);
    return word;
  };
  EXPECT(integers[6] == 255 && integers[7] == 51);
  EXPECT(floats[6] == bits(1.0f) && floats[7] == bits(0.2f));
  EXPECT_OK(cuMemFree_v2(memory));
  EXPECT_OK(cuMemFree_v2(out));
}

void test_linear_texture(CUmodule module) {
  constexpr unsigned kTexels = 64;
  CUdeviceptr memory = 0, out = 0;
  EXPECT_OK(cuMemAlloc_v2(&memory, kTexels * 4));
  EXPECT_OK(cuMemAlloc_v2(&out, kTexels * 4));
  EXPECT_OK(cuMemsetD32_v2(memory, 123456789, kTexels));
  CUDA_RESOURCE_DESC linear{}, kept{};
  linear.resType = CU_RESOURCE_TYPE_LINEAR;
  linear.res.linear = {memory, CU_AD_FORMAT_UNSIGNED_INT32, 1, kTexels * 4};
  const CUDA_TEXTURE_DESC how = clamped(0);  // integers of 32 bits stay what they are
  CUtexObject texture = 0;
  EXPECT_OK(cuTexObjectCreate(&texture, &linear, &how, nullptr));
  EXPECT_OK(cuTexObjectGetResourceDesc(&kept, texture));
  EXPECT(std::memcmp(&kept, &linear, sizeof kept) == 0);
  void* parameters[] = {&out, &texture};
  EXPECT_OK(cuLaunchKernel(function_of(module, "fetch_linear"), 1, 1, 1, kTexels, 1, 1, 0, nullptr,
                           parameters, nullptr));
  unsigned texels[kTexels];
  EXPECT_OK(cuMemcpyDtoH_v2(texels, out, sizeof texels));
  EXPECT(texels[0] == 123456789 && texels[kTexels - 1] == 123456789);
  EXPECT_OK(cuTexObjectDestroy(texture));
  linear.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  EXPECT_ERROR(cuTexObjectCreate(&texture, &linear, &how, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  linear.resType = 9;
  EXPECT_ERROR(cuTexObjectCreate(&texture, &linear, &how, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMemFree_v2(memory));
  EXPECT_OK(cuMemFree_v2(out));
}

void test_surface(CUmodule module) {
  constexpr unsigned kTexels = 32, kRows = 10;
  CUarray array = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR descriptor{
      kTexels, kRows, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
  EXPECT_OK(cuArray3DCreate_v2(&array, &descriptor));
  CUDA_RESOURCE_DESC resource = of_array(array), kept{};
  CUsurfObject surface = 0;
  EXPECT_OK(cuSurfObjectCreate(&surface, &resource));
  EXPECT_OK(cuSurfObjectGetResourceDesc(&kept, surface));
  EXPECT(std::memcmp(&kept, &resource, sizeof kept) == 0);
  std::vector<unsigned> texels(kTexels * kRows);
  for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<unsigned>(i);
  CUDA_MEMCPY2D in{};
  in.srcMemoryType = CU_MEMORYTYPE_HOST, in.srcHost = texels.data();
  in.dstMemoryType = CU_MEMORYTYPE_ARRAY, in.dstArray = array;
  in.WidthInBytes = kTexels * 4, in.Height = kRows;
  EXPECT_OK(cuMemcpy2D_v2(&in));
  unsigned addend = 1000;
  void* parameters[] = {&surface, &addend};
  EXPECT_OK(cuLaunchKernel(function_of(module, "add_to_surface"), kRows, 1, 1, kTexels, 1, 1, 0, nullptr,
                           parameters, nullptr));
  CUDA_MEMCPY2D out{};
  out.srcMemoryType = CU_MEMORYTYPE_ARRAY, out.srcArray = array;
  out.dstMemoryType = CU_MEMORYTYPE_HOST, out.dstHost = texels.data();
  out.WidthInBytes = kTexels * 4, out.Height = kRows;
  EXPECT_OK(cuMemcpy2D_v2(&out));
  for (std::size_t i = 0; i < texels.size(); ++i) EXPECT(texels[i] == 1000 + i);
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  CUsurfObject none = 0;
  EXPECT_ERROR(cuSurfObjectCreate(&none, &resource), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuSurfObjectDestroy(surface));
  EXPECT_ERROR(cuSurfObjectDestroy(surface), CUDA_ERROR_INVALID_VALUE);
  EXPECT_ERROR(cuSurfObjectGetResourceDesc(&kept, surface), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuArrayDestroy(array));
}

// Fills of all widths, with rows apart.
void test_fills() {
  CUdeviceptr memory = 0;
  std::vector<unsigned char> bytes(4096);
  EXPECT_OK(cuMemAlloc_v2(&memory, 4096));
  const auto read = [&] { EXPECT_OK(cuMemcpyDtoH_v2(bytes.data(), memory, 4096)); };
  EXPECT_OK(cuMemsetD32Async(memory, 0, 1024, nullptr));
  EXPECT_OK(cuMemsetD2D16Async(memory + 2, 100, 0xabcd, 9, 3, nullptr));
  read();
  for (unsigned i = 0; i < 4096; ++i) {
    const bool inside = i >= 2 && i < 302 && (i - 2) % 100 < 18;
    EXPECT(bytes[i] == (!inside ? 0 : (i % 2 == 0 ? 0xcd : 0xab)));
  }
  EXPECT_OK(cuMemsetD2D32Async(memory + 4, 64, 0x04030201, 3, 5, nullptr));
  EXPECT_OK(cuMemsetD2D8Async(memory + 2001, 77, 9, 5, 4, nullptr));
  EXPECT_OK(cuMemsetD16Async(memory + 3000, 0x1234, 3, nullptr));
  read();
  EXPECT(bytes[4] == 1 && bytes[15] == 4 && bytes[4 + 4 * 64 + 6] == 3 && bytes[2001 + 3 * 77 + 4] == 9 &&
         bytes[2000] == 0 && bytes[2006] == 0 && bytes[3005] == 0x12 && bytes[3006] == 0);
  EXPECT_ERROR(cuMemsetD16_v2(memory + 1, 1, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_ERROR(cuMemsetD2D32_v2(memory, 66, 1, 4, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_ERROR(cuMemsetD8_v2(memory, 1, 5000), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMemFree_v2(memory));
}

}  // namespace

int main() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_OK(cuCtxSetCurrent(context));
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  test_descriptors();
  test_copies(false);
  test_copies(true);
  test_volume_texture(module);
  test_read_modes(module);
  test_linear_texture(module);
  test_surface(module);
  test_fills();
  return verdict();
}
