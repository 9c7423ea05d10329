#include "weft/energy/energy_config.h"

namespace weft::energy {

void Config::describe(config::Visitor& v) {
  v.text("technology", technology, "figures of energy: a name in configs/technology, or a file");
  v.real("node_nm", node_nm, {0, 250}, "nm",
         "feature size to which they are scaled (modules/energy/README.md); 0: that of the technology");
  v.integer("register_banks", register_banks, {1, 64}, "banks",
            "single-ported banks of the register file that deliver at a time");
  config::choice(
      v, "register_lanes", register_lanes,
      {{"apart", RegisterLanes::kApart}, {"together", RegisterLanes::kTogether}},
      "lanes have banks and crossbars of their own, or share them across the width of a warp's beat");
}

}  // namespace weft::energy
