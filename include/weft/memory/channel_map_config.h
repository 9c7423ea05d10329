// How device memory is divided among channels, L2 banks and banks of the DRAM.
#ifndef WEFT_MEMORY_CHANNEL_MAP_CONFIG_H
#define WEFT_MEMORY_CHANNEL_MAP_CONFIG_H

#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"

namespace weft::memory {

// What the names mean is in memory/channel_map.h.
struct ChannelMapConfig {
  std::uint64_t channels = 6;
  std::uint64_t l2_banks = 1;
  std::uint64_t interleave_bytes = 256;
  std::uint64_t banks = 16;
  std::uint64_t row_bytes = 2048;
  std::uint64_t bank_interleave_bytes = 2048;
  std::uint64_t alternating_banks = 1;
  bool bank_xor = false;

  void describe(config::Visitor& v);
  // `banks` alone, which a DRAM standard gives.
  void describe_banks(config::Visitor& v);
  // Throws InputError unless the three byte sizes are powers of two with interleave_bytes <=
  // bank_interleave_bytes <= row_bytes, alternating_banks divides banks, and banks is a power of two where
  // bank_xor asks for it.
  void check(const std::string& where) const;
};

}  // namespace weft::memory

#endif
