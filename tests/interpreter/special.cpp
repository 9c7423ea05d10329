#include "interpreter/special.h"

namespace weft::test {

using ptx::Special;

std::uint32_t special_value(Special which, const ThreadPlace& place) {
  const auto lane = static_cast<unsigned>(place.number % 32);
  const std::uint32_t equal = std::uint32_t{1} << lane, below = equal - 1;
  const auto of = [&](Special first, const Coordinates& values) {
    return values[static_cast<unsigned>(which) - static_cast<unsigned>(first)];
  };
  // The next multiple of 128 bytes behind the block's own.
  const auto reserved = static_cast<std::uint32_t>((place.static_and_dynamic_shared + 127) / 128 * 128);
  switch (which) {
    case Special::kTidX:
    case Special::kTidY:
    case Special::kTidZ:
      return of(Special::kTidX, place.index);
    case Special::kNtidX:
    case Special::kNtidY:
    case Special::kNtidZ:
      return of(Special::kNtidX, place.block);
    case Special::kCtaidX:
    case Special::kCtaidY:
    case Special::kCtaidZ:
      return of(Special::kCtaidX, place.block_index);
    case Special::kNctaidX:
    case Special::kNctaidY:
    case Special::kNctaidZ:
      return of(Special::kNctaidX, place.grid);
    case Special::kLaneid:
      return lane;
    case Special::kWarpid:
      return static_cast<std::uint32_t>(place.number / 32);
    case Special::kNwarpid:
      return static_cast<std::uint32_t>(
          (std::uint64_t{place.block[0]} * place.block[1] * place.block[2] + 31) / 32);
    case Special::kNsmid:
      return 1;
    case Special::kLanemaskEq:
      return equal;
    case Special::kLanemaskLt:
      return below;
    case Special::kLanemaskLe:
      return below | equal;
    case Special::kLanemaskGt:
      return ~(below | equal);
    case Special::kLanemaskGe:
      return ~below;
    case Special::kDynamicSharedSize:
      return static_cast<std::uint32_t>(place.dynamic_shared);
    case Special::kTotalSharedSize:
      return static_cast<std::uint32_t>(place.static_and_dynamic_shared);
    case Special::kReservedSharedBegin:
    case Special::kReservedShared0:
    case Special::kReservedShared1:
      return reserved;
    case Special::kReservedSharedEnd:
      return reserved + 288;
    case Special::kReservedSharedCap:
      return reserved + 1024;
    default:
      return 0;
  }
}

}  // namespace weft::test
