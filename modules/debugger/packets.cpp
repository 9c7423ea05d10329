#include "debugger/packets.h"

#include <array>
#include <cstdio>
#include <utility>

namespace weft::debugger {
namespace {

constexpr char kInterruptByte = 3, kEscape = '}', kEscapeBit = 0x20;

// -1: none.
int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool PacketReader::next(PacketEvent& event) {
  while (read_ < input_.size()) {
    if (!take(input_[read_++], event)) continue;
    return true;
  }
  input_.clear();
  read_ = 0;
  return false;
}

// True: the event is complete.
bool PacketReader::take(char c, PacketEvent& event) {
  using Kind = PacketEvent::Kind;
  switch (state_) {
    case State::kBetween:
      if (c == '$') {
        state_ = State::kPayload;
        payload_.clear();
        sum_ = 0;
        damaged_ = false;
        return false;
      }
      if (c != kInterruptByte && c != '+' && c != '-') return false;
      event.kind = c == '+' ? Kind::kAccepted : c == '-' ? Kind::kRepeat : Kind::kInterrupt;
      return true;
    case State::kPayload:
    case State::kEscaped:
      take_payload(c);
      return false;
    case State::kFirstDigit:
      state_ = State::kSecondDigit;
      damaged_ = damaged_ || digit(c) < 0;
      expected_ = static_cast<std::uint8_t>(digit(c) * 16);
      return false;
    case State::kSecondDigit:
      state_ = State::kBetween;
      damaged_ = damaged_ || digit(c) < 0 || (expected_ | digit(c)) != sum_;
      event.kind = damaged_ ? Kind::kDamaged : Kind::kPacket;
      event.payload = damaged_ ? std::string() : std::move(payload_);
      return true;
  }
  return false;
}

void PacketReader::take_payload(char c) {
  if (c == '$') {  // the end of the packet before was lost
    state_ = State::kPayload;
    payload_.clear();
    sum_ = 0;
    damaged_ = false;
    return;
  }
  if (c == '#') {
    damaged_ = damaged_ || state_ == State::kEscaped;
    state_ = State::kFirstDigit;
    return;
  }
  sum_ = static_cast<std::uint8_t>(sum_ + static_cast<std::uint8_t>(c));
  if (state_ == State::kPayload && c == kEscape) {
    state_ = State::kEscaped;
    return;
  }
  const char plain = state_ == State::kEscaped ? static_cast<char>(c ^ kEscapeBit) : c;
  state_ = State::kPayload;
  if (payload_.size() == kMostBytes) {
    damaged_ = true;
  } else {
    payload_ += plain;
  }
}

std::string packet_of(std::string_view payload) {
  std::string packet = "$";
  std::uint8_t sum = 0;
  const auto add = [&](char c) {
    packet += c;
    sum = static_cast<std::uint8_t>(sum + static_cast<std::uint8_t>(c));
  };
  for (const char c : payload) {
    // '*' would begin a repetition.
    if (c == '#' || c == '$' || c == kEscape || c == '*') {
      add(kEscape);
      add(static_cast<char>(c ^ kEscapeBit));
    } else {
      add(c);
    }
  }
  return packet + '#' + to_hex(&sum, 1);
}

std::string to_hex(const void* bytes, std::size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto* const from = static_cast<const std::uint8_t*>(bytes);
  std::string text;
  text.reserve(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[from[i] >> 4];
    text += kDigits[from[i] & 15];
  }
  return text;
}

std::string to_hex(std::string_view text) {
  return to_hex(text.data(), text.size());
}

bool from_hex(std::string_view text, std::string& bytes) {
  bytes.clear();
  if (text.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes += static_cast<char>(high << 4 | low);
  }
  return true;
}

std::string hex_number(std::uint64_t number) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%llx", static_cast<unsigned long long>(number));
  return text.data();
}

bool take_number(std::string_view& text, std::uint64_t& number) {
  std::size_t digits = 0;
  number = 0;
  while (digits < text.size() && digit(text[digits]) >= 0) {
    if (number >> 60 != 0) return false;
    number = number << 4 | static_cast<std::uint64_t>(digit(text[digits++]));
  }
  text.remove_prefix(digits);
  return digits != 0;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace weft::debugger
