#include "execute/device_calls.h"

#include "common/hex.h"
#include "execute/device_printf.h"
#include "execute/device_services.h"
#include "execute/lane_bits.h"

namespace weft::execute {

bool DeviceCalls::run(const Access& access) {
  const ptx::Instruction& in = *access.op.instruction;
  ++count_;
  const std::uint64_t local_bytes = spaces_.local_bytes();
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    // The arguments and results of a call lie in the thread's local memory from `area` on.
    const std::uint64_t area =
        static_cast<std::uint32_t>(operands_.value_of(access.op.src[0], false, access.chunk, lane)) +
        static_cast<std::uint32_t>(in.offset);
    Fault wrong;
    const std::uint64_t needed = ptx::bytes_of_system_call(in.system);
    if (needed > local_bytes || area > local_bytes - needed) {
      wrong = {FaultKind::kStackOverflow, "functions called too deeply overflow the thread's stack of " +
                                              std::to_string(local_bytes) + " bytes (cudaLimitStackSize)"};
    } else {
      if (in.system == ptx::SystemCall::kAllocate) watch_.allocates(access.pc);
      wrong = call(in.system, area, {access.block, access.chunk, lane});
    }
    if (wrong) return faults_.refuse(wrong.kind, access, lane, wrong.text);
  }
  return true;
}

// One thread's call; returns what is wrong, without the place.
Fault DeviceCalls::call(ptx::SystemCall call, std::uint64_t area, const AddressSpaces::Thread& thread) {
  const ReadMemory read = [&](std::uint64_t address, unsigned bytes, std::uint64_t& value) {
    return spaces_.read(address, bytes, value, thread);
  };
  const auto value = [&](unsigned offset, unsigned bytes) {
    std::uint64_t argument = 0;
    spaces_.read(spaces_.map().local_base + area + offset, bytes, argument, thread);
    return argument;
  };
  const auto set_result = [&](unsigned bytes, std::uint64_t result) {
    watch_.result_written(thread, area, bytes);
    spaces_.write_local(area, bytes, result, thread);
  };
  DeviceServices* const services = spaces_.memory().services;
  switch (call) {
    case ptx::SystemCall::kPrint: {
      const Printed printed = device_printf(value(8, 8), value(16, 8), read);
      if (!printed.valid) {
        return {FaultKind::kIllegalAddress,
                "printf reads at " + hex(printed.address) + ", which the thread cannot access"};
      }
      if (services != nullptr) services->print(printed.text);
      set_result(4, static_cast<std::uint32_t>(printed.arguments));
      return {};
    }
    case ptx::SystemCall::kAllocate:
      set_result(8, services == nullptr ? 0 : services->allocate(value(8, 8)));
      return {};
    case ptx::SystemCall::kFree: {
      const std::uint64_t address = value(0, 8);
      if (address == 0 || (services != nullptr && services->release(address))) return {};
      return {FaultKind::kInvalidFree,
              "free of " + hex(address) + ", where no allocation of the device heap begins (freed before?)"};
    }
    case ptx::SystemCall::kAssertFail: {
      std::string message, file, function;
      read_string(value(0, 8), read, message);
      read_string(value(8, 8), read, file);
      read_string(value(24, 8), read, function);
      return {FaultKind::kAssert, file + ":" + std::to_string(value(16, 4)) + ": " + function +
                                      ": assertion `" + message + "` failed"};
    }
    case ptx::SystemCall::kTrap:
      return {FaultKind::kTrap, "trap: the kernel ended itself"};
    case ptx::SystemCall::kBreakpoint:
      return {FaultKind::kTrap, "brkpt: a breakpoint without a debugger"};
    case ptx::SystemCall::kNone:
      break;
  }
  return {FaultKind::kIllegalInstruction, "unknown call"};
}

}  // namespace weft::execute
