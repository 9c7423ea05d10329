// Why a kernel, or the GPU with it, stopped: a kind for programs, a text for people.
#ifndef WEFT_COMMON_FAULT_H
#define WEFT_COMMON_FAULT_H

#include <array>
#include <cstdint>
#include <string>

namespace weft {

// The kinds are those that CUDA's error codes tell apart (CUDA driver API, CUresult 700 to 719).
enum class FaultKind : std::uint8_t {
  kNone,
  kIllegalAddress,       // no memory there, or none that is allocated
  kMisalignedAddress,    // not a multiple of what the access needs
  kIllegalAddressSpace,  // memory that this instruction cannot reach (generic atomics on local memory)
  kInvalidPc,            // a return, call or indexed branch to where no code is
  kIllegalInstruction,   // operands that the instruction does not allow
  kStackOverflow,        // calls too deep for the thread's stack
  kTrap,                 // trap, or brkpt without a debugger
  kAssert,
  kInvalidFree,  // free() of what malloc() did not give
  kHang,         // deadlock, livelock or starvation, found by the watchdog
  kStopped       // from outside: an interrupt, a limit of cycles, a check that ends the launch
};

// The thread whose instruction faulted.
struct FaultPlace {
  static constexpr std::uint32_t kNoPc = UINT32_MAX;
  std::uint32_t pc = kNoPc;  // number of the instruction in its program; kNoPc: no single thread is guilty
  std::array<std::uint32_t, 3> thread{}, block{};  // %tid, %ctaid
};

struct Fault {
  FaultKind kind = FaultKind::kNone;
  std::string text;  // thread, PC and source line where they are known
  FaultPlace place = {};
  std::uint64_t address = 0;  // that the instruction accessed; 0 if it is no access to memory
  explicit operator bool() const { return kind != FaultKind::kNone; }
};

}  // namespace weft

#endif
