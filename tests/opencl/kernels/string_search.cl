// Where a pattern begins in a text, and how often: bytes, early exits, a counter in global memory. Exact: the places
// are a map of bytes, the counter does not depend on order.
__kernel void string_search(__global const char* text, uint length, __constant char* pattern, uint pattern_length,
                            __global uchar* begins, __global uint* found) {
  const uint at = get_global_id(0);
  if (at >= length) return;
  uchar match = 0;
  if (at + pattern_length <= length) {
    uint i = 0;
    while (i < pattern_length && text[at + i] == pattern[i]) ++i;
    match = i == pattern_length;
  }
  begins[at] = match;
  if (match) atomic_inc(found);
}
