// Calls through a table of functions in constant memory, through an argument, and of virtual functions.
__noinline__ __device__ int twice(int x) {
  return 2 * x;
}
__noinline__ __device__ int square(int x) {
  return x * x;
}
__noinline__ __device__ int negate(int x) {
  return -x;
}
typedef int (*Function)(int);
__constant__ Function functions[3] = {twice, square, negate};

__noinline__ __device__ int apply(Function f, int x, int times) {
  for (int i = 0; i < times; ++i) x = f(x & 1023) + i;
  return x;
}

struct Shape {
  int size;
  __device__ explicit Shape(int s) : size(s) {}
  __device__ virtual int area(int k) const { return size * k; }
};
struct Square : Shape {
  __device__ explicit Square(int s) : Shape(s) {}
  __device__ int area(int k) const override { return size * size + k; }
};
struct Hole : Shape {
  __device__ explicit Hole(int s) : Shape(s) {}
  __device__ int area(int k) const override { return -square(size - k); }
};

extern "C" __global__ void function_pointer(int* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const Shape shape(t);
  const Square squared(t + 1);
  const Hole hole(t + 2);
  const Shape* shapes[3] = {&shape, &squared, &hole};
  int result = functions[t % 3](t);
  result = result * 3 + apply(functions[(t / 3) % 3], t, t % 4);
  result = result * 3 + shapes[(t * 7) % 3]->area(t % 5);
  out[t] = result;
}
