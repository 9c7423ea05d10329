// What a request takes out of an SM and its response brings back: what the response is for.
#ifndef WEFT_SM_REQUEST_TAG_H
#define WEFT_SM_REQUEST_TAG_H

#include <cstdint>

namespace weft::sm {

// The value of the tag is that of ...
enum class TagKind : std::uint8_t {
  kL1d,       // a line of the data cache
  kL1c,       // of the constant cache
  kL1t,       // of the texture cache
  kL1i,       // of the instruction cache: the address of its first byte
  kRequest,   // a request that waits for its own response
  kWrite,     // nothing: nobody waits
  kL1dAlone,  // a request whose fetch no other load waits for
  kJoined,    // several others (joined_tags.h)
};

inline std::uint64_t tag_of(TagKind kind, std::uint64_t value) {
  return std::uint64_t{static_cast<std::uint8_t>(kind)} << 56 | value;
}
inline TagKind kind_of_tag(std::uint64_t tag) {
  return static_cast<TagKind>(tag >> 56);
}
inline std::uint64_t value_of_tag(std::uint64_t tag) {
  return tag & ((std::uint64_t{1} << 56) - 1);
}

}  // namespace weft::sm

#endif
