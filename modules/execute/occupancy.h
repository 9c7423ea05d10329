// What an SM can hold: the blocks of a launch at a time, the largest block, the registers that its threads
// may have. Whoever asks (a launch, an occupancy query, a property of the device) asks here, so that all get
// the same answer.
#ifndef WEFT_EXECUTE_OCCUPANCY_H
#define WEFT_EXECUTE_OCCUPANCY_H

#include <cstdint>
#include <string>

#include "weft/dispatch/launch.h"
#include "weft/machine/sm_config.h"
#include "weft/ptx/module.h"
#include "weft/ptx/program.h"

namespace weft::execute {

// The part of a block's shared memory that is the system software's, behind the block's own: where a kernel
// asks for its place (%reserved_smem_offset_...) it is there, and counts against the SM's; others have none.
// The layout is that of an sm_86: 1 KiB from the next multiple of 128 bytes on, of which 288 bytes are in
// use, by cooperative groups of more than one warp; both numbered offsets are the beginning.
struct ReservedShared {
  static constexpr std::uint64_t kAlignment = 128, kUsed = 288, kBytes = 1024;
  static bool is_used_by(const ptx::Program& program);
};

// What limits the resident blocks of an SM.
struct Occupancy {
  std::uint32_t blocks = 0;
  // Blocks for which there are places: more than `blocks` where the warps of one that goes on give back
  // their registers.
  std::uint32_t resident = 0;
  std::string limit;  // "threads", "blocks", "warps", "registers", "shared memory"
  std::uint64_t registers_per_block = 0;
  std::uint64_t shared_per_block = 0;
  // What shared memory takes of the memory that it shares with the data cache (sm.unified_l1); 0 without.
  std::uint64_t shared_option = 0;
};

// Throws InputError if not even one block fits, naming the resource, what the block needs, what the SM has,
// and the settings with which it would fit. Any block and any dynamic_shared may be asked about.
Occupancy occupancy(const dispatch::Launch& launch, const machine::SmConfig& config, std::uint64_t warp_size);

// What a block asks of an SM.
struct BlockNeeds {
  std::uint64_t threads = 1, registers_per_thread = 1;
  std::uint64_t static_shared = 0, dynamic_shared = 0;  // bytes
  bool reserved_shared = false;                         // and the part of ReservedShared
  std::uint64_t scalars_per_warp = 0;                   // registers that a warp has once
};
BlockNeeds needs_of(const ptx::Program& program, std::uint64_t threads, std::uint64_t dynamic_shared,
                    const machine::SmConfig& config);
// The shared memory of a block, in bytes.
struct SharedLayout {
  std::uint64_t own = 0;       // static and dynamic
  std::uint64_t reserved = 0;  // where the reserved part begins, if the block has it
  std::uint64_t bytes = 0;     // of all
};
SharedLayout shared_layout(const BlockNeeds& needs);
// Blocks that an SM holds at a time; 0: a launch would be refused.
std::uint64_t blocks_that_fit(const BlockNeeds& needs, const machine::SmConfig& config,
                              std::uint64_t warp_size);
// The most threads that such a block may have (needs.threads is not read), up to dispatch::kMostBlockThreads.
std::uint32_t most_threads(const BlockNeeds& needs, const machine::SmConfig& config, std::uint64_t warp_size);
// What .maxntid or .reqntid allow; dispatch::kMostBlockThreads without.
std::uint64_t declared_most_threads(const ptx::Program& program);
// The most bytes of dynamic shared memory that a block may have (needs.dynamic_shared is not read) if
// `blocks` of them are to fit.
std::uint64_t most_dynamic_shared(const BlockNeeds& needs, std::uint64_t blocks,
                                  const machine::SmConfig& config);
// The most registers per thread with which so many blocks fit as far as registers go, beside so many of each
// warp; 0: not even one each.
std::uint32_t most_registers(std::uint64_t threads, std::uint64_t blocks, const machine::SmConfig& config,
                             std::uint64_t warp_size, std::uint64_t scalars_per_warp = 0);

// How programs are decoded for this machine.
ptx::DecodeOptions decode_options(const machine::SmConfig& config);
// The limit with which a program has to be decoded again so that a block of `threads` fits the registers, or
// as many blocks as its .minnctapersm asks for; 0: it may stay as it is.
std::uint32_t registers_to_fit(const ptx::Program& program, std::uint64_t threads,
                               const machine::SmConfig& config, std::uint64_t warp_size);

}  // namespace weft::execute

#endif
