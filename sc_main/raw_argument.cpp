#include "sc_main/raw_argument.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "common/error.h"
#include "common/input_file.h"
#include "sc_main/options.h"
#include "workloads/host.h"

namespace weft::cli {
namespace {

template <class T>
std::vector<std::uint8_t> bytes_of(T value) {
  std::vector<std::uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// A number of type T, all of the text; unsigned ones also in hexadecimal.
template <class T>
std::vector<std::uint8_t> number(const std::string& where, const std::string& text) {
  if constexpr (std::is_unsigned_v<T>) {
    return bytes_of(static_cast<T>(parse_unsigned(where, text, std::numeric_limits<T>::max())));
  } else {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      std::string allowed = "a number";
      if constexpr (std::is_integral_v<T>) {
        allowed = "a whole number from " + std::to_string(+std::numeric_limits<T>::min()) + " to " +
                  std::to_string(+std::numeric_limits<T>::max());
      }
      throw InputError(where, "found '" + text + "'; allowed: " + allowed);
    }
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

// Fills whole 32-bit words; bytes after the last one stay zero.
template <class Next>
void fill_words(std::vector<std::uint8_t>& bytes, Next next) {
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    const std::uint32_t word = next();
    std::memcpy(&bytes[i], &word, 4);
  }
}

std::vector<std::uint8_t> buffer(const std::string& where, const std::string& text) {
  const auto equals = text.find('=');
  const std::uint64_t size =
      parse_unsigned(where + ": bytes of a buffer", text.substr(0, equals), kMaxBufferBytes);
  if (size == 0) throw InputError(where, "a buffer of 0 bytes; allowed: 1 or more");
  const std::string content = equals == std::string::npos ? "zero" : text.substr(equals + 1);
  std::vector<std::uint8_t> bytes(size);
  if (content == "zero") return bytes;
  if (content == "iota") {
    fill_words(bytes, [word = std::uint32_t{0}]() mutable { return word++; });
  } else if (content.rfind("random:", 0) == 0) {
    const auto seed = parse_unsigned(where + ": seed", content.substr(7), UINT32_MAX);
    fill_words(bytes, [random = workloads::Random(static_cast<std::uint32_t>(seed))]() mutable {
      return random.next();
    });
  } else if (content.rfind("file:", 0) == 0) {
    const std::string path = content.substr(5);
    std::string read;
    try {
      read = read_input(path, std::min<std::size_t>(size, kMaxInputBytes));
    } catch (const InputError& error) {
      throw InputError(where, error.what());
    }
    std::copy(read.begin(), read.end(), bytes.begin());
  } else {
    throw InputError(where, "found '" + content + "'; allowed: zero, iota, random:SEED, file:PATH");
  }
  return bytes;
}

}  // namespace

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

}  // namespace weft::cli
