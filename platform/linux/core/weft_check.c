// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
#include "weft_check.h"

#include <errno.h>
#include <stddef.h>

#include "weft/weft_registers.h"

const weft_core_buffer* weft_check_buffer(const weft_context* context, uint64_t address, uint64_t bytes) {
  const weft_core_buffer* buffer = context->buffers;
  while (buffer != NULL && !(buffer->cleared && weft_range_holds(&buffer->range, address, bytes)))
    buffer = buffer->next;
  return buffer;
}

static int check_range(const weft_context* context, uint64_t address, uint64_t bytes) {
  return weft_check_buffer(context, address, bytes) != NULL ? 0 : -EACCES;
}

/* Integers of 64 bits at an address, which may be 0: there are none. */
static int check_words(const weft_context* context, uint64_t address, uint64_t words) {
  if (address == 0) return 0;
  if (address % 8 != 0) return -EINVAL;
  return check_range(context, address, 8 * words);
}

static int check_signal(const weft_context* context, uint64_t address) {
  return check_words(context, address, 1);
}

static int check_times(const weft_context* context, uint64_t address) {
  return check_words(context, address, 2);
}

static int first_error(int first, int second) {
  return first != 0 ? first : second;
}

/* The grid is left to the GPU, which knows its limits. A kernel without parameters has kernarg_address 0, or
 * any. How many bytes a kernel takes only the GPU knows; the first must be the context's. */
static int check_dispatch(const weft_context* context, const struct weft_kernel_dispatch_packet* packet) {
  const weft_core_kernel* kernel = context->kernels;
  if (packet->reserved0 != 0 || packet->setup < 1 || packet->setup > 3) return -EINVAL;
  while (kernel != NULL && kernel->object.address != packet->kernel_object) kernel = kernel->next;
  if (kernel == NULL) return -EACCES;
  if (packet->kernarg_address != 0 && check_range(context, packet->kernarg_address, 1) != 0) return -EACCES;
  return check_times(context, packet->times_address);
}

static int check_barrier(const weft_context* context, const struct weft_barrier_packet* packet) {
  int error = packet->reserved0 == 0 && packet->reserved1 == 0 ? 0 : -EINVAL;
  int i;
  for (i = 0; i < 5; ++i) error = first_error(error, check_signal(context, packet->dep_signal[i]));
  return first_error(error, check_times(context, packet->times_address));
}

static int check_copy(const weft_context* context, const struct weft_copy_packet* packet) {
  int error;
  if (packet->reserved0 != 0 || packet->reserved1[0] != 0 || packet->reserved1[1] != 0) return -EINVAL;
  error = check_range(context, packet->source, packet->bytes);
  error = first_error(error, check_range(context, packet->destination, packet->bytes));
  if (error == 0 && packet->source < packet->destination + packet->bytes &&
      packet->destination < packet->source + packet->bytes) {
    return -EINVAL; /* they overlap */
  }
  return first_error(error, check_times(context, packet->times_address));
}

static int check_fill(const weft_context* context, const struct weft_fill_packet* packet) {
  if (packet->reserved0 != 0 || packet->reserved1[0] != 0 || packet->reserved1[1] != 0) return -EINVAL;
  return first_error(check_range(context, packet->destination, packet->bytes),
                     check_times(context, packet->times_address));
}

static int check_vendor(const weft_context* context, const void* packet) {
  const struct weft_copy_packet* const copy = packet;
  if (copy->format == WEFT_VENDOR_COPY) return check_copy(context, copy);
  if (copy->format == WEFT_VENDOR_FILL) return check_fill(context, packet);
  return -EINVAL;
}

/* A header that stays INVALID would let the queue wait for ever. */
int weft_check_packet(const weft_context* context, const void* packet) {
  const unsigned int allowed = WEFT_PACKET_TYPE_MASK | WEFT_PACKET_BARRIER_BIT | WEFT_PACKET_FENCE_MASK;
  const struct weft_barrier_packet* const any = packet;
  int error = -EINVAL;
  if ((any->header & ~allowed) != 0) return -EINVAL;
  switch (any->header & WEFT_PACKET_TYPE_MASK) {
    case WEFT_PACKET_KERNEL_DISPATCH:
      error = check_dispatch(context, packet);
      break;
    case WEFT_PACKET_BARRIER_AND:
    case WEFT_PACKET_BARRIER_OR:
      error = check_barrier(context, packet);
      break;
    case WEFT_PACKET_VENDOR:
      error = check_vendor(context, packet);
      break;
    default:
      break;
  }
  return first_error(error, check_signal(context, any->completion_signal));
}
