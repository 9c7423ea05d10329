// Textures and surfaces as nvcc compiles them. images_nvcc13.ptx is the result of
//   nvcc -arch=sm_75 -ptx images.cu -o images_nvcc13.ptx        (CUDA 13.0)
// Thread t of n reads coordinates in[4 t ..] and writes out[4 t ..].

extern "C" __global__ void fetch_1d(cudaTextureObject_t image, const float4* in, float4* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = tex1D<float4>(image, in[t].x);
}

extern "C" __global__ void fetch_2d(cudaTextureObject_t image, const float4* in, float4* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = tex2D<float4>(image, in[t].x, in[t].y);
}

extern "C" __global__ void fetch_2d_u8(cudaTextureObject_t image, const float4* in, uint4* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const uchar4 c = tex2D<uchar4>(image, in[t].x, in[t].y);
  out[t] = make_uint4(c.x, c.y, c.z, c.w);
}

extern "C" __global__ void fetch_2d_s16(cudaTextureObject_t image, const float4* in, int4* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const short2 c = tex2D<short2>(image, in[t].x, in[t].y);
  out[t] = make_int4(c.x, c.y, 0, 0);
}

extern "C" __global__ void fetch_2d_level(cudaTextureObject_t image, const float4* in, float4* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = tex2DLod<float4>(image, in[t].x, in[t].y, in[t].z);
}

extern "C" __global__ void fetch_2d_slopes(cudaTextureObject_t image, const float4* in, float4* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = tex2DGrad<float4>(image, in[t].x, in[t].y, make_float2(in[t].z, 0), make_float2(0, in[t].w));
}

extern "C" __global__ void fetch_3d(cudaTextureObject_t image, const float4* in, float4* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = tex3D<float4>(image, in[t].x, in[t].y, in[t].z);
}

extern "C" __global__ void fetch_a1d(cudaTextureObject_t image, const float4* in, float4* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = tex1DLayered<float4>(image, in[t].x, static_cast<int>(in[t].w));
}

extern "C" __global__ void fetch_a2d(cudaTextureObject_t image, const float4* in, float4* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = tex2DLayered<float4>(image, in[t].x, in[t].y, static_cast<int>(in[t].w));
}

extern "C" __global__ void fetch_cube(cudaTextureObject_t image, const float4* in, float4* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = texCubemap<float4>(image, in[t].x, in[t].y, in[t].z);
}

extern "C" __global__ void fetch_linear(cudaTextureObject_t image, const float4* in, float4* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = tex1Dfetch<float4>(image, static_cast<int>(in[t].x));
}

extern "C" __global__ void fetch_linear_u32(cudaTextureObject_t image, const float4* in, uint4* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = tex1Dfetch<uint4>(image, static_cast<int>(in[t].x));
}

extern "C" __global__ void gather_green(cudaTextureObject_t image, const float4* in, float4* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = tex2Dgather<float4>(image, in[t].x, in[t].y, 1);
}

// Surfaces: every thread moves what lies at its place in `from` to the mirrored place in `to`.
extern "C" __global__ void copy_1d(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  surf1Dwrite(surf1Dread<float4>(from, x * 16), to, (width - 1 - x) * 16);
}

extern "C" __global__ void copy_2d(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, x = t % width, y = t / width;
  if (y >= height) return;
  surf2Dwrite(surf2Dread<uchar4>(from, x * 4, y), to, (width - 1 - x) * 4, height - 1 - y);
}

extern "C" __global__ void copy_3d(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, x = t % width, y = t / width % height, z = t / width / height;
  surf3Dwrite(surf3Dread<unsigned char>(from, x, y, z), to, x, y, z);
}

extern "C" __global__ void copy_a2d(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, x = t % width, y = t / width % height, z = t / width / height;
  surf2DLayeredwrite(surf2DLayeredread<float4>(from, x * 16, y, z), to, x * 16, y, z);
}

// Places outside: clamped reads, writes that vanish, reads of zero.
extern "C" __global__ void outside(cudaSurfaceObject_t image, unsigned* out) {
  const int x = static_cast<int>(threadIdx.x) - 8;
  out[threadIdx.x] = surf2Dread<unsigned>(image, x * 4, x, cudaBoundaryModeClamp);
  out[threadIdx.x + 32] = surf2Dread<unsigned>(image, x * 4, 0, cudaBoundaryModeZero);
  surf2Dwrite(1000u + threadIdx.x, image, x * 4, 1, cudaBoundaryModeZero);
}
