// Arguments of a kernel on the command line, and the buffers that they make.
#ifndef WEFT_STUDY_SESSION_RAW_ARGUMENT_H
#define WEFT_STUDY_SESSION_RAW_ARGUMENT_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft::study {

// One --arg: a value, or a buffer in device memory whose address is passed.
struct RawArgument {
  struct Buffer {
    enum class Content : std::uint8_t { kZero, kIota, kRandom, kFile };
    std::uint64_t bytes = 0;
    Content content = Content::kZero;
    std::uint32_t seed = 0;
    std::string file;
  };
  std::vector<std::uint8_t> value;  // of a value
  std::optional<Buffer> buffer;
};

inline constexpr const char* kArgumentForms =
    "u8: u16: u32: u64: s8: s16: s32: s64: followed by a whole number; f32: f64: by a number; hex: by the "
    "bytes of a "
    "structure; ptr:BYTES for a new buffer, filled by =zero (default), =iota (32-bit words 0, 1, 2 ...), "
    "=random:SEED (random 32-bit words below 2^24) or =file:PATH (its bytes, then zeros)";

// Throws InputError for an unknown form or a value that the type cannot hold; `where` says which option it
// was. Takes no memory for a buffer.
RawArgument parse_argument(const std::string& where, const std::string& text);

// A buffer's initial bytes, once there is room for it on the device. Calls `poll` now and then. Throws
// InputError for a file that cannot be read or is larger than the buffer.
std::vector<std::uint8_t> content_of(const RawArgument::Buffer& buffer, const std::string& where,
                                     const std::function<void()>& poll);

// Most bytes of one buffer on the command line.
inline constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 34;

}  // namespace weft::study

#endif
