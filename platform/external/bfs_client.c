/* The host CPU of an SoC as a process of its own: searches a graph on the GPU, with copies and in shared
 * memory.
 *
 *   bfs_client SOCKET PTX-FILE        (a simulation listens: weft soc --config soc_external)
 *
 * Exit code: 0 right, 1 wrong, 2 an error. The simulation ends with the same code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bfs_program.h"
#include "soc_map.h"
#include "weft_external.h"

static weft_external cpu;
static weft_gpu gpu;

static void die(const char* what) {
  perror(what);
  exit(2);
}

static uint32_t bus_read(uint64_t address) {
  uint32_t value = 0;
  if (weft_external_read(&cpu, address, &value, sizeof value) != 0) die("read");
  return value;
}
static void bus_write(uint64_t address, uint32_t value) {
  if (weft_external_write(&cpu, address, &value, sizeof value) != 0) die("write");
}
static uint32_t read_register(void* context, uint64_t offset) {
  (void)context;
  return bus_read(SOC_GPU_BASE + offset);
}
static void write_register(void* context, uint64_t offset, uint32_t value) {
  (void)context;
  bus_write(SOC_GPU_BASE + offset, value);
}
/* This process handles interrupts when it looks for them. */
static void mask(void* context) {
  (void)context;
}
static void sleep_until_interrupt(void* context) {
  (void)context;
  if (weft_external_advance(&cpu, 1000000000u, WEFT_EXTERNAL_UNTIL_INTERRUPT) != 0) die("advance");
}
static void unmask(void* context) {
  (void)context;
  while (cpu.interrupt != 0) {
    const uint32_t source = bus_read(SOC_INTERRUPTS_BASE + SOC_INTERRUPTS_CLAIM);
    if (source == SOC_SOURCE_GPU + 1) weft_interrupt(&gpu);
    if (source != 0) bus_write(SOC_INTERRUPTS_BASE + SOC_INTERRUPTS_CLAIM, source);
  }
}

static char* read_file(const char* path, uint64_t* bytes) {
  FILE* file = fopen(path, "rb");
  char* text = 0;
  long length;
  if (file == 0 || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) <= 0) die(path);
  rewind(file);
  text = malloc((size_t)length);
  if (text == 0 || fread(text, 1, (size_t)length, file) != (size_t)length) die(path);
  fclose(file);
  *bytes = (uint64_t)length;
  return text;
}

static int search(weft_queue* queue, uint64_t kernel, int shared) {
  const bfs_options options = {2000, 6, shared};
  bfs_result result = {0, 0, 0, 0};
  const int error = bfs_run(queue, kernel, &options, &result);
  if (error != 0) {
    fprintf(stderr, "error %d\n", error);
    return 2;
  }
  printf("%s: %u levels, %u vertices reached, %u wrong, %u interrupts\n",
         shared ? "shared memory" : "with copies", (unsigned)result.levels, (unsigned)result.reached,
         (unsigned)result.wrong, (unsigned)result.interrupts);
  return result.wrong == 0 ? 0 : 1;
}

static int run(const char* ptx, uint64_t ptx_bytes) {
  weft_io io;
  weft_queue queue;
  uint64_t kernel;
  int code;
  memset(&io, 0, sizeof io);
  io.read32 = read_register;
  io.write32 = write_register;
  io.mask = mask;
  io.sleep = sleep_until_interrupt;
  io.unmask = unmask;
  io.memory = cpu.memory;
  io.memory_address = cpu.memory_address;
  io.memory_bytes = cpu.memory_bytes;
  bus_write(SOC_INTERRUPTS_BASE + SOC_INTERRUPTS_ENABLE, 1u << SOC_SOURCE_GPU);
  code = weft_open(&gpu, &io);
  if (code == 0) code = weft_open_queue(&queue, &gpu, 0, 64, 1 << 20);
  if (code != 0) {
    fprintf(stderr, "cannot open the GPU: error %d\n", code);
    return 2;
  }
  kernel = weft_kernel(&gpu, ptx, ptx_bytes, "_Z3bfsPKiS0_PiiS1_i", 1 << 16);
  if (kernel == 0) return 2;
  code = search(&queue, kernel, 0);
  return code != 0 ? code : search(&queue, kernel, 1);
}

int main(int argc, char** argv) {
  uint64_t ptx_bytes;
  char* ptx;
  int code;
  if (argc != 3) {
    fprintf(stderr, "usage: bfs_client SOCKET PTX-FILE\n");
    return 2;
  }
  ptx = read_file(argv[2], &ptx_bytes);
  if (weft_external_connect(&cpu, argv[1]) != 0) die(argv[1]);
  if (cpu.memory == 0) {
    fprintf(stderr, "the simulation shares no memory\n");
    return 2;
  }
  code = run(ptx, ptx_bytes);
  printf("simulated time: %llu ns\n", (unsigned long long)(cpu.picoseconds / 1000));
  bus_write(SOC_SYSTEM_BASE + SOC_SYSTEM_EXIT, (uint32_t)code);
  weft_external_disconnect(&cpu);
  free(ptx);
  return code;
}
