// The little of CUDA's device side that the workloads use, on clang's own builtins: the same kernels compile
// with nvcc, which brings its own declarations, and with clang without any CUDA toolkit.
//
// The wrappers are `nodebug`, so that line information in the PTX points into the kernels and not here.
#ifndef WEFT_WORKLOADS_DEVICE_H
#define WEFT_WORKLOADS_DEVICE_H

#ifndef __NVCC__

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

#define WEFT_INLINE __device__ static inline __attribute__((always_inline, nodebug))

struct alignas(16) float4 {
  float x, y, z, w;
};

namespace weft_device {

// A vector whose members are special registers, read where they are named.
#define WEFT_SPECIAL(member, builtin)                                                        \
  __declspec(property(get = get_##member)) unsigned member;                                  \
  __device__ static inline __attribute__((always_inline, nodebug)) unsigned get_##member() { \
    return builtin();                                                                        \
  }
#define WEFT_SPECIAL_VECTOR(type, name)              \
  struct type {                                      \
    WEFT_SPECIAL(x, __nvvm_read_ptx_sreg_##name##_x) \
    WEFT_SPECIAL(y, __nvvm_read_ptx_sreg_##name##_y) \
    WEFT_SPECIAL(z, __nvvm_read_ptx_sreg_##name##_z) \
  }
WEFT_SPECIAL_VECTOR(ThreadIdx, tid);
WEFT_SPECIAL_VECTOR(BlockIdx, ctaid);
WEFT_SPECIAL_VECTOR(BlockDim, ntid);
WEFT_SPECIAL_VECTOR(GridDim, nctaid);
#undef WEFT_SPECIAL_VECTOR
#undef WEFT_SPECIAL

}  // namespace weft_device

// Declared, never defined: no member has storage.
extern const __device__ weft_device::ThreadIdx threadIdx;
extern const __device__ weft_device::BlockIdx blockIdx;
extern const __device__ weft_device::BlockDim blockDim;
extern const __device__ weft_device::GridDim gridDim;

WEFT_INLINE float rsqrtf(float x) {
  return __nvvm_rsqrt_approx_f(x);
}

#undef WEFT_INLINE

#endif  // __NVCC__
#endif
