// How device memory is divided among channels, L2 banks and banks of the DRAM.
#ifndef WEFT_MEMORY_CHANNEL_MAP_CONFIG_H
#define WEFT_MEMORY_CHANNEL_MAP_CONFIG_H

#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"

namespace weft::memory {

// Who takes turns with consecutive chunks: the channels, or first the L2 banks of a channel.
enum class SliceOrder : std::uint8_t { kChannels, kL2Banks };
// What the number of a slice (an L2 bank of a channel) is combined with, by exclusive or: nothing, the bits
// above it, or the remainder of these modulo an irreducible polynomial (common/polynomial_hash.h). kBalanced
// is kPolynomial with a power of two of slices. Otherwise it adds a hash of the bits above to the number, so
// that all slices get the same load.
enum class SliceHash : std::uint8_t { kNone, kXor, kPolynomial, kBalanced };

// What the names mean is in memory/channel_map.h.
struct ChannelMapConfig {
  std::uint64_t channels = 6;
  std::uint64_t l2_banks = 1;
  std::uint64_t interleave_bytes = 256;
  SliceOrder slice_order = SliceOrder::kChannels;
  SliceHash slice_hash = SliceHash::kNone;
  std::uint64_t slice_hash_shift = 0;
  std::uint64_t banks = 16;
  std::uint64_t row_bytes = 2048;
  std::uint64_t bank_interleave_bytes = 2048;
  std::uint64_t alternating_banks = 1;
  bool bank_xor = false;

  void describe(config::Visitor& v);
  // `banks` alone, which a DRAM standard gives.
  void describe_banks(config::Visitor& v);
  // Throws InputError unless the three byte sizes are powers of two with interleave_bytes <=
  // bank_interleave_bytes <= row_bytes, alternating_banks divides banks, banks is a power of two where
  // bank_xor asks for it, and l2_banks is one where a hash other than kBalanced does.
  void check(const std::string& where) const;

  static constexpr std::uint64_t kMostSlices = 128;
  std::uint64_t slices() const { return channels * l2_banks; }
};

}  // namespace weft::memory

#endif
