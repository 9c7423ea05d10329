/* Searches a graph on the GPU, twice: with copies, and in memory that both share. Exit code: 0 right, 1
 * wrong, 2 an error of the driver. */
#include "bfs_program.h"
#include "soc.h"

extern const char bfs_ptx[], bfs_ptx_end[];

static weft_gpu gpu;

static uint32_t read_register(void* context, uint64_t offset) {
  (void)context;
  return soc_read32(SOC_GPU_BASE + offset);
}
static void write_register(void* context, uint64_t offset, uint32_t value) {
  (void)context;
  soc_write32(SOC_GPU_BASE + offset, value);
}
static void mask(void* context) {
  (void)context;
  soc_mask_interrupts();
}
static void sleep_until_interrupt(void* context) {
  (void)context;
  soc_sleep();
}
static void unmask(void* context) {
  (void)context;
  soc_unmask_interrupts();
}
static void on_gpu(void* context) {
  weft_interrupt(context);
}

static void tell(const char* what, uint64_t value) {
  soc_print(what);
  soc_print_number(value);
}

static int search(weft_queue* queue, uint64_t kernel, int shared) {
  const bfs_options options = {2000, 6, shared};
  bfs_result result = {0, 0, 0, 0};
  const uint64_t begin = soc_nanoseconds();
  const int error = bfs_run(queue, kernel, &options, &result);
  soc_print(shared ? "shared memory: " : "with copies: ");
  if (error != 0) {
    tell("error ", (uint64_t)(error < 0 ? -error : error));
    soc_print(error < 0 ? " of the driver\n" : " of the GPU\n");
    return 2;
  }
  tell("", result.levels);
  tell(" levels, ", result.reached);
  tell(" vertices reached, ", result.wrong);
  tell(" wrong, ", result.interrupts);
  tell(" interrupts, ", soc_nanoseconds() - begin);
  soc_print(" ns\n");
  return result.wrong == 0 ? 0 : 1;
}

int main(void) {
  weft_io io;
  weft_queue queue;
  uint64_t kernel;
  int error, with_copies;
  io.context = 0;
  io.read32 = read_register;
  io.write32 = write_register;
  io.mask = mask;
  io.sleep = sleep_until_interrupt;
  io.unmask = unmask;
  io.memory = soc_free_memory();
  io.memory_address = (uint64_t)(uintptr_t)io.memory;
  io.memory_bytes = SOC_RAM_BASE + soc_ram_bytes() - io.memory_address;
  soc_on_interrupt(SOC_SOURCE_GPU, on_gpu, &gpu);
  soc_unmask_interrupts();
  error = weft_open(&gpu, &io);
  if (error == 0) error = weft_open_queue(&queue, &gpu, 0, 64, 1 << 20);
  if (error != 0) {
    tell("cannot open the GPU: error ", (uint64_t)(error < 0 ? -error : error));
    soc_print("\n");
    return 2;
  }
  tell("GPU with ", soc_read32(SOC_GPU_BASE + WEFT_REG_SMS));
  tell(" SMs, ", gpu.device_bytes >> 20);
  soc_print(" MiB\n");
  kernel = weft_kernel(&gpu, bfs_ptx, (uint64_t)(bfs_ptx_end - bfs_ptx), "_Z3bfsPKiS0_PiiS1_i", 1 << 16);
  if (kernel == 0) return 2;
  with_copies = search(&queue, kernel, 0);
  if (with_copies != 0) return with_copies;
  return search(&queue, kernel, 1);
}
