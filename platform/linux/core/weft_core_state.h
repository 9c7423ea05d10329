/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What the core keeps. Everything is guarded by the lock of `weft_core_os`. */
#ifndef WEFT_CORE_STATE_H
#define WEFT_CORE_STATE_H

#include "weft_core.h"
#include "weft_pool.h"

/* NOLINTBEGIN(readability-identifier-naming,modernize-use-using): names and types of C */

#define WEFT_CORE_MOST_QUEUES 64

typedef struct weft_core_buffer {
  weft_range range;
  uint32_t kind, handle;
  int cleared; /* it contains zeros, and may be used */
  struct weft_core_buffer* next;
} weft_core_buffer;

/* PTX as the GPU reads it: a copy that the process cannot change. Kernels with the same text and memory share
 * it, and so the module's variables. */
typedef struct weft_core_module {
  weft_range text;
  uint64_t ptx_address, ptx_bytes, memory_address, memory_bytes; /* as the process gave them */
  uint32_t kernels;
  struct weft_core_module* next;
} weft_core_module;

typedef struct weft_core_kernel {
  weft_range object; /* a weft_kernel_object, and the name behind it */
  weft_core_module* module;
  struct weft_core_kernel* next;
} weft_core_kernel;

/* A queue of the GPU. Its ring lies in pages that no process sees; the read index lies behind the packets. */
typedef struct weft_core_queue {
  weft_context* owner; /* NULL: it is free */
  weft_range ring, scratch;
  uint32_t packets;
  uint64_t written;
  uint64_t output_address, output_bytes, heap_address, heap_bytes;
} weft_core_queue;

struct weft_context {
  weft_core* core;
  void* user; /* NULL: it is closed */
  volatile uint64_t events;
  uint32_t last_handle;
  weft_core_buffer* buffers;
  weft_core_module* modules;
  weft_core_kernel* kernels;
  struct weft_context* next; /* of the core's */
};

struct weft_core {
  const weft_core_os* os;
  weft_pool system, device;
  uint32_t version, queue_count, sms;
  uint64_t modules; /* made so far */
  weft_context* contexts;
  weft_core_queue queues[WEFT_CORE_MOST_QUEUES];
};

/* NOLINTEND(readability-identifier-naming,modernize-use-using) */

#endif
