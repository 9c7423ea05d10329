// Functions that are not inlined: scalars, structs by value and as results, calls in both arms of a branch
// and in loops of different lengths.
struct Particle {
  int id;
  double mass;
  char tag[5];
};

__noinline__ __device__ int mix(int a, unsigned char b, long long c) {
  return a * 31 + b - static_cast<int>(c >> 3);
}

__noinline__ __device__ Particle heavier(Particle p, int by) {
  Particle q;
  q.id = p.id + by;
  q.mass = p.mass * 2 + by;
  for (int i = 0; i < 5; ++i) q.tag[i] = static_cast<char>(p.tag[4 - i] + by);
  return q;
}

__noinline__ __device__ int outer(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += mix(sum, static_cast<unsigned char>(i), static_cast<long long>(i) << 20);
  return sum;
}

__noinline__ __device__ void bump(int* at, int by) {
  *at += by;
}

extern "C" __global__ void noinline_call(int* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  Particle p;
  p.id = t;
  p.mass = t * 0.5;
  for (int i = 0; i < 5; ++i) p.tag[i] = static_cast<char>('a' + i + t % 7);
  const Particle q = heavier(p, t % 3);
  int result = q.id + static_cast<int>(q.mass * 4);
  for (int i = 0; i < 5; ++i) result = result * 3 + q.tag[i];
  if (t % 5 < 2) {
    result += outer(t % 11);
  } else {
    result -= outer(t % 4) + mix(t, 200, -t);
  }
  bump(&result, t % 2 == 0 ? 1000 : -1000);
  out[t] = result;
}
