// The coalescer: from the addresses of an instruction's lanes to requests for blocks.
#ifndef WEFT_SM_COALESCER_H
#define WEFT_SM_COALESCER_H

#include <cstdint>

#include "execute/access_record.h"
#include "sm/memory_requests.h"
#include "sm/places.h"
#include "sm/system_accesses.h"
#include "weft/common/statistics.h"
#include "weft/machine/sm_config.h"
#include "weft/ptx/program.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

class Coalescer {
 public:
  Coalescer(const machine::SmConfig& config, MemoryRequests& requests, SystemAccesses& system);

  void start_kernel(std::uint64_t parameter_offset) { parameter_offset_ = parameter_offset; }
  // Makes the requests of an instruction: of its accesses that are neither of shared memory nor of texels
  // without a place in memory.
  void coalesce(std::uint32_t index, const ptx::Instruction& in, const warp_formation::ThreadGroup* groups,
                const execute::LaneAccess* accesses, unsigned count);

  // Threads' accesses to global and local memory, and requests made, so far.
  std::uint64_t threads() const { return threads_; }
  std::uint64_t requests() const { return made_; }
  void bind(statistics::Group& group);

 private:
  using Target = MemoryRequests::Target;
  static constexpr std::uint32_t kNone = MemoryRequests::kNone;

  static bool goes_out(const execute::LaneAccess& access) {
    return access.space != ptx::Space::kShared && access.space != ptx::Space::kTexture;
  }
  void by_places(std::uint32_t index, const ptx::Instruction& in, const warp_formation::ThreadGroup* groups,
                 const execute::LaneAccess* accesses, unsigned count);
  std::uint32_t add(std::uint32_t index, const ptx::Instruction& in, const execute::LaneAccess& access,
                    std::uint32_t lanes, std::uint32_t window);
  std::uint32_t add_system(std::uint32_t index, const ptx::Instruction& in, const execute::LaneAccess& access,
                           std::uint32_t lanes, std::uint32_t start);
  std::uint32_t find_or_add(std::uint32_t index, std::uint64_t block, Target target, std::uint32_t start,
                            std::uint64_t window = 0);
  // A request also touches these bytes of its block.
  void touch(std::uint32_t r, std::uint64_t low, std::uint64_t high, unsigned lanes);
  Target target_of(const ptx::Instruction& in, const execute::LaneAccess& access) const;
  Target system_target_of(const ptx::Instruction& in, const execute::LaneAccess& access,
                          std::uint64_t block) const;
  unsigned block_shift_of(const ptx::Instruction& in, const execute::LaneAccess& access, Target target) const;

  const machine::SmConfig& config_;
  MemoryRequests& requests_;
  SystemAccesses& system_;
  const Places places_;
  const unsigned together_;  // places that are coalesced together; 0: all of an issue
  const unsigned block_shift_, texture_shift_, constant_shift_;
  const bool byte_masks_;  // stores say which bytes they write
  std::uint64_t parameter_offset_ = 0;
  std::uint64_t threads_ = 0, made_ = 0;
};

}  // namespace weft::sm

#endif
