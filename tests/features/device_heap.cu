// malloc and free in kernels: lists whose nodes come from the device heap, an allocation that cannot succeed.
#include <cstdlib>

struct Node {
  Node* next;
  int value;
};

extern "C" __global__ void device_heap(int* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  Node* list = nullptr;
  for (int i = 0; i <= t % 6; ++i) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    node->next = list;
    node->value = t + i;
    list = node;
  }
  int sum = 0;
  while (list != nullptr) {
    Node* next = list->next;
    sum = sum * 2 + list->value;
    free(list);
    list = next;
  }
  if (malloc(size_t{1} << 40) == nullptr) sum += 1000000;
  out[t] = sum;
}

extern "C" __global__ void free_twice(int* out) {
  void* p = malloc(64);
  free(p);
  out[0] = 1;
  if (threadIdx.x == 2) free(p);
}
