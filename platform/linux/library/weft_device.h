/* The GPU for a process under Linux: the device /dev/weft0 of the kernel module in platform/linux/module.
 *
 *   weft_device_open(&device, NULL);
 *   weft_buffer signals = {.kind = WEFT_BUFFER_SYSTEM, .bytes = 4096};
 *   weft_buffer_create(device, &signals);
 *   weft_buffer_map(device, &signals);
 *   weft_queue_request ring = {.packets = 64, .scratch_bytes = 1 << 20, .queue = &queue};
 *   weft_queue_create(device, &ring);
 *   weft_kernel_create(device, &(weft_kernel_request){...}, &kernel);
 *   weft_submit(device, queue, &packet, 1);
 *   while (*signal > 0) weft_device_wait(device, &seen, 1000);
 *
 * Packets, signals and errors are those of weft_registers.h. Every process has its own buffers and queues.
 * The driver refuses packets with addresses of anybody else's, but the GPU has no page tables: a kernel
 * itself may access all of device memory, and all memory for buffers. When the process ends, the driver waits
 * until its queues are done, and then takes everything back.
 *
 * Functions that return int return 0, or a negative number of errno.h. Sizes are bytes. -ENOENT: a handle is
 * not this process's.
 */
#ifndef WEFT_DEVICE_H
#define WEFT_DEVICE_H

#include <stdint.h>

#include "weft/weft_registers.h"

/* NOLINTBEGIN(readability-identifier-naming,modernize-use-using): names and types of C */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_device weft_device;

typedef struct weft_device_info {
  uint64_t device_base, device_bytes; /* addresses of device memory, as packets and kernels see it */
  uint64_t system_bytes;              /* memory for buffers of kind WEFT_BUFFER_SYSTEM, of all processes */
  uint32_t version;                   /* WEFT_REG_VERSION */
  uint32_t sms;
  uint32_t queues;     /* of the GPU, for all processes */
  uint32_t interrupts; /* 1: waits sleep until an interrupt; 0: the driver polls */
} weft_device_info;

enum { WEFT_BUFFER_SYSTEM = 1, WEFT_BUFFER_DEVICE = 2 };

/* A piece of memory of this process. Set kind and bytes before it is created; the rest is an answer. */
typedef struct weft_buffer {
  uint32_t kind; /* WEFT_BUFFER_* */
  uint32_t handle;
  uint64_t bytes;   /* rounded up to whole pages */
  uint64_t address; /* of its first byte, for packets and kernels */
  void* data;       /* where the process sees it, after weft_buffer_map; else NULL */
} weft_buffer;

typedef struct weft_queue_request {
  uint32_t packets;       /* in the ring: a power of two up to WEFT_RING_MOST_PACKETS */
  uint64_t scratch_bytes; /* device memory for parameters and local variables of its kernels */
  /* Where its kernels' printf goes (a weft_output and the bytes behind it, of a system buffer), and device
   * memory of malloc in kernels, which queues may share. 0: none. */
  uint64_t output_address, output_bytes, heap_address, heap_bytes;
  uint32_t* queue; /* its handle */
} weft_queue_request;

/* What is a weft_kernel_object for the GPU. All addresses are of this process's buffers. */
typedef struct weft_kernel_request {
  uint64_t ptx_address, ptx_bytes;       /* the text */
  const char* name;                      /* of the .entry */
  uint64_t memory_address, memory_bytes; /* device memory for the module's variables and code */
} weft_kernel_request;

/* Why a queue has stopped; as the registers WEFT_QUEUE_FAULT_*. */
typedef struct weft_queue_failure {
  uint32_t code; /* WEFT_ERROR_*; WEFT_ERROR_NONE: it has not stopped */
  uint32_t kind; /* WEFT_FAULT_* */
  uint64_t address;
  uint32_t pc, thread[3], block[3];
} weft_queue_failure;

/* `path` NULL: /dev/weft0. The device may be opened several times; each has its own buffers and queues. */
int weft_device_open(weft_device** device, const char* path);
void weft_device_close(weft_device* device);
int weft_device_get_info(weft_device* device, weft_device_info* info);
/* Cycles of the GPU's core clock so far. */
int weft_device_cycles(weft_device* device, uint64_t* cycles);

/* -ENOMEM: no memory left. New buffers contain zeros. */
int weft_buffer_create(weft_device* device, weft_buffer* buffer);
/* System memory appears at the address that the GPU uses, too, if the process has nothing there; else, and
 * for device memory, anywhere. */
int weft_buffer_map(weft_device* device, weft_buffer* buffer);
/* -EBUSY: packets of this process are under way, or wait behind one that has failed; or a kernel's variables,
 * or output or heap of a queue, lie there. */
int weft_buffer_destroy(weft_device* device, weft_buffer* buffer);

/* -EBUSY: other processes have all queues. */
int weft_queue_create(weft_device* device, const weft_queue_request* request);
/* -EBUSY: packets are under way. */
int weft_queue_destroy(weft_device* device, uint32_t queue);

/* `kernel` is for the field kernel_object of packets. The driver copies the text, so its buffer is free then.
 * Kernels with the same text and memory share the module's variables. */
int weft_kernel_create(weft_device* device, const weft_kernel_request* request, uint64_t* kernel);
/* -EBUSY: packets of this process are under way, or wait behind one that has failed. */
int weft_kernel_destroy(weft_device* device, uint64_t kernel);

/* Puts packets of 64 bytes into the ring, all or none, and rings the doorbell. -EAGAIN: the ring is full;
 * -EACCES: a packet has an address outside of this process's buffers; -EINVAL: it is malformed. */
int weft_submit(weft_device* device, uint32_t queue, const void* packets, uint32_t count);

/* Sleeps until a packet with a signal has completed or failed since `*seen`, and sets it. Begin with 0.
 * -ETIMEDOUT after `timeout_ms` (negative: never), -EINTR. */
int weft_device_wait(weft_device* device, uint64_t* seen, int timeout_ms);

int weft_queue_get_failure(weft_device* device, uint32_t queue, weft_queue_failure* failure);
/* Lets a queue that has stopped go on behind the packet that failed. */
int weft_queue_resume(weft_device* device, uint32_t queue);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming,modernize-use-using) */

#endif
