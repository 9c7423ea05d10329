// Packets and kernel objects as a driver writes them.
#ifndef WEFT_TESTS_HOST_PACKETS_H
#define WEFT_TESTS_HOST_PACKETS_H

#include <cstdint>
#include <string>

#include "host/test_memory.h"
#include "weft/weft_registers.h"

namespace weft::test {

inline constexpr std::uint64_t kSignal = 0x8000'0100;  // + 8 i
inline constexpr std::uint64_t kRing = 0x8000'1000;    // 8 packets; of queue q at + 0x200 q
inline constexpr std::uint64_t kObject = 0x8000'3000;  // a kernel object
inline constexpr std::uint64_t kName = 0x8000'3100;
inline constexpr std::uint64_t kText = 0x8000'4000;  // PTX
inline constexpr std::uint64_t kArguments = 0x8000'3200;
inline constexpr std::uint64_t kModuleMemory = 0x1'0000'8000;  // device memory

// out[i] = i * factor for every thread i of a one-dimensional grid.
inline const char* const kFillText = R"(.version 7.0
.target sm_70
.address_size 64
.global .u32 bias = 5;
.visible .entry fill(.param .u64 out, .param .u32 factor) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [factor];
  ld.global.u32 %r7, [bias];
  mad.lo.u32 %r6, %r4, %r5, %r7;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r6;
  ret;
}
.visible .entry nothing() { ret; }
)";

inline weft_kernel_dispatch_packet dispatch_packet(std::uint32_t blocks, std::uint16_t threads,
                                                   std::uint64_t signal = kSignal) {
  weft_kernel_dispatch_packet packet = {};
  packet.header = WEFT_PACKET_KERNEL_DISPATCH;
  packet.setup = 1;
  packet.workgroup_size[0] = threads;
  packet.workgroup_size[1] = packet.workgroup_size[2] = 1;
  packet.grid_size[0] = blocks * threads;
  packet.grid_size[1] = packet.grid_size[2] = 1;
  packet.kernel_object = kObject;
  packet.kernarg_address = kArguments;
  packet.completion_signal = signal;
  return packet;
}

inline weft_copy_packet copy_packet(std::uint64_t from, std::uint64_t to, std::uint64_t bytes,
                                    std::uint64_t signal = kSignal) {
  weft_copy_packet packet = {};
  packet.header = WEFT_PACKET_VENDOR;
  packet.format = WEFT_VENDOR_COPY;
  packet.source = from;
  packet.destination = to;
  packet.bytes = bytes;
  packet.completion_signal = signal;
  return packet;
}

inline weft_fill_packet fill_packet(std::uint64_t to, std::uint64_t bytes, std::uint32_t pattern,
                                    std::uint64_t signal = kSignal) {
  weft_fill_packet packet = {};
  packet.header = WEFT_PACKET_VENDOR;
  packet.format = WEFT_VENDOR_FILL;
  packet.pattern = pattern;
  packet.destination = to;
  packet.bytes = bytes;
  packet.completion_signal = signal;
  return packet;
}

inline weft_barrier_packet barrier_packet(std::uint16_t type, std::uint64_t first, std::uint64_t second,
                                          std::uint64_t signal = kSignal) {
  weft_barrier_packet packet = {};
  packet.header = type;
  packet.dep_signal[1] = first;
  packet.dep_signal[3] = second;
  packet.completion_signal = signal;
  return packet;
}

// The module `text`, a kernel object for its `kernel`, and arguments (out, factor).
inline void put_kernel(TestMemory& ram, const std::string& kernel, const std::string& text = kFillText,
                       std::uint64_t object_address = kObject) {
  ram.put_bytes(kText, text.data(), text.size());
  const std::uint64_t name = kName + (object_address - kObject);
  ram.put_bytes(name, kernel.data(), kernel.size());
  weft_kernel_object object = {};
  object.magic = WEFT_KERNEL_OBJECT_MAGIC;
  object.ptx_address = kText;
  object.ptx_bytes = text.size();
  object.name_address = name;
  object.name_bytes = static_cast<std::uint32_t>(kernel.size());
  object.memory_address = kModuleMemory;
  object.memory_bytes = 0x4000;
  ram.put(object_address, object);
}

inline void put_arguments(TestMemory& ram, std::uint64_t out, std::uint32_t factor) {
  ram.put(kArguments, out);
  ram.put(kArguments + 8, factor);
}

}  // namespace weft::test

#endif
