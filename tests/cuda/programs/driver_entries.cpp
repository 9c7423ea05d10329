// Looks up every name of the list that it is given, as programs that load the driver themselves do; calls
// twice what is refused; and uses names without suffix as a program of CUDA 12 does whose header did not
// replace them.
#include <dlfcn.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "driver_program.h"

extern "C" {
CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device);
CUresult cuCtxDestroy(CUcontext context);
CUresult cuCtxPushCurrent(CUcontext context);
CUresult cuCtxPopCurrent(CUcontext* context);
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device);
CUresult cuDevicePrimaryCtxRelease(CUdevice device);
CUresult cuEventDestroy(CUevent event);
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end);
CUresult cuStreamDestroy(CUstream stream);
CUresult cuMemAllocHost(void** memory, unsigned bytes);
CUresult cuMemPrefetchAsync(CUdeviceptr memory, size_t bytes, CUdevice device, CUstream stream);
CUresult cuMemAdvise(CUdeviceptr memory, size_t bytes, int advice, CUdevice device);
CUresult cuGetProcAddress(const char* name, void** function, int version, uint64_t flags);
}

namespace {

void look_up(const char* list) {
  std::ifstream file(list);
  unsigned names = 0;
  for (std::string line; std::getline(file, line); ++names) {
    std::istringstream words(line);
    std::string name, kind;
    words >> name >> kind;
    void* const found = dlsym(RTLD_DEFAULT, name.c_str());
    if (found == nullptr) std::fprintf(stderr, "%s: not found\n", name.c_str());
    EXPECT(found != nullptr);
    if (found == nullptr || kind.empty()) continue;
    const auto call = reinterpret_cast<int (*)()>(found);
    for (int i = 0; i < 2; ++i) EXPECT(call() == CUDA_ERROR_NOT_SUPPORTED);
  }
  EXPECT(names > 600);
}

void use_plain_names() {
  CUcontext context = nullptr;
  CUuuid uuid;
  CUstream stream = nullptr;
  CUevent begin = nullptr, end = nullptr;
  float milliseconds = -1;
  EXPECT_OK(cuDeviceGetUuid(&uuid, 0));
  EXPECT_OK(cuCtxCreate(&context, 0, 0));
  EXPECT_OK(cuCtxPopCurrent(&context));
  EXPECT_OK(cuCtxPushCurrent(context));
  EXPECT_OK(cuStreamCreate(&stream, 0));
  EXPECT_OK(cuEventCreate(&begin, 0));
  EXPECT_OK(cuEventCreate(&end, 0));
  EXPECT_OK(cuEventRecord(begin, stream));
  void* pinned = nullptr;
  EXPECT_OK(cuMemAllocHost(&pinned, 4096));
  CUdeviceptr managed = 0;
  EXPECT_OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  EXPECT_OK(cuMemPrefetchAsync(managed, 4096, 0, stream));
  EXPECT_OK(cuMemAdvise(managed, 4096, 1, -1));
  int read_mostly = 0, place = 4711;
  EXPECT_OK(cuMemRangeGetAttribute(&read_mostly, sizeof read_mostly, 1, managed, 4096));
  EXPECT_OK(cuMemRangeGetAttribute(&place, sizeof place, 4, managed, 4096));
  EXPECT(read_mostly == 1 && place == 0);
  EXPECT_OK(cuEventRecord(end, stream));
  EXPECT_OK(cuEventSynchronize(end));
  EXPECT_OK(cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT(milliseconds >= 0);
  void *plain = nullptr, *newest = nullptr;
  EXPECT_OK(cuGetProcAddress("cuMemAlloc", &plain, 11030, 0));
  EXPECT_OK(cuGetProcAddress_v2("cuMemAlloc_v2", &newest, 13000, 0, nullptr));
  EXPECT(plain == newest);
  EXPECT_OK(cuEventDestroy(begin));
  EXPECT_OK(cuStreamDestroy(stream));
  EXPECT_OK(cuDevicePrimaryCtxRelease(0));
  EXPECT_OK(cuCtxDestroy(context));
}

}  // namespace

int main(int argc, char** argv) {
  EXPECT_OK(cuInit(0));
  if (argc > 1) look_up(argv[1]);
  use_plain_names();
  return verdict();
}
