/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* The logic of the GPU's Linux driver, without Linux: contexts of processes, memory, queues, checked packets.
 * The kernel module and the tests compile the same code. Both reach the rest by `weft_core_os`.
 *
 *   weft_core_start(&core, &os);
 *   context = weft_core_open(core, user);              one per open file
 *   weft_core_call(context, WEFT_IOCTL_..., &argument);
 *   weft_core_interrupt(core, q);                      at each interrupt of queue q
 *   weft_core_close(context);                          its queues may still work for a while
 *
 * Functions that return int return 0, or a negative number of errno.h.
 */
#ifndef WEFT_CORE_H
#define WEFT_CORE_H

#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming,modernize-use-using): names and types of C */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_core weft_core;
typedef struct weft_context weft_context;

/* How the core reaches the GPU and the operating system. */
typedef struct weft_core_os {
  void* os; /* first argument of the functions */
  uint32_t (*read32)(void* os, uint64_t offset);
  void (*write32)(void* os, uint64_t offset, uint32_t value);
  /* Memory of the driver: zeros, or NULL. */
  void* (*allocate)(void* os, uint64_t bytes);
  void (*release)(void* os, void* memory);
  /* One lock for everything. Its owner may sleep. */
  void (*lock)(void* os);
  void (*unlock)(void* os);
  /* Called under the lock: `weft_core_events` of the context with this `user` has changed. */
  void (*wake)(void* os, void* user);
  /* Called under the lock: `weft_core_poll` is wanted in about a millisecond. */
  void (*poll_soon)(void* os);
  /* Lets others run, for some microseconds. Not called under the lock after weft_core_start. */
  void (*pause)(void* os);
  /* Copies from a pointer of the calling process: 0, or -EFAULT. Not called under the lock. */
  int (*from_process)(void* os, void* to, uint64_t from, uint64_t bytes);
  /* Called under the lock: takes these addresses of the GPU away from whoever has mapped them by the context
   * with this `user`. */
  void (*unmap)(void* os, void* user, uint64_t address, uint64_t bytes);
  /* Memory for buffers of kind system, and device memory, as the driver sees them; whole pages. */
  unsigned char *system, *device;
  uint64_t system_address, system_bytes;
  uint64_t device_bytes; /* so much of device memory can be reached */
  uint32_t interrupts;   /* 1: each queue has one. 0: weft_core_poll is called every millisecond */
} weft_core_os;

/* Resets the GPU and opens its window onto the system memory of `os`, which stays where it is.
 * -ENODEV: no GPU of this version there. -ENOMEM. -EINVAL: the GPU refuses the window, or `os` lacks pages.
 */
int weft_core_start(weft_core** core, const weft_core_os* os);
/* After all contexts have been closed. Resets the GPU, which ends what still works. */
void weft_core_stop(weft_core* core);
uint32_t weft_core_queues(const weft_core* core);
/* Device memory that processes can have. */
uint64_t weft_core_device_bytes(const weft_core* core);

/* `user` is for `wake`. NULL: no memory. */
weft_context* weft_core_open(weft_core* core, void* user);
/* The GPU does no more packets of the context than the one that each queue has begun. Memory and queues go
 * back as soon as these are done. */
void weft_core_close(weft_context* context);
/* A call of weft_ioctl.h except WEFT_IOCTL_WAIT; -ENOTTY: there is no such call. */
int weft_core_call(weft_context* context, unsigned int request, void* argument);
/* Calls `use` under the lock if [address, address + bytes) lies in one of the context's buffers, which is not
 * destroyed meanwhile; else -EACCES. For mappings. */
int weft_core_map(weft_context* context, uint64_t address, uint64_t bytes, void (*use)(void* argument),
                  void* argument);
/* Packets that have completed or failed so far, or more. */
uint64_t weft_core_events(const weft_context* context);

void weft_core_interrupt(weft_core* core, uint32_t queue);
/* True: it is wanted again in a millisecond. */
int weft_core_poll(weft_core* core);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming,modernize-use-using) */

#endif
