// One feature of CUDA after the other, by its name in the table of docs/your-cuda-program.md. A feature that
// runs ends with exit code 0 if its result is right; of one that is refused the error's number is printed.
// Without a name: all names, a line each. It uses both interfaces and PTX text, so that it needs no compiler
// of CUDA's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "weft/cuda_driver.h"
#include "weft/cuda_runtime.h"

extern "C" {  // what is there to be refused
int cuGetExportTable(const void** table, const void* name);
int cuLinkCreate_v2(unsigned count, int* options, void** values, void** state);
int cuMemCreate(std::uint64_t* handle, std::size_t bytes, const void* properties, std::uint64_t flags);
int cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, std::uint32_t value, unsigned flags);
int cudaGraphCreate(void** graph, unsigned flags);
int cudaStreamBeginCapture(cudaStream_t stream, int mode);
int cudaMallocMipmappedArray(void** array, const cudaChannelFormatDesc* format, cudaExtent extent,
                             unsigned levels, unsigned flags);
int cudaIpcGetMemHandle(void* handle, void* memory);
int cudaImportExternalMemory(void** memory, const void* description);
int cudaGraphicsMapResources(int count, void** resources, cudaStream_t stream);
}

namespace {

const char* const kAdd = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry add_one(.param .u64 p) {
  .reg .b64 %a, %o; .reg .b32 %x, %t;
  ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;
  ld.global.u32 %x, [%a]; add.u32 %x, %x, 1; st.global.u32 [%a], %x;
  ret;
}
)";
const char* const kTensorCores = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b64 %a; .reg .f32 %f<8>; .reg .b32 %b<16>;
  ld.param.u64 %a, [p];
  wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%a];
  ret;
}
)";

constexpr int kWrongResult = -1;

// Ends the feature with the error of a call that should not have one.
#define CALL(call)                                \
  do {                                            \
    if (const int error_ = (call)) return error_; \
  } while (0)
#define RIGHT(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      return kWrongResult;                                                         \
    }                                                                              \
  } while (0)

constexpr int kThreads = 32;

// Launches add_one over memory of the device's own that holds 0, 1, ..., and looks at what it leaves.
template <class Start>
int adds(Start start) {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  CALL(cudaLibraryLoadData(&library, kAdd, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CALL(cudaLibraryGetKernel(&kernel, library, "add_one"));
  std::vector<int> values(kThreads);
  for (int i = 0; i < kThreads; ++i) values[static_cast<std::size_t>(i)] = i;
  void* memory = nullptr;
  CALL(cudaMalloc(&memory, kThreads * sizeof(int)));
  CALL(cudaMemcpy(memory, values.data(), kThreads * sizeof(int), cudaMemcpyHostToDevice));
  void* arguments[] = {static_cast<void*>(&memory)};
  CALL(start(kernel, arguments));
  CALL(cudaMemcpy(values.data(), memory, kThreads * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kThreads; ++i) RIGHT(values[static_cast<std::size_t>(i)] == i + 1);
  CALL(cudaFree(memory));
  CALL(cudaLibraryUnload(library));
  return 0;
}

int launch_with(const cudaLaunchAttribute* attributes, unsigned count) {
  return adds([&](cudaKernel_t kernel, void** arguments) -> int {
    cudaLaunchConfig_t config{
        dim3(1), dim3(kThreads), 0, nullptr, const_cast<cudaLaunchAttribute*>(attributes), count};
    return cudaLaunchKernelExC(&config, kernel, arguments);
  });
}

int launches() {
  CALL(launch_with(nullptr, 0));
  return adds([](cudaKernel_t kernel, void** arguments) -> int {
    return cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, kThreads, 1, 1, 0, nullptr,
                          arguments, nullptr);
  });
}

int streams() {
  return adds([](cudaKernel_t kernel, void** arguments) -> int {
    cudaStream_t first = nullptr, second = nullptr;
    cudaEvent_t begin = nullptr, done = nullptr;
    unsigned long long ids[2] = {0, 0};
    float milliseconds = -1;
    CALL(cudaStreamCreateWithPriority(&first, cudaStreamNonBlocking, -1));
    CALL(cudaStreamCreate(&second));
    CALL(cudaStreamGetId(first, &ids[0]));
    CALL(cudaStreamGetId(second, &ids[1]));
    RIGHT(ids[0] != ids[1]);
    CALL(cudaEventCreate(&begin));
    CALL(cudaEventCreate(&done));
    CALL(cudaEventRecord(begin, first));
    CALL(cudaLaunchKernel(kernel, dim3(1), dim3(kThreads), arguments, 0, first));
    CALL(cudaEventRecord(done, first));
    CALL(cudaStreamWaitEvent(second, done, 0));
    CALL(cudaStreamSynchronize(second));
    CALL(cudaEventElapsedTime(&milliseconds, begin, done));
    RIGHT(milliseconds >= 0);
    return 0;
  });
}

int functions_in_streams() {
  int called = 0;
  CALL(cudaLaunchHostFunc(nullptr, [](void* data) { *static_cast<int*>(data) = 1; }, &called));
  CALL(cudaDeviceSynchronize());
  RIGHT(called == 1);
  return 0;
}

int host_memory() {
  void *managed = nullptr, *pinned = nullptr;
  CALL(cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal));
  CALL(cudaStreamAttachMemAsync(nullptr, managed, 0, cudaMemAttachSingle));
  CALL(cudaMallocHost(&pinned, 4096));
  std::vector<char> own(4096);
  CALL(cudaHostRegister(own.data(), own.size(), 0));
  for (void* memory : {managed, pinned, static_cast<void*>(own.data())}) {
    int* const values = static_cast<int*>(memory);
    for (int i = 0; i < kThreads; ++i) values[i] = i;
    CALL(adds([&](cudaKernel_t kernel, void** arguments) -> int {
      void* mine[] = {static_cast<void*>(&memory)};
      CALL(cudaLaunchKernel(kernel, dim3(1), dim3(kThreads), mine, 0, nullptr));
      return cudaLaunchKernel(kernel, dim3(1), dim3(kThreads), arguments, 0, nullptr);
    }));
    for (int i = 0; i < kThreads; ++i) RIGHT(values[i] == i + 1);
  }
  CALL(cudaStreamAttachMemAsync(nullptr, managed, 0, 3) == cudaErrorInvalidValue ? 0 : kWrongResult);
  CALL(cudaStreamAttachMemAsync(nullptr, pinned, 0, cudaMemAttachHost) == cudaErrorInvalidValue
           ? 0
           : kWrongResult);
  CALL(cudaHostUnregister(own.data()));
  return 0;
}

std::uint64_t number_of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  std::uint64_t value = UINT64_MAX;
  return cudaMemPoolGetAttribute(pool, attribute, &value) == cudaSuccess ? value : UINT64_MAX;
}

int pools() {
  int supported = 0;
  CALL(cudaDeviceGetAttribute(&supported, 115, 0));
  RIGHT(supported == 1);
  cudaMemPool_t standard = nullptr, mine = nullptr, now = nullptr;
  CALL(cudaDeviceGetDefaultMemPool(&standard, 0));
  CALL(cudaDeviceGetMemPool(&now, 0));
  RIGHT(now == standard);
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.maxSize = 4096;
  CALL(cudaMemPoolCreate(&mine, &properties));
  CALL(cudaDeviceSetMemPool(0, mine));
  CALL(cudaDeviceGetMemPool(&now, 0));
  RIGHT(now == mine);
  // Attributes: ints, 64 bits, high-water marks.
  for (const cudaMemPoolAttr attribute :
       {cudaMemPoolReuseFollowEventDependencies, cudaMemPoolReuseAllowOpportunistic,
        cudaMemPoolReuseAllowInternalDependencies}) {
    int value = -1, off = 0;
    CALL(cudaMemPoolGetAttribute(mine, attribute, &value));
    RIGHT(value == 1);
    CALL(cudaMemPoolSetAttribute(mine, attribute, &off));
    CALL(cudaMemPoolGetAttribute(mine, attribute, &value));
    RIGHT(value == 0);
  }
  std::uint64_t threshold = 1u << 20, zero = 0;
  CALL(cudaMemPoolSetAttribute(mine, cudaMemPoolAttrReleaseThreshold, &threshold));
  RIGHT(number_of(mine, cudaMemPoolAttrReleaseThreshold) == threshold);
  void *a = nullptr, *b = nullptr, *c = nullptr;
  CALL(cudaMallocAsync(&a, 1000, nullptr));
  CALL(cudaMallocFromPoolAsync(&b, 3000, mine, nullptr));
  RIGHT(cudaMallocAsync(&c, 1000, nullptr) == cudaErrorMemoryAllocation);  // beyond maxSize
  CALL(cudaMallocFromPoolAsync(&c, 1000, standard, nullptr));
  RIGHT(number_of(mine, cudaMemPoolAttrUsedMemCurrent) == 4000);
  RIGHT(number_of(mine, cudaMemPoolAttrReservedMemCurrent) == 4000);
  RIGHT(number_of(standard, cudaMemPoolAttrUsedMemCurrent) == 1000);
  CALL(cudaFreeAsync(b, nullptr));
  RIGHT(number_of(mine, cudaMemPoolAttrUsedMemCurrent) == 1000);
  RIGHT(number_of(mine, cudaMemPoolAttrUsedMemHigh) == 4000);
  CALL(cudaMemPoolSetAttribute(mine, cudaMemPoolAttrUsedMemHigh, &zero));
  RIGHT(number_of(mine, cudaMemPoolAttrUsedMemHigh) == 1000);
  RIGHT(number_of(mine, cudaMemPoolAttrReservedMemHigh) == 4000);
  RIGHT(cudaMemPoolSetAttribute(mine, cudaMemPoolAttrUsedMemCurrent, &zero) == cudaErrorInvalidValue);
  CALL(cudaMemPoolTrimTo(mine, 0));
  // The device always reads and writes.
  cudaMemAccessDesc access{{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
  int flags = 0;
  CALL(cudaMemPoolSetAccess(mine, &access, 1));
  CALL(cudaMemPoolGetAccess(&flags, mine, &access.location));
  RIGHT(flags == cudaMemAccessFlagsProtReadWrite);
  access.flags = cudaMemAccessFlagsProtNone;
  RIGHT(cudaMemPoolSetAccess(mine, &access, 1) == cudaErrorInvalidValue);
  // The pool goes, its memory stays; the driver knows it by the same handle.
  CUmemoryPool of_driver = nullptr;
  CALL(cuDeviceGetMemPool(&of_driver, 0));
  RIGHT(static_cast<void*>(of_driver) == static_cast<void*>(mine));
  CALL(cudaMemPoolDestroy(mine));
  RIGHT(cudaMemPoolDestroy(mine) == cudaErrorInvalidValue);
  RIGHT(cudaMemPoolDestroy(standard) == cudaErrorInvalidValue);
  CALL(cudaDeviceGetMemPool(&now, 0));
  RIGHT(now == standard);
  CALL(cudaMemset(a, 1, 1000));
  CALL(cudaFree(a));
  CALL(cudaFreeAsync(c, nullptr));
  RIGHT(number_of(standard, cudaMemPoolAttrUsedMemCurrent) == 0);
  return 0;
}

int libraries() {
  const char* const directory = std::getenv("TMPDIR");
  const std::string file = std::string(directory != nullptr ? directory : "/tmp") + "/weft_features_" +
                           std::to_string(std::rand()) + ".ptx";
  std::ofstream(file) << kAdd;
  cudaLibrary_t library = nullptr;
  const int result =
      cudaLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  std::remove(file.c_str());
  CALL(result);
  unsigned count = 0;
  cudaKernel_t kernel = nullptr, listed = nullptr;
  CALL(cudaLibraryGetKernelCount(&count, library));
  RIGHT(count == 1);
  CALL(cudaLibraryGetKernel(&kernel, library, "add_one"));
  CALL(cudaLibraryEnumerateKernels(&listed, 1, library));
  RIGHT(listed == kernel);
  std::size_t offset = 1, bytes = 0;
  CALL(cudaFuncGetParamInfo(kernel, 0, &offset, &bytes));
  RIGHT(offset == 0 && bytes == 8);
  RIGHT(cudaFuncGetParamInfo(kernel, 1, &offset, &bytes) == cudaErrorInvalidValue);
  RIGHT(cudaLibraryGetKernel(&listed, library, "nonesuch") == cudaErrorSymbolNotFound);
  CALL(cudaLibraryUnload(library));
  RIGHT(cudaLibraryUnload(library) == cudaErrorInvalidResourceHandle);
  return launches();
}

int driver_functions() {
  // What a plain name means depends on the version that the program was compiled with.
  struct Meaning {
    const char *name, *symbol;
    unsigned version;
  };
  Meaning meanings[] = {{"cuMemAlloc", "cuMemAlloc_v2", 12000},
                        {"cuInit", "cuInit", 13000},
                        {"cuMemPrefetchAsync", "cuMemPrefetchAsync", 12000},
                        {"cuMemPrefetchAsync", "cuMemPrefetchAsync_v2", 13000},
                        {"cuCtxCreate", "cuCtxCreate_v2", 11030},
                        {"cuCtxCreate", "cuCtxCreate_v3", 12000},
                        {"cuCtxCreate", "cuCtxCreate_v4", 13000},
                        {"cuCtxGetDevice", "cuCtxGetDevice", 12080},
                        {"cuGetProcAddress", "cuGetProcAddress", 11030}};
  for (const Meaning& meaning : meanings) {
    void *found = nullptr, *expected = nullptr;
    int status = -1;
    CALL(cudaGetDriverEntryPointByVersion(meaning.name, &found, meaning.version, 0, &status));
    CALL(cuGetProcAddress_v2(meaning.symbol, &expected, 3020, 0, nullptr));
    if (found != expected || found == nullptr || status != 0) {
      std::fprintf(stderr, "%s of version %u is not %s\n", meaning.name, meaning.version, meaning.symbol);
      return kWrongResult;
    }
  }
  void* found = meanings;  // anything but null
  int status = -1;
  CALL(cudaGetDriverEntryPoint("cuNonesuch", &found, 0, &status));
  RIGHT(status == 1 && found == nullptr);
  RIGHT(cudaGetDriverEntryPoint("cuNonesuch", &found, 0, nullptr) == cudaErrorSymbolNotFound);
  return 0;
}

int launch_attributes() {
  std::vector<cudaLaunchAttribute> attributes;
  const auto add = [&](int id) -> cudaLaunchAttributeValue& {
    attributes.push_back({});
    std::memset(&attributes.back(), 0, sizeof attributes.back());
    attributes.back().id = id;
    return attributes.back().val;
  };
  cudaEvent_t event = nullptr;
  CALL(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  add(cudaLaunchAttributePriority).priority = -1;
  add(cudaLaunchAttributeProgrammaticStreamSerialization).programmaticStreamSerializationAllowed = 1;
  add(cudaLaunchAttributeAccessPolicyWindow);
  add(cudaLaunchAttributeMemSyncDomain);
  add(cudaLaunchAttributeCooperative);  // 0: no
  add(cudaLaunchAttributeClusterDimension).clusterDim = {1, 1, 1};
  add(cudaLaunchAttributeLaunchCompletionEvent).launchCompletionEvent.event = event;
  CALL(launch_with(attributes.data(), static_cast<unsigned>(attributes.size())));
  CALL(cudaEventQuery(event));
  add(4711);
  RIGHT(launch_with(attributes.data(), static_cast<unsigned>(attributes.size())) == cudaErrorInvalidValue);
  return 0;
}

int stream_attributes() {
  cudaStream_t one = nullptr, other = nullptr;
  CALL(cudaStreamCreate(&one));
  CALL(cudaStreamCreate(&other));
  cudaLaunchAttributeValue set, got;
  std::memset(&set, 0, sizeof set);
  set.accessPolicyWindow = {&set, 4096, 0.5F, 2, 1};
  CALL(cudaStreamSetAttribute(one, cudaLaunchAttributeAccessPolicyWindow, &set));
  CALL(cudaStreamGetAttribute(other, cudaLaunchAttributeAccessPolicyWindow, &got));
  RIGHT(got.accessPolicyWindow.num_bytes == 0);
  CALL(cudaStreamCopyAttributes(other, one));
  CALL(cudaStreamGetAttribute(other, cudaLaunchAttributeAccessPolicyWindow, &got));
  RIGHT(got.accessPolicyWindow.base_ptr == &set && got.accessPolicyWindow.num_bytes == 4096 &&
        got.accessPolicyWindow.hitRatio == 0.5F && got.accessPolicyWindow.hitProp == 2 &&
        got.accessPolicyWindow.missProp == 1);
  set.accessPolicyWindow.hitRatio = 2;
  RIGHT(cudaStreamSetAttribute(one, cudaLaunchAttributeAccessPolicyWindow, &set) == cudaErrorInvalidValue);
  set.syncPolicy = 3;
  CALL(cudaStreamSetAttribute(one, cudaLaunchAttributeSynchronizationPolicy, &set));
  CALL(cudaStreamGetAttribute(one, cudaLaunchAttributeSynchronizationPolicy, &got));
  RIGHT(got.syncPolicy == 3);
  RIGHT(cudaStreamSetAttribute(one, cudaLaunchAttributeCooperative, &set) == cudaErrorInvalidValue);
  CALL(cudaCtxResetPersistingL2Cache());
  return 0;
}

int hints() {
  void* memory = nullptr;
  CALL(cudaMallocManaged(&memory, 4096, cudaMemAttachGlobal));
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0}, host{cudaMemLocationTypeHost, 0};
  const auto told = [&](int attribute) {
    int value = 4711;
    return cudaMemRangeGetAttribute(&value, sizeof value, attribute, memory, 4096) == cudaSuccess ? value
                                                                                                  : 4711;
  };
  RIGHT(told(cudaMemRangeAttributeReadMostly) == 0);
  RIGHT(told(cudaMemRangeAttributePreferredLocation) == cudaInvalidDeviceId);
  CALL(cudaMemAdvise(memory, 4096, cudaMemAdviseSetReadMostly, device));
  CALL(cudaMemAdvise(memory, 4096, cudaMemAdviseSetPreferredLocation, host));
  CALL(cudaMemAdvise(memory, 4096, cudaMemAdviseSetAccessedBy, device));
  CALL(cudaMemPrefetchAsync(memory, 4096, device, 0, nullptr));
  RIGHT(told(cudaMemRangeAttributeReadMostly) == 1);
  RIGHT(told(cudaMemRangeAttributePreferredLocation) == cudaCpuDeviceId);
  RIGHT(told(cudaMemRangeAttributePreferredLocationType) == cudaMemLocationTypeHost);
  RIGHT(told(cudaMemRangeAttributeLastPrefetchLocation) == 0);
  int users[2] = {4711, 4711};
  CALL(cudaMemRangeGetAttribute(users, sizeof users, cudaMemRangeAttributeAccessedBy, memory, 4096));
  RIGHT(users[0] == 0 && users[1] == cudaInvalidDeviceId);
  CALL(cudaMemAdvise(memory, 4096, cudaMemAdviseUnsetReadMostly, device));
  RIGHT(told(cudaMemRangeAttributeReadMostly) == 0);
  RIGHT(cudaMemAdvise(memory, 4096, 4711, device) == cudaErrorInvalidValue);
  return 0;
}

int arrays() {
  const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindFloat};
  cudaArray_t array = nullptr;
  CALL(cudaMallocArray(&array, &format, 8, 4, 0));
  std::vector<float> in(32), out(32);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  CALL(cudaMemcpy2DToArray(array, 0, 0, in.data(), 32, 32, 4, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2DFromArray(out.data(), 32, array, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
  RIGHT(in == out);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how{};
  cudaTextureObject_t texture = 0;
  CALL(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  CALL(cudaDestroyTextureObject(texture));
  return cudaFreeArray(array);
}

int profiler() {
  CALL(cudaProfilerStart());
  CALL(launches());
  return cudaProfilerStop();
}

int much_shared_memory() {
  return adds([](cudaKernel_t kernel, void** arguments) -> int {
    constexpr int kBytes = 98304;
    CALL(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    return cudaLaunchKernel(kernel, dim3(1), dim3(kThreads), arguments, kBytes, nullptr);
  });
}

int much_memory() {
  void* memory = nullptr;
  CALL(cudaMalloc(&memory, std::size_t{1700000000}));
  CALL(cudaMemset(static_cast<char*>(memory) + 1699999999, 1, 1));
  return launches();
}

int clusters() {
  cudaLaunchAttribute attribute;
  std::memset(&attribute, 0, sizeof attribute);
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  return launch_with(&attribute, 1);
}

int cooperative() {
  return adds([](cudaKernel_t kernel, void** arguments) -> int {
    return cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(kThreads), arguments, 0, nullptr);
  });
}

int graphs() {
  void* graph = nullptr;
  return cudaGraphCreate(&graph, 0);
}
int capture() {
  cudaStream_t stream = nullptr;
  CALL(cudaStreamCreate(&stream));
  return cudaStreamBeginCapture(stream, 0);
}
int mipmaps() {
  const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindFloat};
  void* array = nullptr;
  return cudaMallocMipmappedArray(&array, &format, {8, 8, 0}, 2, 0);
}
int linking() {
  void* state = nullptr;
  return cuLinkCreate_v2(0, nullptr, nullptr, &state);
}

// As nvcc -rdc=true registers device code that is to be linked.
int separate_compilation() {
  struct {
    unsigned magic = 0x466243B1, version = 2;
    const void *fatbin = nullptr, *linked = nullptr;
  } static wrapper;
  cudaLibrary_t library = nullptr;
  return cudaLibraryLoadData(&library, &wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0);
}
int machine_code() {
  static const unsigned elf[16] = {0x464C457F};
  cudaLibrary_t library = nullptr;
  return cudaLibraryLoadData(&library, elf, nullptr, nullptr, 0, nullptr, nullptr, 0);
}
int static_runtime() {
  const void* table = nullptr;
  const int result = cuGetExportTable(&table, nullptr);
  return table == nullptr ? result : 0;
}
int virtual_memory() {
  std::uint64_t handle = 0;
  return cuMemCreate(&handle, 1u << 21, nullptr, 0);
}
int waiting_for_values() {
  return cuStreamWaitValue32_v2(nullptr, 0, 0, 0);
}
int other_processes() {
  char handle[64];
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.handleTypes = 1;
  RIGHT(cudaMemPoolCreate(&pool, &properties) == cudaErrorNotSupported);
  return cudaIpcGetMemHandle(handle, nullptr);
}
int external_memory() {
  void* memory = nullptr;
  return cudaImportExternalMemory(&memory, nullptr);
}
int graphics() {
  return cudaGraphicsMapResources(0, nullptr, nullptr);
}
int tensor_cores() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr memory = 0;
  CALL(cuModuleLoadData(&module, kTensorCores));
  CALL(cuModuleGetFunction(&function, module, "k"));
  CALL(cuMemAlloc_v2(&memory, 4096));
  void* arguments[] = {&memory};
  return cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
}

struct Feature {
  const char* name;
  int (*use)();
};
const Feature kFeatures[] = {
    {"Launches, by the runtime and by the driver API", launches},
    {"Streams and events", streams},
    {"Functions in streams", functions_in_streams},
    {"Managed, pinned and registered memory", host_memory},
    {"Memory pools and allocations in streams", pools},
    {"Hints about managed memory", hints},
    {"Arrays, textures and surfaces", arrays},
    {"Libraries and modules loaded at run time", libraries},
    {"Functions of the driver by name", driver_functions},
    {"Launch attributes", launch_attributes},
    {"Stream attributes", stream_attributes},
    {"Regions of the profiler", profiler},
    {"More shared memory than the machine has", much_shared_memory},
    {"More device memory than the machine has", much_memory},
    {"Clusters of thread blocks", clusters},
    {"Cooperative launches", cooperative},
    {"Graphs", graphs},
    {"Stream capture", capture},
    {"Mipmapped arrays", mipmaps},
    {"Linking at run time", linking},
    {"Separate compilation", separate_compilation},
    {"Machine code without PTX", machine_code},
    {"The static runtime library, and NVIDIA's libraries", static_runtime},
    {"Virtual memory management", virtual_memory},
    {"Streams that wait for a value", waiting_for_values},
    {"Memory of other processes", other_processes},
    {"External memory and semaphores", external_memory},
    {"Graphics interoperability", graphics},
    {"Tensor cores", tensor_cores},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    for (const Feature& feature : kFeatures) std::printf("%s\n", feature.name);
    return 0;
  }
  for (const Feature& feature : kFeatures) {
    if (std::strcmp(feature.name, argv[1]) != 0) continue;
    const int result = feature.use();
    if (result > 0) std::printf("error %d\n", result);
    return result < 0 ? 1 : 0;
  }
  std::fprintf(stderr, "no such feature: %s\n", argv[1]);
  return 2;
}
