#include "host/register_table.h"

#include <stdexcept>

namespace weft::host {

const std::vector<RegisterEntry>& global_registers() {
  using Access = RegisterAccess;
  static const std::vector<RegisterEntry> kTable = {
      {"ID", 0x000, Access::kReadOnly, "WEFT_ID_VALUE: the letters WEFT"},
      {"VERSION", 0x004, Access::kReadOnly, "version of this map: major << 16 | minor"},
      {"STATUS", 0x008, Access::kReadOnly, "WEFT_STATUS_*"},
      {"CONTROL", 0x00C, Access::kReadWrite, "WEFT_CONTROL_*; reads as 0"},
      {"IRQ_STATUS", 0x010, Access::kWriteOneToClear, "WEFT_IRQ_*: what happened; writing 1 clears"},
      {"IRQ_ENABLE", 0x014, Access::kReadWrite, "WEFT_IRQ_*: what raises the interrupt line"},
      {"ERROR_CODE", 0x018, Access::kReadWrite,
       "WEFT_ERROR_* of the first error since it was cleared; any write clears all ERROR_*"},
      {"ERROR_QUEUE", 0x01C, Access::kReadOnly, "queue of the first error, or WEFT_NO_QUEUE"},
      {"ERROR_ADDRESS_LO", 0x020, Access::kReadOnly,
       "address of the packet, access or window of the first error; of a fault: that the thread accessed"},
      {"ERROR_ADDRESS_HI", 0x024, Access::kReadOnly, ""},
      {"MEMORY_BYTES_LO", 0x028, Access::kReadOnly, "size of device memory"},
      {"MEMORY_BYTES_HI", 0x02C, Access::kReadOnly, ""},
      {"DEVICE_BASE_LO", 0x030, Access::kReadOnly,
       "address of device memory in packets and kernels; the same byte is at WEFT_APERTURE + (address - "
       "base)"},
      {"DEVICE_BASE_HI", 0x034, Access::kReadOnly, ""},
      {"QUEUES", 0x038, Access::kReadOnly, "number of queues"},
      {"SMS", 0x03C, Access::kReadOnly, "number of streaming multiprocessors"},
      {"CYCLES_LO", 0x040, Access::kReadOnly, "core clock cycles; reading it latches CYCLES_HI"},
      {"CYCLES_HI", 0x044, Access::kReadOnly, ""},
      {"WINDOWS", 0x048, Access::kReadOnly, "number of system memory windows"},
      {"MODE", 0x04C, Access::kReadWrite, "WEFT_MODE_*: how kernels run that begin after the write"},
  };
  return kTable;
}

const std::vector<RegisterEntry>& window_registers() {
  using Access = RegisterAccess;
  static const std::vector<RegisterEntry> kTable = {
      {"BASE_LO", 0x00, Access::kReadWrite, "first address; a multiple of WEFT_WINDOW_ALIGNMENT"},
      {"BASE_HI", 0x04, Access::kReadWrite, ""},
      {"BYTES_LO", 0x08, Access::kReadWrite, "size; a multiple of WEFT_WINDOW_ALIGNMENT, not 0"},
      {"BYTES_HI", 0x0C, Access::kReadWrite, ""},
      {"CONTROL", 0x10, Access::kReadWrite,
       "WEFT_WINDOW_ENABLE; reads as 0 if the window was refused. The others can be written while it is 0"},
  };
  return kTable;
}

const std::vector<RegisterEntry>& queue_registers() {
  using Access = RegisterAccess;
  static const std::vector<RegisterEntry> kTable = {
      {"RING_BASE_LO", 0x00, Access::kReadWrite,
       "address of the ring; a multiple of 64. A write to RING_* sets the indices to 0"},
      {"RING_BASE_HI", 0x04, Access::kReadWrite, ""},
      {"RING_PACKETS", 0x08, Access::kReadWrite,
       "packets in the ring: a power of two up to WEFT_RING_MOST_PACKETS"},
      {"CONTROL", 0x0C, Access::kReadWrite,
       "WEFT_QUEUE_ENABLE; reads as 0 if the ring was refused. Enabling goes on behind the last packet that "
       "is done or has failed"},
      {"READ_INDEX", 0x10, Access::kReadOnly,
       "low word of the number of packets that are done or have failed"},
      {"DOORBELL", 0x14, Access::kReadWrite,
       "low word of the write index: the number of packets written so far"},
      {"STATUS", 0x18, Access::kReadOnly, "WEFT_QUEUE_STATUS_*"},
      {"SCRATCH_BASE_LO", 0x20, Access::kReadWrite,
       "device memory for kernels' parameters and local variables; a multiple of 256"},
      {"SCRATCH_BASE_HI", 0x24, Access::kReadWrite, ""},
      {"SCRATCH_BYTES_LO", 0x28, Access::kReadWrite, "its size"},
      {"SCRATCH_BYTES_HI", 0x2C, Access::kReadWrite, ""},
      {"READ_POINTER_LO", 0x30, Access::kReadWrite,
       "where the 64-bit read index is written after each packet, a multiple of 8; 0: nowhere"},
      {"READ_POINTER_HI", 0x34, Access::kReadWrite, ""},
      {"IRQ_STATUS", 0x38, Access::kWriteOneToClear,
       "WEFT_IRQ_*: what happened in this queue; writing 1 clears it here, not in WEFT_REG_IRQ_STATUS"},
      {"IRQ_ENABLE", 0x3C, Access::kReadWrite,
       "WEFT_IRQ_*: what raises the queue's own interrupt line; at any time"},
  };
  return kTable;
}

const std::vector<RegisterEntry>& queue_fault_registers() {
  using Access = RegisterAccess;
  static const std::vector<RegisterEntry> kTable = {
      {"CODE", 0x00, Access::kReadOnly,
       "WEFT_ERROR_* that stopped the queue, until the queue is enabled again; 0: it has not stopped"},
      {"KIND", 0x04, Access::kReadOnly, "WEFT_FAULT_* of a kernel, if CODE is WEFT_ERROR_FAULT"},
      {"ADDRESS_LO", 0x08, Access::kReadOnly,
       "address that a thread accessed, or that ERROR_ADDRESS has for other codes; 0: no access"},
      {"ADDRESS_HI", 0x0C, Access::kReadOnly, ""},
      {"PC", 0x10, Access::kReadOnly,
       "number of the instruction in its program, as messages name it; WEFT_NO_PC: no thread is known"},
      {"THREAD_X", 0x14, Access::kReadOnly, "index of the thread in its block"},
      {"THREAD_Y", 0x18, Access::kReadOnly, ""},
      {"THREAD_Z", 0x1C, Access::kReadOnly, ""},
      {"BLOCK_X", 0x20, Access::kReadOnly, "index of the block in its grid"},
      {"BLOCK_Y", 0x24, Access::kReadOnly, ""},
      {"BLOCK_Z", 0x28, Access::kReadOnly, ""},
  };
  return kTable;
}

const std::vector<RegisterEntry>& queue_runtime_registers() {
  using Access = RegisterAccess;
  static const std::vector<RegisterEntry> kTable = {
      {"OUTPUT_BASE_LO", 0x00, Access::kReadWrite,
       "address of a weft_output, where the text of printf in kernels goes; a multiple of 8; 0: nowhere. "
       "These registers can be written while the queue is off"},
      {"OUTPUT_BASE_HI", 0x04, Access::kReadWrite, ""},
      {"OUTPUT_BYTES", 0x08, Access::kReadWrite,
       "size of the weft_output and of the ring of text behind it: more than WEFT_OUTPUT_BYTES_BEFORE_RING"},
      {"HEAP_BASE_LO", 0x10, Access::kReadWrite,
       "device memory for malloc in kernels; a multiple of WEFT_HEAP_ALIGNMENT; 0: none. Queues with the "
       "same "
       "heap share what is allocated there"},
      {"HEAP_BASE_HI", 0x14, Access::kReadWrite, ""},
      {"HEAP_BYTES_LO", 0x18, Access::kReadWrite, "its size; not 0 if there is a heap"},
      {"HEAP_BYTES_HI", 0x1C, Access::kReadWrite, ""},
  };
  return kTable;
}

const std::vector<RegisterBlock>& register_blocks() {
  static const std::vector<RegisterBlock> kTable = {
      {"REG_", "registers of the GPU", global_registers(), nullptr, nullptr, 1, nullptr},
      {"WINDOW_", "window of system memory", window_registers(), "WINDOW_BASE", "WINDOW_STRIDE", kMostWindows,
       "WINDOWS"},
      {"QUEUE_", "queue of packets", queue_registers(), "QUEUE_BASE", "QUEUE_STRIDE", kMostQueues, "QUEUES"},
      {"QUEUE_FAULT_", "why a queue has stopped", queue_fault_registers(), "QUEUE_FAULT_BASE",
       "QUEUE_FAULT_STRIDE", kMostQueues, "QUEUES"},
      {"QUEUE_RUNTIME_", "what printf and malloc of a queue's kernels use", queue_runtime_registers(),
       "QUEUE_RUNTIME_BASE", "QUEUE_RUNTIME_STRIDE", kMostQueues, "QUEUES"},
  };
  return kTable;
}

const std::vector<RegisterValues>& register_values() {
  static const std::vector<RegisterValues> kTable = {
      {"REG_", "STATUS", "STATUS_"},
      {"REG_", "CONTROL", "CONTROL_"},
      {"REG_", "IRQ_STATUS", "IRQ_"},
      {"REG_", "IRQ_ENABLE", "IRQ_"},
      {"REG_", "MODE", "MODE_"},
      {"REG_", "ERROR_CODE", "ERROR_"},
      {"WINDOW_", "CONTROL", "WINDOW_ENABLE"},
      {"QUEUE_", "CONTROL", "QUEUE_ENABLE"},
      {"QUEUE_", "STATUS", "QUEUE_STATUS_"},
      {"QUEUE_", "IRQ_STATUS", "IRQ_"},
      {"QUEUE_", "IRQ_ENABLE", "IRQ_"},
      {"QUEUE_FAULT_", "CODE", "ERROR_"},
      {"QUEUE_FAULT_", "KIND", "FAULT_"},
  };
  return kTable;
}

const std::vector<ConstantGroup>& constant_groups() {
  static const std::vector<ConstantGroup> kTable = {
      {"Address space of the GPU's host socket",
       {{"REGISTER_BYTES", 0x10000, "registers: aligned accesses of 4 bytes, or of 8 to two"},
        {"APERTURE", 0x10000000, "device memory from its first byte on: any access"},
        {"WINDOW_BASE", 0x100, "block of window 0"},
        {"WINDOW_STRIDE", 0x20, ""},
        {"QUEUE_BASE", 0x1000, "block of queue 0"},
        {"QUEUE_STRIDE", 0x40, ""},
        {"QUEUE_FAULT_BASE", 0x2000, "block of queue 0 that says why it has stopped"},
        {"QUEUE_FAULT_STRIDE", 0x40, ""},
        {"QUEUE_RUNTIME_BASE", 0x3000, "block of queue 0 for printf and malloc of its kernels"},
        {"QUEUE_RUNTIME_STRIDE", 0x40, ""}}},
      {"ID and VERSION", {{"ID_VALUE", 0x54464557, ""}, {"VERSION_VALUE", 0x00010003, ""}}},
      {"STATUS",
       {{"STATUS_BUSY", 1u << 0, "a queue works on a packet"},
        {"STATUS_FAULT", 1u << 1, "a kernel's fault has stopped a queue"},
        {"STATUS_IN_RESET", 1u << 2, "only registers can be read"}}},
      {"CONTROL",
       {{"CONTROL_RESET", 1u << 0, "back to the state after power-on, device memory included"},
        {"CONTROL_INVALIDATE", 1u << 1,
         "forget kernel objects and modules, which are kept from their first use on; idle queues only. "
         "Needed after "
         "a change of name or text only if the bus has no debug transport"}}},
      {"MODE",
       {{"MODE_FUNCTIONAL", 1u << 0,
         "without timing: a kernel is done as it begins, in no simulated time, with the same results"}}},
      {"IRQ_STATUS and IRQ_ENABLE",
       {{"IRQ_COMPLETION", 1u << 0, "a packet with a completion signal is done"},
        {"IRQ_ERROR", 1u << 1, "ERROR_CODE has the cause"},
        {"IRQ_FAULT", 1u << 2, "a kernel faulted (with IRQ_ERROR)"}}},
      {"CONTROL of a window and of a queue, STATUS of a queue",
       {{"WINDOW_ENABLE", 1u << 0, ""},
        {"QUEUE_ENABLE", 1u << 0, ""},
        {"QUEUE_STATUS_ENABLED", 1u << 0, ""},
        {"QUEUE_STATUS_BUSY", 1u << 1, "works on a packet"},
        {"QUEUE_STATUS_ERROR", 1u << 2,
         "stopped behind a packet that failed; disable and enable it to go on"}}},
      {"ERROR_CODE",
       {{"ERROR_NONE", 0, ""},
        {"ERROR_WINDOW", 1,
         "a window is empty, unaligned, or overlaps another or what kernels address otherwise"},
        {"ERROR_QUEUE", 2, "a queue is unaligned or lies outside device memory and windows"},
        {"ERROR_DOORBELL", 3, "a write index beyond the ring, or of a queue that is off"},
        {"ERROR_BUS", 4, "an access was refused, or lies outside device memory and windows"},
        {"ERROR_PACKET", 5, "a packet is malformed"},
        {"ERROR_KERNEL_OBJECT", 6, "a kernel object is malformed"},
        {"ERROR_MODULE", 7, "the PTX or its kernel is refused"},
        {"ERROR_LAUNCH", 8, "the grid or block is refused"},
        {"ERROR_MEMORY", 9,
         "the module's memory or the queue's scratch is too small, or not in device memory"},
        {"ERROR_FAULT", 10, "a kernel faulted or hung"},
        {"ERROR_LOCKED", 11, "a write to a register that is fixed while the queue or window is on, or busy"},
        {"ERROR_DEPENDENCY", 12, "a signal that a barrier waits for is negative"}}},
      {"KIND of a kernel's fault",
       {{"FAULT_NONE", 0, ""},
        {"FAULT_ILLEGAL_ADDRESS", 1, "no memory there, or none that is allocated"},
        {"FAULT_MISALIGNED_ADDRESS", 2, ""},
        {"FAULT_ILLEGAL_ADDRESS_SPACE", 3, "memory that this instruction cannot reach"},
        {"FAULT_INVALID_PC", 4, "a jump to where no code is"},
        {"FAULT_ILLEGAL_INSTRUCTION", 5, "operands that the instruction does not allow"},
        {"FAULT_STACK_OVERFLOW", 6, ""},
        {"FAULT_TRAP", 7, "trap or brkpt"},
        {"FAULT_ASSERT", 8, ""},
        {"FAULT_INVALID_FREE", 9, "free of what malloc did not give"},
        {"FAULT_HANG", 10, "deadlock or livelock"},
        {"FAULT_STOPPED", 11, "stopped from outside of the GPU"}}},
      {"Sizes",
       {{"NO_QUEUE", 0xFFFFFFFF, ""},
        {"NO_PC", 0xFFFFFFFF, ""},
        {"PACKET_BYTES", 64, ""},
        {"RING_MOST_PACKETS", 65536, ""},
        {"WINDOW_ALIGNMENT", 4096, ""},
        {"WINDOW_MOST_END", std::uint64_t{1} << 58, "first address after the last that a window may hold"},
        {"SCRATCH_ALIGNMENT", 256, ""},
        {"HEAP_ALIGNMENT", 256, ""},
        {"OUTPUT_BYTES_BEFORE_RING", 16, "the ring of text follows a weft_output"},
        {"KERNEL_OBJECT_MAGIC", 0x314F4B57, "the letters WKO1"}}},
      {"Header of a packet, as in HSA's architected queueing language: published last",
       {{"PACKET_VENDOR", 0, "type, bits 0 to 7: weft_copy_packet or weft_fill_packet, by its format"},
        {"PACKET_INVALID", 1, "not written yet; the GPU sets it when a packet is done"},
        {"PACKET_KERNEL_DISPATCH", 2, ""},
        {"PACKET_BARRIER_AND", 3, ""},
        {"PACKET_BARRIER_OR", 5, ""},
        {"PACKET_TYPE_MASK", 0xFF, ""},
        {"PACKET_BARRIER_BIT", 1u << 8, "allowed; packets of a queue are done in order anyway"},
        {"PACKET_FENCE_MASK", 0x1E00, "acquire and release scopes: allowed; memory is coherent anyway"},
        {"VENDOR_COPY", 1, "format of a weft_copy_packet"},
        {"VENDOR_FILL", 2, "format of a weft_fill_packet"}}},
  };
  return kTable;
}

std::optional<std::uint64_t> find_constant(const std::string& name) {
  for (const ConstantGroup& group : constant_groups()) {
    for (const ConstantEntry& entry : group.constants) {
      if (entry.name == name) return entry.value;
    }
  }
  return {};
}

std::uint64_t constant(const std::string& name) {
  const std::optional<std::uint64_t> value = find_constant(name);
  if (!value.has_value()) throw std::runtime_error("no constant " + name);
  return *value;
}

const std::vector<StructureEntry>& structures() {
  static const std::vector<StructureEntry> kTable = {
      {"kernel_dispatch_packet",
       64,
       "runs a kernel",
       {{"uint16_t", "header", 1, "WEFT_PACKET_KERNEL_DISPATCH"},
        {"uint16_t", "setup", 1, "dimensions, 1 to 3"},
        {"uint16_t", "workgroup_size", 3, "threads per block"},
        {"uint16_t", "reserved0", 1, "0"},
        {"uint32_t", "grid_size", 3, "threads, not blocks: a multiple of workgroup_size"},
        {"uint32_t", "private_segment_size", 1, "stack of a thread whose functions call themselves; 0: 1024"},
        {"uint32_t", "group_segment_size", 1, "bytes of dynamic shared memory"},
        {"uint64_t", "kernel_object", 1, "address of a weft_kernel_object, a multiple of 8"},
        {"uint64_t", "kernarg_address", 1, "address of the parameters, laid out as PTX declares them"},
        {"uint64_t", "times_address", 1, "address of a weft_packet_times, or 0"},
        {"uint64_t", "completion_signal", 1, "address of a weft_signal, or 0"}}},
      {"barrier_packet",
       64,
       "waits until all (AND) or one (OR) of the signals are 0; address 0 stands for no signal",
       {{"uint16_t", "header", 1, "WEFT_PACKET_BARRIER_AND or _OR"},
        {"uint16_t", "reserved0", 1, "0"},
        {"uint32_t", "reserved1", 1, "0"},
        {"uint64_t", "dep_signal", 5, "addresses of weft_signal"},
        {"uint64_t", "times_address", 1, "address of a weft_packet_times, or 0"},
        {"uint64_t", "completion_signal", 1, "address of a weft_signal, or 0"}}},
      {"copy_packet",
       64,
       "copies bytes between any two places in device memory and windows that do not overlap",
       {{"uint16_t", "header", 1, "WEFT_PACKET_VENDOR"},
        {"uint16_t", "format", 1, "WEFT_VENDOR_COPY"},
        {"uint32_t", "reserved0", 1, "0"},
        {"uint64_t", "source", 1, ""},
        {"uint64_t", "destination", 1, ""},
        {"uint64_t", "bytes", 1, ""},
        {"uint64_t", "times_address", 1, "address of a weft_packet_times, or 0"},
        {"uint64_t", "reserved1", 2, "0"},
        {"uint64_t", "completion_signal", 1, "address of a weft_signal, or 0"}}},
      {"fill_packet",
       64,
       "fills bytes of device memory and windows with a pattern; any alignment and length",
       {{"uint16_t", "header", 1, "WEFT_PACKET_VENDOR"},
        {"uint16_t", "format", 1, "WEFT_VENDOR_FILL"},
        {"uint32_t", "pattern", 1, "4 bytes, again and again from the first byte on"},
        {"uint64_t", "destination", 1, ""},
        {"uint64_t", "bytes", 1, ""},
        {"uint64_t", "reserved0", 1, "0"},
        {"uint64_t", "times_address", 1, "address of a weft_packet_times, or 0"},
        {"uint64_t", "reserved1", 2, "0"},
        {"uint64_t", "completion_signal", 1, "address of a weft_signal, or 0"}}},
      {"kernel_object",
       64,
       "a kernel of a PTX module; objects with the same text and memory share the module's variables",
       {{"uint32_t", "magic", 1, "WEFT_KERNEL_OBJECT_MAGIC"},
        {"uint32_t", "reserved0", 1, "0"},
        {"uint64_t", "ptx_address", 1, "the text, without a final 0"},
        {"uint64_t", "ptx_bytes", 1, ""},
        {"uint64_t", "name_address", 1, "name of the .entry, without a final 0"},
        {"uint32_t", "name_bytes", 1, ""},
        {"uint32_t", "reserved1", 1, "0"},
        {"uint64_t", "memory_address", 1,
         "device memory for the module's variables and code (8 bytes per instruction); a multiple of 256"},
        {"uint64_t", "memory_bytes", 1, ""},
        {"uint64_t", "reserved2", 1, "0"}}},
      {"signal",
       8,
       "decremented when a packet is done; becomes -WEFT_ERROR_* if the packet fails; aligned to 8",
       {{"int64_t", "value", 1, ""}}},
      {"packet_times",
       16,
       "simulated time at which a packet's kernel, copy or fill began and ended, in picoseconds; aligned to "
       "8",
       {{"uint64_t", "begin_ps", 1, "of a barrier the same as end_ps"}, {"uint64_t", "end_ps", 1, ""}}},
      {"output",
       16,
       "text that kernels have printed; a ring of WEFT_QUEUE_RUNTIME_OUTPUT_BYTES - 16 bytes follows",
       {{"uint64_t", "written", 1, "bytes so far; the next is at this number modulo the size of the ring"},
        {"uint64_t", "lost", 1, "calls of printf so far whose text was given up"}}},
  };
  return kTable;
}

}  // namespace weft::host
