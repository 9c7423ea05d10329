#include "study/plan/identity.h"

#include <xxhash.h>

#include <nlohmann/json.hpp>

namespace weft::study {

std::string xxh3_128(const std::string& text) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, XXH3_128bits(text.data(), text.size()));
  std::string digits;
  for (const unsigned char byte : bytes.digest) {
    digits += "0123456789abcdef"[byte / 16];
    digits += "0123456789abcdef"[byte % 16];
  }
  return digits;
}

void remove_build(nlohmann::ordered_json& record) {
  for (const char* key : {"weft", "build", "config_fnv1a"}) record.erase(key);
}

}  // namespace weft::study
