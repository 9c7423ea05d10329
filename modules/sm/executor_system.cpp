// kSystem instructions: functions of the CUDA device runtime, trap and brkpt. They take the time of one
// control instruction; their memory accesses take none.
#include <cstring>

#include "common/hex.h"
#include "isa/address_windows.h"
#include "sm/device_printf.h"
#include "sm/device_services.h"
#include "sm/executor.h"

namespace weft::sm {

// The host's bytes behind one aligned word (or part of it) at a generic address, nullptr: none.
std::uint8_t* Executor::generic_bytes(std::uint64_t address, unsigned bytes, unsigned chunk, unsigned lane,
                                      const ResidentBlock& block) {
  if (address % bytes != 0) return nullptr;
  if (address - isa::kSharedWindow < isa::kWindowBytes) {
    const std::uint64_t offset = address - isa::kSharedWindow;
    const SharedStorage::Part shared = shared_.part(block.slot);
    return offset + bytes <= shared.bytes ? shared.base + offset : nullptr;
  }
  if (address - isa::kLocalWindow < isa::kWindowBytes) {
    const std::uint64_t offset = address - isa::kLocalWindow;
    if (offset + bytes > local_bytes_) return nullptr;
    return memory_.image + local_place(offset / 4, chunk, lane) + offset % 4;
  }
  const std::uint64_t offset = address - memory_.base;
  if (address < memory_.base || offset >= memory_.bytes || memory_.bytes - offset < bytes) return nullptr;
  return memory_.mapped[offset >> memory_.page_shift] != 0 ? memory_.image + offset : nullptr;
}

bool Executor::read_generic(std::uint64_t address, unsigned bytes, std::uint64_t& value, unsigned chunk,
                            unsigned lane, const ResidentBlock& block) {
  value = 0;
  // Local memory is interleaved by words, so larger values are read word by word.
  for (unsigned done = 0; done < bytes; done += 4) {
    const unsigned part = bytes < 4 ? bytes : 4;
    const std::uint8_t* from = generic_bytes(address + done, part, chunk, lane, block);
    if (from == nullptr) return false;
    std::memcpy(reinterpret_cast<std::uint8_t*>(&value) + done, from, part);
  }
  return true;
}

// The arguments and results of a call lie in the thread's local memory from `area` on.
std::uint64_t Executor::argument(std::uint64_t area, unsigned offset, unsigned bytes, unsigned chunk,
                                 unsigned lane, const ResidentBlock& block) {
  std::uint64_t value = 0;
  read_generic(isa::kLocalWindow + area + offset, bytes, value, chunk, lane, block);
  return value;
}

void Executor::set_result(std::uint64_t area, unsigned bytes, std::uint64_t value, unsigned chunk,
                          unsigned lane, const ResidentBlock& block) {
  if (observer_ != nullptr) observer_->result_written(sm_, block, chunk, lane, area, bytes);
  for (unsigned done = 0; done < bytes; done += 4) {
    const auto word = static_cast<std::uint32_t>(value >> (8 * done));
    std::memcpy(memory_.image + local_place((area + done) / 4, chunk, lane), &word, 4);
  }
}

bool Executor::system(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask,
                      const ResidentBlock& block) {
  const ptx::Instruction& in = *op.instruction;
  ++outside_uses_;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint64_t area = static_cast<std::uint32_t>(lane_value(op.src[0], false, chunk, lane)) +
                               static_cast<std::uint32_t>(in.offset);
    Fault wrong;
    const std::uint64_t needed = ptx::bytes_of_system_call(in.system);
    if (needed > local_bytes_ || area > local_bytes_ - needed) {
      wrong = {FaultKind::kStackOverflow, "functions called too deeply overflow the thread's stack of " +
                                              std::to_string(local_bytes_) + " bytes (cudaLimitStackSize)"};
    } else {
      wrong = system_call(in.system, area, chunk, lane, block);
    }
    if (!wrong) continue;
    fault_ = {wrong.kind, place_name(pc, chunk, lane, block) + ": " + wrong.text};
    return false;
  }
  return true;
}

// One thread's call; returns what is wrong, without the place.
Fault Executor::system_call(ptx::SystemCall call, std::uint64_t area, unsigned chunk, unsigned lane,
                            const ResidentBlock& block) {
  const ReadMemory read = [&](std::uint64_t address, unsigned bytes, std::uint64_t& value) {
    return read_generic(address, bytes, value, chunk, lane, block);
  };
  const auto value = [&](unsigned offset, unsigned bytes) {
    return argument(area, offset, bytes, chunk, lane, block);
  };
  DeviceServices* services = memory_.services;
  switch (call) {
    case ptx::SystemCall::kPrint: {
      const Printed printed = device_printf(value(8, 8), value(16, 8), read);
      if (!printed.valid) {
        return {FaultKind::kIllegalAddress,
                "printf reads at " + hex(printed.address) + ", which is no memory of the thread"};
      }
      if (services != nullptr) services->print(printed.text);
      set_result(area, 4, static_cast<std::uint32_t>(printed.arguments), chunk, lane, block);
      return {};
    }
    case ptx::SystemCall::kAllocate:
      set_result(area, 8, services == nullptr ? 0 : services->allocate(value(8, 8)), chunk, lane, block);
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
      return {FaultKind::kTrap, "brkpt: a breakpoint, and there is no debugger"};
    case ptx::SystemCall::kNone:
      break;
  }
  return {FaultKind::kIllegalInstruction, "unknown call"};
}

}  // namespace weft::sm
