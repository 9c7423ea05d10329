// Spheres over a checkered floor by ray tracing, one pixel per thread: mirrors send a ray on as long as what
// it would add can be seen, so the number of turns depends on where the ray goes.
#include "weft/workloads/device.h"

constexpr int kMaxSpheres = 64;

__constant__ float4 places[kMaxSpheres];     // centre, radius
__constant__ float4 materials[kMaxSpheres];  // red, green, blue, what part is mirrored

constexpr float kNear = 0.001f, kFar = 1.0e6f;
constexpr float kAmbient = 0.2f, kDiffuse = 0.8f, kFloorMirror = 0.3f, kLeast = 0.02f;

__device__ static float dot(float3 a, float3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
__device__ static float3 along(float3 from, float t, float3 direction) {
  return {from.x + t * direction.x, from.y + t * direction.y, from.z + t * direction.z};
}
__device__ static float3 minus(float3 a, float3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
__device__ static float3 normalised(float3 a) {
  const float scale = 1.0f / sqrtf(dot(a, a));
  return {a.x * scale, a.y * scale, a.z * scale};
}

// Where a ray enters a sphere, or 0.
__device__ static float entry(float4 sphere, float3 from, float3 direction) {
  const float3 to = {sphere.x - from.x, sphere.y - from.y, sphere.z - from.z};
  const float b = dot(to, direction);
  const float square = b * b - (dot(to, to) - sphere.w * sphere.w);
  if (square <= 0.0f) return 0.0f;
  return b - sqrtf(square);
}

__device__ static bool shadowed(int spheres, float3 point, float3 to_light, float distance) {
#pragma unroll 1
  for (int i = 0; i < spheres; ++i) {
    const float t = entry(places[i], point, to_light);
    if (t > kNear && t < distance) return true;
  }
  return false;
}

__device__ static unsigned byte_of(float value) {
  return static_cast<unsigned>(static_cast<int>(fminf(value, 1.0f) * 255.0f));
}

extern "C" __global__ void ray_tracing(int width, int height, int spheres, int turns, float3 light,
                                       unsigned* image) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float scale = 2.0f / static_cast<float>(height);
  float3 from = {0.0f, 2.0f, -8.0f};
  float3 direction =
      normalised({(static_cast<float>(x) - 0.5f * static_cast<float>(width)) * scale,
                  (0.5f * static_cast<float>(height) - static_cast<float>(y)) * scale - 0.25f, 1.5f});
  float red = 0.0f, green = 0.0f, blue = 0.0f, weight = 1.0f;
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    float nearest = kFar;
    int hit = -1;
#pragma unroll 1
    for (int i = 0; i < spheres; ++i) {
      const float t = entry(places[i], from, direction);
      if (t > kNear && t < nearest) {
        nearest = t;
        hit = i;
      }
    }
    bool floor = false;
    if (direction.y < -kNear) {
      const float t = -from.y / direction.y;
      if (t > kNear && t < nearest) {
        nearest = t;
        floor = true;
      }
    }
    if (!floor && hit < 0) {  // the sky
      const float up = fmaxf(direction.y, 0.0f);
      red += weight * (0.5f - 0.3f * up);
      green += weight * (0.6f - 0.2f * up);
      blue += weight * 0.8f;
      break;
    }
    const float3 point = along(from, nearest, direction);
    float3 normal, colour;
    float mirror;
    if (floor) {
      normal = {0.0f, 1.0f, 0.0f};
      const int field = static_cast<int>(floorf(point.x)) + static_cast<int>(floorf(point.z));
      const float shade = field & 1 ? 0.9f : 0.1f;
      colour = {shade, shade, shade};
      mirror = kFloorMirror;
    } else {
      const float4 place = places[hit], material = materials[hit];
      normal = normalised({point.x - place.x, point.y - place.y, point.z - place.z});
      colour = {material.x, material.y, material.z};
      mirror = material.w;
    }
    const float3 beam = minus(light, point);
    const float distance = sqrtf(dot(beam, beam));
    const float3 to_light = {beam.x / distance, beam.y / distance, beam.z / distance};
    float lit = kAmbient;
    const float facing = dot(normal, to_light);
    if (facing > 0.0f && !shadowed(spheres, point, to_light, distance)) lit += kDiffuse * facing;
    const float share = weight * (1.0f - mirror) * lit;
    red += share * colour.x;
    green += share * colour.y;
    blue += share * colour.z;
    weight *= mirror;
    if (weight < kLeast) break;
    direction = along(direction, -2.0f * dot(direction, normal), normal);
    from = point;
  }
  image[y * width + x] = byte_of(red) | byte_of(green) << 8 | byte_of(blue) << 16 | 0xff000000u;
}
