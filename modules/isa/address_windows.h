// Where the shared and local memory of a thread appear among its generic addresses. Everything outside the
// two windows is global memory.
#ifndef WEFT_ISA_ADDRESS_WINDOWS_H
#define WEFT_ISA_ADDRESS_WINDOWS_H

#include <cstdint>

namespace weft::isa {

inline constexpr std::uint64_t kSharedWindow = 0x0100'0000;
inline constexpr std::uint64_t kLocalWindow = 0x0200'0000;
inline constexpr std::uint64_t kWindowBytes = 0x0100'0000;  // 16 MiB each

}  // namespace weft::isa

#endif
