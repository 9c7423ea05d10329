// Register files as arrays: each of several has banks with one port, as wide as its lanes together, and a
// crossbar between the banks and its operand collector (ST-SIMT 3.7 and Table I: 8 banks, a crossbar of 8 x
// 8). No value goes from lane to lane, so that a crossbar wider than Table I's 256 bits is made of several.
#ifndef WEFT_DATAPATH_REGISTER_ARRAYS_H
#define WEFT_DATAPATH_REGISTER_ARRAYS_H

#include <algorithm>
#include <cstdint>

#include "weft/common/storage.h"

namespace weft::datapath {

inline constexpr std::uint64_t kRegisterBits = 32, kRegisterBanks = 8, kCrossbarBits = 256;

// `registers`: of all files together.
inline storage::Arrays register_arrays(std::uint64_t files, std::uint64_t lanes, std::uint64_t registers) {
  const std::uint64_t banks = files * kRegisterBanks;
  const std::uint64_t rows = (registers + banks * lanes - 1) / (banks * lanes);
  const std::uint64_t bits = lanes * kRegisterBits;
  const std::uint64_t slice = std::min(bits, kCrossbarBits);
  storage::Arrays arrays;
  add(arrays, storage::ram("registers", rows, bits).with_copies(banks).uncounted());
  add(arrays,
      storage::array("register_crossbar", storage::Kind::kCrossbar, kRegisterBanks, slice, kRegisterBanks)
          .with_copies(files * (bits / slice))
          .uncounted());
  return arrays;
}

}  // namespace weft::datapath

#endif
