#include "study/session/raw_argument.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "common/input_file.h"
#include "common/number.h"
#include "weft/common/error.h"
#include "workloads/host.h"

namespace weft::study {
namespace {

template <class T>
std::vector<std::uint8_t> bytes_of(T value) {
  std::vector<std::uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// A number of type T, all of the text.
template <class T>
std::vector<std::uint8_t> number(const std::string& where, const std::string& text) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_unsigned_v<T>) {
    return bytes_of(static_cast<T>(read_unsigned(where, text, {0, Limits::max()})));
  } else if constexpr (std::is_integral_v<T>) {
    return bytes_of(static_cast<T>(read_signed(where, text, Limits::min(), Limits::max())));
  } else {
    T value{};  // infinity and what is no number are operands like others
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      throw InputError(where, "found '" + text + "'; allowed: a number that the type can hold, inf, nan");
    return bytes_of(value);
  }
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::vector<std::uint8_t> hexadecimal(const std::string& where, const std::string& text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0) break;
    bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  if (bytes.empty() || bytes.size() * 2 != text.size()) {
    throw InputError(where, "found '" + text + "'; allowed: pairs of hexadecimal digits");
  }
  return bytes;
}

RawArgument::Buffer buffer(const std::string& where, const std::string& text) {
  using Content = RawArgument::Buffer::Content;
  const auto equals = text.find('=');
  RawArgument::Buffer buffer;
  buffer.bytes =
      read_unsigned(where + ": bytes of a buffer", text.substr(0, equals), {1, kMaxBufferBytes, 1, "bytes"});
  const std::string content = equals == std::string::npos ? "zero" : text.substr(equals + 1);
  if (content == "iota") {
    buffer.content = Content::kIota;
  } else if (content.rfind("random:", 0) == 0) {
    buffer.content = Content::kRandom;
    buffer.seed =
        static_cast<std::uint32_t>(read_unsigned(where + ": seed", content.substr(7), {0, UINT32_MAX}));
  } else if (content.rfind("file:", 0) == 0) {
    buffer.content = Content::kFile;
    buffer.file = content.substr(5);
  } else if (content != "zero") {
    throw InputError(where, "found '" + content + "'; allowed: zero, iota, random:SEED, file:PATH");
  }
  return buffer;
}

// Fills whole 32-bit words; bytes after the last one stay zero.
template <class Next>
void fill_words(std::vector<std::uint8_t>& bytes, const std::function<void()>& poll, Next next) {
  constexpr std::size_t kBetweenPolls = std::size_t{4} << 20;  // bytes
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    if (i % kBetweenPolls == 0) poll();
    const std::uint32_t word = next();
    std::memcpy(&bytes[i], &word, 4);
  }
}

void fill_from_file(std::vector<std::uint8_t>& bytes, const std::string& where, const std::string& path) {
  std::string read;
  try {
    read = read_input(path, std::min<std::size_t>(bytes.size(), kMaxInputBytes));
  } catch (const InputError& error) {
    throw InputError(where, error.what());
  }
  std::copy(read.begin(), read.end(), bytes.begin());
}

}  // namespace

std::vector<std::uint8_t> content_of(const RawArgument::Buffer& buffer, const std::string& where,
                                     const std::function<void()>& poll) {
  using Content = RawArgument::Buffer::Content;
  std::vector<std::uint8_t> bytes(buffer.bytes);
  if (buffer.content == Content::kIota) {
    fill_words(bytes, poll, [word = std::uint32_t{0}]() mutable { return word++; });
  } else if (buffer.content == Content::kRandom) {
    fill_words(bytes, poll, [random = workloads::Random(buffer.seed)]() mutable { return random.next(); });
  } else if (buffer.content == Content::kFile) {
    fill_from_file(bytes, where, buffer.file);
  }
  return bytes;
}

RawArgument parse_argument(const std::string& where, const std::string& text) {
  const auto colon = text.find(':');
  const std::string type = text.substr(0, colon);
  const std::string value = colon == std::string::npos ? "" : text.substr(colon + 1);
  RawArgument argument;
  if (type == "ptr") {
    argument.buffer = buffer(where, value);
  } else if (type == "u8") {
    argument.value = number<std::uint8_t>(where, value);
  } else if (type == "u16") {
    argument.value = number<std::uint16_t>(where, value);
  } else if (type == "u32") {
    argument.value = number<std::uint32_t>(where, value);
  } else if (type == "u64") {
    argument.value = number<std::uint64_t>(where, value);
  } else if (type == "s8") {
    argument.value = number<std::int8_t>(where, value);
  } else if (type == "s16") {
    argument.value = number<std::int16_t>(where, value);
  } else if (type == "s32") {
    argument.value = number<std::int32_t>(where, value);
  } else if (type == "s64") {
    argument.value = number<std::int64_t>(where, value);
  } else if (type == "f32") {
    argument.value = number<float>(where, value);
  } else if (type == "f64") {
    argument.value = number<double>(where, value);
  } else if (type == "hex") {
    argument.value = hexadecimal(where, value);
  } else {
    throw InputError(where, "found '" + text + "'; allowed: " + kArgumentForms);
  }
  return argument;
}

}  // namespace weft::study
