// Configuration of a RAM.
#ifndef WEFT_SOC_RAM_CONFIG_H
#define WEFT_SOC_RAM_CONFIG_H

#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"

namespace weft::soc {

struct RamConfig {
  std::uint64_t bytes = 64u << 20;
  double latency_ns = 50;
  double bytes_per_ns = 16;
  std::uint64_t places = 16;
  bool dmi = true;
  void describe(config::Visitor& v);
  void describe_timing(config::Visitor& v);  // all but `bytes`
  // Throws InputError.
  void check(const std::string& where) const;
};

}  // namespace weft::soc

#endif
