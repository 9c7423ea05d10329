// A kernel as the SMs see it: the program with its functions looked up, its geometry, its occupancy. Made
// once per launch and shared by all SMs.
#ifndef WEFT_SM_KERNEL_H
#define WEFT_SM_KERNEL_H

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "dispatch/launch.h"
#include "isa/isa.h"
#include "ptx/program.h"
#include "sm/occupancy.h"
#include "sm/sm_config.h"

namespace weft::sm {

// Throws InputError, with the place, for an instruction that has no function.
void check_executable(const ptx::Program& program);

// A source operand, ready for use.
struct Source {
  enum class Kind : std::uint8_t { kNone, kRow, kConstant, kPredicate, kDynamic };
  Kind kind = Kind::kNone;
  bool negated = false;
  std::uint16_t index = 0;         // predicate number, or the ptx::Special
  std::uint32_t offset = 0;        // kRow: words from the chunk's base
  const void* constant = nullptr;  // kConstant: 32 lanes
};

// Sources of a texture or surface instruction, which may have more than others.
using ImageSources = std::array<Source, ptx::kMaxSources>;

struct Operation {
  const ptx::Instruction* instruction = nullptr;
  isa::LaneFunction function = nullptr;
  isa::MemoryFunction memory = nullptr;
  isa::MemoryFunction shared_memory =
      nullptr;  // the same in shared memory, which generic addresses may reach
  std::array<Source, 5> src{};
  std::array<std::int32_t, 4> dst{-1, -1, -1, -1};  // words from the chunk's base; -1: none
  std::array<std::int16_t, 2> dst_predicate{-1, -1};
  std::array<std::uint16_t, 18> keys{};  // scoreboard keys read or written
  std::uint8_t key_count = 0;
  std::uint16_t latency = 1, interval = 1;
  std::uint8_t element_bytes = 0;       // memory: bytes of one element
  const ImageSources* image = nullptr;  // textures and surfaces: the sources, instead of `src`
};

// 32 lanes of a 64-bit constant.
struct WideConstant {
  alignas(64) std::array<std::uint64_t, isa::kLanes> lanes;
};

struct Kernel {
  // Throws InputError for what dispatch::check or occupancy refuse.
  Kernel(const dispatch::Launch& launch, const Config& config, std::uint64_t warp_size);
  Kernel(Kernel&&) = default;
  Kernel(const Kernel&) = delete;  // operations refer to image_sources
  Kernel& operator=(const Kernel&) = delete;

  dispatch::Launch launch;
  const ptx::Program& program;
  Occupancy occupancy;
  std::vector<Operation> operations;  // by PC
  std::deque<ImageSources> image_sources;
  std::deque<WideConstant> parameter_window;  // cvta.param: where the parameters lie in device memory
  std::uint32_t threads = 0;                  // per block
  std::uint32_t chunks_per_block = 0;
  std::uint64_t shared_bytes = 0;      // per block: static, dynamic and reserved
  std::uint64_t own_shared_bytes = 0;  // of these, static and dynamic
  std::uint64_t reserved_shared = 0;   // where the reserved part would begin
  bool copies = false;                 // has cp.async
  std::uint64_t local_bytes = 0;       // per thread, with its stack
};

}  // namespace weft::sm

#endif
