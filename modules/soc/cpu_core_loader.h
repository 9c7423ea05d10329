// Host CPU models are loaded when they are asked for: they are optional, and their libraries have licences of
// their own (Unicorn is GPL-2), so nothing of Weft is linked with them.
#ifndef WEFT_SOC_CPU_CORE_LOADER_H
#define WEFT_SOC_CPU_CORE_LOADER_H

#include <memory>
#include <string>

#include "soc/cpu_core.h"

namespace weft::soc {

// "rv64" or "aarch64". The shared object weft_cpu_cores.so is looked for in $WEFT_CPU_CORES, in the folder
// given at build time, and beside the program in ../lib/weft. Throws InputError if it is not there (was Weft
// built without libunicorn-dev?) or does not know the architecture.
std::unique_ptr<CpuCore> load_cpu_core(const std::string& architecture);

}  // namespace weft::soc

#endif
