/* A bare-metal guest of qemu-system-x86_64 that finds the GPU on its PCI bus and searches a graph on it, with
 * copies and in shared memory. The code that QEMU's isa-debug-exit gets is 0 if it is right. */
#include "bfs_program.h"

/* Above the GPU's windows onto shared and local memory (modules/host/README.md), below the smallest guest's
 * end. */
#define MEMORY_ADDRESS 0x4000000u
#define MEMORY_BYTES 0x1000000u
#define SERIAL_PORT 0x3f8
#define PCI_ADDRESS_PORT 0xcf8
#define PCI_DATA_PORT 0xcfc
#define GPU_ID 0x46545745u /* device 0x4654, vendor 0x5745 */

extern const char bfs_ptx[], bfs_ptx_end[];

static uint32_t registers, aperture; /* addresses of BAR 0 and 1 */

static void out8(uint16_t port, uint8_t value) {
  __asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}
static void out32(uint16_t port, uint32_t value) {
  __asm__ volatile("outl %0, %1" ::"a"(value), "Nd"(port));
}
static uint32_t in32(uint16_t port) {
  uint32_t value;
  __asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
  return value;
}

void* memcpy(void* to, const void* from, __SIZE_TYPE__ bytes) {
  unsigned char* out = to;
  const unsigned char* in = from;
  while (bytes-- != 0) *out++ = *in++;
  return to;
}
void* memset(void* to, int value, __SIZE_TYPE__ bytes) {
  unsigned char* out = to;
  while (bytes-- != 0) *out++ = (unsigned char)value;
  return to;
}

static void print(const char* text) {
  while (*text != 0) out8(SERIAL_PORT, (uint8_t)*text++);
}
static void print_number(uint32_t value) {
  char digits[12];
  char* at = digits + sizeof digits;
  *--at = 0;
  do {
    *--at = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  print(at);
}

static uint32_t pci_read(uint32_t slot, uint32_t offset) {
  out32(PCI_ADDRESS_PORT, 0x80000000u | slot << 11 | offset);
  return in32(PCI_DATA_PORT);
}

/* The firmware of the machine has placed the BARs. */
static int find_gpu(void) {
  uint32_t slot;
  for (slot = 0; slot < 32; ++slot) {
    if (pci_read(slot, 0) != GPU_ID) continue;
    registers = pci_read(slot, 0x10) & ~15u;
    aperture = pci_read(slot, 0x14) & ~15u;
    out32(PCI_ADDRESS_PORT, 0x80000000u | slot << 11 | 4);
    out32(PCI_DATA_PORT, 2); /* memory accesses */
    return registers != 0 && aperture != 0;
  }
  return 0;
}

static volatile uint32_t* place(uint64_t offset) {
  const uint32_t at =
      offset < WEFT_APERTURE ? registers + (uint32_t)offset : aperture + (uint32_t)(offset - WEFT_APERTURE);
  return (volatile uint32_t*)at;
}
static uint32_t read_register(void* context, uint64_t offset) {
  (void)context;
  return *place(offset);
}
static void write_register(void* context, uint64_t offset, uint32_t value) {
  (void)context;
  *place(offset) = value;
}
/* Interrupts do not reach a guest without KVM: it looks at the register instead. */
static void nothing(void* context) {
  (void)context;
}
static void poll(void* context) {
  weft_gpu* gpu = context;
  if (*place(WEFT_REG_IRQ_STATUS) != 0) weft_interrupt(gpu);
}

static int search(weft_queue* queue, uint64_t kernel, int shared) {
  const bfs_options options = {2000, 6, shared};
  bfs_result result = {0, 0, 0, 0};
  const int error = bfs_run(queue, kernel, &options, &result);
  print(shared ? "shared memory: " : "with copies: ");
  if (error != 0) {
    print("error ");
    print_number((uint32_t)(error < 0 ? -error : error));
    print("\n");
    return 2;
  }
  print_number(result.levels);
  print(" levels, ");
  print_number(result.reached);
  print(" vertices reached, ");
  print_number(result.wrong);
  print(" wrong\n");
  return result.wrong == 0 ? 0 : 1;
}

int main(void) {
  static weft_gpu gpu;
  weft_io io;
  weft_queue queue;
  uint64_t kernel;
  int code;
  if (!find_gpu()) {
    print("no GPU found on the PCI bus\n");
    return 2;
  }
  io.context = &gpu;
  io.read32 = read_register;
  io.write32 = write_register;
  io.mask = nothing;
  io.sleep = poll;
  io.unmask = nothing;
  io.memory = (unsigned char*)MEMORY_ADDRESS;
  io.memory_address = MEMORY_ADDRESS;
  io.memory_bytes = MEMORY_BYTES;
  code = weft_open(&gpu, &io);
  if (code == 0) code = weft_open_queue(&queue, &gpu, 0, 64, 1 << 20);
  if (code != 0) {
    print("cannot open the GPU\n");
    return 2;
  }
  kernel = weft_kernel(&gpu, bfs_ptx, (uint64_t)(bfs_ptx_end - bfs_ptx), "_Z3bfsPKiS0_PiiS1_i", 1 << 16);
  if (kernel == 0) return 2;
  code = search(&queue, kernel, 0);
  return code != 0 ? code : search(&queue, kernel, 1);
}
