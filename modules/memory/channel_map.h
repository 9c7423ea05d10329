// Where a device address lies: memory channel, L2 bank, and bank, row and column of the DRAM devices.
//
//   chunk   = address / interleave_bytes
//   channel = chunk mod channels                       consecutive chunks go round the channels
//   k       = chunk / channels                         the chunk's number within its channel
//   L2 bank = k mod l2_banks                           ... and within the channel round its L2 banks
//   offset  = (k / l2_banks) * interleave_bytes + address mod interleave_bytes      dense within the L2 bank
//   low     = k mod alternating_banks                  consecutive chunks go round so many banks
//   part    = (k / alternating_banks) * interleave_bytes + address mod interleave_bytes
//   block   = part / bank_interleave_bytes
//   bank    = block mod (banks / alternating_banks) * alternating_banks + low
//                                                      (exclusive-or row mod banks, if bank_xor)
//   inner   = (block / (banks / alternating_banks)) * bank_interleave_bytes + part mod bank_interleave_bytes
//   row     = inner / row_bytes, column = inner mod row_bytes
//
// Channels need not be a power of two (Fermi has 6). A request must lie within one chunk.
//
// A slice is an L2 bank of a channel: slice = channel * l2_banks + L2 bank. `slice_order` and `slice_hash`
// change which slice a chunk goes to; what follows k stays.
//
//   upper   = chunk / (channels * l2_banks)
//   slice_order l2_banks:  slice = chunk mod (channels * l2_banks)         k = upper * l2_banks + L2 bank
//   slice_hash: the slice is combined by exclusive or with the hash of upper >> slice_hash_shift, below
//               range = (channels rounded up to a power of two) * l2_banks, and taken mod (channels *
//               l2_banks)
//
// k has the L2 bank before the hash. With a power of two of channels nothing meets in one place. Otherwise
// up to two chunks of one `upper` go to the same slice: their offsets differ by kWrapped. Two chunks may then
// share a place of the DRAM, which only times depend on (as in GPGPU-Sim).
//
//   slice_hash balanced: as `polynomial` if channels * l2_banks is a power of two. Otherwise
//               slice = (slice + (upper >> slice_hash_shift) * golden / 2^32 * (channels * l2_banks) / 2^32)
//               mod (channels * l2_banks), where golden = 2^64 / 1.618 and the first product keeps its low
//               64 bits
//
// So the chunks of each `upper` go to all slices, one each, and no two meet in one place. The sum is that of
// prime displacement hashing (Kharbutli et al.: Using Prime Numbers for Cache Indexing to Eliminate Conflict
// Misses, HPCA 2004). Its displacement, a prime times `upper`, repeats after channels * l2_banks of them. The
// displacement here is multiplicative hashing (Knuth: The Art of Computer Programming 3, section 6.4), which
// does not.
#ifndef WEFT_MEMORY_CHANNEL_MAP_H
#define WEFT_MEMORY_CHANNEL_MAP_H

#include <cstdint>
#include <string>

#include "common/fast_divider.h"
#include "common/polynomial_hash.h"
#include "weft/common/config_visitor.h"
#include "weft/memory/channel_map_config.h"

namespace weft::memory {

class ChannelMap {
 public:
  // The interconnect's view.
  struct Route {
    unsigned channel;
    unsigned l2_bank;      // within the channel
    unsigned port;         // channel * l2_banks + l2_bank: the slice
    std::uint64_t offset;  // dense address within the L2 bank; kWrapped more where the hash is taken modulo
  };
  // The memory controller's view.
  struct Place {
    unsigned bank;
    std::uint64_t row;
    std::uint64_t column;  // byte within the row
  };

  static constexpr std::uint64_t kWrapped = std::uint64_t{1} << 40;  // above all of device memory

  explicit ChannelMap(const ChannelMapConfig& config);

  Route route(std::uint64_t address) const;
  Place place(std::uint64_t address) const;
  // The inverse of `route`.
  std::uint64_t address_of(unsigned channel, unsigned l2_bank, std::uint64_t offset) const;
  // Do [address, address + bytes) lie in one chunk? False for 0 bytes.
  bool within_chunk(std::uint64_t address, std::uint64_t bytes) const {
    return bytes != 0 && bytes <= chunk_.divisor() && chunk_.remainder(address) + bytes <= chunk_.divisor();
  }

  unsigned channels() const { return static_cast<unsigned>(channels_.divisor()); }
  unsigned l2_banks() const { return static_cast<unsigned>(l2_banks_.divisor()); }
  unsigned ports() const { return channels() * l2_banks(); }
  unsigned banks() const { return static_cast<unsigned>(banks_.divisor()); }
  std::uint64_t chunk_bytes() const { return chunk_.divisor(); }
  // Chunk c goes to a slice that depends on c mod ports() alone.
  bool linear() const { return hash_kind_ == SliceHash::kNone; }
  // ... namely to this one, if c mod ports() is `index`; and the inverse. Both without the hash.
  unsigned slice_of(unsigned index) const;
  unsigned index_of(unsigned slice) const;

 private:
  std::uint64_t hash_of(std::uint64_t upper) const;
  std::uint64_t displacement_of(std::uint64_t upper) const;
  // The slice before the hash is `slice`; and the inverse.
  std::uint64_t mixed(std::uint64_t slice, std::uint64_t upper) const;
  std::uint64_t unmixed(std::uint64_t mixed, std::uint64_t upper) const;
  Route mixed_route(std::uint64_t address) const;
  std::uint64_t chunk_of_channel(std::uint64_t chunk) const;

  FastDivider chunk_;
  FastDivider channels_;
  FastDivider l2_banks_;
  FastDivider slices_;
  FastDivider block_;
  FastDivider banks_;
  FastDivider alternating_;
  FastDivider turns_;  // banks / alternating_banks
  FastDivider row_;
  bool bank_xor_;
  // Consecutive chunks go round the channels, and nothing is hashed.
  bool plain_;
  SliceOrder order_;
  SliceHash hash_kind_;
  unsigned hash_shift_;
  bool displaced_;      // the hash is added; otherwise it is combined by exclusive or
  unsigned hash_bits_;  // the hash is below 1 << hash_bits_
  PolynomialHash polynomial_;
};

}  // namespace weft::memory

#endif
