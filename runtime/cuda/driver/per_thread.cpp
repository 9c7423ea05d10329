// The forms of the driver API that programs call whose default stream is one per thread
// (CUDA_API_PER_THREAD_DEFAULT_STREAM): a null stream means that of the calling thread.
#include "runtime/cuda/driver/driver.h"

namespace {

CUstream own(CUstream stream) {
  return stream == nullptr ? CU_STREAM_PER_THREAD : stream;
}

}  // namespace

#define WEFT_PER_THREAD(name, suffix, parameters, arguments)                                       \
  extern "C" __attribute__((visibility("default"))) CUresult name##suffix parameters; /* NOLINT */ \
  CUresult name##suffix parameters {                                                               \
    return name arguments;                                                                         \
  }

using Address = CUdeviceptr;
using Size = size_t;

WEFT_PER_THREAD(cuMemcpyAsync, _ptsz, (Address t, Address f, Size n, CUstream s), (t, f, n, own(s)))
WEFT_PER_THREAD(cuMemcpyHtoDAsync_v2, _ptsz, (Address t, const void* f, Size n, CUstream s),
                (t, f, n, own(s)))
WEFT_PER_THREAD(cuMemcpyDtoHAsync_v2, _ptsz, (void* t, Address f, Size n, CUstream s), (t, f, n, own(s)))
WEFT_PER_THREAD(cuMemcpyDtoDAsync_v2, _ptsz, (Address t, Address f, Size n, CUstream s), (t, f, n, own(s)))
WEFT_PER_THREAD(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D* c, CUstream s), (c, own(s)))
WEFT_PER_THREAD(cuMemcpy3DAsync_v2, _ptsz, (const CUDA_MEMCPY3D* c, CUstream s), (c, own(s)))
WEFT_PER_THREAD(cuMemsetD8Async, _ptsz, (Address t, unsigned char v, Size n, CUstream s), (t, v, n, own(s)))
WEFT_PER_THREAD(cuMemsetD16Async, _ptsz, (Address t, unsigned short v, Size n, CUstream s), (t, v, n, own(s)))
WEFT_PER_THREAD(cuMemsetD32Async, _ptsz, (Address t, unsigned v, Size n, CUstream s), (t, v, n, own(s)))
WEFT_PER_THREAD(cuMemsetD2D8Async, _ptsz, (Address t, Size p, unsigned char v, Size w, Size h, CUstream s),
                (t, p, v, w, h, own(s)))
WEFT_PER_THREAD(cuMemsetD2D16Async, _ptsz, (Address t, Size p, unsigned short v, Size w, Size h, CUstream s),
                (t, p, v, w, h, own(s)))
WEFT_PER_THREAD(cuMemsetD2D32Async, _ptsz, (Address t, Size p, unsigned v, Size w, Size h, CUstream s),
                (t, p, v, w, h, own(s)))
WEFT_PER_THREAD(cuMemAllocAsync, _ptsz, (Address * t, Size n, CUstream s), (t, n, own(s)))
WEFT_PER_THREAD(cuMemFreeAsync, _ptsz, (Address t, CUstream s), (t, own(s)))
WEFT_PER_THREAD(cuStreamSynchronize, _ptsz, (CUstream s), (own(s)))
WEFT_PER_THREAD(cuStreamQuery, _ptsz, (CUstream s), (own(s)))
WEFT_PER_THREAD(cuStreamWaitEvent, _ptsz, (CUstream s, CUevent e, unsigned f), (own(s), e, f))
WEFT_PER_THREAD(cuStreamAddCallback, _ptsz, (CUstream s, CUstreamCallback c, void* d, unsigned f),
                (own(s), c, d, f))
WEFT_PER_THREAD(cuLaunchHostFunc, _ptsz, (CUstream s, CUhostFn f, void* d), (own(s), f, d))
WEFT_PER_THREAD(cuStreamGetFlags, _ptsz, (CUstream s, unsigned* f), (own(s), f))
WEFT_PER_THREAD(cuStreamGetPriority, _ptsz, (CUstream s, int* p), (own(s), p))
WEFT_PER_THREAD(cuEventRecord, _ptsz, (CUevent e, CUstream s), (e, own(s)))
WEFT_PER_THREAD(cuEventRecordWithFlags, _ptsz, (CUevent e, CUstream s, unsigned f), (e, own(s), f))
WEFT_PER_THREAD(cuLaunchKernel, _ptsz,
                (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                 unsigned n, CUstream s, void** p, void** e),
                (f, gx, gy, gz, bx, by, bz, n, own(s), p, e))
WEFT_PER_THREAD(cuLaunchCooperativeKernel, _ptsz,
                (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                 unsigned n, CUstream s, void** p),
                (f, gx, gy, gz, bx, by, bz, n, own(s), p))
WEFT_PER_THREAD(cuStreamGetId, _ptsz, (CUstream s, unsigned long long* i), (own(s), i))
WEFT_PER_THREAD(cuStreamGetDevice, _ptsz, (CUstream s, CUdevice* d), (own(s), d))
WEFT_PER_THREAD(cuStreamGetCtx, _ptsz, (CUstream s, CUcontext* c), (own(s), c))
WEFT_PER_THREAD(cuStreamGetCtx_v2, _ptsz, (CUstream s, CUcontext* c, void** g), (own(s), c, g))
WEFT_PER_THREAD(cuStreamIsCapturing, _ptsz, (CUstream s, int* c), (own(s), c))
WEFT_PER_THREAD(cuStreamSetAttribute, _ptsz, (CUstream s, int a, const CUlaunchAttributeValue* v),
                (own(s), a, v))
WEFT_PER_THREAD(cuStreamGetAttribute, _ptsz, (CUstream s, int a, CUlaunchAttributeValue* v), (own(s), a, v))
WEFT_PER_THREAD(cuStreamCopyAttributes, _ptsz, (CUstream t, CUstream f), (own(t), own(f)))
WEFT_PER_THREAD(cuStreamAttachMemAsync, _ptsz, (CUstream s, Address m, Size n, unsigned f), (own(s), m, n, f))
WEFT_PER_THREAD(cuMemPrefetchAsync_v2, _ptsz, (Address m, Size n, CUmemLocation l, unsigned f, CUstream s),
                (m, n, l, f, own(s)))
WEFT_PER_THREAD(cuMemAllocFromPoolAsync, _ptsz, (Address * t, Size n, CUmemoryPool p, CUstream s),
                (t, n, p, own(s)))

extern "C" __attribute__((visibility("default"))) CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config,
                                                                                 CUfunction function,
                                                                                 void** parameters,
                                                                                 void** extra) {
  if (config == nullptr) return cuLaunchKernelEx(config, function, parameters, extra);
  CUlaunchConfig mine = *config;
  mine.hStream = own(mine.hStream);
  return cuLaunchKernelEx(&mine, function, parameters, extra);
}

// Copies that the host waits for, and fills.
WEFT_PER_THREAD(cuMemcpy, _ptds, (Address t, Address f, Size n), (t, f, n))
WEFT_PER_THREAD(cuMemcpyHtoD_v2, _ptds, (Address t, const void* f, Size n), (t, f, n))
WEFT_PER_THREAD(cuMemcpyDtoH_v2, _ptds, (void* t, Address f, Size n), (t, f, n))
WEFT_PER_THREAD(cuMemcpyDtoD_v2, _ptds, (Address t, Address f, Size n), (t, f, n))
WEFT_PER_THREAD(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D* c), (c))
WEFT_PER_THREAD(cuMemcpy2DUnaligned_v2, _ptds, (const CUDA_MEMCPY2D* c), (c))
WEFT_PER_THREAD(cuMemcpy3D_v2, _ptds, (const CUDA_MEMCPY3D* c), (c))
WEFT_PER_THREAD(cuMemsetD8_v2, _ptds, (Address t, unsigned char v, Size n), (t, v, n))
WEFT_PER_THREAD(cuMemsetD16_v2, _ptds, (Address t, unsigned short v, Size n), (t, v, n))
WEFT_PER_THREAD(cuMemsetD32_v2, _ptds, (Address t, unsigned v, Size n), (t, v, n))
WEFT_PER_THREAD(cuMemsetD2D8_v2, _ptds, (Address t, Size p, unsigned char v, Size w, Size h), (t, p, v, w, h))
WEFT_PER_THREAD(cuMemsetD2D16_v2, _ptds, (Address t, Size p, unsigned short v, Size w, Size h),
                (t, p, v, w, h))
WEFT_PER_THREAD(cuMemsetD2D32_v2, _ptds, (Address t, Size p, unsigned v, Size w, Size h), (t, p, v, w, h))
