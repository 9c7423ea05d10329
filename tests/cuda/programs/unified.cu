// Memory that host and device share by the same address: managed, pinned, registered. Concurrency of streams.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "program.h"

__global__ void add_one(int* values, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) values[i] += 1;
}

// A list in managed memory: pointers mean the same on both sides.
struct Node {
  int value;
  Node* next;
};
__global__ void sum_list(const Node* node, int* sum) {
  int total = 0;
  for (; node != nullptr; node = node->next) total += node->value;
  *sum = total;
}
__global__ void count(unsigned* counter) {
  atomicAdd(counter, 1u);
}
__global__ void spin(int* out, int rounds) {
  int x = static_cast<int>(threadIdx.x);
  for (int i = 0; i < rounds; ++i) x = static_cast<int>(static_cast<unsigned>(x) * 1664525u + 1013904223u);
  out[threadIdx.x] = x;
}

void test_managed() {
  constexpr int n = 1000;
  int* values = nullptr;
  EXPECT_OK(cudaMallocManaged(reinterpret_cast<void**>(&values), n * sizeof(int), cudaMemAttachGlobal));
  for (int i = 0; i < n; ++i) values[i] = i;
  add_one<<<4, 256>>>(values, n);
  add_one<<<4, 256>>>(values, n);
  EXPECT_OK(cudaDeviceSynchronize());
  bool right = true;
  for (int i = 0; i < n; ++i) right = right && values[i] == i + 2;
  EXPECT(right);

  Node* nodes = nullptr;
  int* sum = nullptr;
  EXPECT_OK(cudaMallocManaged(reinterpret_cast<void**>(&nodes), 10 * sizeof(Node), cudaMemAttachGlobal));
  EXPECT_OK(cudaMallocManaged(reinterpret_cast<void**>(&sum), sizeof(int), cudaMemAttachGlobal));
  for (int i = 0; i < 10; ++i) nodes[i] = {i * i, i == 9 ? nullptr : &nodes[i + 1]};
  sum_list<<<1, 1>>>(nodes, sum);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(*sum == 285);

  unsigned* counter = nullptr;
  EXPECT_OK(cudaMallocManaged(reinterpret_cast<void**>(&counter), sizeof(unsigned), cudaMemAttachGlobal));
  *counter = 5;
  count<<<8, 64>>>(counter);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(*counter == 5 + 8 * 64);

  cudaPointerAttributes attributes;
  EXPECT_OK(cudaPointerGetAttributes(&attributes, values + 7));
  EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == values + 7);
  int* device = nullptr;
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&device), n * sizeof(int)));
  EXPECT_OK(cudaMemcpy(device, values, n * sizeof(int), cudaMemcpyDefault));
  std::memset(values, 0, n * sizeof(int));
  EXPECT_OK(cudaMemcpy(values, device, n * sizeof(int), cudaMemcpyDefault));
  EXPECT(values[999] == 1001);
  EXPECT_OK(cudaMemset(values, 0xff, 8));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(values[0] == -1 && values[1] == -1 && values[2] == 4);
  for (void* memory : {static_cast<void*>(values), static_cast<void*>(nodes), static_cast<void*>(sum),
                       static_cast<void*>(counter), static_cast<void*>(device)}) {
    EXPECT_OK(cudaFree(memory));
  }
  EXPECT_ERROR(cudaFree(values), cudaErrorInvalidValue);
  cudaGetLastError();
}

#ifdef __NVCC__
__managed__ int shared_counter = 40;
__global__ void raise() {
  shared_counter += 2;
}
void test_variables() {
  EXPECT(shared_counter == 40);
  shared_counter = 50;
  raise<<<1, 1>>>();
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(shared_counter == 52);
}
#else
void test_variables() {}  // clang needs the toolkit's header for __managed__
#endif

void test_host_memory() {
  int *pinned = nullptr, *mapped = nullptr;
  EXPECT_OK(cudaHostAlloc(reinterpret_cast<void**>(&pinned), 64 * sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < 64; ++i) pinned[i] = 10 * i;
  EXPECT_OK(cudaHostGetDevicePointer(reinterpret_cast<void**>(&mapped), pinned, 0));
  add_one<<<1, 64>>>(mapped, 64);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(pinned[0] == 1 && pinned[63] == 631);
  EXPECT_OK(cudaFreeHost(pinned));

  std::vector<int> own(64, 7);
  if (behind_driver()) {
    EXPECT_ERROR(cudaHostRegister(own.data(), 64 * sizeof(int), 0), cudaErrorNotSupported);
    cudaGetLastError();
    return;
  }
  EXPECT_OK(cudaHostRegister(own.data(), 64 * sizeof(int), 0));
  EXPECT_ERROR(cudaHostRegister(own.data() + 3, 4, 0), cudaErrorHostMemoryAlreadyRegistered);
  add_one<<<1, 64>>>(own.data(), 64);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(own[0] == 8 && own[63] == 8);
  EXPECT_OK(cudaHostUnregister(own.data()));
  EXPECT_ERROR(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();

  // Memory that nobody has told CUDA of is out of a kernel's reach.
  add_one<<<1, 64>>>(own.data(), 64);
  EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_OK(cudaDeviceReset());
  EXPECT(own[0] == 8);
}

float milliseconds_of(int streams) {
  cudaStream_t stream[2];
  cudaEvent_t begin, end, other;
  int* out = nullptr;
  float milliseconds = 0;
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&out), 4096));
  for (cudaStream_t& s : stream) EXPECT_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  EXPECT_OK(cudaEventCreate(&begin));
  EXPECT_OK(cudaEventCreate(&end));
  EXPECT_OK(cudaEventCreate(&other));
  EXPECT_OK(cudaEventRecord(begin, stream[0]));
  for (int i = 0; i < 2; ++i) spin<<<1, 32, 0, stream[i % streams]>>>(out + 64 * i, 2000);
  EXPECT_OK(cudaEventRecord(other, stream[1]));
  EXPECT_OK(cudaStreamWaitEvent(stream[0], other, 0));
  EXPECT_OK(cudaEventRecord(end, stream[0]));
  EXPECT(cudaEventQuery(end) == cudaErrorNotReady);
  EXPECT_ERROR(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorNotReady);
  while (cudaEventQuery(end) == cudaErrorNotReady) {
  }
  EXPECT_OK(cudaEventElapsedTime(&milliseconds, begin, end));
  for (cudaStream_t& s : stream) EXPECT_OK(cudaStreamDestroy(s));
  EXPECT_OK(cudaFree(out));
  return milliseconds;
}

// Milliseconds of a copy of 1 MiB of pinned memory, of a kernel, or of both in two streams.
float milliseconds_with_copy(bool copy, bool kernel) {
  constexpr int bytes = 1 << 20;
  cudaStream_t stream[2];
  cudaEvent_t begin, end, other;
  int *host = nullptr, *device = nullptr, *out = nullptr;
  float milliseconds = 0;
  EXPECT_OK(cudaMallocHost(reinterpret_cast<void**>(&host), bytes));
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&device), bytes));
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&out), 128));
  for (cudaStream_t& s : stream) EXPECT_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  EXPECT_OK(cudaEventCreate(&begin));
  EXPECT_OK(cudaEventCreate(&end));
  EXPECT_OK(cudaEventCreate(&other));
  EXPECT_OK(cudaEventRecord(begin, stream[0]));
  if (copy) EXPECT_OK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream[0]));
  if (kernel) spin<<<1, 32, 0, stream[1]>>>(out, 8000);
  EXPECT_OK(cudaEventRecord(other, stream[1]));
  EXPECT_OK(cudaStreamWaitEvent(stream[0], other, 0));
  EXPECT_OK(cudaEventRecord(end, stream[0]));
  EXPECT_OK(cudaEventSynchronize(end));
  EXPECT_OK(cudaEventElapsedTime(&milliseconds, begin, end));
  for (cudaStream_t& s : stream) EXPECT_OK(cudaStreamDestroy(s));
  EXPECT_OK(cudaFreeHost(host));
  EXPECT_OK(cudaFree(device));
  EXPECT_OK(cudaFree(out));
  return milliseconds;
}

void test_copies() {
  const float copy = milliseconds_with_copy(true, false), kernel = milliseconds_with_copy(false, true),
              both = milliseconds_with_copy(true, true);
  // The link to host memory moves 24 bytes per nanosecond, after 600 ns: 44.3 us.
  EXPECT(copy > 0.0443f && copy < 0.047f);
  std::printf("1 MiB takes %g ms, a kernel %g ms, both at once %g ms\n", copy, kernel, both);
  EXPECT(both < 0.8f * (copy + kernel) && both > 0.95f * copy && both > 0.95f * kernel);
}

// Waits for a letter of the host's, and answers.
__global__ void answer(volatile int* letter, volatile int* reply, int letters) {
  for (int i = 1; i <= letters; ++i) {
    while (*letter != i) {
    }
    *reply = i;
  }
}

// Kernel and host wait for each other; and functions in streams, the thread that calls them and other calls.
void test_conversations() {
  int *letter = nullptr, *device = nullptr;
  EXPECT_OK(cudaHostAlloc(reinterpret_cast<void**>(&letter), 2 * sizeof(int), cudaHostAllocMapped));
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&device), sizeof(int)));
  volatile int* const letters = letter;
  letters[0] = letters[1] = 0;
  cudaStream_t stream, other;
  EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  EXPECT_OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  answer<<<1, 1, 0, stream>>>(letter, letter + 1, 3);
  // For so long that the watchdog would take it for a hang; then a call that must not wait for the kernel.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_OK(cudaMemsetAsync(device, 0, sizeof(int), other));
  for (int i = 1; i <= 3; ++i) {
    letters[0] = i;
    EXPECT(seen(letters + 1, i));
  }
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaStreamSynchronize(other));

  // A function that waits for what comes behind the program's next call, which waits for the device.
  struct Gate {
    std::atomic<int> open{0}, inside{0};
  } gate;
  const auto pass = [](void* data) {
    auto& at = *static_cast<Gate*>(data);
    at.inside = 1;
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (at.open == 0 && std::chrono::steady_clock::now() < end) {
    }
  };
  EXPECT_OK(cudaLaunchHostFunc(stream, pass, &gate));
  const auto late = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (gate.inside == 0 && std::chrono::steady_clock::now() < late) {
  }
  EXPECT(gate.inside == 1);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_OK(cudaMemsetAsync(device, 1, sizeof(int), other));
  gate.open = 1;
  EXPECT(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT_OK(cudaStreamDestroy(other));
  EXPECT_OK(cudaFreeHost(letter));
  EXPECT_OK(cudaFree(device));
}

int main() {
  test_managed();
  test_conversations();
  test_copies();
  test_variables();
  test_host_memory();
  // Two kernels of one block each, on a machine of two SMs: in two streams they take the time of one.
  const float one = milliseconds_of(1), two = milliseconds_of(2);
  EXPECT(two > 0.45f * one && two < 0.6f * one);

  // The default stream waits for the blocking stream.
  cudaStream_t blocking;
  int* values = nullptr;
  EXPECT_OK(cudaStreamCreate(&blocking));
  EXPECT_OK(cudaMallocManaged(reinterpret_cast<void**>(&values), 128, cudaMemAttachGlobal));
  std::memset(values, 0, 128);
  spin<<<1, 32, 0, blocking>>>(values, 3000);
  add_one<<<1, 32>>>(values, 32);
  spin<<<1, 1, 0, blocking>>>(values + 31, 0);  // after the default stream: 31 becomes 0
  EXPECT_OK(cudaDeviceSynchronize());
  int expected = 5;
  for (int i = 0; i < 3000; ++i)
    expected = static_cast<int>(static_cast<unsigned>(expected) * 1664525u + 1013904223u);
  EXPECT(values[5] == expected + 1 && values[31] == 0);
  return verdict();
}
