// Maxwell's equations in vacuum by the nodal discontinuous Galerkin method on tetrahedra of order 6
// (Hesthaven and Warburton 2002; on GPUs Klöckner et al. 2009): curls inside the elements, fluxes through
// their faces, a stage of a Runge-Kutta method. A block per element in the first two kernels, a thread per
// node and per node of a face.
//
// fields[(element * 6 + field) * 96 + node]; the fields are Hx, Hy, Hz, Ex, Ey, Ez. Sums of products are
// written as fused operations, so that the order of roundings is the source's.
#include "weft/workloads/device.h"

constexpr int kNodes = 84, kFaceNodes = 112, kPitch = 96, kFields = 6;

// derivatives[from * 84 + to]: along r, s, t. geometry[3 * element + i]: gradient of r, s, t.
extern "C" __global__ void dg_volume(cudaTextureObject_t derivatives, cudaTextureObject_t geometry,
                                     const float* fields, float* change) {
  __shared__ float q[kFields][kNodes];
  const int node = threadIdx.x, element = blockIdx.x, first = element * kFields * kPitch + node;
#pragma unroll
  for (int f = 0; f < kFields; ++f) q[f][node] = fields[first + f * kPitch];
  __syncthreads();

  float r[kFields] = {}, s[kFields] = {}, t[kFields] = {};
#pragma unroll 1
  for (int from = 0; from < kNodes; ++from) {
    const float4 d = tex1Dfetch<float4>(derivatives, from * kNodes + node);
#pragma unroll
    for (int f = 0; f < kFields; ++f) {
      const float value = q[f][from];
      r[f] = fmaf(d.x, value, r[f]);
      s[f] = fmaf(d.y, value, s[f]);
      t[f] = fmaf(d.z, value, t[f]);
    }
  }
  const float4 dr = tex1Dfetch<float4>(geometry, 3 * element),
               ds = tex1Dfetch<float4>(geometry, 3 * element + 1),
               dt = tex1Dfetch<float4>(geometry, 3 * element + 2);
  float x[kFields], y[kFields], z[kFields];
#pragma unroll
  for (int f = 0; f < kFields; ++f) {
    x[f] = fmaf(dt.x, t[f], fmaf(ds.x, s[f], dr.x * r[f]));
    y[f] = fmaf(dt.y, t[f], fmaf(ds.y, s[f], dr.y * r[f]));
    z[f] = fmaf(dt.z, t[f], fmaf(ds.z, s[f], dr.z * r[f]));
  }
  change[first] = z[4] - y[5];
  change[first + kPitch] = x[5] - z[3];
  change[first + 2 * kPitch] = y[3] - x[4];
  change[first + 3 * kPitch] = y[2] - z[1];
  change[first + 4 * kPitch] = z[0] - x[2];
  change[first + 5 * kPitch] = x[1] - y[0];
}

// nodes[element * 112 + i]: where the fields of node i of the faces lie on this side and beyond (x of field
// 0). normals[...]: normal, and half the face's scale; negative at a wall, which reflects. lift[from * 84 +
// to].
extern "C" __global__ void dg_surface(cudaTextureObject_t lift, cudaTextureObject_t normals,
                                      cudaTextureObject_t fields, const int2* nodes, float* change) {
  __shared__ float flux[kFields][kFaceNodes];
  const int thread = threadIdx.x, element = blockIdx.x;
  const int2 at = nodes[element * kFaceNodes + thread];
  const float4 normal = tex1Dfetch<float4>(normals, element * kFaceNodes + thread);
  const float scale = fabsf(normal.w), sign = normal.w < 0 ? -1.0f : 1.0f;
  float jump[kFields];  // beyond less here
#pragma unroll
  for (int f = 0; f < kFields; ++f) {
    const float here = tex1Dfetch<float>(fields, at.x + f * kPitch);
    const float beyond = tex1Dfetch<float>(fields, at.y + f * kPitch);
    jump[f] = scale * (f < 3 ? beyond - here : fmaf(sign, beyond, -here));
  }
  const float h = fmaf(normal.z, jump[2], fmaf(normal.y, jump[1], normal.x * jump[0]));
  const float e = fmaf(normal.z, jump[5], fmaf(normal.y, jump[4], normal.x * jump[3]));
  flux[0][thread] = fmaf(-h, normal.x, jump[0]) + fmaf(normal.z, jump[4], -(normal.y * jump[5]));
  flux[1][thread] = fmaf(-h, normal.y, jump[1]) + fmaf(normal.x, jump[5], -(normal.z * jump[3]));
  flux[2][thread] = fmaf(-h, normal.z, jump[2]) + fmaf(normal.y, jump[3], -(normal.x * jump[4]));
  flux[3][thread] = fmaf(-e, normal.x, jump[3]) + fmaf(normal.y, jump[2], -(normal.z * jump[1]));
  flux[4][thread] = fmaf(-e, normal.y, jump[4]) + fmaf(normal.z, jump[0], -(normal.x * jump[2]));
  flux[5][thread] = fmaf(-e, normal.z, jump[5]) + fmaf(normal.x, jump[1], -(normal.y * jump[0]));
  __syncthreads();

  if (thread >= kNodes) return;
  float sum[kFields] = {};
#pragma unroll 1
  for (int from = 0; from < kFaceNodes; ++from) {
    const float weight = tex1Dfetch<float>(lift, from * kNodes + thread);
#pragma unroll
    for (int f = 0; f < kFields; ++f) sum[f] = fmaf(weight, flux[f][from], sum[f]);
  }
  float* const to = change + element * kFields * kPitch + thread;
#pragma unroll
  for (int f = 0; f < kFields; ++f) to[f * kPitch] += sum[f];
}

// One stage with the low storage of Carpenter and Kennedy.
extern "C" __global__ void dg_step(float* fields, float* residual, const float* change, float a, float b,
                                   float step, int values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= values) return;
  const float next = fmaf(a, residual[i], step * change[i]);
  residual[i] = next;
  fields[i] = fmaf(b, next, fields[i]);
}
