// Configuration of the energy model: which figures, and what the machine's configuration does not say of its
// hardware.
#ifndef WEFT_ENERGY_ENERGY_CONFIG_H
#define WEFT_ENERGY_ENERGY_CONFIG_H

#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"

namespace weft::energy {

// Who shares the crossbar between register banks and operand collector.
enum class RegisterLanes : std::uint8_t {
  kApart,     // each lane has banks and a crossbar of its own, 32 bits wide
  kTogether,  // banks and crossbar as wide as all lanes that run a warp together
};

struct Config {
  std::string technology = "40nm";
  double node_nm = 0;
  std::uint64_t register_banks = 8;
  RegisterLanes register_lanes = RegisterLanes::kApart;

  void describe(config::Visitor& v);
};

}  // namespace weft::energy

#endif
