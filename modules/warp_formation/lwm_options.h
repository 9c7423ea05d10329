// The keys of lwm.
#ifndef WEFT_WARP_FORMATION_LWM_OPTIONS_H
#define WEFT_WARP_FORMATION_LWM_OPTIONS_H

#include <cstdint>
#include <string>

#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

// A large warp issues its next instruction when the last packed warp of this one is done, or the first.
enum class LwmRefetch : std::uint8_t { kLast, kFirst };

struct LwmOptions final : OptionsOf<LwmOptions> {
  std::uint64_t large_warp = 128;
  LwmRefetch refetch = LwmRefetch::kLast;
  std::uint64_t group_threads = 256, timeout_instructions = 32768;

  void describe(config::Visitor& v) override;
  void check(const std::string& where) const override;
  void randomise(Random& random) override;
};

}  // namespace weft::warp_formation

#endif
