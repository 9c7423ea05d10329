#include "weft_driver.h"

static uint32_t get(weft_gpu* gpu, uint64_t offset) {
  return gpu->io.read32(gpu->io.context, offset);
}
static void put(weft_gpu* gpu, uint64_t offset, uint32_t value) {
  gpu->io.write32(gpu->io.context, offset, value);
}
static uint64_t get64(weft_gpu* gpu, uint64_t offset) {
  const uint64_t low = get(gpu, offset);
  return (uint64_t)get(gpu, offset + 4) << 32 | low;
}
static void put64(weft_gpu* gpu, uint64_t offset, uint64_t value) {
  put(gpu, offset, (uint32_t)value);
  put(gpu, offset + 4, (uint32_t)(value >> 32));
}
static void clear(void* memory, uint64_t bytes) {
  unsigned char* at = memory;
  while (bytes-- != 0) *at++ = 0;
}
static void copy(void* to, const void* from, uint64_t bytes) {
  unsigned char* out = to;
  const unsigned char* in = from;
  while (bytes-- != 0) *out++ = *in++;
}

int weft_open(weft_gpu* gpu, const weft_io* io) {
  clear(gpu, sizeof *gpu);
  gpu->io = *io;
  if (get(gpu, WEFT_REG_ID) != WEFT_ID_VALUE || get(gpu, WEFT_REG_VERSION) >> 16 != WEFT_VERSION_VALUE >> 16)
    return WEFT_NO_GPU;
  put(gpu, WEFT_REG_CONTROL, WEFT_CONTROL_RESET);
  while ((get(gpu, WEFT_REG_STATUS) & WEFT_STATUS_IN_RESET) != 0) {
  }
  gpu->device_base = get64(gpu, WEFT_REG_DEVICE_BASE_LO);
  gpu->device_bytes = get64(gpu, WEFT_REG_MEMORY_BYTES_LO);
  put64(gpu, WEFT_WINDOW_BASE + WEFT_WINDOW_BASE_LO, io->memory_address);
  put64(gpu, WEFT_WINDOW_BASE + WEFT_WINDOW_BYTES_LO, io->memory_bytes);
  put(gpu, WEFT_WINDOW_BASE + WEFT_WINDOW_CONTROL, WEFT_WINDOW_ENABLE);
  if (get(gpu, WEFT_WINDOW_BASE + WEFT_WINDOW_CONTROL) != WEFT_WINDOW_ENABLE) return WEFT_REFUSED;
  put(gpu, WEFT_REG_IRQ_ENABLE, WEFT_IRQ_COMPLETION | WEFT_IRQ_ERROR | WEFT_IRQ_FAULT);
  return 0;
}

int weft_open_queue(weft_queue* queue, weft_gpu* gpu, uint32_t number, uint32_t packets,
                    uint64_t scratch_bytes) {
  const uint64_t base = WEFT_QUEUE_BASE + (uint64_t)WEFT_QUEUE_STRIDE * number;
  const uint64_t scratch = weft_allocate_device(gpu, scratch_bytes);
  uint32_t i;
  queue->gpu = gpu;
  queue->number = number;
  queue->packets = packets;
  queue->written = 0;
  queue->ring = weft_allocate(gpu, (uint64_t)packets * WEFT_PACKET_BYTES);
  if (queue->ring == 0 || scratch == 0) return WEFT_NO_MEMORY;
  for (i = 0; i < packets; ++i) {
    struct weft_kernel_dispatch_packet* packet =
        (struct weft_kernel_dispatch_packet*)(queue->ring + i * WEFT_PACKET_BYTES);
    packet->header = WEFT_PACKET_INVALID;
  }
  put64(gpu, base + WEFT_QUEUE_RING_BASE_LO, weft_address(gpu, queue->ring));
  put(gpu, base + WEFT_QUEUE_RING_PACKETS, packets);
  put64(gpu, base + WEFT_QUEUE_SCRATCH_BASE_LO, scratch);
  put64(gpu, base + WEFT_QUEUE_SCRATCH_BYTES_LO, scratch_bytes);
  put(gpu, base + WEFT_QUEUE_CONTROL, WEFT_QUEUE_ENABLE);
  return get(gpu, base + WEFT_QUEUE_CONTROL) == WEFT_QUEUE_ENABLE ? 0 : WEFT_REFUSED;
}

void weft_interrupt(weft_gpu* gpu) {
  const uint32_t status = get(gpu, WEFT_REG_IRQ_STATUS);
  put(gpu, WEFT_REG_IRQ_STATUS, status);
  gpu->events |= status;
  ++gpu->interrupts;
}

void* weft_allocate(weft_gpu* gpu, uint64_t bytes) {
  const uint64_t at = (gpu->system_used + 63) & ~(uint64_t)63;
  if (at > gpu->io.memory_bytes || bytes > gpu->io.memory_bytes - at) return 0;
  gpu->system_used = at + bytes;
  return gpu->io.memory + at;
}

uint64_t weft_address(const weft_gpu* gpu, const void* pointer) {
  return gpu->io.memory_address + (uint64_t)((const unsigned char*)pointer - gpu->io.memory);
}

uint64_t weft_allocate_device(weft_gpu* gpu, uint64_t bytes) {
  const uint64_t at = (gpu->device_used + 255) & ~(uint64_t)255;
  if (at > gpu->device_bytes || bytes > gpu->device_bytes - at) return 0;
  gpu->device_used = at + bytes;
  return gpu->device_base + at;
}

uint32_t weft_read_device(weft_gpu* gpu, uint64_t address) {
  return get(gpu, WEFT_APERTURE + (address - gpu->device_base));
}

void weft_write_device(weft_gpu* gpu, uint64_t address, uint32_t value) {
  put(gpu, WEFT_APERTURE + (address - gpu->device_base), value);
}

uint64_t weft_kernel(weft_gpu* gpu, const char* ptx, uint64_t ptx_bytes, const char* name,
                     uint64_t memory_bytes) {
  struct weft_kernel_object* object = weft_allocate(gpu, sizeof *object);
  char* text = weft_allocate(gpu, ptx_bytes);
  const uint64_t memory = weft_allocate_device(gpu, memory_bytes);
  uint32_t name_bytes = 0;
  char* name_there;
  while (name[name_bytes] != 0) ++name_bytes;
  name_there = weft_allocate(gpu, name_bytes);
  if (object == 0 || text == 0 || memory == 0 || name_there == 0) return 0;
  copy(text, ptx, ptx_bytes);
  copy(name_there, name, name_bytes);
  clear(object, sizeof *object);
  object->magic = WEFT_KERNEL_OBJECT_MAGIC;
  object->ptx_address = weft_address(gpu, text);
  object->ptx_bytes = ptx_bytes;
  object->name_address = weft_address(gpu, name_there);
  object->name_bytes = name_bytes;
  object->memory_address = memory;
  object->memory_bytes = memory_bytes;
  return weft_address(gpu, object);
}

struct weft_signal* weft_new_signal(weft_gpu* gpu) {
  struct weft_signal* signal = weft_allocate(gpu, sizeof *signal);
  if (signal != 0) signal->value = 1;
  return signal;
}

/* The next packet of the ring, cleared but for its header, which stays invalid; 0: the ring is full. */
static void* next_packet(weft_queue* queue) {
  const uint64_t base = WEFT_QUEUE_BASE + (uint64_t)WEFT_QUEUE_STRIDE * queue->number;
  const uint32_t read = get(queue->gpu, base + WEFT_QUEUE_READ_INDEX);
  unsigned char* packet = queue->ring + (uint32_t)queue->written % queue->packets * WEFT_PACKET_BYTES;
  if ((uint32_t)queue->written - read >= queue->packets) return 0;
  clear(packet + 2, WEFT_PACKET_BYTES - 2);
  return packet;
}

/* The header goes last: the GPU may look at the packet from then on. */
static void publish(weft_queue* queue, uint16_t* header, uint16_t value) {
  const uint64_t base = WEFT_QUEUE_BASE + (uint64_t)WEFT_QUEUE_STRIDE * queue->number;
  __atomic_store_n(header, value, __ATOMIC_RELEASE);
  ++queue->written;
  put(queue->gpu, base + WEFT_QUEUE_DOORBELL, (uint32_t)queue->written);
}

int weft_dispatch(weft_queue* queue, uint64_t kernel, const uint32_t grid[3], const uint32_t block[3],
                  const void* arguments, uint64_t argument_bytes, struct weft_signal* signal) {
  weft_gpu* gpu = queue->gpu;
  unsigned char* parameters = weft_allocate(gpu, argument_bytes);
  struct weft_kernel_dispatch_packet* packet = next_packet(queue);
  int i;
  if (parameters == 0) return WEFT_NO_MEMORY;
  if (packet == 0) return WEFT_RING_FULL;
  copy(parameters, arguments, argument_bytes);
  packet->setup = 3;
  for (i = 0; i < 3; ++i) {
    packet->workgroup_size[i] = (uint16_t)block[i];
    packet->grid_size[i] = grid[i] * block[i];
  }
  packet->kernel_object = kernel;
  packet->kernarg_address = weft_address(gpu, parameters);
  packet->completion_signal = signal == 0 ? 0 : weft_address(gpu, signal);
  publish(queue, &packet->header, WEFT_PACKET_KERNEL_DISPATCH);
  return 0;
}

int weft_copy(weft_queue* queue, uint64_t to, uint64_t from, uint64_t bytes, struct weft_signal* signal) {
  struct weft_copy_packet* packet = next_packet(queue);
  if (packet == 0) return WEFT_RING_FULL;
  packet->format = WEFT_VENDOR_COPY;
  packet->source = from;
  packet->destination = to;
  packet->bytes = bytes;
  packet->completion_signal = signal == 0 ? 0 : weft_address(queue->gpu, signal);
  publish(queue, &packet->header, WEFT_PACKET_VENDOR);
  return 0;
}

int weft_fill(weft_queue* queue, uint64_t to, uint64_t bytes, uint32_t pattern, struct weft_signal* signal) {
  struct weft_fill_packet* packet = next_packet(queue);
  if (packet == 0) return WEFT_RING_FULL;
  packet->format = WEFT_VENDOR_FILL;
  packet->pattern = pattern;
  packet->destination = to;
  packet->bytes = bytes;
  packet->completion_signal = signal == 0 ? 0 : weft_address(queue->gpu, signal);
  publish(queue, &packet->header, WEFT_PACKET_VENDOR);
  return 0;
}

int weft_wait(weft_gpu* gpu, struct weft_signal* signal) {
  for (;;) {
    int failed;
    int64_t value;
    gpu->io.mask(gpu->io.context);
    failed = (gpu->events & (WEFT_IRQ_ERROR | WEFT_IRQ_FAULT)) != 0;
    value = *(volatile int64_t*)&signal->value;
    if (!failed && value > 0) gpu->io.sleep(gpu->io.context);
    gpu->io.unmask(gpu->io.context);
    if (value <= 0) return (int)-value;
    if (failed) return (int)get(gpu, WEFT_REG_ERROR_CODE);
  }
}

void weft_get_failure(weft_failure* failure, weft_queue* queue) {
  const uint64_t base = WEFT_QUEUE_FAULT_BASE + (uint64_t)WEFT_QUEUE_FAULT_STRIDE * queue->number;
  uint32_t i;
  failure->code = get(queue->gpu, base + WEFT_QUEUE_FAULT_CODE);
  failure->kind = get(queue->gpu, base + WEFT_QUEUE_FAULT_KIND);
  failure->address = get64(queue->gpu, base + WEFT_QUEUE_FAULT_ADDRESS_LO);
  failure->pc = get(queue->gpu, base + WEFT_QUEUE_FAULT_PC);
  for (i = 0; i < 3; ++i) {
    failure->thread[i] = get(queue->gpu, base + WEFT_QUEUE_FAULT_THREAD_X + 4 * i);
    failure->block[i] = get(queue->gpu, base + WEFT_QUEUE_FAULT_BLOCK_X + 4 * i);
  }
}

int weft_resume(weft_queue* queue) {
  weft_gpu* gpu = queue->gpu;
  const uint64_t base = WEFT_QUEUE_BASE + (uint64_t)WEFT_QUEUE_STRIDE * queue->number;
  gpu->io.mask(gpu->io.context);
  gpu->events &= ~(uint32_t)(WEFT_IRQ_ERROR | WEFT_IRQ_FAULT);
  put(gpu, WEFT_REG_ERROR_CODE, WEFT_ERROR_NONE);
  gpu->io.unmask(gpu->io.context);
  put(gpu, base + WEFT_QUEUE_CONTROL, 0);
  put(gpu, base + WEFT_QUEUE_CONTROL, WEFT_QUEUE_ENABLE);
  return get(gpu, base + WEFT_QUEUE_CONTROL) == WEFT_QUEUE_ENABLE ? 0 : WEFT_REFUSED;
}

int weft_open_runtime(weft_queue* queue, uint32_t output_bytes, uint64_t heap_bytes) {
  weft_gpu* gpu = queue->gpu;
  const uint64_t base = WEFT_QUEUE_BASE + (uint64_t)WEFT_QUEUE_STRIDE * queue->number;
  const uint64_t runtime = WEFT_QUEUE_RUNTIME_BASE + (uint64_t)WEFT_QUEUE_RUNTIME_STRIDE * queue->number;
  const uint64_t heap = heap_bytes == 0 ? 0 : weft_allocate_device(gpu, heap_bytes);
  queue->output = output_bytes == 0 ? 0 : weft_allocate(gpu, output_bytes);
  queue->output_bytes = output_bytes;
  queue->output_at = 0;
  queue->output_read = 0;
  if ((heap_bytes != 0 && heap == 0) || (output_bytes != 0 && queue->output == 0)) return WEFT_NO_MEMORY;
  if (queue->output != 0) clear(queue->output, output_bytes);
  put(gpu, base + WEFT_QUEUE_CONTROL, 0);
  put64(gpu, runtime + WEFT_QUEUE_RUNTIME_OUTPUT_BASE_LO,
        queue->output == 0 ? 0 : weft_address(gpu, queue->output));
  put(gpu, runtime + WEFT_QUEUE_RUNTIME_OUTPUT_BYTES, output_bytes);
  put64(gpu, runtime + WEFT_QUEUE_RUNTIME_HEAP_BASE_LO, heap);
  put64(gpu, runtime + WEFT_QUEUE_RUNTIME_HEAP_BYTES_LO, heap_bytes);
  put(gpu, base + WEFT_QUEUE_CONTROL, WEFT_QUEUE_ENABLE);
  return get(gpu, base + WEFT_QUEUE_CONTROL) == WEFT_QUEUE_ENABLE ? 0 : WEFT_REFUSED;
}

/* Without a division of 64 bits, which some CPUs' compilers take from a library. */
static char next_character(weft_queue* queue) {
  const char* ring = (const char*)queue->output + WEFT_OUTPUT_BYTES_BEFORE_RING;
  const char next = ring[queue->output_at];
  ++queue->output_read;
  if (++queue->output_at == queue->output_bytes - WEFT_OUTPUT_BYTES_BEFORE_RING) queue->output_at = 0;
  return next;
}

uint64_t weft_read_output(weft_queue* queue, char* text, uint64_t most) {
  const uint64_t written = *(volatile uint64_t*)&queue->output->written;
  uint64_t bytes = 0;
  while (written - queue->output_read > queue->output_bytes - WEFT_OUTPUT_BYTES_BEFORE_RING)
    next_character(queue);
  while (bytes < most && queue->output_read != written) text[bytes++] = next_character(queue);
  return bytes;
}
