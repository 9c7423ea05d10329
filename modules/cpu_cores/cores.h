// The instruction sets of this adapter.
#ifndef WEFT_CPU_CORES_CORES_H
#define WEFT_CPU_CORES_CORES_H

#include <memory>

#include "soc/cpu_core.h"

namespace weft::cpu_cores {

std::unique_ptr<soc::CpuCore> make_rv64();     // RV64GC without compressed instructions, machine mode
std::unique_ptr<soc::CpuCore> make_aarch64();  // Armv8-A, exception level 1

}  // namespace weft::cpu_cores

#endif
