// Speckle-reducing anisotropic diffusion of an ultrasonic image (Yu, Acton 2002): the first kernel finds how
// much each cell diffuses, the second moves it. Blocks of 16 x 16 stage their tile and its borders in shared
// memory.
#include "weft/workloads/device.h"

constexpr int kTile = 16;

extern "C" __global__ void coefficients(const float* image, float* to_north, float* to_south, float* to_west,
                                        float* to_east, float* coefficient, int columns, int rows,
                                        float speckle) {
  __shared__ float here[kTile][kTile];
  __shared__ float north[kTile][kTile];
  __shared__ float south[kTile][kTile];
  __shared__ float west[kTile][kTile];
  __shared__ float east[kTile][kTile];
  __shared__ float result[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = kTile * blockIdx.x + tx, y = kTile * blockIdx.y + ty;
  const int at = y * columns + x;

  // Of these only the tile's border is read; outside of the image lies what lies inside.
  const int top = kTile * blockIdx.y, left = kTile * blockIdx.x;
  const int above = max(top - 1, 0), below = min(top + kTile, rows - 1);
  const int before = max(left - 1, 0), after = min(left + kTile, columns - 1);
  north[ty][tx] = image[above * columns + x];
  south[ty][tx] = image[below * columns + x];
  __syncthreads();
  west[ty][tx] = image[y * columns + before];
  east[ty][tx] = image[y * columns + after];
  __syncthreads();
  here[ty][tx] = image[at];
  __syncthreads();

  const float value = here[ty][tx];
  float n, s, w, e;
  if (ty == 0) {
    WEFT_KEEP_BRANCH();
    n = north[ty][tx] - value;
  } else {
    n = here[ty - 1][tx] - value;
  }
  if (ty == kTile - 1) {
    WEFT_KEEP_BRANCH();
    s = south[ty][tx] - value;
  } else {
    s = here[ty + 1][tx] - value;
  }
  if (tx == 0) {
    WEFT_KEEP_BRANCH();
    w = west[ty][tx] - value;
  } else {
    w = here[ty][tx - 1] - value;
  }
  if (tx == kTile - 1) {
    WEFT_KEEP_BRANCH();
    e = east[ty][tx] - value;
  } else {
    e = here[ty][tx + 1] - value;
  }
  const float gradient = (n * n + s * s + w * w + e * e) / (value * value);
  const float laplacian = (n + s + w + e) / value;
  const float numerator = 0.5f * gradient - 1.0f / 16.0f * (laplacian * laplacian);
  const float denominator = 1.0f + 0.25f * laplacian;
  const float q = numerator / (denominator * denominator);
  const float c = 1.0f / (1.0f + (q - speckle) / (speckle * (1.0f + speckle)));
  if (c < 0.0f) {
    WEFT_KEEP_BRANCH();
    result[ty][tx] = 0.0f;
  } else if (c > 1.0f) {
    WEFT_KEEP_BRANCH();
    result[ty][tx] = 1.0f;
  } else {
    result[ty][tx] = c;
  }
  __syncthreads();
  coefficient[at] = result[ty][tx];
  to_north[at] = n;
  to_south[at] = s;
  to_west[at] = w;
  to_east[at] = e;
}

extern "C" __global__ void diffuse(float* image, const float* to_north, const float* to_south,
                                   const float* to_west, const float* to_east, const float* coefficient,
                                   int columns, int rows, float rate) {
  __shared__ float south[kTile][kTile];
  __shared__ float east[kTile][kTile];
  __shared__ float here[kTile][kTile];
  __shared__ float values[kTile][kTile];
  __shared__ float result[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = kTile * blockIdx.x + tx, y = kTile * blockIdx.y + ty;
  const int at = y * columns + x;
  values[ty][tx] = image[at];
  __syncthreads();
  const int below = min(kTile * static_cast<int>(blockIdx.y) + kTile, rows - 1);
  const int after = min(kTile * static_cast<int>(blockIdx.x) + kTile, columns - 1);
  south[ty][tx] = coefficient[below * columns + x];
  __syncthreads();
  east[ty][tx] = coefficient[y * columns + after];
  __syncthreads();
  here[ty][tx] = coefficient[at];
  __syncthreads();

  const float c = here[ty][tx];
  float s, e;
  if (ty == kTile - 1) {
    WEFT_KEEP_BRANCH();
    s = south[ty][tx];
  } else {
    s = here[ty + 1][tx];
  }
  if (tx == kTile - 1) {
    WEFT_KEEP_BRANCH();
    e = east[ty][tx];
  } else {
    e = here[ty][tx + 1];
  }
  const float divergence = c * to_north[at] + s * to_south[at] + c * to_west[at] + e * to_east[at];
  result[ty][tx] = values[ty][tx] + 0.25f * rate * divergence;
  __syncthreads();
  image[at] = result[ty][tx];
}
