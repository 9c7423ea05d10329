/* Runs in a guest under Linux, over the library: several processes use the GPU at the same time, and one is
 * killed. Prints a line for each check; exits with 0, or the number of the first check that failed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../platform/linux/weft_ioctl.h"
#include "weft_device.h"

#define NUMBERS 4096
#define CHECK(number, holds)                                         \
  do {                                                               \
    const int good = (holds) ? 1 : 0;                                \
    printf("%s %d: %s\n", good ? "ok" : "FAILED", (number), #holds); \
    fflush(stdout);                                                  \
    if (!good) exit(number);                                         \
  } while (0)

static const char kernels[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c) {\n"
    "  .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "  mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "  mul.wide.u32 %rd1, %r4, 4;\n"
    "  ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [b]; ld.param.u64 %rd4, [c];\n"
    "  add.u64 %rd2, %rd2, %rd1; add.u64 %rd3, %rd3, %rd1; add.u64 %rd4, %rd4, %rd1;\n"
    "  ld.global.u32 %r5, [%rd2]; ld.global.u32 %r6, [%rd3];\n"
    "  add.u32 %r7, %r5, %r6;\n"
    "  st.global.u32 [%rd4], %r7;\n"
    "  ret;\n}\n"
    ".visible .entry later(.param .u64 to, .param .u32 value, .param .u32 rounds) {\n"
    "  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p;\n"
    "  ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [value]; ld.param.u32 %r2, [rounds];\n"
    "  mov.u32 %r3, 0;\n"
    "again:\n"
    "  add.u32 %r3, %r3, 1;\n"
    "  setp.lt.u32 %p, %r3, %r2;\n"
    "  @%p bra again;\n"
    "  st.global.u32 [%rd1], %r1;\n"
    "  ret;\n}\n";

struct process {
  weft_device* device;
  weft_buffer page, text, memory, data;
  uint32_t queue;
};

/* The page: a signal at 0, parameters at 64, a result at 128. */
static volatile int64_t* signal_of(const struct process* process) {
  return process->page.data;
}

static void make_buffer(struct process* process, weft_buffer* buffer, uint32_t kind, uint64_t bytes) {
  buffer->kind = kind;
  buffer->bytes = bytes;
  if (weft_buffer_create(process->device, buffer) != 0 || weft_buffer_map(process->device, buffer) != 0) {
    printf("FAILED: no buffer of %llu bytes\n", (unsigned long long)bytes);
    exit(99);
  }
}

static struct process begin(void) {
  struct process process;
  weft_queue_request ring = {.packets = 16, .scratch_bytes = 1 << 20, .queue = &process.queue};
  int error;
  memset(&process, 0, sizeof process);
  error = weft_device_open(&process.device, NULL);
  if (error == 0) error = weft_queue_create(process.device, &ring);
  if (error != 0) {
    printf("FAILED: no device or queue: %s\n", strerror(-error));
    exit(98);
  }
  make_buffer(&process, &process.page, WEFT_BUFFER_SYSTEM, 4096);
  make_buffer(&process, &process.text, WEFT_BUFFER_SYSTEM, sizeof kernels);
  make_buffer(&process, &process.memory, WEFT_BUFFER_DEVICE, 65536);
  make_buffer(&process, &process.data, WEFT_BUFFER_DEVICE, 3 * NUMBERS * 4);
  memcpy(process.text.data, kernels, sizeof kernels - 1);
  return process;
}

static uint64_t make_kernel(const struct process* process, const char* name) {
  const weft_kernel_request request = {process->text.address, sizeof kernels - 1, name,
                                       process->memory.address, process->memory.bytes};
  uint64_t kernel = 0;
  if (weft_kernel_create(process->device, &request, &kernel) != 0) exit(97);
  return kernel;
}

static int launch(struct process* process, const char* name, const void* arguments, size_t bytes,
                  uint32_t blocks, uint16_t threads) {
  struct weft_kernel_dispatch_packet packet = {.header = WEFT_PACKET_KERNEL_DISPATCH,
                                               .setup = 1,
                                               .workgroup_size = {threads, 1, 1},
                                               .grid_size = {blocks * threads, 1, 1}};
  packet.kernel_object = make_kernel(process, name);
  packet.kernarg_address = process->page.address + 64;
  packet.completion_signal = process->page.address;
  memcpy((char*)process->page.data + 64, arguments, bytes);
  *signal_of(process) = 1;
  return weft_submit(process->device, process->queue, &packet, 1);
}

static int64_t finish(struct process* process) {
  uint64_t seen = 0;
  while (*signal_of(process) > 0) {
    if (weft_device_wait(process->device, &seen, 60000) != 0) return 1;
  }
  return *signal_of(process);
}

static int adds_vectors(struct process* process) {
  const uint64_t a = process->data.address;
  const uint64_t arguments[3] = {a, a + 4 * NUMBERS, a + 8 * NUMBERS};
  uint32_t* const numbers = process->data.data;
  uint32_t i;
  for (i = 0; i < 2 * NUMBERS; ++i) numbers[i] = i * i + 7;
  if (launch(process, "add", arguments, sizeof arguments, NUMBERS / 256, 256) != 0 || finish(process) != 0)
    return 0;
  for (i = 0; i < NUMBERS; ++i) {
    if (numbers[2 * NUMBERS + i] != numbers[i] + numbers[NUMBERS + i]) return 0;
  }
  return 1;
}

struct later {
  uint64_t to;
  uint32_t value, rounds;
};

static int begin_later(struct process* process, uint32_t value, uint32_t rounds) {
  const struct later arguments = {process->page.address + 128, value, rounds};
  return launch(process, "later", &arguments, 16, 1, 32);
}

static uint32_t result(const struct process* process) {
  return ((volatile uint32_t*)process->page.data)[32];
}

/* A child adds vectors while its sibling does, and then runs a longer kernel. */
static void child(uint32_t value) {
  struct process process = begin();
  int i;
  for (i = 0; i < 3; ++i) {
    if (!adds_vectors(&process)) exit(1);
  }
  if (begin_later(&process, value, 2000) != 0 || finish(&process) != 0 || result(&process) != value) exit(2);
  exit(0);
}

static int two_at_once(void) {
  pid_t children[2];
  int status[2];
  int i;
  for (i = 0; i < 2; ++i) {
    children[i] = fork();
    if (children[i] == 0) child(100u + (uint32_t)i);
  }
  for (i = 0; i < 2; ++i) waitpid(children[i], &status[i], 0);
  return status[0] == 0 && status[1] == 0;
}

/* A child that the parent kills while its kernel runs, which takes some seconds of the host's time. */
static pid_t start_victim(int ready[2]) {
  const pid_t victim = fork();
  if (victim == 0) {
    struct process process = begin();
    if (begin_later(&process, 1, 400000) != 0) exit(1);
    if (write(ready[1], &process.page.address, sizeof process.page.address) < 0) exit(1);
    for (;;) pause();
  }
  return victim;
}

/* Queues that can be had now; they are given back. */
static int free_queues(weft_device* device) {
  uint32_t queues[64];
  int count = 0, i;
  for (; count < 64; ++count) {
    weft_queue_request request = {.packets = 2, .queue = &queues[count]};
    if (weft_queue_create(device, &request) != 0) break;
  }
  for (i = 0; i < count; ++i) weft_queue_destroy(device, queues[i]);
  return count;
}

static int wait_for_queues(weft_device* device, int count) {
  int tries = 0;
  while (free_queues(device) != count && ++tries < 600) usleep(100000);
  return tries < 600;
}

static int work_for_long(void) {
  struct process process = begin();
  return begin_later(&process, 1, 4000000) == 0 ? (int)finish(&process) : 1;
}

/* `victim` as an argument: only starts a kernel that takes minutes, for tests of a shell. */
int main(int count, char** words) {
  struct process process;
  weft_device_info info;
  int ready[2];
  uint64_t foreign = 0;
  struct weft_copy_packet copy = {.header = WEFT_PACKET_VENDOR, .format = WEFT_VENDOR_COPY, .bytes = 64};
  weft_buffer gone;
  struct pollfd poll_for;
  pid_t victim;
  int queues, file;
  if (count > 1 && strcmp(words[1], "victim") == 0) return work_for_long();
  process = begin();
  CHECK(1, weft_device_get_info(process.device, &info) == 0);
  printf("%u SMs, %u queues, 0x%llx bytes at 0x%llx, interrupts %u\n", info.sms, info.queues,
         (unsigned long long)info.device_bytes, (unsigned long long)info.device_base, info.interrupts);
  CHECK(2, (uint64_t)(uintptr_t)process.page.data == process.page.address);
  CHECK(3, adds_vectors(&process));
  CHECK(4, two_at_once());

  queues = free_queues(process.device);
  CHECK(5, queues == (int)info.queues - 1);
  if (pipe(ready) != 0) return 96;
  victim = start_victim(ready);
  CHECK(6, read(ready[0], &foreign, sizeof foreign) == (ssize_t)sizeof foreign);
  copy.source = foreign;
  copy.destination = process.data.address;
  CHECK(7, weft_submit(process.device, process.queue, &copy, 1) == -EACCES);
  kill(victim, SIGKILL);
  waitpid(victim, NULL, 0);
  CHECK(8, free_queues(process.device) == queues - 1);
  CHECK(9, adds_vectors(&process));
  CHECK(10, wait_for_queues(process.device, queues));

  /* What a process maps, it loses with the buffer. */
  memset(&gone, 0, sizeof gone);
  make_buffer(&process, &gone, WEFT_BUFFER_SYSTEM, 1 << 20);
  memset(gone.data, 1, gone.bytes);
  {
    struct weft_ioctl_handle handle = {.handle = gone.handle};
    int status = 0;
    file = open("/dev/weft0", O_RDWR);
    CHECK(11, mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, (off_t)gone.address) == MAP_FAILED &&
                  errno == EACCES);
    CHECK(12, ioctl(file, WEFT_IOCTL_BUFFER_DESTROY, &handle) != 0 && errno == ENOENT);
    poll_for = (struct pollfd){.fd = file, .events = POLLIN};
    CHECK(13, poll(&poll_for, 1, 10) == 0);
    close(file);
    if (fork() == 0) { /* a child has no part of the mapping */
      signal(SIGSEGV, SIG_DFL);
      exit(*(volatile char*)gone.data);
    }
    wait(&status);
    CHECK(14, WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  }
  CHECK(15, weft_buffer_destroy(process.device, &gone) == 0);
  CHECK(16, adds_vectors(&process));
  weft_device_close(process.device);
  printf("all checks passed\n");
  return 0;
}
