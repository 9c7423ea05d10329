// A simulated GPU as the machine that is measured. One per process.
#ifndef WEFT_MICROBENCHMARKS_WEFT_MACHINE_H
#define WEFT_MICROBENCHMARKS_WEFT_MACHINE_H

#include <functional>
#include <memory>

#include "microbenchmarks/machine.h"
#include "weft/platform/gpu_config.h"

namespace weft::microbenchmarks {

// `interrupted` is asked now and then; true ends the running launch with runtime::LaunchAbandoned.
std::unique_ptr<Machine> make_weft_machine(const GpuConfig& config, std::function<bool()> interrupted = {});

}  // namespace weft::microbenchmarks

#endif
