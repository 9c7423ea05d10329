// A bitonic sorting network of 256 keys per work-group, with the keys' places as values. Exact: keys of equal value
// are told apart by their place.
#define SIZE 256
__kernel void bitonic_sort(__global const short* keys, __global short* sorted, __global ushort* places) {
  __local int item[SIZE];
  const int lane = get_local_id(0);
  item[lane] = ((int)keys[get_global_id(0)] << 16) | lane;
  for (int size = 2; size <= SIZE; size *= 2) {
    for (int distance = size / 2; distance > 0; distance /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const int partner = lane ^ distance;
      if (partner > lane) {
        const int low = item[lane], high = item[partner];
        const bool ascending = (lane & size) == 0;
        if ((low > high) == ascending) {
          item[lane] = high;
          item[partner] = low;
        }
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  sorted[get_global_id(0)] = (short)(item[lane] >> 16);
  places[get_global_id(0)] = (ushort)(item[lane] & 0xffff);
}
