#include "machine/sm_arrays.h"

#include <algorithm>

#include "machine/datapath_of.h"
#include "weft/warp_formation/scheme.h"

namespace weft::machine {

warp_formation::Geometry geometry_of(const SmConfig& config, const warp_formation::Config& formation,
                                     unsigned lanes) {
  const std::uint64_t domains = config.schedulers / config.schedulers_per_domain;
  warp_formation::Geometry geometry;
  geometry.threads = static_cast<std::uint32_t>(
      std::min(config.max_threads, config.max_warps * formation.warp_size) / domains);
  geometry.lanes = lanes;
  geometry.schedulers = static_cast<std::uint32_t>(config.schedulers_per_domain);
  geometry.slots = static_cast<std::uint32_t>(config.max_blocks);
  geometry.chunks = config.chunks();
  geometry.home = config.home();
  geometry.barrel = config.dependence == Dependence::kBarrel;
  geometry.shared_port = config.issue_port == IssuePort::kShared;
  return geometry;
}

SmArrays arrays_of(const SmConfig& config, const warp_formation::Config& formation,
                   std::uint64_t stack_entries) {
  const auto datapath = datapath_of(config);
  const auto scheme = warp_formation::create(formation, geometry_of(config, formation, datapath->lanes()));
  return {datapath->arrays(), scheme->arrays(stack_entries),
          config.schedulers / config.schedulers_per_domain};
}

}  // namespace weft::machine
