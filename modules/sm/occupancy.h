// What an SM can hold: the blocks of a launch at a time, the largest block, the registers that its threads
// may have. Whoever asks (a launch, an occupancy query, a property of the device) asks here, so that all get
// the same answer.
#ifndef WEFT_SM_OCCUPANCY_H
#define WEFT_SM_OCCUPANCY_H

#include <cstdint>
#include <string>

#include "dispatch/launch.h"
#include "ptx/module.h"
#include "ptx/program.h"
#include "sm/sm_config.h"

namespace weft::sm {

inline constexpr std::uint64_t kMaxBlockThreads = 1024;  // of CUDA, whatever the machine

// What limits the resident blocks of an SM.
struct Occupancy {
  std::uint32_t blocks = 0;
  std::string limit;  // "threads", "blocks", "warps", "registers", "shared memory"
  std::uint32_t registers_per_warp = 0;
  std::uint64_t shared_per_block = 0;
};

// Throws InputError if not even one block fits, naming the resource, what the block needs, what the SM has,
// and the settings with which it would fit.
Occupancy occupancy(const dispatch::Launch& launch, const Config& config, std::uint64_t warp_size);

// What a block asks of an SM.
struct BlockNeeds {
  std::uint64_t threads = 1, registers_per_thread = 1;
  std::uint64_t static_shared = 0, dynamic_shared = 0;  // bytes
};
BlockNeeds needs_of(const ptx::Program& program, std::uint64_t threads, std::uint64_t dynamic_shared,
                    const Config& config);
// Blocks that an SM holds at a time; 0: a launch would be refused.
std::uint64_t blocks_that_fit(const BlockNeeds& needs, const Config& config, std::uint64_t warp_size);
// The most threads that such a block may have (needs.threads is not read), up to kMaxBlockThreads.
std::uint32_t most_threads(const BlockNeeds& needs, const Config& config, std::uint64_t warp_size);
// What .maxntid or .reqntid allow; kMaxBlockThreads without.
std::uint64_t declared_most_threads(const ptx::Program& program);
// The most bytes of dynamic shared memory that a block may have if `blocks` of them are to fit.
std::uint64_t most_dynamic_shared(std::uint64_t static_shared, std::uint64_t blocks, const Config& config);
// The most registers per thread with which so many blocks fit as far as registers go; 0: not even one each.
std::uint32_t most_registers(std::uint64_t threads, std::uint64_t blocks, const Config& config,
                             std::uint64_t warp_size);

// How programs are decoded for this machine.
ptx::DecodeOptions decode_options(const Config& config);
// The limit with which a program has to be decoded again so that a block of `threads` fits the registers, or
// as many blocks as its .minnctapersm asks for; 0: it may stay as it is.
std::uint32_t registers_to_fit(const ptx::Program& program, std::uint64_t threads, const Config& config,
                               std::uint64_t warp_size);

}  // namespace weft::sm

#endif
