// Points in a quarter of a circle: a linear congruential generator per work-item with its own number of tries. Exact:
// coordinates have 24 bits, and only + - * follow, not contracted.
#pragma OPENCL FP_CONTRACT OFF
__kernel void monte_carlo(__global uint* hits, __global uint* states, uint tries) {
  const uint i = get_global_id(0);
  uint state = i * 2654435761u + 12345u, inside = 0;
  for (uint n = 0; n < tries + i % 7; ++n) {
    state = state * 1664525u + 1013904223u;
    const float x = (float)(state >> 8) * 0x1p-24f;
    state = state * 1664525u + 1013904223u;
    const float y = (float)(state >> 8) * 0x1p-24f;
    if (x * x + y * y < 1.0f) ++inside;
  }
  states[i] = state;
  atomic_add(hits, inside);
}
