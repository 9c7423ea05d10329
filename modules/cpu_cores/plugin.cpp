// The one name that the shared object shows: weft::soc::load_cpu_core (soc/cpu_core_loader.h) asks for it.
#include <cstring>

#include "cpu_cores/cores.h"

// Null for an unknown architecture. The caller deletes the core.
extern "C" __attribute__((visibility("default"))) weft::soc::CpuCore* weft_make_cpu_core(
    const char* architecture) {
  if (std::strcmp(architecture, "rv64") == 0) return weft::cpu_cores::make_rv64().release();
  if (std::strcmp(architecture, "aarch64") == 0) return weft::cpu_cores::make_aarch64().release();
  return nullptr;
}
