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

#define WEFT_VECTOR_2(type, element, bytes) \
  struct alignas(bytes) type {              \
    element x, y;                           \
  }
#define WEFT_VECTOR_4(type, element, bytes) \
  struct alignas(bytes) type {              \
    element x, y, z, w;                     \
  }
WEFT_VECTOR_2(int2, int, 8);
WEFT_VECTOR_2(uint2, unsigned, 8);
WEFT_VECTOR_2(float2, float, 8);
WEFT_VECTOR_4(int4, int, 16);
WEFT_VECTOR_4(uint4, unsigned, 16);
WEFT_VECTOR_4(float4, float, 16);
WEFT_VECTOR_4(uchar4, unsigned char, 4);
#undef WEFT_VECTOR_2
#undef WEFT_VECTOR_4
struct float3 {
  float x, y, z;
};

using cudaTextureObject_t = unsigned long long;

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

WEFT_INLINE int min(int a, int b) {
  return a < b ? a : b;
}
WEFT_INLINE int max(int a, int b) {
  return a > b ? a : b;
}
WEFT_INLINE float fminf(float a, float b) {
  return __builtin_fminf(a, b);
}
WEFT_INLINE float fmaxf(float a, float b) {
  return __builtin_fmaxf(a, b);
}
WEFT_INLINE float fabsf(float x) {
  return __builtin_fabsf(x);
}
WEFT_INLINE float floorf(float x) {
  return __builtin_floorf(x);
}
WEFT_INLINE float fmaf(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
WEFT_INLINE float sqrtf(float x) {
  return __nvvm_sqrt_rn_f(x);
}
WEFT_INLINE float rsqrtf(float x) {
  return __nvvm_rsqrt_approx_f(x);
}
// The special-function unit's own, as nvcc makes them of the intrinsics of these names.
WEFT_INLINE float __fdividef(float a, float b) {
  return __nvvm_div_approx_f(a, b);
}
WEFT_INLINE float __sinf(float x) {
  return __nvvm_sin_approx_f(x);
}
WEFT_INLINE float __cosf(float x) {
  return __nvvm_cos_approx_f(x);
}
WEFT_INLINE float __expf(float x) {
  return __nvvm_ex2_approx_f(x * 1.44269504088896341f);
}
WEFT_INLINE float __logf(float x) {
  return __nvvm_lg2_approx_f(x) * 0.693147180559945309f;
}
// From libclc: its OpenCL names.
__device__ float expf(float) asm("_Z3expf");
__device__ float logf(float) asm("_Z3logf");
__device__ float sinf(float) asm("_Z3sinf");
__device__ float cosf(float) asm("_Z3cosf");
__device__ float powf(float, float) asm("_Z3powff");

WEFT_INLINE int atomicAdd(int* at, int value) {
  return __nvvm_atom_add_gen_i(at, value);
}
WEFT_INLINE unsigned atomicAdd(unsigned* at, unsigned value) {
  return static_cast<unsigned>(__nvvm_atom_add_gen_i(reinterpret_cast<int*>(at), static_cast<int>(value)));
}
WEFT_INLINE float atomicAdd(float* at, float value) {
  return __nvvm_atom_add_gen_f(at, value);
}
WEFT_INLINE int atomicMax(int* at, int value) {
  return __nvvm_atom_max_gen_i(at, value);
}
WEFT_INLINE int atomicMin(int* at, int value) {
  return __nvvm_atom_min_gen_i(at, value);
}
WEFT_INLINE int atomicExch(int* at, int value) {
  return __nvvm_atom_xchg_gen_i(at, value);
}
WEFT_INLINE int atomicCAS(int* at, int compare, int value) {
  return __nvvm_atom_cas_gen_i(at, compare, value);
}

// Other threads of the block, of the GPU, and of the whole system see the stores before it first.
WEFT_INLINE void __threadfence_block() {
  __nvvm_membar_cta();
}
WEFT_INLINE void __threadfence() {
  __nvvm_membar_gl();
}
WEFT_INLINE void __threadfence_system() {
  __nvvm_membar_sys();
}

// Texture fetches through objects. The sampler decides how coordinates are read.
template <class T>
__device__ T tex1Dfetch(cudaTextureObject_t texture, int x);
template <class T>
__device__ T tex2D(cudaTextureObject_t texture, float x, float y);
#define WEFT_FETCH_4(type, constraint, kind)                                                              \
  template <>                                                                                             \
  __device__ inline __attribute__((always_inline, nodebug)) type tex1Dfetch<type>(                        \
      cudaTextureObject_t texture, int x) {                                                               \
    type v;                                                                                               \
    asm("tex.1d.v4." kind ".s32 {%0, %1, %2, %3}, [%4, {%5}];"                                            \
        : constraint(v.x), constraint(v.y), constraint(v.z), constraint(v.w)                              \
        : "l"(texture), "r"(x));                                                                          \
    return v;                                                                                             \
  }                                                                                                       \
  template <>                                                                                             \
  __device__ inline __attribute__((always_inline, nodebug)) type tex2D<type>(cudaTextureObject_t texture, \
                                                                             float x, float y) {          \
    type v;                                                                                               \
    asm("tex.2d.v4." kind ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                        \
        : constraint(v.x), constraint(v.y), constraint(v.z), constraint(v.w)                              \
        : "l"(texture), "f"(x), "f"(y));                                                                  \
    return v;                                                                                             \
  }
WEFT_FETCH_4(float4, "=f", "f32")
WEFT_FETCH_4(uint4, "=r", "u32")
WEFT_FETCH_4(int4, "=r", "s32")
#undef WEFT_FETCH_4
#define WEFT_FETCH_1(type, vector)                                                                        \
  template <>                                                                                             \
  __device__ inline __attribute__((always_inline, nodebug)) type tex1Dfetch<type>(                        \
      cudaTextureObject_t texture, int x) {                                                               \
    return tex1Dfetch<vector>(texture, x).x;                                                              \
  }                                                                                                       \
  template <>                                                                                             \
  __device__ inline __attribute__((always_inline, nodebug)) type tex2D<type>(cudaTextureObject_t texture, \
                                                                             float x, float y) {          \
    return tex2D<vector>(texture, x, y).x;                                                                \
  }
WEFT_FETCH_1(float, float4)
WEFT_FETCH_1(unsigned, uint4)
WEFT_FETCH_1(int, int4)
#undef WEFT_FETCH_1

#undef WEFT_INLINE

// In one arm of an `if`: the PTX keeps the branch, where clang would rather choose among values (selp). The
// papers' compilers branched.
#define WEFT_KEEP_BRANCH() asm volatile("")

#else
#define WEFT_KEEP_BRANCH()
#endif  // __NVCC__
#endif
