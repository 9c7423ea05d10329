// Why an instruction of a kernel is executed by each thread, and not once for the warp (scalars.h).
#ifndef WEFT_PTX_VECTOR_REASON_H
#define WEFT_PTX_VECTOR_REASON_H

#include <cstdint>

#include "weft/ptx/program.h"

namespace weft::ptx {

struct VectorReason {
  enum class Kind : std::uint8_t {
    kNone,
    kControl,  // a barrier, a call, an end
    kThread,   // reads a special register that differs by thread
    kClock,    // ... by time
    kLocal,    // memory of the thread
    kOrder,    // volatile, fences, asynchronous copies
    kAtomic,
    kLanes,  // across the lanes of the warp
    kImage,
    kStack,       // the stack pointer and the link register
    kReads,       // what `at` writes
    kWrites,      // what `at` writes too
    kParted,      // writes what threads that part at `at` may still need
    kDemoted,     // there are not enough scalar registers
    kRestricted,  // threads may have parted at `at`, and the rule is the restricted one
    kLarge,       // the kernel is too large
  };
  Kind kind = Kind::kNone;
  Special special = Special::kTidX;  // kThread, kClock
  std::uint32_t at = 0;              // DraftInstruction::origin
};

}  // namespace weft::ptx

#endif
