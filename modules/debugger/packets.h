// Packets of GDB's remote serial protocol, in and out of a stream of bytes ("$payload#checksum"; the GDB
// manual, appendix "GDB Remote Serial Protocol"). What packets say is commands.h's business.
//
//   PacketReader reader;
//   reader.feed(bytes, count);
//   for (PacketEvent event; reader.next(event);) ...
#ifndef WEFT_DEBUGGER_PACKETS_H
#define WEFT_DEBUGGER_PACKETS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::debugger {

struct PacketEvent {
  enum class Kind : std::uint8_t {
    kPacket,     // `payload`, without escapes
    kDamaged,    // its checksum is wrong, or it is too long: to be asked for again
    kInterrupt,  // the user typed Ctrl-C
    kAccepted,   // '+'
    kRepeat,     // '-': the other side wants the last packet again
  };
  Kind kind = Kind::kPacket;
  std::string payload;
};

class PacketReader {
 public:
  // The longest payload, which the other side is told (PacketSize).
  static constexpr std::size_t kMostBytes = 0x10000;

  // Bytes that come in any portions. What belongs to no packet is skipped.
  void feed(const char* bytes, std::size_t count) { input_.append(bytes, count); }
  // The next event, if it is complete.
  bool next(PacketEvent& event);

 private:
  enum class State : std::uint8_t { kBetween, kPayload, kEscaped, kFirstDigit, kSecondDigit };
  bool take(char c, PacketEvent& event);
  void take_payload(char c);

  std::string input_;
  std::size_t read_ = 0;  // of input_
  State state_ = State::kBetween;
  std::string payload_;
  std::uint8_t sum_ = 0, expected_ = 0;
  bool damaged_ = false;
};

// With its frame, checksum and escapes.
std::string packet_of(std::string_view payload);

// "1f"; bytes in the order of memory.
std::string to_hex(const void* bytes, std::size_t count);
std::string to_hex(std::string_view text);
// False unless all of it is pairs of hexadecimal digits.
bool from_hex(std::string_view text, std::string& bytes);
// "1f" for 31.
std::string hex_number(std::uint64_t number);
// Reads a hexadecimal number from the front of `text`, and removes it. False: there is none, or it has more
// than 64 bits.
bool take_number(std::string_view& text, std::uint64_t& number);
// Removes `prefix` from the front of `text`. False: it does not begin with it.
bool take(std::string_view& text, std::string_view prefix);

}  // namespace weft::debugger

#endif
