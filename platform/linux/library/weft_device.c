#include "weft_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../weft_ioctl.h"
#include "weft_device_calls.h"

#define DEFAULT_PATH "/dev/weft0"
#define MOST_TRIES 20

struct weft_device {
  weft_device_calls calls;
  int file;
};

/* ---- Linux */

static int linux_open(void* context, const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  (void)context;
  return file < 0 ? -errno : file;
}

static void linux_close(void* context, int file) {
  (void)context;
  (void)close(file);
}

static int linux_call(void* context, int file, unsigned long request, void* argument) {
  (void)context;
  return ioctl(file, request, argument) < 0 ? -errno : 0;
}

static int linux_map(void* context, int file, uint64_t address, uint64_t bytes, void* wanted, void** data) {
  const int access = PROT_READ | PROT_WRITE;
  void* place = MAP_FAILED;
  (void)context;
  if (wanted != NULL)
    place = mmap(wanted, bytes, access, MAP_SHARED | MAP_FIXED_NOREPLACE, file, (off_t)address);
  if (place == MAP_FAILED) place = mmap(NULL, bytes, access, MAP_SHARED, file, (off_t)address);
  if (place == MAP_FAILED) return -errno;
  *data = place;
  return 0;
}

static void linux_unmap(void* context, void* data, uint64_t bytes) {
  (void)context;
  (void)munmap(data, bytes);
}

/* ---- the device */

static int call(weft_device* device, unsigned long request, void* argument) {
  return device->calls.call(device->calls.context, device->file, request, argument);
}

/* A packet changes its signal a little before the driver sees that it is done. So -EBUSY is final only after
 * some milliseconds. */
static int call_when_done(weft_device* device, unsigned long request, void* argument) {
  uint64_t seen = 0;
  int result = call(device, request, argument);
  int tries;
  for (tries = 0; result == -EBUSY && tries < MOST_TRIES; ++tries) {
    (void)weft_device_wait(device, &seen, 1);
    result = call(device, request, argument);
  }
  return result;
}

int weft_device_open_by(weft_device** device, const char* path, const weft_device_calls* calls) {
  weft_device* const made = calloc(1, sizeof *made);
  if (made == NULL) return -ENOMEM;
  made->calls = *calls;
  made->file = calls->open(calls->context, path != NULL ? path : DEFAULT_PATH);
  if (made->file < 0) {
    const int error = made->file;
    free(made);
    return error;
  }
  *device = made;
  return 0;
}

int weft_device_open(weft_device** device, const char* path) {
  const weft_device_calls calls = {NULL, linux_open, linux_close, linux_call, linux_map, linux_unmap};
  return weft_device_open_by(device, path, &calls);
}

void weft_device_close(weft_device* device) {
  if (device == NULL) return;
  device->calls.close(device->calls.context, device->file);
  free(device);
}

int weft_device_get_info(weft_device* device, weft_device_info* info) {
  struct weft_ioctl_info answer = {0};
  const int error = call(device, WEFT_IOCTL_INFO, &answer);
  if (error != 0) return error;
  info->device_base = answer.device_base;
  info->device_bytes = answer.device_bytes;
  info->system_bytes = answer.system_bytes;
  info->version = answer.version;
  info->sms = answer.sms;
  info->queues = answer.queues;
  info->interrupts = answer.interrupts;
  return 0;
}

int weft_device_cycles(weft_device* device, uint64_t* cycles) {
  struct weft_ioctl_cycles answer = {0};
  const int error = call(device, WEFT_IOCTL_CYCLES, &answer);
  if (error == 0) *cycles = answer.cycles;
  return error;
}

/* ---- buffers */

int weft_buffer_create(weft_device* device, weft_buffer* buffer) {
  struct weft_ioctl_buffer request = {.kind = buffer->kind, .bytes = buffer->bytes};
  const int error = call(device, WEFT_IOCTL_BUFFER_CREATE, &request);
  if (error != 0) return error;
  buffer->handle = request.handle;
  buffer->bytes = request.bytes;
  buffer->address = request.address;
  buffer->data = NULL;
  return 0;
}

int weft_buffer_map(weft_device* device, weft_buffer* buffer) {
  void* const wanted = buffer->kind == WEFT_BUFFER_SYSTEM ? (void*)(uintptr_t)buffer->address : NULL;
  if (buffer->data != NULL) return 0;
  return device->calls.map(device->calls.context, device->file, buffer->address, buffer->bytes, wanted,
                           &buffer->data);
}

int weft_buffer_destroy(weft_device* device, weft_buffer* buffer) {
  struct weft_ioctl_handle request = {.handle = buffer->handle};
  const int error = call_when_done(device, WEFT_IOCTL_BUFFER_DESTROY, &request);
  if (error != 0) return error;
  if (buffer->data != NULL) device->calls.unmap(device->calls.context, buffer->data, buffer->bytes);
  memset(buffer, 0, sizeof *buffer);
  return 0;
}

/* ---- queues and kernels */

int weft_queue_create(weft_device* device, const weft_queue_request* request) {
  struct weft_ioctl_queue argument = {.packets = request->packets,
                                      .scratch_bytes = request->scratch_bytes,
                                      .output_address = request->output_address,
                                      .output_bytes = request->output_bytes,
                                      .heap_address = request->heap_address,
                                      .heap_bytes = request->heap_bytes};
  const int error = call(device, WEFT_IOCTL_QUEUE_CREATE, &argument);
  if (error == 0) *request->queue = argument.queue;
  return error;
}

int weft_queue_destroy(weft_device* device, uint32_t queue) {
  struct weft_ioctl_handle request = {.handle = queue};
  return call_when_done(device, WEFT_IOCTL_QUEUE_DESTROY, &request);
}

int weft_kernel_create(weft_device* device, const weft_kernel_request* request, uint64_t* kernel) {
  const size_t name_bytes = strlen(request->name);
  struct weft_ioctl_kernel argument = {.ptx_address = request->ptx_address,
                                       .ptx_bytes = request->ptx_bytes,
                                       .name = (uintptr_t)request->name,
                                       .memory_address = request->memory_address,
                                       .memory_bytes = request->memory_bytes};
  int error;
  if (name_bytes > UINT32_MAX) return -EINVAL;
  argument.name_bytes = (uint32_t)name_bytes;
  error = call(device, WEFT_IOCTL_KERNEL_CREATE, &argument);
  if (error == 0) *kernel = argument.kernel;
  return error;
}

int weft_kernel_destroy(weft_device* device, uint64_t kernel) {
  struct weft_ioctl_kernel_handle request = {.kernel = kernel};
  return call_when_done(device, WEFT_IOCTL_KERNEL_DESTROY, &request);
}

/* ---- packets */

int weft_submit(weft_device* device, uint32_t queue, const void* packets, uint32_t count) {
  struct weft_ioctl_submit request = {.queue = queue, .count = count, .packets = (uintptr_t)packets};
  return call(device, WEFT_IOCTL_SUBMIT, &request);
}

int weft_device_wait(weft_device* device, uint64_t* seen, int timeout_ms) {
  struct weft_ioctl_wait request = {.seen = *seen, .timeout_ms = timeout_ms};
  const int error = call(device, WEFT_IOCTL_WAIT, &request);
  if (error == 0) *seen = request.seen;
  return error;
}

int weft_queue_get_failure(weft_device* device, uint32_t queue, weft_queue_failure* failure) {
  struct weft_ioctl_failure answer = {.queue = queue};
  const int error = call(device, WEFT_IOCTL_FAILURE, &answer);
  if (error != 0) return error;
  failure->code = answer.code;
  failure->kind = answer.kind;
  failure->address = answer.address;
  failure->pc = answer.pc;
  memcpy(failure->thread, answer.thread, sizeof failure->thread);
  memcpy(failure->block, answer.block, sizeof failure->block);
  return 0;
}

int weft_queue_resume(weft_device* device, uint32_t queue) {
  struct weft_ioctl_handle request = {.handle = queue};
  return call(device, WEFT_IOCTL_RESUME, &request);
}
