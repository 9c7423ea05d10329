// Groups of four lanes shuffle under a full mask while the other groups pass the region by, as segmented sorts
// do. guarded_shuffle.ptx is what nvcc makes of it: nvcc -ptx -arch=compute_75 guarded_shuffle.cu
extern "C" __global__ void k(int* out, const int* sizes) {
  const int group = threadIdx.x >> 2;
  int value = threadIdx.x;
  if (group < sizes[0]) {
    for (int i = 0; i < sizes[1]; ++i) value += __shfl_xor_sync(0xffffffffu, value, 1);
    out[threadIdx.x] = value;
  }
  out[32 + threadIdx.x] = value + sizes[2];
}
