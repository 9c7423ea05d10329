// A x = b by elimination without exchanging rows, n x n, row-major.
#include "weft/workloads/device.h"

// One kernel per pivot, a thread per element: removes the pivot's column from every other row (Gauss and
// Jordan), so that A is diagonal in the end. Reads one copy of A and b and writes another, because all rows
// need the pivot's column as it was. From itself the pivot's row is subtracted no times, rather than skipped.
extern "C" __global__ void eliminate_column(const float* a, float* a_next, const float* b, float* b_next,
                                            int n, int pivot) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n || row >= n) return;
  const int at = row * n + column;
  const float quotient = a[row * n + pivot] / a[pivot * n + pivot];
  const float factor = row == pivot ? 0.0f : quotient;
  const float left = a[at] - factor * a[pivot * n + column];
  a_next[at] = column == pivot && row != pivot ? 0.0f : left;
  if (column == 0) b_next[row] = b[row] - factor * b[pivot];
}

// Two kernels per pivot, as in the Rodinia suite: the factors of the rows below, then those rows. There the
// threads' x is the row.
extern "C" __global__ void eliminate_factors(float* factors, const float* a, int n, int pivot) {
  const int row = pivot + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  factors[row * n + pivot] = a[row * n + pivot] / a[pivot * n + pivot];
}

extern "C" __global__ void eliminate_rows(const float* factors, float* a, float* b, int n, int pivot) {
  const int row = pivot + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  const int column = pivot + blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  const float factor = factors[row * n + pivot];
  a[row * n + column] -= factor * a[pivot * n + column];
  if (column == pivot) b[row] -= factor * b[pivot];
}
