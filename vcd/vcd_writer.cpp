#include "vcd/vcd_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include "weft/common/error.h"

namespace weft::vcd {
namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

void check_name(std::string_view name) {
  if (name.empty() || std::any_of(name.begin(), name.end(), is_space)) {
    throw std::logic_error("'" + std::string(name) + "' cannot be a name in a VCD");
  }
}

// Identifier codes are numbers to the base 94 in the printable characters '!' to '~', shortest first.
std::string code_of(std::size_t index) {
  std::string code;
  do {
    code.push_back(static_cast<char>('!' + index % 94));
    index /= 94;
  } while (index-- != 0);
  return code;
}

constexpr unsigned kByte = 8;

// The binary digits of each byte. What stands behind them in a row is never used, only copied: copies of a
// fixed size are moves of a register.
struct Digits {
  std::array<std::array<char, 2 * kByte>, 1u << kByte> of_byte{};
};

constexpr Digits make_digits() {
  Digits digits;
  for (unsigned byte = 0; byte < digits.of_byte.size(); ++byte) {
    for (unsigned i = 0; i < kByte; ++i) {
      digits.of_byte[byte][i] = static_cast<char>('0' + (byte >> (kByte - 1 - i) & 1));
    }
  }
  return digits;
}
constexpr Digits kDigits = make_digits();

// In binary, without leading zeros. Returns where they end; kByte characters more may be overwritten.
char* put_digits(char* at, std::uint64_t number) {
  const auto bits = static_cast<unsigned>(64 - __builtin_clzll(number | 1));
  unsigned low = (bits - 1) / kByte * kByte;  // lowest bit of the byte that comes next
  std::memcpy(at, &kDigits.of_byte[number >> low][kByte - (bits - low)], kByte);
  at += bits - low;
  for (; low != 0; at += kByte) {
    low -= kByte;
    std::memcpy(at, kDigits.of_byte[number >> low & 0xff].data(), kByte);
  }
  return at;
}

}  // namespace

// Pieces are time steps.
VcdWriter::VcdWriter(std::string path) : file_(std::move(path), "\n#"), buffer_(file_.text()) {
  buffer_ += "$version Weft $end\n$timescale 1 ps $end\n";
}

VcdWriter::~VcdWriter() {
  end(time_);
}

void VcdWriter::comment(std::string_view text) {
  buffer_.append("$comment ").append(text).append(" $end\n");
}

void VcdWriter::open_scope(std::string_view name) {
  check_name(name);
  buffer_.append("$scope module ").append(name).append(" $end\n");
}

void VcdWriter::close_scope() {
  buffer_ += "$upscope $end\n";
}

VcdWriter::Signal VcdWriter::vector(std::string_view name, unsigned width) {
  if (width < 1 || width > kMaxWidth) {
    throw std::logic_error("a vector of " + std::to_string(width) + " bits in a VCD");
  }
  return add("wire", width, name);
}

VcdWriter::Signal VcdWriter::text(std::string_view name) {
  const Signal signal = add("string", 1, name);
  Value& value = values_.back();
  value.is_text = true;
  value.text = "-";
  return signal;
}

VcdWriter::Signal VcdWriter::add(std::string_view type, unsigned width, std::string_view name) {
  check_name(name);
  Value value;
  const std::string code = code_of(values_.size());
  const std::string end_of_line = " " + code + "\n";
  value.code.size =
      static_cast<std::uint8_t>(end_of_line.copy(value.code.text.data(), value.code.text.size()));
  buffer_.append("$var ").append(type).append(" ").append(std::to_string(width)).append(" ");
  buffer_.append(code).append(" ").append(name).append(" $end\n");
  values_.push_back(std::move(value));
  return static_cast<Signal>(values_.size() - 1);
}

void VcdWriter::end_definitions() {
  buffer_ += "$enddefinitions $end\n";
  file_.flush();
  if (!error().empty()) throw InputError("", error());
}

void VcdWriter::begin(std::uint64_t time) {
  if (begun_ || !open()) return;
  begun_ = true;
  time_ = written_time_ = time;
  buffer_.append("#").append(std::to_string(time)).append("\n$dumpvars\n");
  for (const Value& value : values_) write_value(value);
  append_gathered();
  buffer_ += "$end\n";
}

void VcdWriter::set(Signal text, std::string_view value) {
  Value& held = values_[static_cast<std::size_t>(text)];
  if (held.text == value) return;
  held.text = value;
  if (begun_) write_change(text);
}

void VcdWriter::end(std::uint64_t time) {
  if (!open()) return;
  append_gathered();
  if (begun_ && time > written_time_) buffer_.append("#").append(std::to_string(time)).append("\n");
  file_.close();
}

void VcdWriter::write_change(Signal signal) {
  if (!open()) return;
  if (time_ != written_time_) {
    append_gathered();
    file_.grown();
    written_time_ = time_;
    std::array<char, 24> digits;
    const auto last = std::to_chars(digits.data(), digits.data() + digits.size(), time_).ptr;
    buffer_.append("#").append(digits.data(), last).append("\n");
  }
  write_value(values_[static_cast<std::size_t>(signal)]);
}

// Most of a dump is lines of numbers. They are gathered, since to append each would cost more than to make
// it.
void VcdWriter::write_value(const Value& value) {
  if (lines_.size() - gathered_ < kMostLine) append_gathered();
  char* end = lines_.data() + gathered_;
  if (value.is_text) {
    append_gathered();
    end = lines_.data();
    buffer_ += 's';
    for (const char c : value.text) buffer_ += is_space(c) ? '_' : c;
  } else if (value.number == kUndriven) {
    *end++ = 'b';
    *end++ = 'z';
  } else {
    *end++ = 'b';
    end = put_digits(end, value.number);
  }
  std::memcpy(end, value.code.text.data(), value.code.text.size());
  gathered_ = static_cast<std::size_t>(end - lines_.data()) + value.code.size;
}

void VcdWriter::append_gathered() {
  buffer_.append(lines_.data(), gathered_);
  gathered_ = 0;
}

}  // namespace weft::vcd
