// SHA-256 (FIPS 180-4): identifies files, also against someone who wants two to look alike.
//
//   sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#ifndef WEFT_COMMON_SHA256_H
#define WEFT_COMMON_SHA256_H

#include <string>
#include <string_view>

namespace weft {

// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace weft

#endif
