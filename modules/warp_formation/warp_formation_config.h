// Configuration of the warp-formation unit.
#ifndef WEFT_WARP_FORMATION_CONFIG_H
#define WEFT_WARP_FORMATION_CONFIG_H

#include <cstdint>
#include <string>

#include "common/config_visitor.h"

namespace weft::warp_formation {

enum class Scheduling : std::uint8_t { kLooseRoundRobin, kGreedyThenOldest, kTwoLevel };

// Which path of a divergent branch runs first (the top of the reconvergence stack).
enum class SbrOrder : std::uint8_t { kFallthroughFirst, kTakenFirst, kGs2Lane, kMinorityFirst };

struct Config {
  std::string scheme = "sbr";
  std::uint64_t warp_size = 32;
  Scheduling scheduling = Scheduling::kLooseRoundRobin;
  struct TwoLevel {
    std::uint64_t group_warps = 8;
    std::uint64_t timeout_instructions = 0;
    void describe(config::Visitor& v);
  } two_level;
  struct Sbr {
    SbrOrder order = SbrOrder::kFallthroughFirst;
    void describe(config::Visitor& v);
  } sbr;

  void describe(config::Visitor& v);
  // `where` is the JSON path of this object, with the file's name.
  void check(const std::string& where) const;
};

}  // namespace weft::warp_formation

#endif
