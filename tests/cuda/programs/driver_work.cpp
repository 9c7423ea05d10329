// More work than fits at once: launches, rows and parameters without waiting; kernels that allocate, and one
// with large local variables between them.
#include <cstdint>
#include <vector>

#include "driver_program.h"

namespace {

const char* const kPtx = R"(
.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b64 address) malloc(.param .b64 bytes);
.extern .func free(.param .b64 address);
.visible .entry add(.param .u64 at, .param .u32 value) {
  .reg .b64 %rd<2>; .reg .b32 %r<3>;
  ld.param.u64 %rd0, [at]; ld.param.u32 %r0, [value];
  ld.global.u32 %r1, [%rd0];
  add.u32 %r1, %r1, %r0;
  st.global.u32 [%rd0], %r1;
  ret;
}
// Allocates, keeps 77 there, and stores the address; 0 if there is no room.
.visible .entry keep(.param .u64 at, .param .u64 bytes) {
  .reg .b64 %rd<3>; .reg .b32 %r<1>; .reg .pred %p<1>;
  ld.param.u64 %rd0, [at]; ld.param.u64 %rd1, [bytes];
  {
    .param .b64 size; .param .b64 got;
    st.param.b64 [size], %rd1;
    call.uni (got), malloc, (size);
    ld.param.b64 %rd2, [got];
  }
  st.global.u64 [%rd0], %rd2;
  setp.eq.u64 %p0, %rd2, 0;
  @%p0 bra DONE;
  mov.u32 %r0, 77;
  st.u32 [%rd2], %r0;
DONE:
  ret;
}
// Loads what is kept, stores it in the place of the address, and frees it.
.visible .entry give_back(.param .u64 at) {
  .reg .b64 %rd<2>; .reg .b32 %r<1>;
  ld.param.u64 %rd0, [at];
  ld.global.u64 %rd1, [%rd0];
  ld.u32 %r0, [%rd1];
  {
    .param .b64 address;
    st.param.b64 [address], %rd1;
    call.uni free, (address);
  }
  cvt.u64.u32 %rd1, %r0;
  st.global.u64 [%rd0], %rd1;
  ret;
}
// The sum of 0 to 1023, by way of 4 KiB of local variables.
.visible .entry large(.param .u64 at) {
  .local .align 4 .b8 room[4096];
  .reg .b64 %rd<4>; .reg .b32 %r<3>; .reg .pred %p<1>;
  ld.param.u64 %rd0, [at];
  mov.u64 %rd1, room;
  mov.u32 %r0, 0;
WRITE:
  mul.wide.u32 %rd2, %r0, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.local.u32 [%rd2], %r0;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p0, %r0, 1024;
  @%p0 bra WRITE;
  mov.u32 %r2, 0;
READ:
  sub.u32 %r0, %r0, 1;
  mul.wide.u32 %rd2, %r0, 4;
  add.u64 %rd2, %rd1, %rd2;
  ld.local.u32 %r1, [%rd2];
  add.u32 %r2, %r2, %r1;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra READ;
  cvt.u64.u32 %rd3, %r2;
  st.global.u64 [%rd0], %rd3;
  ret;
}
)";

CUfunction function_of(CUmodule module, const char* name) {
  CUfunction function = nullptr;
  EXPECT_OK(cuModuleGetFunction(&function, module, name));
  return function;
}

void launch(CUfunction function, CUstream stream, void** parameters) {
  EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
}

std::uint64_t value_at(CUdeviceptr memory) {
  std::uint64_t value = 0;
  EXPECT_OK(cuMemcpyDtoH_v2(&value, memory, sizeof value));
  return value;
}

void test_launches(CUmodule module, CUdeviceptr memory) {
  constexpr std::uint32_t kLaunches = 1500;
  CUfunction add = function_of(module, "add");
  EXPECT_OK(cuMemsetD32_v2(memory, 0, 2));
  CUstream streams[3];
  for (CUstream& stream : streams) EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  // One stream after the other, by events: all add to the same word.
  CUevent event = nullptr;
  EXPECT_OK(cuEventCreate(&event, 0));
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < kLaunches; ++i) {
    CUstream stream = streams[i / 100 % 3];
    if (i % 100 == 0) EXPECT_OK(cuStreamWaitEvent(stream, event, 0));
    void* parameters[] = {&memory, &i};
    launch(add, stream, parameters);
    if (i % 100 == 99) EXPECT_OK(cuEventRecord(event, stream));
    sum += i;
  }
  EXPECT_OK(cuCtxSynchronize());
  EXPECT(value_at(memory) == sum);
  EXPECT_OK(cuEventDestroy_v2(event));
  for (CUstream stream : streams) EXPECT_OK(cuStreamDestroy_v2(stream));
}

// A row, a gap, a row: each row is a copy of its own.
void test_rows() {
  constexpr std::size_t kRows = 700, kWidth = 52;
  CUdeviceptr memory = 0;
  std::size_t pitch = 0;
  std::uint8_t* pinned = nullptr;
  EXPECT_OK(cuMemAllocPitch_v2(&memory, &pitch, kWidth, kRows, 4));
  EXPECT_OK(cuMemAllocHost_v2(reinterpret_cast<void**>(&pinned), kRows * kWidth));
  for (std::size_t i = 0; i < kRows * kWidth; ++i) pinned[i] = static_cast<std::uint8_t>(i * 7);
  EXPECT_OK(cuMemsetD8_v2(memory, 0xee, pitch * kRows));
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = pinned;
  copy.srcPitch = kWidth;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory;
  copy.dstPitch = pitch;
  copy.WidthInBytes = kWidth;
  copy.Height = kRows;
  EXPECT_OK(cuMemcpy2D_v2(&copy));
  EXPECT_OK(cuMemsetD2D8_v2(memory + 1, pitch, 0x11, 2, kRows));
  std::vector<std::uint8_t> all(pitch * kRows);
  EXPECT_OK(cuMemcpyDtoH_v2(all.data(), memory, all.size()));
  bool right = true;
  for (std::size_t y = 0; y < kRows; ++y) {
    for (std::size_t x = 0; x < pitch; ++x) {
      const std::uint8_t written = x < kWidth ? pinned[y * kWidth + x] : 0xee;
      right = right && all[y * pitch + x] == (x == 1 || x == 2 ? 0x11 : written);
    }
  }
  EXPECT(right);
  EXPECT_OK(cuMemFreeHost(pinned));
  EXPECT_OK(cuMemFree_v2(memory));
}

void test_heap(CUmodule module, CUdeviceptr memory) {
  CUfunction keep = function_of(module, "keep"), give_back = function_of(module, "give_back");
  std::uint64_t bytes = 1 << 20;
  CUdeviceptr places[] = {memory, memory + 8, memory + 16, memory + 24};
  for (CUdeviceptr& place : places) {
    void* parameters[] = {&place, &bytes};
    launch(keep, nullptr, parameters);
  }
  EXPECT_OK(cuCtxSynchronize());
  // The heap has 3 MiB: not all of it can be taken by pieces of one.
  EXPECT(value_at(places[0]) != 0 && value_at(places[1]) != 0 && value_at(places[1]) != value_at(places[0]));
  EXPECT(value_at(places[3]) == 0);
  // What is kept stays, whatever a kernel between needs.
  CUdeviceptr sum = memory + 32;
  void* parameters[] = {&sum};
  launch(function_of(module, "large"), nullptr, parameters);
  for (int i = 0; i < 2; ++i) {
    void* kept[] = {&places[i]};
    launch(give_back, nullptr, kept);
  }
  EXPECT_OK(cuCtxSynchronize());
  EXPECT(value_at(sum) == 1023 * 1024 / 2);
  EXPECT(value_at(places[0]) == 77 && value_at(places[1]) == 77);
}

}  // namespace

int main() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUdeviceptr memory = 0;
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cuCtxCreate_v4(&context, nullptr, 0, 0));
  EXPECT_OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 3 << 20));
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  EXPECT_OK(cuMemAlloc_v2(&memory, 4096));
  test_launches(module, memory);
  test_rows();
  test_heap(module, memory);
  return verdict();
}
