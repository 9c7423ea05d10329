#include "weft/energy/energy_config.h"

namespace weft::energy {

void Config::describe(config::Visitor& v) {
  v.text("technology", technology, "figures of energy: a name in configs/technology, or a file");
  v.real(
      "node_nm", node_nm, {0, 250}, "nm",
      "feature size to which the figures are scaled, at least 22 (modules/energy/README.md); 0: that of the "
      "technology");
  v.integer("register_banks", register_banks, {1, 64}, "banks",
            "single-ported banks of the register file that are read at the same time");
  config::choice(v, "register_lanes", register_lanes,
                 {{"apart", RegisterLanes::kApart}, {"together", RegisterLanes::kTogether}},
                 "lanes have their own banks and crossbars, or share banks and crossbars across the width of "
                 "a warp's beat");
}

}  // namespace weft::energy
