/* Driver for the GPU in C99, for whoever reaches its registers and shares memory with it: firmware on a host
 * CPU of the SoC, or a process outside the simulation. It allocates nothing but from the memory that it is
 * given.
 *
 *   weft_gpu gpu;
 *   weft_queue queue;
 *   if (weft_open(&gpu, &io) != 0 || weft_open_queue(&queue, &gpu, 0, 64, 1 << 20) != 0) ...
 *   kernel = weft_kernel(&gpu, ptx, ptx_bytes, "name", 1 << 16);
 *   weft_dispatch(&queue, kernel, grid, block, &arguments, sizeof arguments, signal);
 *   error = weft_wait(&gpu, signal);
 *
 * Functions that return int return 0, or a WEFT_ERROR_* of weft_registers.h, or one of the codes below.
 * Addresses are those of packets and kernels.
 */
#ifndef WEFT_DRIVER_H
#define WEFT_DRIVER_H

#include <stdint.h>

#include "weft/weft_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_NO_GPU (-1)    /* no GPU there, or another version of its registers */
#define WEFT_NO_MEMORY (-2) /* system or device memory is used up */
#define WEFT_RING_FULL (-3) /* wait for a packet first */
#define WEFT_REFUSED (-4)   /* the GPU did not enable the window or queue */

/* How the GPU is reached. */
typedef struct weft_io {
  void* context; /* first argument of the functions */
  uint32_t (*read32)(void* context, uint64_t offset);
  void (*write32)(void* context, uint64_t offset, uint32_t value);
  /* `sleep` is called with interrupts masked, and returns when one is pending; `unmask` lets it be handled,
   * which must call weft_interrupt. */
  void (*mask)(void* context);
  void (*sleep)(void* context);
  void (*unmask)(void* context);
  /* System memory that is shared with the GPU: here, and its address on the bus; whole pages of 4096 bytes.
   */
  unsigned char* memory;
  uint64_t memory_address, memory_bytes;
} weft_io;

typedef struct weft_gpu {
  weft_io io;
  uint64_t system_used, device_base, device_bytes, device_used;
  volatile uint32_t events;     /* WEFT_IRQ_* bits of the interrupts so far */
  volatile uint32_t interrupts; /* their number */
} weft_gpu;

typedef struct weft_queue {
  weft_gpu* gpu;
  uint32_t number, packets;
  unsigned char* ring;
  uint64_t written;
  /* Of weft_open_runtime. */
  struct weft_output* output;
  uint32_t output_bytes, output_at;
  uint64_t output_read;
} weft_queue;

/* Resets the GPU, opens window 0 onto the memory of `io`, enables all interrupts. */
int weft_open(weft_gpu* gpu, const weft_io* io);
int weft_open_queue(weft_queue* queue, weft_gpu* gpu, uint32_t number, uint32_t packets,
                    uint64_t scratch_bytes);
/* Lets the kernels of a queue whose packets are all done print and allocate: `output_bytes` of system memory
 * for text, and `heap_bytes` of device memory; 0: none. */
int weft_open_runtime(weft_queue* queue, uint32_t output_bytes, uint64_t heap_bytes);
/* What kernels have printed since the last call, up to `most` bytes; returns how many. Text that later
 * kernels have overwritten is left out. Only after weft_open_runtime with an output. */
uint64_t weft_read_output(weft_queue* queue, char* text, uint64_t most);
/* To be called when the GPU's interrupt line is high. */
void weft_interrupt(weft_gpu* gpu);

/* System memory: a pointer aligned to 64, or 0; and the GPU's address of such a pointer. */
void* weft_allocate(weft_gpu* gpu, uint64_t bytes);
uint64_t weft_address(const weft_gpu* gpu, const void* pointer);
/* Device memory: an address aligned to 256, or 0. */
uint64_t weft_allocate_device(weft_gpu* gpu, uint64_t bytes);
/* Words of device memory through the aperture. */
uint32_t weft_read_device(weft_gpu* gpu, uint64_t address);
void weft_write_device(weft_gpu* gpu, uint64_t address, uint32_t value);

/* Makes a kernel object of PTX text: its address, or 0. `memory_bytes` of device memory are for the module's
 * variables and code. */
uint64_t weft_kernel(weft_gpu* gpu, const char* ptx, uint64_t ptx_bytes, const char* name,
                     uint64_t memory_bytes);
/* A signal with value 1, or 0. */
struct weft_signal* weft_new_signal(weft_gpu* gpu);

/* `grid` is in blocks. Arguments are copied, laid out as the kernel declares them. `signal` may be 0. */
int weft_dispatch(weft_queue* queue, uint64_t kernel, const uint32_t grid[3], const uint32_t block[3],
                  const void* arguments, uint64_t argument_bytes, struct weft_signal* signal);
int weft_copy(weft_queue* queue, uint64_t to, uint64_t from, uint64_t bytes, struct weft_signal* signal);
/* Fills with the 4 bytes of `pattern`, again and again. */
int weft_fill(weft_queue* queue, uint64_t to, uint64_t bytes, uint32_t pattern, struct weft_signal* signal);
/* Sleeps until the signal is 0, or its packet has failed, or some queue has stopped, whose error is returned.
 */
int weft_wait(weft_gpu* gpu, struct weft_signal* signal);

/* Why a queue has stopped. `kind` (WEFT_FAULT_*) and what follows `address` are of a kernel's fault. */
typedef struct weft_failure {
  uint32_t code; /* WEFT_ERROR_*; WEFT_ERROR_NONE: it has not stopped */
  uint32_t kind;
  uint64_t address;
  uint32_t pc, thread[3], block[3]; /* pc WEFT_NO_PC: no thread is known */
} weft_failure;
void weft_get_failure(weft_failure* failure, weft_queue* queue);
/* Lets a queue that has stopped go on behind the packet that failed. Its heap is empty then. Other queues are
 * not concerned. */
int weft_resume(weft_queue* queue);

#ifdef __cplusplus
}
#endif

#endif
