#include "execute/device_printf.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace weft::execute {
namespace {

constexpr unsigned kMaxArguments = 32;    // CUDA C++ programming guide, formatted output
constexpr std::int64_t kMaxWidth = 4096;  // of a field, so that a format cannot ask for gigabytes

class Printer {
 public:
  Printer(const std::string& format, std::uint64_t buffer, const ReadMemory& read, Printed& result)
      : format_(format), buffer_(buffer), read_(read), result_(result) {}

  void run() {
    while (at_ < format_.size() && result_.valid) {
      const char c = format_[at_++];
      if (c != '%') {
        result_.text += c;
      } else {
        conversion();
      }
    }
  }

 private:
  struct Conversion {
    std::string flags;
    std::int64_t width = -1, precision = -1;
    bool wide = false;  // l, ll: 8 bytes
    std::string size;   // h, hh, l, ll
  };

  std::uint64_t argument(unsigned bytes) {
    if (static_cast<unsigned>(result_.arguments) >= kMaxArguments) return 0;
    buffer_ = (buffer_ + bytes - 1) / bytes * bytes;
    std::uint64_t value = 0;
    if (!read_(buffer_, bytes, value)) {
      result_.valid = false;
      result_.address = buffer_;
    }
    buffer_ += bytes;
    ++result_.arguments;
    return value;
  }

  std::int64_t number() {
    if (at_ < format_.size() && format_[at_] == '*') {
      ++at_;
      return static_cast<std::int32_t>(argument(4));
    }
    std::int64_t value = 0;
    while (at_ < format_.size() && format_[at_] >= '0' && format_[at_] <= '9') {
      value = std::min<std::int64_t>(10 * value + (format_[at_++] - '0'), kMaxWidth);
    }
    return value;
  }

  void conversion() {
    const std::size_t begin = at_ - 1;
    Conversion c;
    while (at_ < format_.size() && std::strchr("#0+- ", format_[at_]) != nullptr) c.flags += format_[at_++];
    c.width = number();
    if (c.width < 0) {  // from an argument: as a flag -
      c.flags += '-';
      c.width = -c.width;
    }
    if (at_ < format_.size() && format_[at_] == '.') {
      ++at_;
      c.precision = number();
    }
    while (at_ < format_.size() && std::strchr("hl", format_[at_]) != nullptr) c.size += format_[at_++];
    c.wide = !c.size.empty() && c.size[0] == 'l';
    c.width = std::min(c.width, kMaxWidth);
    c.precision = std::min(c.precision, kMaxWidth);
    if (at_ == format_.size()) {
      result_.text += format_.substr(begin);
      return;
    }
    print(c, format_[at_++], begin);
  }

  void print(const Conversion& c, char type, std::size_t begin) {
    switch (type) {
      case '%':
        result_.text += '%';
        return;
      case 'c':
        return write(c, "c", static_cast<int>(argument(4)));
      case 'd':
      case 'i':
        return integer(c, type, true);
      case 'o':
      case 'u':
      case 'x':
      case 'X':
        return integer(c, type, false);
      case 'p': {  // as the C library of the host prints it
        const std::uint64_t value = argument(8);
        Conversion pointer = c;
        pointer.flags += '#';
        return value == 0 ? write(c, "s", "(nil)")
                          : write(pointer, "llx", static_cast<unsigned long long>(value));
      }
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A': {
        const std::uint64_t bits = argument(8);
        double value;
        std::memcpy(&value, &bits, sizeof value);
        return write(c, std::string(1, type), value);
      }
      case 's': {
        const std::uint64_t address = argument(8);
        std::string text;
        if (!result_.valid) return;
        if (!read_string(address, read_, text)) {
          result_.valid = false;
          result_.address = address;
          return;
        }
        return write(c, "s", text.c_str());
      }
      default:  // no conversion: as it stands
        result_.text += format_.substr(begin, at_ - begin);
    }
  }

  void integer(const Conversion& c, char type, bool is_signed) {
    const std::uint64_t bits = argument(c.wide ? 8 : 4);
    long long value = c.wide ? static_cast<long long>(bits) : static_cast<std::int32_t>(bits);
    if (c.size == "h") value = static_cast<std::int16_t>(bits);
    // Signed, as %hhd prints it.
    if (c.size == "hh") value = static_cast<std::int8_t>(bits);  // NOLINT(bugprone-signed-char-misuse)
    if (is_signed) return write(c, std::string("ll") + type, value);
    std::uint64_t plain = c.wide ? bits : static_cast<std::uint32_t>(bits);
    if (c.size == "h") plain = static_cast<std::uint16_t>(bits);
    if (c.size == "hh") plain = static_cast<std::uint8_t>(bits);
    write(c, std::string("ll") + type, static_cast<unsigned long long>(plain));
  }

  template <class Value>
  void write(const Conversion& c, const std::string& type, Value value) {
    std::string format = "%" + c.flags;
    if (c.width > 0) format += std::to_string(c.width);
    if (c.precision >= 0) format += "." + std::to_string(c.precision);
    format += type;
    // The format is made of checked parts, and the value is of the type that it names.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int length = std::snprintf(nullptr, 0, format.c_str(), value);
    if (length <= 0) return;
    std::string text(static_cast<std::size_t>(length) + 1, '\0');
    std::snprintf(text.data(), text.size(), format.c_str(), value);
#pragma GCC diagnostic pop
    text.pop_back();
    result_.text += text;
  }

  const std::string& format_;
  std::size_t at_ = 0;
  std::uint64_t buffer_;
  const ReadMemory& read_;
  Printed& result_;
};

}  // namespace

bool read_string(std::uint64_t address, const ReadMemory& read, std::string& text, std::size_t longest) {
  text.clear();
  for (std::uint64_t value = 0; text.size() < longest; ++address) {
    if (!read(address, 1, value)) return false;
    if (value == 0) break;
    text += static_cast<char>(value);
  }
  return true;
}

Printed device_printf(std::uint64_t format, std::uint64_t buffer, const ReadMemory& read) {
  Printed result;
  std::string text;
  if (format == 0) {
    result.arguments = -1;
    return result;
  }
  if (!read_string(format, read, text)) {
    result.valid = false;
    result.address = format;
    return result;
  }
  Printer(text, buffer, read, result).run();
  return result;
}

}  // namespace weft::execute
