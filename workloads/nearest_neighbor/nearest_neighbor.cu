// Distances of records from a place: one record per thread. Records are lines of text, from which each thread
// reads its latitude and longitude, or pairs of numbers.
#include "weft/workloads/device.h"

constexpr int kLine = 49, kLatitude = 28, kLongitude = 34, kDigits = 5;  // characters

// "-12.3", " 07.5", "123.4": a sign or a digit, digits, a point, a digit. If `text` points to volatile
// characters, each use of one reads it again, on the ways through the branches too.
template <class Character>
__device__ static float number_at(const Character* text) {
  int value = 0;
  bool negative = false;
#pragma unroll
  for (int i = 0; i < kDigits; ++i) {
    if (text[i] == '-') {
      negative = true;
    } else if (text[i] >= '0' && text[i] <= '9') {
      value = value * 10 + (text[i] - '0');
    }
  }
  const float tenths = static_cast<float>(value);
  if (negative) return tenths / -10.0f;
  return tenths / 10.0f;
}

template <class Character>
__device__ static void distance_of_line(const Character* lines, float latitude, float longitude,
                                        float* distances, int count) {
  const int record = blockIdx.x * blockDim.x + threadIdx.x;
  if (record >= count) return;
  const Character* line = lines + record * kLine;
  const float down = number_at(line + kLatitude) - latitude;
  const float across = number_at(line + kLongitude) - longitude;
  distances[record] = sqrtf(down * down + across * across);
}

extern "C" __global__ void distances_of_lines(const char* lines, float latitude, float longitude,
                                              float* distances, int count) {
  distance_of_line(lines, latitude, longitude, distances, count);
}

extern "C" __global__ void distances_of_pairs(const float2* places, float latitude, float longitude,
                                              float* distances, int count) {
  const int record = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
  if (record >= count) return;
  const float2 place = places[record];
  const float down = latitude - place.x, across = longitude - place.y;
  distances[record] = sqrtf(down * down + across * across);
}

extern "C" __global__ void distances_of_lines_reread(const volatile char* lines, float latitude,
                                                     float longitude, float* distances, int count) {
  distance_of_line(lines, latitude, longitude, distances, count);
}
