// The driver API with PTX text: modules, launches, memory, streams, events, attributes, errors.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "driver_program.h"

namespace {

// out[i] = a * in[i] + in[i]^..: saxpy in place; `scale` is a variable; `fill` writes its argument.
const char* const kPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .f32 scale = 0f40000000;
.visible .const .align 4 .u32 table[4] = {10, 20, 30, 40};
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) {
  .reg .b32 %r<5>; .reg .b64 %rd<6>; .reg .f32 %f<6>; .reg .pred %p;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  ld.param.u32 %r4, [n];
  setp.ge.u32 %p, %r3, %r4;
  @%p ret;
  ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y]; ld.param.f32 %f0, [a];
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd0, %rd2; add.u64 %rd4, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd4];
  ld.global.f32 %f3, [scale];
  mul.f32 %f0, %f0, %f3;
  fma.rn.f32 %f4, %f0, %f1, %f2;
  st.global.f32 [%rd4], %f4;
  ret;
}
.visible .entry shared_sum(.param .u64 out) {
  .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %p;
  .extern .shared .align 4 .b8 room[];
  mov.u32 %r0, %tid.x; mov.u32 %r1, room;
  shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2;
  st.shared.u32 [%r3], %r0;
  bar.sync 0;
  setp.ne.u32 %p, %r0, 0;
  @%p ret;
  ld.shared.u32 %r4, [%r1+124];
  ld.param.u64 %rd0, [out];
  st.global.u32 [%rd0], %r4;
  ret;
}
.visible .entry nothing() { ret; }
)";

void test_device() {
  int count = 0, major = 0, minor = 0, warp = 0, sms = 0, can = 1, version = 0;
  CUdevice device = -1;
  char name[64];
  EXPECT_OK(cuDeviceGetCount(&count));
  EXPECT(count == 1);
  EXPECT_OK(cuDeviceGet(&device, 0));
  EXPECT_ERROR(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_OK(cuDeviceGetName(name, sizeof name, device));
  EXPECT(std::strncmp(name, "Weft ", 5) == 0);
  EXPECT_OK(cuDeviceComputeCapability(&major, &minor, device));
  EXPECT(major == 7 && minor == 5);
  EXPECT_OK(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  EXPECT_OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  EXPECT(warp == 32 && sms == 2);  // the test sets sm.count=2
  EXPECT_ERROR(cuDeviceGetAttribute(&sms, 4711, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuDeviceCanAccessPeer(&can, 0, 0));
  EXPECT(can == 0);
  EXPECT_OK(cuDriverGetVersion(&version));
  EXPECT(version == 13000);
}

void test_saxpy(CUmodule module) {
  constexpr unsigned n = 3000;
  CUfunction saxpy = nullptr;
  EXPECT_OK(cuModuleGetFunction(&saxpy, module, "saxpy"));
  std::vector<float> x(n), y(n);
  for (unsigned i = 0; i < n; ++i) x[i] = static_cast<float>(i), y[i] = 1;
  CUdeviceptr dx = 0, dy = 0, scale = 0;
  std::size_t bytes = 0;
  EXPECT_OK(cuMemAlloc_v2(&dx, n * 4));
  EXPECT_OK(cuMemAlloc_v2(&dy, n * 4));
  EXPECT_OK(cuMemcpyHtoD_v2(dx, x.data(), n * 4));
  EXPECT_OK(cuMemcpyHtoD_v2(dy, y.data(), n * 4));
  float a = 0.5f;
  unsigned count = n;
  void* parameters[] = {&dx, &dy, &a, &count};
  EXPECT_OK(cuLaunchKernel(saxpy, (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_OK(cuModuleGetGlobal_v2(&scale, &bytes, module, "scale"));
  EXPECT(bytes == 4);
  const float ten = 10;
  EXPECT_OK(cuMemcpyHtoD_v2(scale, &ten, 4));

  // The same again, by a block of arguments in the layout of the parameters: 8, 8, 4, 4 bytes.
  struct {
    CUdeviceptr x, y;
    float a;
    unsigned n;
  } block = {dx, dy, 0.5f, n};
  std::size_t size = sizeof block;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  EXPECT_OK(cuLaunchKernel(saxpy, (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
  size = 20;
  EXPECT_ERROR(cuLaunchKernel(saxpy, 1, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra),
               CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuMemcpyDtoH_v2(y.data(), dy, n * 4));
  bool right = true;  // 1 + 0.5 * 2 * x + 0.5 * 10 * x
  for (unsigned i = 0; i < n; ++i) right = right && y[i] == 1 + 6 * static_cast<float>(i);
  EXPECT(right);
  EXPECT_OK(cuMemFree_v2(dx));
  EXPECT_ERROR(cuMemFree_v2(dx), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMemFree_v2(dy));
}

void test_memory() {
  std::size_t free = 0, total = 0, later = 0, pitch = 0;
  EXPECT_OK(cuMemGetInfo_v2(&free, &total));
  CUdeviceptr a = 0, b = 0, base = 0;
  EXPECT_OK(cuMemAlloc_v2(&a, 1000));
  EXPECT_OK(cuMemGetInfo_v2(&later, &total));
  EXPECT(free - later == 1000);
  EXPECT_ERROR(cuMemAlloc_v2(&b, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_OK(cuMemsetD32_v2(a, 0x01020304, 250));
  EXPECT_OK(cuMemsetD8_v2(a + 4, 0xff, 2));
  unsigned words[2];
  EXPECT_OK(cuMemcpyDtoH_v2(words, a, 8));
  EXPECT(words[0] == 0x01020304 && words[1] == 0x0102ffff);
  EXPECT_ERROR(cuMemcpyDtoH_v2(words, a + 996, 8), CUDA_ERROR_INVALID_VALUE);  // beyond the end
  EXPECT_ERROR(cuMemcpyHtoD_v2(0, words, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMemcpyDtoD_v2(a + 8, a + 4, 900));  // ranges that overlap
  EXPECT_OK(cuMemcpyDtoH_v2(words, a + 8, 8));
  EXPECT(words[0] == 0x0102ffff && words[1] == 0x01020304);
  EXPECT_OK(cuMemGetAddressRange_v2(&base, &later, a + 500));
  EXPECT(base == a && later == 1000);

  // 5 rows of 12 bytes of a pitched allocation, from the middle of a host image 20 bytes wide.
  EXPECT_OK(cuMemAllocPitch_v2(&b, &pitch, 12, 5, 4));
  EXPECT(pitch == 512);
  std::vector<unsigned char> image(20 * 7), back(12 * 5);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<unsigned char>(i);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = image.data(), copy.srcPitch = 20;
  copy.srcXInBytes = 3, copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE, copy.dstDevice = b, copy.dstPitch = pitch;
  copy.WidthInBytes = 12, copy.Height = 5;
  EXPECT_OK(cuMemcpy2D_v2(&copy));
  CUDA_MEMCPY2D out{};
  out.srcMemoryType = CU_MEMORYTYPE_DEVICE, out.srcDevice = b, out.srcPitch = pitch;
  out.dstMemoryType = CU_MEMORYTYPE_HOST, out.dstHost = back.data(), out.dstPitch = 12;
  out.WidthInBytes = 12, out.Height = 5;
  EXPECT_OK(cuMemcpy2D_v2(&out));
  EXPECT(back[0] == 23 && back[11] == 34 && back[4 * 12] == 103 && back[59] == 114);
  EXPECT_OK(cuMemFree_v2(a));
  EXPECT_OK(cuMemFree_v2(b));
}

void test_functions(CUmodule module) {
  CUfunction sum = nullptr, nothing = nullptr, none = nullptr;
  EXPECT_OK(cuModuleGetFunction(&sum, module, "shared_sum"));
  EXPECT_OK(cuModuleGetFunction(&nothing, module, "nothing"));
  EXPECT_ERROR(cuModuleGetFunction(&none, module, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
  CUdeviceptr out = 0, table = 0;
  std::size_t bytes = 0;
  unsigned value = 0, entries[4];
  EXPECT_OK(cuMemAlloc_v2(&out, 4));
  void* parameters[] = {&out};
  EXPECT_OK(cuLaunchKernel(sum, 1, 1, 1, 64, 1, 1, 256, nullptr, parameters, nullptr));
  EXPECT_OK(cuMemcpyDtoH_v2(&value, out, 4));
  EXPECT(value == 31);
  EXPECT_OK(cuModuleGetGlobal_v2(&table, &bytes, module, "table"));
  EXPECT(bytes == 16);
  EXPECT_OK(cuMemcpyDtoH_v2(entries, table, 16));
  EXPECT(entries[3] == 40);
  EXPECT_ERROR(cuModuleGetGlobal_v2(&table, &bytes, module, "no_such_variable"), CUDA_ERROR_NOT_FOUND);

  // gtx480: 48 KB of shared memory, 1024 threads per block, 8 blocks and 1536 threads per SM.
  int most = 0, blocks = 0, registers = 0;
  EXPECT_OK(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, nothing));
  EXPECT(most == 1024);
  EXPECT_OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, sum));
  EXPECT(registers > 0 && registers <= 10);
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 512, 0));
  EXPECT(blocks == 3);
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 32, 0));
  EXPECT(blocks == 8);
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 32, 20000));
  EXPECT(blocks == 2);
  for (const size_t wraps : {SIZE_MAX, SIZE_MAX - 127, size_t{1} << 63, size_t{49153}}) {
    EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 32, wraps));
    EXPECT(blocks == 0);
    EXPECT_ERROR(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, wraps | 1048576), CUDA_ERROR_INVALID_VALUE);
  }
  size_t limit = 0;
  EXPECT_OK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
  EXPECT(limit == 1024);
  EXPECT_ERROR(cuLaunchKernel(nothing, 1, 1, 1, 2048, 1, 1, 0, nullptr, nullptr, nullptr),
               CUDA_ERROR_INVALID_VALUE);
  EXPECT_ERROR(cuLaunchKernel(nothing, 0, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr),
               CUDA_ERROR_INVALID_VALUE);
  EXPECT_ERROR(cuLaunchKernel(nothing, 1, 1, 1, 32, 1, 1, 50000, nullptr, nullptr, nullptr),
               CUDA_ERROR_INVALID_VALUE);
  EXPECT_ERROR(
      cuLaunchKernel(reinterpret_cast<CUfunction>(&blocks), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr),
      CUDA_ERROR_INVALID_HANDLE);
}

// k(out): 50 values of a thread live at once; it stores their sum.
std::string many_registers() {
  std::string text =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
      ".reg .b32 %r<64>; .reg .b64 %rd<4>;\n"
      "ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd1, %rd1, %rd2;\n";
  for (int i = 1; i <= 50; ++i)
    text += "mul.lo.u32 %r" + std::to_string(i) + ", %r0, " + std::to_string(i) + ";\n";
  for (int i = 49; i >= 1; --i) text += "add.u32 %r50, %r50, %r" + std::to_string(i) + ";\n";
  return text + "st.global.u32 [%rd1], %r50;\nret;\n}\n";
}

int attribute_of(CUfunction function, CUfunction_attribute attribute) {
  int value = 0;
  EXPECT_OK(cuFuncGetAttribute(&value, attribute, function));
  return value;
}

// On whatever machine: a block of as many threads as the function may have runs, one of more does not, and
// the occupancy functions say the same.
void check_limits(CUfunction function, CUdeviceptr out) {
  const int most = attribute_of(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  int of_device = 0, blocks = 0, grid = 0, block = 0;
  EXPECT_OK(cuDeviceGetAttribute(&of_device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0));
  EXPECT(most >= 32 && most <= of_device);
  void* parameters[] = {&out};
  const auto launch = [&](int threads) {
    return cuLaunchKernel(function, 1, 1, 1, static_cast<unsigned>(threads), 1, 1, 0, nullptr, parameters,
                          nullptr);
  };
  EXPECT_OK(launch(most));
  std::vector<unsigned> sums(static_cast<std::size_t>(most));
  EXPECT_OK(cuMemcpyDtoH_v2(sums.data(), out, sums.size() * 4));
  for (unsigned i = 0; i < sums.size(); ++i) EXPECT(sums[i] == 1275 * i);
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, most, 0));
  EXPECT(blocks >= 1);
  EXPECT_OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 0, 0));
  EXPECT(block >= 32 && block <= most);
  EXPECT_OK(launch(block));
  if (most == 1024) return;
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, most + 1, 0));
  EXPECT(blocks == 0);
  EXPECT(launch(most + 1) != CUDA_SUCCESS);
}

void test_occupancy() {
  const std::string text = many_registers();
  CUdeviceptr out = 0;
  EXPECT_OK(cuMemAlloc_v2(&out, 4096));
  CUmodule module = nullptr;
  CUfunction whole = nullptr, limited = nullptr;
  EXPECT_OK(cuModuleLoadData(&module, text.c_str()));
  EXPECT_OK(cuModuleGetFunction(&whole, module, "k"));
  EXPECT(attribute_of(whole, CU_FUNC_ATTRIBUTE_NUM_REGS) >= 50);
  EXPECT(attribute_of(whole, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) == 0);
  check_limits(whole, out);
  constexpr int kThreadsPerBlock = 1;
  int options[] = {kThreadsPerBlock, CU_JIT_MAX_REGISTERS};
  void* values[] = {nullptr, reinterpret_cast<void*>(std::uintptr_t{20})};
  EXPECT_OK(cuModuleLoadDataEx(&module, text.c_str(), 2, options, values));
  EXPECT_OK(cuModuleGetFunction(&limited, module, "k"));
  // The GPU parses the text itself, and knows of no limit.
  EXPECT((attribute_of(limited, CU_FUNC_ATTRIBUTE_NUM_REGS) <= 20) != behind_driver());
  EXPECT((attribute_of(limited, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) > 0) != behind_driver());
  check_limits(limited, out);
  EXPECT_OK(cuMemFree_v2(out));
}

void test_modules(const char* folder) {
  CUmodule module = nullptr;
  EXPECT_ERROR(cuModuleLoadData(&module, ".version 7.0\n.target sm_70\n.address_size 64\n.entry f( { }\n"),
               CUDA_ERROR_INVALID_PTX);
  EXPECT_ERROR(cuModuleLoadData(&module,
                                "\x7f"
                                "ELF machine code"),
               CUDA_ERROR_NO_BINARY_FOR_GPU);
  const std::string path = std::string(folder) + "/driver_basics_module.ptx";
  std::ofstream(path) << kPtx;
  EXPECT_OK(cuModuleLoad(&module, path.c_str()));
  CUfunction nothing = nullptr;
  EXPECT_OK(cuModuleGetFunction(&nothing, module, "nothing"));
  EXPECT_OK(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_OK(cuModuleUnload(module));
  EXPECT_ERROR(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
               CUDA_ERROR_INVALID_HANDLE);
  EXPECT_ERROR(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_ERROR(cuModuleLoad(&module, "/nonexistent.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
}

void test_streams(CUmodule module) {
  CUstream stream = nullptr;
  CUevent start = nullptr, end = nullptr;
  CUfunction nothing = nullptr;
  EXPECT_OK(cuModuleGetFunction(&nothing, module, "nothing"));
  EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuEventCreate(&start, 0));
  EXPECT_OK(cuEventCreate(&end, 0));
  EXPECT_OK(cuEventRecord(start, stream));
  EXPECT_OK(cuLaunchKernel(nothing, 100, 1, 1, 256, 1, 1, 0, stream, nullptr, nullptr));
  EXPECT_OK(cuEventRecord(end, stream));
  int calls = 0;
  EXPECT_OK(cuLaunchHostFunc(stream, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT(calls == 1);
  float milliseconds = 0;
  EXPECT_OK(cuEventElapsedTime_v2(&milliseconds, start, end));
  // 100 blocks on 2 SMs at 700 MHz: some cycles for each, and no more than 1 ms.
  EXPECT(milliseconds > 50 / 700e3 && milliseconds < 1);
  EXPECT_OK(cuStreamDestroy_v2(stream));
  EXPECT_ERROR(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace

// `driver_basics occupancy`: on any machine; the rest is of gtx480.
// Where the machine's map has device memory, from argv[2] on.
int test_pointers(const char* first) {
  const CUdeviceptr base = std::strtoull(first, nullptr, 0);
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUdeviceptr here = 0, start = 0, scale = 0;
  std::size_t total = 0, bytes = 0;
  unsigned type = 0;
  EXPECT_OK(cuCtxCreate_v4(&context, nullptr, 0, 0));
  EXPECT_OK(cuMemGetInfo_v2(&bytes, &total));
  EXPECT_OK(cuMemAlloc_v2(&here, 1000));
  EXPECT(here >= base && here - base < total);
  EXPECT_OK(cuMemGetAddressRange_v2(&start, &bytes, here + 999));
  EXPECT(start == here && bytes == 1000);
  EXPECT_OK(cuPointerGetAttribute(&type, /*MEMORY_TYPE*/ 2, here + 4));
  EXPECT(type == CU_MEMORYTYPE_DEVICE);
  EXPECT_OK(cuPointerGetAttribute(&start, /*DEVICE_POINTER*/ 3, here + 4));
  EXPECT(start == here + 4);
  EXPECT_OK(cuPointerGetAttribute(&start, /*RANGE_START_ADDR*/ 11, here + 4));
  EXPECT_OK(cuPointerGetAttribute(&bytes, /*RANGE_SIZE*/ 12, here + 4));
  EXPECT(start == here && bytes == 1000);
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  EXPECT_OK(cuModuleGetGlobal_v2(&scale, &bytes, module, "scale"));
  EXPECT(scale >= base && scale - base < total);
  test_saxpy(module);
  test_memory();
  test_functions(module);
  return verdict();
}

int main(int argc, char** argv) {
  EXPECT_OK(cuInit(0));
  if (argc > 2 && std::string(argv[1]) == "pointers") return test_pointers(argv[2]);
  if (argc > 1 && std::string(argv[1]) == "occupancy") {
    CUcontext context = nullptr;
    EXPECT_OK(cuCtxCreate_v4(&context, nullptr, 0, 0));
    test_occupancy();
    return verdict();
  }
  test_device();
  CUcontext context = nullptr, now = nullptr;
  EXPECT_OK(cuCtxCreate_v4(&context, nullptr, 0, 0));
  EXPECT_OK(cuCtxGetCurrent(&now));
  EXPECT(now == context);
  CUmodule module = nullptr;
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  test_saxpy(module);
  test_memory();
  test_functions(module);
  test_occupancy();
  test_modules(argc > 1 ? argv[1] : "/tmp");
  test_streams(module);
  void* found = nullptr;
  EXPECT_OK(cuGetProcAddress_v2("cuMemAlloc", &found, 13000, 0, nullptr));
  EXPECT(found == reinterpret_cast<void*>(&cuMemAlloc_v2));
  EXPECT_ERROR(cuGetProcAddress_v2("cuNoSuchFunction", &found, 13000, 0, nullptr), CUDA_ERROR_NOT_FOUND);
  EXPECT_OK(cuCtxDestroy_v2(context));
  return verdict();
}
