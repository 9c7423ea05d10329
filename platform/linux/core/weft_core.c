// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
#include "weft_core.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "../weft_ioctl.h"
#include "weft/weft_registers.h"
#include "weft_check.h"
#include "weft_core_state.h"

#define MOST_TEXT_BYTES ((uint64_t)64 << 20)
#define MOST_NAME_BYTES 4096
#define CLEARED_AT_ONCE ((uint64_t)1 << 20)
#define MOST_RESET_PAUSES 100000

static uint32_t get(const weft_core* core, uint64_t offset) {
  return core->os->read32(core->os->os, offset);
}
static void put(const weft_core* core, uint64_t offset, uint32_t value) {
  core->os->write32(core->os->os, offset, value);
}
static uint64_t get64(const weft_core* core, uint64_t offset) {
  const uint64_t low = get(core, offset);
  return (uint64_t)get(core, offset + 4) << 32 | low;
}
static void put64(const weft_core* core, uint64_t offset, uint64_t value) {
  put(core, offset, (uint32_t)value);
  put(core, offset + 4, (uint32_t)(value >> 32));
}
static void lock(const weft_core* core) {
  core->os->lock(core->os->os);
}
static void unlock(const weft_core* core) {
  core->os->unlock(core->os->os);
}
static void* allocate(const weft_core* core, uint64_t bytes) {
  return core->os->allocate(core->os->os, bytes);
}
static void release(const weft_core* core, void* memory) {
  core->os->release(core->os->os, memory);
}
static weft_pool* pool_of(weft_core* core, uint32_t kind) {
  return kind == WEFT_IOCTL_SYSTEM ? &core->system : &core->device;
}

/* ---- the GPU */

/* Back to the state after power-on; device memory contains zeros. */
static int reset(const weft_core* core) {
  uint32_t pauses = 0;
  put(core, WEFT_REG_CONTROL, WEFT_CONTROL_RESET);
  while ((get(core, WEFT_REG_STATUS) & WEFT_STATUS_IN_RESET) != 0) {
    if (++pauses > MOST_RESET_PAUSES) return -ENODEV;
    core->os->pause(core->os->os);
  }
  return 0;
}

static int start(weft_core* core) {
  const weft_core_os* const os = core->os;
  uint64_t device_bytes;
  int error;
  core->version = get(core, WEFT_REG_VERSION);
  core->queue_count = get(core, WEFT_REG_QUEUES);
  core->sms = get(core, WEFT_REG_SMS);
  if (get(core, WEFT_REG_ID) != WEFT_ID_VALUE || core->version >> 16 != WEFT_VERSION_VALUE >> 16 ||
      core->version < WEFT_VERSION_VALUE || core->queue_count == 0 ||
      core->queue_count > WEFT_CORE_MOST_QUEUES) {
    return -ENODEV;
  }
  error = reset(core);
  if (error != 0) return error;
  device_bytes = get64(core, WEFT_REG_MEMORY_BYTES_LO);
  core->device.address = get64(core, WEFT_REG_DEVICE_BASE_LO);
  core->device.bytes = os->device_bytes < device_bytes ? os->device_bytes : device_bytes;
  core->device.data = os->device;
  core->system.address = os->system_address;
  core->system.bytes = os->system_bytes;
  core->system.data = os->system;
  if (core->device.address % WEFT_PAGE_BYTES != 0 || core->device.bytes % WEFT_PAGE_BYTES != 0)
    return -EINVAL;
  put64(core, WEFT_WINDOW(0, WEFT_WINDOW_BASE_LO), os->system_address);
  put64(core, WEFT_WINDOW(0, WEFT_WINDOW_BYTES_LO), os->system_bytes);
  put(core, WEFT_WINDOW(0, WEFT_WINDOW_CONTROL), WEFT_WINDOW_ENABLE);
  return get(core, WEFT_WINDOW(0, WEFT_WINDOW_CONTROL)) == WEFT_WINDOW_ENABLE ? 0 : -EINVAL;
}

int weft_core_start(weft_core** core, const weft_core_os* os) {
  weft_core* const made = os->allocate(os->os, sizeof *made);
  int error;
  if (made == NULL) return -ENOMEM;
  made->os = os;
  error = start(made);
  if (error != 0) {
    release(made, made);
    return error;
  }
  *core = made;
  return 0;
}

uint32_t weft_core_queues(const weft_core* core) {
  return core->queue_count;
}

uint64_t weft_core_device_bytes(const weft_core* core) {
  return core->device.bytes;
}

/* ---- queues */

static uint64_t read_index(const weft_core* core, const weft_core_queue* queue) {
  const unsigned char* const ring = weft_pool_data(&core->system, queue->ring.address);
  return *(const volatile uint64_t*)(ring + (uint64_t)queue->packets * WEFT_PACKET_BYTES);
}

static uint16_t* header_of(const weft_core* core, const weft_core_queue* queue, uint64_t index) {
  unsigned char* const ring = weft_pool_data(&core->system, queue->ring.address);
  return (uint16_t*)(ring + (index & (queue->packets - 1)) * WEFT_PACKET_BYTES);
}

/* No packet of the context is under way, or waits behind one that has failed. */
static int all_done(const weft_context* context) {
  const weft_core* const core = context->core;
  uint32_t q;
  for (q = 0; q < core->queue_count; ++q) {
    const weft_core_queue* const queue = &core->queues[q];
    if (queue->owner == context && read_index(core, queue) != queue->written) return 0;
  }
  return 1;
}

static void write_registers(weft_core* core, uint32_t q) {
  const weft_core_queue* const queue = &core->queues[q];
  const uint64_t read_pointer = queue->ring.address + (uint64_t)queue->packets * WEFT_PACKET_BYTES;
  put64(core, WEFT_QUEUE(q, WEFT_QUEUE_RING_BASE_LO), queue->ring.address);
  put(core, WEFT_QUEUE(q, WEFT_QUEUE_RING_PACKETS), queue->packets);
  put64(core, WEFT_QUEUE(q, WEFT_QUEUE_SCRATCH_BASE_LO), queue->scratch.address);
  put64(core, WEFT_QUEUE(q, WEFT_QUEUE_SCRATCH_BYTES_LO), queue->scratch.bytes);
  put64(core, WEFT_QUEUE(q, WEFT_QUEUE_READ_POINTER_LO), read_pointer);
  put64(core, WEFT_QUEUE_RUNTIME(q, WEFT_QUEUE_RUNTIME_OUTPUT_BASE_LO), queue->output_address);
  put(core, WEFT_QUEUE_RUNTIME(q, WEFT_QUEUE_RUNTIME_OUTPUT_BYTES), (uint32_t)queue->output_bytes);
  put64(core, WEFT_QUEUE_RUNTIME(q, WEFT_QUEUE_RUNTIME_HEAP_BASE_LO), queue->heap_address);
  put64(core, WEFT_QUEUE_RUNTIME(q, WEFT_QUEUE_RUNTIME_HEAP_BYTES_LO), queue->heap_bytes);
}

static int enable(weft_core* core, uint32_t q) {
  put(core, WEFT_QUEUE(q, WEFT_QUEUE_IRQ_STATUS), ~(uint32_t)0);
  put(core, WEFT_QUEUE(q, WEFT_QUEUE_IRQ_ENABLE), WEFT_IRQ_COMPLETION | WEFT_IRQ_ERROR | WEFT_IRQ_FAULT);
  put(core, WEFT_QUEUE(q, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
  return get(core, WEFT_QUEUE(q, WEFT_QUEUE_CONTROL)) == WEFT_QUEUE_ENABLE;
}

static void give_queue_back(weft_core* core, uint32_t q) {
  weft_core_queue* const queue = &core->queues[q];
  put(core, WEFT_QUEUE(q, WEFT_QUEUE_IRQ_ENABLE), 0);
  weft_pool_give(&core->system, &queue->ring);
  weft_pool_give(&core->device, &queue->scratch);
  memset(queue, 0, sizeof *queue);
}

/* Whether the queue is off now. A queue in the middle of a packet refuses. */
static int turn_off(weft_core* core, uint32_t q) {
  put(core, WEFT_QUEUE(q, WEFT_QUEUE_CONTROL), 0);
  return get(core, WEFT_QUEUE(q, WEFT_QUEUE_CONTROL)) == 0;
}

/* Addresses of a request for printf and malloc; 0 bytes: none. */
static int check_runtime(const weft_context* context, const struct weft_ioctl_queue* request) {
  const weft_core_buffer* output = NULL;
  const weft_core_buffer* heap = NULL;
  if ((request->output_bytes == 0 && request->output_address != 0) ||
      (request->heap_bytes == 0 && request->heap_address != 0)) {
    return -EINVAL;
  }
  if (request->output_bytes != 0) {
    if (request->output_address % 8 != 0 || request->output_bytes <= sizeof(struct weft_output) ||
        request->output_bytes > (uint64_t)UINT32_MAX) {
      return -EINVAL;
    }
    output = weft_check_buffer(context, request->output_address, request->output_bytes);
    if (output == NULL || output->kind != WEFT_IOCTL_SYSTEM) return -EACCES;
  }
  if (request->heap_bytes != 0) {
    if (request->heap_address % WEFT_HEAP_ALIGNMENT != 0) return -EINVAL;
    heap = weft_check_buffer(context, request->heap_address, request->heap_bytes);
    if (heap == NULL || heap->kind != WEFT_IOCTL_DEVICE) return -EACCES;
  }
  return 0;
}

static int take_queue(weft_context* context, uint32_t q, const struct weft_ioctl_queue* request) {
  weft_core* const core = context->core;
  weft_core_queue* const queue = &core->queues[q];
  const uint64_t ring_bytes = (uint64_t)request->packets * WEFT_PACKET_BYTES;
  uint32_t i;
  int error = weft_pool_take(&core->system, &queue->ring, ring_bytes + sizeof(uint64_t));
  if (error == 0 && request->scratch_bytes != 0)
    error = weft_pool_take(&core->device, &queue->scratch, request->scratch_bytes);
  if (error != 0) {
    give_queue_back(core, q);
    return error;
  }
  queue->packets = request->packets;
  queue->output_address = request->output_address;
  queue->output_bytes = request->output_bytes;
  queue->heap_address = request->heap_address;
  queue->heap_bytes = request->heap_bytes;
  memset(weft_pool_data(&core->system, queue->ring.address), 0, ring_bytes + sizeof(uint64_t));
  for (i = 0; i < queue->packets; ++i) *header_of(core, queue, i) = WEFT_PACKET_INVALID;
  write_registers(core, q);
  if (!enable(core, q)) {
    give_queue_back(core, q);
    return -EINVAL;
  }
  queue->owner = context;
  if (!core->os->interrupts) core->os->poll_soon(core->os->os);
  return 0;
}

static int create_queue(weft_context* context, struct weft_ioctl_queue* request) {
  weft_core* const core = context->core;
  const uint32_t packets = request->packets;
  uint32_t q = 0;
  int error;
  if (packets == 0 || (packets & (packets - 1)) != 0 || packets > WEFT_RING_MOST_PACKETS) return -EINVAL;
  error = check_runtime(context, request);
  if (error != 0) return error;
  while (q < core->queue_count && core->queues[q].owner != NULL) ++q;
  if (q == core->queue_count) return -EBUSY;
  error = take_queue(context, q, request);
  if (error == 0) request->queue = q;
  return error;
}

static weft_core_queue* find_queue(weft_context* context, uint32_t q) {
  weft_core* const core = context->core;
  return q < core->queue_count && core->queues[q].owner == context ? &core->queues[q] : NULL;
}

static int destroy_queue(weft_context* context, const struct weft_ioctl_handle* request) {
  weft_core* const core = context->core;
  const uint32_t q = request->handle;
  weft_core_queue* const queue = find_queue(context, q);
  if (queue == NULL) return -ENOENT;
  if (read_index(core, queue) != queue->written &&
      (get(core, WEFT_QUEUE(q, WEFT_QUEUE_STATUS)) & WEFT_QUEUE_STATUS_ERROR) == 0) {
    return -EBUSY;
  }
  if (!turn_off(core, q)) return -EBUSY;
  give_queue_back(core, q);
  return 0;
}

static int resume(weft_context* context, const struct weft_ioctl_handle* request) {
  weft_core* const core = context->core;
  const uint32_t q = request->handle;
  if (find_queue(context, q) == NULL) return -ENOENT;
  if ((get(core, WEFT_QUEUE(q, WEFT_QUEUE_STATUS)) & WEFT_QUEUE_STATUS_ERROR) == 0) return 0;
  if (!turn_off(core, q)) return -EBUSY;
  put(core, WEFT_QUEUE(q, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
  return get(core, WEFT_QUEUE(q, WEFT_QUEUE_CONTROL)) == WEFT_QUEUE_ENABLE ? 0 : -EIO;
}

static int get_failure(weft_context* context, struct weft_ioctl_failure* failure) {
  weft_core* const core = context->core;
  const uint32_t q = failure->queue;
  uint32_t i;
  if (find_queue(context, q) == NULL) return -ENOENT;
  failure->code = get(core, WEFT_QUEUE_FAULT(q, WEFT_QUEUE_FAULT_CODE));
  failure->kind = get(core, WEFT_QUEUE_FAULT(q, WEFT_QUEUE_FAULT_KIND));
  failure->address = get64(core, WEFT_QUEUE_FAULT(q, WEFT_QUEUE_FAULT_ADDRESS_LO));
  failure->pc = get(core, WEFT_QUEUE_FAULT(q, WEFT_QUEUE_FAULT_PC));
  for (i = 0; i < 3; ++i) {
    failure->thread[i] = get(core, WEFT_QUEUE_FAULT(q, WEFT_QUEUE_FAULT_THREAD_X + 4 * i));
    failure->block[i] = get(core, WEFT_QUEUE_FAULT(q, WEFT_QUEUE_FAULT_BLOCK_X + 4 * i));
  }
  return 0;
}

/* ---- packets */

static int check_packets(const weft_context* context, const unsigned char* packets, uint32_t count) {
  uint32_t i;
  int error = 0;
  for (i = 0; i < count && error == 0; ++i)
    error = weft_check_packet(context, packets + (uint64_t)i * WEFT_PACKET_BYTES);
  return error;
}

/* The header goes last: the GPU may read the packet from then on. */
static void write_packet(weft_core* core, weft_core_queue* queue, const unsigned char* packet) {
  uint16_t* const place = header_of(core, queue, queue->written);
  uint16_t header;
  memcpy(&header, packet, sizeof header);
  memcpy((unsigned char*)place + sizeof header, packet + sizeof header, WEFT_PACKET_BYTES - sizeof header);
  __atomic_store_n(place, header, __ATOMIC_RELEASE);
  ++queue->written;
}

static int submit_checked(weft_context* context, uint32_t q, const unsigned char* packets, uint32_t count) {
  weft_core* const core = context->core;
  weft_core_queue* const queue = find_queue(context, q);
  uint32_t i;
  int error;
  if (queue == NULL) return -ENOENT;
  if (count > queue->packets) return -EINVAL;
  error = check_packets(context, packets, count);
  if (error != 0) return error;
  if (queue->written - read_index(core, queue) > queue->packets - count) return -EAGAIN;
  for (i = 0; i < count; ++i) write_packet(core, queue, packets + (uint64_t)i * WEFT_PACKET_BYTES);
  put(core, WEFT_QUEUE(q, WEFT_QUEUE_DOORBELL), (uint32_t)queue->written);
  return 0;
}

/* Copies the packets once, so that the process cannot change them between check and use. */
static int submit(weft_context* context, const struct weft_ioctl_submit* request) {
  weft_core* const core = context->core;
  const uint64_t bytes = (uint64_t)request->count * WEFT_PACKET_BYTES;
  uint64_t few[4 * WEFT_PACKET_BYTES / sizeof(uint64_t)];
  void* packets = few;
  int error;
  if (request->count == 0 || request->count > WEFT_RING_MOST_PACKETS) return -EINVAL;
  if (bytes > sizeof few) packets = allocate(core, bytes);
  if (packets == NULL) return -ENOMEM;
  error = core->os->from_process(core->os->os, packets, request->packets, bytes);
  if (error == 0) {
    lock(core);
    error = submit_checked(context, request->queue, packets, request->count);
    unlock(core);
  }
  if (packets != few) release(core, packets);
  return error;
}

/* ---- buffers */

static weft_core_buffer** find_buffer(weft_context* context, uint32_t handle) {
  weft_core_buffer** link = &context->buffers;
  while (*link != NULL && (*link)->handle != handle) link = &(*link)->next;
  return link;
}

static int take_buffer(weft_context* context, weft_core_buffer* buffer, uint64_t bytes) {
  const int error = weft_pool_take(pool_of(context->core, buffer->kind), &buffer->range, bytes);
  if (error != 0) return error;
  do {
    buffer->handle = ++context->last_handle;
  } while (buffer->handle == 0 || *find_buffer(context, buffer->handle) != NULL);
  buffer->next = context->buffers;
  context->buffers = buffer;
  return 0;
}

/* Large buffers take a while, so this happens without the lock. Nobody else uses the buffer yet. */
static void clear_buffer(weft_core* core, const weft_core_buffer* buffer) {
  unsigned char* const data = weft_pool_data(pool_of(core, buffer->kind), buffer->range.address);
  uint64_t done = 0;
  while (done < buffer->range.bytes) {
    const uint64_t left = buffer->range.bytes - done;
    const uint64_t now = left < CLEARED_AT_ONCE ? left : CLEARED_AT_ONCE;
    memset(data + done, 0, now);
    done += now;
    if (done < buffer->range.bytes) core->os->pause(core->os->os);
  }
}

static int create_buffer(weft_context* context, struct weft_ioctl_buffer* request) {
  weft_core* const core = context->core;
  weft_core_buffer* buffer;
  int error;
  if (request->kind != WEFT_IOCTL_SYSTEM && request->kind != WEFT_IOCTL_DEVICE) return -EINVAL;
  buffer = allocate(core, sizeof *buffer);
  if (buffer == NULL) return -ENOMEM;
  buffer->kind = request->kind;
  lock(core);
  error = take_buffer(context, buffer, request->bytes);
  unlock(core);
  if (error != 0) {
    release(core, buffer);
    return error;
  }
  clear_buffer(core, buffer);
  request->handle = buffer->handle;
  request->bytes = buffer->range.bytes;
  request->address = buffer->range.address;
  lock(core);
  buffer->cleared = 1;
  unlock(core);
  return 0;
}

/* A kernel's module has its variables there, or a queue its text or heap. */
static int in_use(const weft_context* context, const weft_core_buffer* buffer) {
  const weft_core* const core = context->core;
  const weft_core_module* module = context->modules;
  uint32_t q;
  for (; module != NULL; module = module->next) {
    if (module->memory_bytes != 0 && weft_range_holds(&buffer->range, module->memory_address, 1)) return 1;
  }
  for (q = 0; q < core->queue_count; ++q) {
    const weft_core_queue* const queue = &core->queues[q];
    if (queue->owner != context) continue;
    if (queue->output_bytes != 0 && weft_range_holds(&buffer->range, queue->output_address, 1)) return 1;
    if (queue->heap_bytes != 0 && weft_range_holds(&buffer->range, queue->heap_address, 1)) return 1;
  }
  return 0;
}

static int destroy_buffer(weft_context* context, const struct weft_ioctl_handle* request) {
  weft_core* const core = context->core;
  weft_core_buffer** const link = find_buffer(context, request->handle);
  weft_core_buffer* const buffer = *link;
  if (buffer == NULL || !buffer->cleared) return -ENOENT;
  if (!all_done(context) || in_use(context, buffer)) return -EBUSY;
  core->os->unmap(core->os->os, context->user, buffer->range.address, buffer->range.bytes);
  *link = buffer->next;
  weft_pool_give(pool_of(core, buffer->kind), &buffer->range);
  release(core, buffer);
  return 0;
}

int weft_core_map(weft_context* context, uint64_t address, uint64_t bytes, void (*use)(void* argument),
                  void* argument) {
  int error = 0;
  lock(context->core);
  if (weft_check_buffer(context, address, bytes) == NULL) error = -EACCES;
  if (error == 0) use(argument);
  unlock(context->core);
  return error;
}

/* ---- kernels */

/* Ends each copy of a text as a comment with a number. The GPU keeps modules as long as their address and
 * bytes are the same. It must not take a module for one that an ended process had at the same address. */
#define COMMENT_BYTES 20

static void write_comment(unsigned char* to, uint64_t number) {
  int i;
  memcpy(to, "\n//", 3);
  for (i = 0; i < 16; ++i) to[3 + i] = "0123456789abcdef"[number >> (60 - 4 * i) & 15];
  to[COMMENT_BYTES - 1] = '\n';
}

static unsigned char* text_of(const weft_core* core, const weft_core_module* module) {
  return weft_pool_data(&core->system, module->text.address);
}

static weft_core_module* find_module(weft_context* context, const struct weft_ioctl_kernel* request,
                                     const unsigned char* text) {
  weft_core_module* module = context->modules;
  for (; module != NULL; module = module->next) {
    if (module->ptx_address == request->ptx_address && module->ptx_bytes == request->ptx_bytes &&
        module->memory_address == request->memory_address && module->memory_bytes == request->memory_bytes &&
        memcmp(text_of(context->core, module), text, module->ptx_bytes) == 0) {
      return module;
    }
  }
  return NULL;
}

static int make_module(weft_context* context, const struct weft_ioctl_kernel* request,
                       const unsigned char* text, weft_core_module** result) {
  weft_core* const core = context->core;
  weft_core_module* const module = allocate(core, sizeof *module);
  int error;
  if (module == NULL) return -ENOMEM;
  error = weft_pool_take(&core->system, &module->text, request->ptx_bytes + COMMENT_BYTES);
  if (error != 0) {
    release(core, module);
    return error;
  }
  memcpy(text_of(core, module), text, request->ptx_bytes);
  write_comment(text_of(core, module) + request->ptx_bytes, ++core->modules);
  module->ptx_address = request->ptx_address;
  module->ptx_bytes = request->ptx_bytes;
  module->memory_address = request->memory_address;
  module->memory_bytes = request->memory_bytes;
  module->next = context->modules;
  context->modules = module;
  *result = module;
  return 0;
}

static void release_module(weft_context* context, weft_core_module* module) {
  weft_core_module** link = &context->modules;
  if (module->kernels != 0) return;
  while (*link != module) link = &(*link)->next;
  *link = module->next;
  weft_pool_give(&context->core->system, &module->text);
  release(context->core, module);
}

static void write_object(weft_core* core, const weft_core_kernel* kernel, const char* name,
                         uint32_t name_bytes) {
  struct weft_kernel_object object = {0};
  unsigned char* const place = weft_pool_data(&core->system, kernel->object.address);
  object.magic = WEFT_KERNEL_OBJECT_MAGIC;
  object.ptx_address = kernel->module->text.address;
  object.ptx_bytes = kernel->module->ptx_bytes + COMMENT_BYTES;
  object.name_address = kernel->object.address + sizeof object;
  object.name_bytes = name_bytes;
  object.memory_address = kernel->module->memory_address;
  object.memory_bytes = kernel->module->memory_bytes;
  memcpy(place, &object, sizeof object);
  memcpy(place + sizeof object, name, name_bytes);
}

static int check_kernel(const weft_context* context, const struct weft_ioctl_kernel* request,
                        const weft_core_buffer** text) {
  const weft_core_buffer* memory;
  *text = weft_check_buffer(context, request->ptx_address, request->ptx_bytes);
  if (*text == NULL) return -EACCES;
  if (request->memory_bytes == 0) return request->memory_address == 0 ? 0 : -EINVAL;
  if (request->memory_address % 256 != 0) return -EINVAL;
  memory = weft_check_buffer(context, request->memory_address, request->memory_bytes);
  return memory != NULL && memory->kind == WEFT_IOCTL_DEVICE ? 0 : -EACCES;
}

static int make_kernel(weft_context* context, struct weft_ioctl_kernel* request, const char* name,
                       weft_core_kernel* kernel) {
  weft_core* const core = context->core;
  const weft_core_buffer* buffer;
  const unsigned char* text;
  int error = check_kernel(context, request, &buffer);
  if (error != 0) return error;
  text = weft_pool_data(pool_of(core, buffer->kind), request->ptx_address);
  kernel->module = find_module(context, request, text);
  if (kernel->module == NULL) error = make_module(context, request, text, &kernel->module);
  if (error != 0) return error;
  error =
      weft_pool_take(&core->system, &kernel->object, sizeof(struct weft_kernel_object) + request->name_bytes);
  if (error != 0) {
    release_module(context, kernel->module);
    return error;
  }
  write_object(core, kernel, name, request->name_bytes);
  ++kernel->module->kernels;
  kernel->next = context->kernels;
  context->kernels = kernel;
  request->kernel = kernel->object.address;
  return 0;
}

static int create_named(weft_context* context, struct weft_ioctl_kernel* request, char* name) {
  weft_core* const core = context->core;
  weft_core_kernel* kernel;
  int error = core->os->from_process(core->os->os, name, request->name, request->name_bytes);
  if (error != 0) return error;
  kernel = allocate(core, sizeof *kernel);
  if (kernel == NULL) return -ENOMEM;
  lock(core);
  error = make_kernel(context, request, name, kernel);
  unlock(core);
  if (error != 0) release(core, kernel);
  return error;
}

static int create_kernel(weft_context* context, struct weft_ioctl_kernel* request) {
  char* name;
  int error;
  if (request->reserved != 0 || request->name_bytes == 0 || request->name_bytes > MOST_NAME_BYTES ||
      request->ptx_bytes == 0 || request->ptx_bytes > MOST_TEXT_BYTES - COMMENT_BYTES) {
    return -EINVAL;
  }
  name = allocate(context->core, request->name_bytes);
  if (name == NULL) return -ENOMEM;
  error = create_named(context, request, name);
  release(context->core, name);
  return error;
}

static void release_kernel(weft_context* context, weft_core_kernel** link) {
  weft_core_kernel* const kernel = *link;
  *link = kernel->next;
  --kernel->module->kernels;
  release_module(context, kernel->module);
  weft_pool_give(&context->core->system, &kernel->object);
  release(context->core, kernel);
}

static int destroy_kernel(weft_context* context, const struct weft_ioctl_kernel_handle* request) {
  weft_core_kernel** link = &context->kernels;
  while (*link != NULL && (*link)->object.address != request->kernel) link = &(*link)->next;
  if (*link == NULL) return -ENOENT;
  if (!all_done(context)) return -EBUSY;
  release_kernel(context, link);
  return 0;
}

/* ---- contexts */

weft_context* weft_core_open(weft_core* core, void* user) {
  weft_context* const context = allocate(core, sizeof *context);
  if (context == NULL) return NULL;
  context->core = core;
  context->user = user;
  lock(core);
  context->next = core->contexts;
  core->contexts = context;
  unlock(core);
  return context;
}

uint64_t weft_core_events(const weft_context* context) {
  return context->events;
}

/* Packets behind the one that the GPU has begun become invalid. The queue waits there, and can be turned off.
 */
static void void_packets(weft_core* core, weft_core_queue* queue) {
  const uint64_t read = read_index(core, queue);
  uint64_t i;
  if (queue->written - read > queue->packets) return;
  for (i = read + 1; i < queue->written; ++i)
    __atomic_store_n(header_of(core, queue, i), WEFT_PACKET_INVALID, __ATOMIC_RELAXED);
}

/* Whether the queue has given up its last packet. A kernel and a copy run to their end. A barrier may wait
 * for ever, and is left. */
static int end_queue(weft_core* core, uint32_t q) {
  const weft_core_queue* const queue = &core->queues[q];
  const uint32_t status = get(core, WEFT_QUEUE(q, WEFT_QUEUE_STATUS));
  const uint16_t type = *header_of(core, queue, read_index(core, queue)) & WEFT_PACKET_TYPE_MASK;
  const int waits =
      type == WEFT_PACKET_INVALID || type == WEFT_PACKET_BARRIER_AND || type == WEFT_PACKET_BARRIER_OR;
  if ((status & WEFT_QUEUE_STATUS_BUSY) != 0 && !waits) return 0;
  return turn_off(core, q);
}

static void release_context(weft_context* context) {
  weft_core* const core = context->core;
  weft_context** link = &core->contexts;
  while (*link != context) link = &(*link)->next;
  *link = context->next;
  while (context->kernels != NULL) release_kernel(context, &context->kernels);
  while (context->buffers != NULL) {
    weft_core_buffer* const buffer = context->buffers;
    context->buffers = buffer->next;
    weft_pool_give(pool_of(core, buffer->kind), &buffer->range);
    release(core, buffer);
  }
  release(core, context);
}

/* Whether all queues of a closed context are off; it is gone then. */
static int end_context(weft_context* context) {
  weft_core* const core = context->core;
  int left = 0;
  uint32_t q;
  for (q = 0; q < core->queue_count; ++q) {
    if (core->queues[q].owner != context) continue;
    if (end_queue(core, q)) {
      give_queue_back(core, q);
    } else {
      left = 1;
    }
  }
  if (!left) release_context(context);
  return !left;
}

void weft_core_close(weft_context* context) {
  weft_core* const core = context->core;
  uint32_t q;
  lock(core);
  context->user = NULL;
  for (q = 0; q < core->queue_count; ++q) {
    if (core->queues[q].owner != context) continue;
    put(core, WEFT_QUEUE(q, WEFT_QUEUE_IRQ_ENABLE), 0);
    void_packets(core, &core->queues[q]);
  }
  if (!end_context(context)) core->os->poll_soon(core->os->os);
  unlock(core);
}

void weft_core_stop(weft_core* core) {
  (void)reset(core);
  while (core->contexts != NULL) release_context(core->contexts);
  release(core, core);
}

/* ---- interrupts */

/* The interrupt comes at an edge of the queue's line, so the line must have been low once. */
static void take_events(weft_core* core, uint32_t q) {
  weft_context* const owner = core->queues[q].owner;
  uint32_t status = get(core, WEFT_QUEUE(q, WEFT_QUEUE_IRQ_STATUS));
  uint32_t seen = 0;
  while (status != 0) {
    seen |= status;
    put(core, WEFT_QUEUE(q, WEFT_QUEUE_IRQ_STATUS), status);
    status = get(core, WEFT_QUEUE(q, WEFT_QUEUE_IRQ_STATUS));
  }
  if (seen == 0 || owner == NULL || owner->user == NULL) return;
  ++owner->events;
  core->os->wake(core->os->os, owner->user);
}

void weft_core_interrupt(weft_core* core, uint32_t queue) {
  if (queue >= core->queue_count) return;
  lock(core);
  take_events(core, queue);
  unlock(core);
}

int weft_core_poll(weft_core* core) {
  weft_context* context;
  int again = 0;
  uint32_t q;
  lock(core);
  for (q = 0; q < core->queue_count && !core->os->interrupts; ++q) {
    if (core->queues[q].owner == NULL) continue;
    take_events(core, q);
    again = 1;
  }
  for (context = core->contexts; context != NULL;) {
    weft_context* const next = context->next;
    if (context->user == NULL && !end_context(context)) again = 1;
    context = next;
  }
  unlock(core);
  return again;
}

/* ---- calls */

static int get_info(const weft_context* context, struct weft_ioctl_info* info) {
  const weft_core* const core = context->core;
  info->device_base = core->device.address;
  info->device_bytes = core->device.bytes;
  info->system_bytes = core->system.bytes;
  info->version = core->version;
  info->sms = core->sms;
  info->queues = core->queue_count;
  info->interrupts = core->os->interrupts;
  return 0;
}

static int get_cycles(const weft_context* context, struct weft_ioctl_cycles* cycles) {
  cycles->cycles = get64(context->core, WEFT_REG_CYCLES_LO);
  return 0;
}

static int call_locked(weft_context* context, unsigned int request, void* argument) {
  switch (request) {
    case WEFT_IOCTL_INFO:
      return get_info(context, argument);
    case WEFT_IOCTL_CYCLES:
      return get_cycles(context, argument);
    case WEFT_IOCTL_QUEUE_CREATE:
      return create_queue(context, argument);
    case WEFT_IOCTL_KERNEL_DESTROY:
      return destroy_kernel(context, argument);
    case WEFT_IOCTL_FAILURE:
      return get_failure(context, argument);
    default:
      break;
  }
  if (((const struct weft_ioctl_handle*)argument)->reserved != 0) return -EINVAL;
  switch (request) {
    case WEFT_IOCTL_BUFFER_DESTROY:
      return destroy_buffer(context, argument);
    case WEFT_IOCTL_QUEUE_DESTROY:
      return destroy_queue(context, argument);
    default:
      return resume(context, argument);
  }
}

int weft_core_call(weft_context* context, unsigned int request, void* argument) {
  int error;
  switch (request) {
    case WEFT_IOCTL_BUFFER_CREATE:
      return create_buffer(context, argument);
    case WEFT_IOCTL_KERNEL_CREATE:
      return create_kernel(context, argument);
    case WEFT_IOCTL_SUBMIT:
      return submit(context, argument);
    case WEFT_IOCTL_INFO:
    case WEFT_IOCTL_CYCLES:
    case WEFT_IOCTL_BUFFER_DESTROY:
    case WEFT_IOCTL_QUEUE_CREATE:
    case WEFT_IOCTL_QUEUE_DESTROY:
    case WEFT_IOCTL_KERNEL_DESTROY:
    case WEFT_IOCTL_FAILURE:
    case WEFT_IOCTL_RESUME:
      lock(context->core);
      error = call_locked(context, request, argument);
      unlock(context->core);
      return error;
    default:
      return -ENOTTY;
  }
}
