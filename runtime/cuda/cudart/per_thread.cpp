// The forms of the runtime API that programs call whose default stream is one per thread (nvcc
// --default-stream per-thread): a null stream means that of the calling thread.
#include "runtime/cuda/cudart/cudart.h"

namespace {

cudaStream_t own(cudaStream_t stream) {
  return stream == nullptr ? cudaStreamPerThread : stream;
}

}  // namespace

#define WEFT_PER_THREAD(name, suffix, parameters, arguments)                                          \
  extern "C" __attribute__((visibility("default"))) cudaError_t name##suffix parameters; /* NOLINT */ \
  cudaError_t name##suffix parameters {                                                               \
    return name arguments;                                                                            \
  }

using Size = std::size_t;
using Kind = cudaMemcpyKind;
using Callback = cudaStreamCallback_t;

WEFT_PER_THREAD(cudaMemcpyAsync, _ptsz, (void* t, const void* f, Size n, Kind k, cudaStream_t s),
                (t, f, n, k, own(s)))
WEFT_PER_THREAD(cudaMemcpy2DAsync, _ptsz,
                (void* t, Size tp, const void* f, Size fp, Size w, Size h, Kind k, cudaStream_t s),
                (t, tp, f, fp, w, h, k, own(s)))
WEFT_PER_THREAD(cudaMemcpy3DAsync, _ptsz, (const cudaMemcpy3DParms* p, cudaStream_t s), (p, own(s)))
WEFT_PER_THREAD(cudaMemsetAsync, _ptsz, (void* t, int v, Size n, cudaStream_t s), (t, v, n, own(s)))
WEFT_PER_THREAD(cudaMemset2DAsync, _ptsz, (void* t, Size p, int v, Size w, Size h, cudaStream_t s),
                (t, p, v, w, h, own(s)))
WEFT_PER_THREAD(cudaMemset3DAsync, _ptsz, (cudaPitchedPtr t, int v, cudaExtent e, cudaStream_t s),
                (t, v, e, own(s)))
WEFT_PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz,
                (const void* y, const void* f, Size n, Size o, Kind k, cudaStream_t s),
                (y, f, n, o, k, own(s)))
WEFT_PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz,
                (void* t, const void* y, Size n, Size o, Kind k, cudaStream_t s), (t, y, n, o, k, own(s)))
WEFT_PER_THREAD(cudaMemcpy2DToArrayAsync, _ptsz,
                (cudaArray_t t, Size x, Size y, const void* f, Size p, Size w, Size h, Kind k,
                 cudaStream_t s),
                (t, x, y, f, p, w, h, k, own(s)))
WEFT_PER_THREAD(cudaMemcpy2DFromArrayAsync, _ptsz,
                (void* t, Size p, cudaArray_const_t f, Size x, Size y, Size w, Size h, Kind k,
                 cudaStream_t s),
                (t, p, f, x, y, w, h, k, own(s)))
WEFT_PER_THREAD(cudaMallocAsync, _ptsz, (void** m, Size n, cudaStream_t s), (m, n, own(s)))
WEFT_PER_THREAD(cudaFreeAsync, _ptsz, (void* m, cudaStream_t s), (m, own(s)))
WEFT_PER_THREAD(cudaStreamSynchronize, _ptsz, (cudaStream_t s), (own(s)))
WEFT_PER_THREAD(cudaStreamQuery, _ptsz, (cudaStream_t s), (own(s)))
WEFT_PER_THREAD(cudaStreamWaitEvent, _ptsz, (cudaStream_t s, cudaEvent_t e, unsigned f), (own(s), e, f))
WEFT_PER_THREAD(cudaStreamAddCallback, _ptsz, (cudaStream_t s, Callback c, void* d, unsigned f),
                (own(s), c, d, f))
WEFT_PER_THREAD(cudaLaunchHostFunc, _ptsz, (cudaStream_t s, cudaHostFn_t f, void* d), (own(s), f, d))
WEFT_PER_THREAD(cudaStreamGetFlags, _ptsz, (cudaStream_t s, unsigned* f), (own(s), f))
WEFT_PER_THREAD(cudaStreamGetPriority, _ptsz, (cudaStream_t s, int* p), (own(s), p))
WEFT_PER_THREAD(cudaStreamIsCapturing, _ptsz, (cudaStream_t s, int* c), (own(s), c))
WEFT_PER_THREAD(cudaEventRecord, _ptsz, (cudaEvent_t e, cudaStream_t s), (e, own(s)))
WEFT_PER_THREAD(cudaEventRecordWithFlags, _ptsz, (cudaEvent_t e, cudaStream_t s, unsigned f), (e, own(s), f))
WEFT_PER_THREAD(cudaLaunchKernel, _ptsz, (const void* f, dim3 g, dim3 b, void** a, Size n, cudaStream_t s),
                (f, g, b, a, n, own(s)))
WEFT_PER_THREAD(cudaLaunchCooperativeKernel, _ptsz,
                (const void* f, dim3 g, dim3 b, void** a, Size n, cudaStream_t s), (f, g, b, a, n, own(s)))
WEFT_PER_THREAD(__cudaLaunchKernel, _ptsz, (cudaKernel_t f, dim3 g, dim3 b, void** a, Size n, cudaStream_t s),
                (f, g, b, a, n, own(s)))
WEFT_PER_THREAD(cudaMallocFromPoolAsync, _ptsz, (void** m, Size n, cudaMemPool_t p, cudaStream_t s),
                (m, n, p, own(s)))
WEFT_PER_THREAD(cudaStreamGetId, _ptsz, (cudaStream_t s, unsigned long long* i), (own(s), i))
WEFT_PER_THREAD(cudaStreamGetDevice, _ptsz, (cudaStream_t s, int* d), (own(s), d))
WEFT_PER_THREAD(cudaStreamSetAttribute, _ptsz, (cudaStream_t s, int a, const cudaLaunchAttributeValue* v),
                (own(s), a, v))
WEFT_PER_THREAD(cudaStreamGetAttribute, _ptsz, (cudaStream_t s, int a, cudaLaunchAttributeValue* v),
                (own(s), a, v))
WEFT_PER_THREAD(cudaStreamCopyAttributes, _ptsz, (cudaStream_t t, cudaStream_t f), (own(t), own(f)))
WEFT_PER_THREAD(cudaStreamAttachMemAsync, _ptsz, (cudaStream_t s, void* m, Size n, unsigned f),
                (own(s), m, n, f))

// A null stream is the calling thread's, if the function that is found has one.
constexpr unsigned long long kPerThread = 2;  // cudaEnablePerThreadDefaultStream
WEFT_PER_THREAD(cudaGetDriverEntryPoint, _ptsz, (const char* n, void** f, unsigned long long g, int* s),
                (n, f, g == 0 ? kPerThread : g, s))
WEFT_PER_THREAD(cudaGetDriverEntryPointByVersion, _ptsz,
                (const char* n, void** f, unsigned v, unsigned long long g, int* s),
                (n, f, v, g == 0 ? kPerThread : g, s))

// Copies that the host waits for.
WEFT_PER_THREAD(cudaMemcpy, _ptds, (void* t, const void* f, Size n, Kind k), (t, f, n, k))
WEFT_PER_THREAD(cudaMemcpy2D, _ptds, (void* t, Size tp, const void* f, Size fp, Size w, Size h, Kind k),
                (t, tp, f, fp, w, h, k))
WEFT_PER_THREAD(cudaMemcpy3D, _ptds, (const cudaMemcpy3DParms* p), (p))
WEFT_PER_THREAD(cudaMemset, _ptds, (void* t, int v, Size n), (t, v, n))
WEFT_PER_THREAD(cudaMemset2D, _ptds, (void* t, Size p, int v, Size w, Size h), (t, p, v, w, h))
WEFT_PER_THREAD(cudaMemset3D, _ptds, (cudaPitchedPtr t, int v, cudaExtent e), (t, v, e))
WEFT_PER_THREAD(cudaMemcpyToSymbol, _ptds, (const void* y, const void* f, Size n, Size o, Kind k),
                (y, f, n, o, k))
WEFT_PER_THREAD(cudaMemcpyFromSymbol, _ptds, (void* t, const void* y, Size n, Size o, Kind k),
                (t, y, n, o, k))
WEFT_PER_THREAD(cudaMemcpyToArray, _ptds, (cudaArray_t t, Size x, Size y, const void* f, Size n, Kind k),
                (t, x, y, f, n, k))
WEFT_PER_THREAD(cudaMemcpyFromArray, _ptds, (void* t, cudaArray_const_t f, Size x, Size y, Size n, Kind k),
                (t, f, x, y, n, k))
WEFT_PER_THREAD(cudaMemcpy2DToArray, _ptds,
                (cudaArray_t t, Size x, Size y, const void* f, Size p, Size w, Size h, Kind k),
                (t, x, y, f, p, w, h, k))
WEFT_PER_THREAD(cudaMemcpy2DFromArray, _ptds,
                (void* t, Size p, cudaArray_const_t f, Size x, Size y, Size w, Size h, Kind k),
                (t, p, f, x, y, w, h, k))
WEFT_PER_THREAD(cudaMemcpy2DArrayToArray, _ptds,
                (cudaArray_t t, Size tx, Size ty, cudaArray_const_t f, Size x, Size y, Size w, Size h,
                 Kind k),
                (t, tx, ty, f, x, y, w, h, k))

extern "C" __attribute__((visibility("default"))) cudaError_t
cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  if (config == nullptr) return cudaLaunchKernelExC(config, function, arguments);
  cudaLaunchConfig_t mine = *config;
  mine.stream = own(mine.stream);
  return cudaLaunchKernelExC(&mine, function, arguments);
}
