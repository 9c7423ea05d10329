// Recognition of handwritten digits by a convolutional network: images of 29 x 29, two layers of convolutions
// with windows of 5 x 5 that move by two, two layers of full connections. blockIdx.y is the image.
#include "weft/workloads/device.h"

constexpr int kImage = 29 * 29, kMap1 = 13 * 13, kMap2 = 5 * 5;
constexpr int kMaps1 = 6, kMaps2 = 50, kUnits3 = 100;
constexpr int kWindow = 25;

// Where the cells of a window lie from its first, in a layer of 29 and of 13 columns.
__constant__ int window_29[kWindow];
__constant__ int window_13[kWindow];

// 1.7159 tanh(2/3 x) (LeCun 1998), by the special-function unit.
__device__ static float activation(float x) {
  const float e = __expf(2.0f * 0.66666667f * x);
  return 1.7159f * (1.0f - 2.0f / (e + 1.0f));
}

// One block a map, one thread a cell. weights: of each map the bias, then its window.
extern "C" __global__ void layer_1(const float* images, const float* weights, float* maps) {
  const int map = blockIdx.x, image = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
  const float* window = images + kImage * image + y * 2 * 29 + x * 2;
  int weight = map * (kWindow + 1);
  float sum = weights[weight++];
#pragma unroll 1
  for (int i = 0; i < kWindow; ++i) sum += window[window_29[i]] * weights[weight++];
  maps[(kMaps1 * image + map) * kMap1 + y * 13 + x] = activation(sum);
}

// gridDim.x divides the maps among the blocks. weights: of each map the bias, then for each cell of the
// window those of the six maps of layer 1.
extern "C" __global__ void layer_2(const float* maps, const float* weights, float* cells) {
  const int image = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
#pragma unroll 1
  for (int map = blockIdx.x; map < kMaps2; map += gridDim.x) {
    const float* window = maps + kMaps1 * kMap1 * image + y * 2 * 13 + x * 2;
    int weight = map * (kWindow * kMaps1 + 1);
    float sum = weights[weight++];
#pragma unroll 1
    for (int i = 0; i < kWindow; ++i) {
      const int cell = window_13[i];
#pragma unroll
      for (int from = 0; from < kMaps1; ++from) sum += window[kMap1 * from + cell] * weights[weight++];
    }
    cells[(kMaps2 * image + map) * kMap2 + y * 5 + x] = activation(sum);
  }
}

// One block of one thread a unit. weights: of each unit the bias, then one for each input.
__device__ static inline __attribute__((always_inline)) void connect(const float* inputs,
                                                                     const float* weights, float* outputs,
                                                                     int count) {
  const int unit = blockIdx.x, image = blockIdx.y;
  const float* input = inputs + count * image;
  const float* weight = weights + unit * (count + 1);
  float sum = *weight++;
#pragma unroll 1
  for (int i = 0; i < count; ++i) sum += input[i] * *weight++;
  outputs[gridDim.x * image + unit] = activation(sum);
}

extern "C" __global__ void layer_3(const float* cells, const float* weights, float* units) {
  connect(cells, weights, units, kMaps2 * kMap2);
}

extern "C" __global__ void layer_4(const float* units, const float* weights, float* digits) {
  connect(units, weights, digits, kUnits3);
}
