// What a machine says of a kernel before it is launched: which of its programs a block takes, how many blocks
// an SM holds, how large a block may be. All follow from the configuration alone, so every front end and
// back-end gives the same answers.
#ifndef WEFT_RUNTIME_OCCUPANCY_H
#define WEFT_RUNTIME_OCCUPANCY_H

#include <cstdint>
#include <memory>
#include <string>

#include "weft/loader/loaded_module.h"
#include "weft/platform/gpu_config.h"
#include "weft/ptx/program.h"

namespace weft::runtime {

// All throw InputError for a kernel that is unknown or cannot be decoded.

// The kernel's program for a block of so many threads: where it would need more registers than the SM has for
// them, decoded again with fewer.
const std::shared_ptr<const ptx::Program>& program_for(loader::LoadedModule& module,
                                                       const std::string& kernel, std::uint64_t threads,
                                                       const GpuConfig& config);
// Blocks of the kernel that an SM holds at a time; 0: a launch would be refused.
std::uint32_t blocks_per_sm(loader::LoadedModule& module, const std::string& kernel, std::uint32_t threads,
                            std::uint64_t dynamic_shared, const GpuConfig& config);
// The most threads that a block may have, without dynamic shared memory.
std::uint32_t most_threads(loader::LoadedModule& module, const std::string& kernel, const GpuConfig& config);

}  // namespace weft::runtime

#endif
