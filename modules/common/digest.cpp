#include "common/digest.h"

// The code is in the header: programs that link Weft's modules need no library for it.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weft {

struct Digest::State {
  XXH3_state_t of;
};

Digest::Digest() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->of);
}

Digest::~Digest() = default;

void Digest::add(const void* bytes, std::size_t count) {
  XXH3_128bits_update(&state_->of, bytes, count);
  bytes_ += count;
}

std::string Digest::text() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state_->of));
  std::string digits;
  for (const unsigned char byte : canonical.digest) {
    digits += "0123456789abcdef"[byte / 16];
    digits += "0123456789abcdef"[byte % 16];
  }
  return digits;
}

}  // namespace weft
