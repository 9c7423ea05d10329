#include "common/number.h"

#include <charconv>
#include <sstream>

#include "weft/common/error.h"

namespace weft {
namespace {

bool within(std::uint64_t value, const Bounds& bounds) {
  return value >= bounds.low && value <= bounds.high && value % bounds.multiple == 0;
}

std::string in_unit(const char* unit) {
  return *unit == '\0' ? "" : std::string(" (") + unit + ")";
}

std::string short_number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

[[noreturn]] void refuse(const std::string& where, const std::string& text, const std::string& allowed) {
  constexpr std::size_t kLongest = 60;
  const std::string shown = text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
  throw InputError(where, "found '" + shown + "'; allowed: " + allowed);
}

// All of the text as a number of type T.
template <class T, class... Base>
bool read(const char* first, const char* last, T& value, Base... base) {
  const auto [end, error] = std::from_chars(first, last, value, base...);
  return error == std::errc() && end == last;
}

}  // namespace

std::string allowed(const Bounds& bounds) {
  return "a whole number from " + std::to_string(bounds.low) + " to " + std::to_string(bounds.high) +
         (bounds.multiple > 1 ? ", a multiple of " + std::to_string(bounds.multiple) : "") +
         in_unit(bounds.unit);
}

std::string allowed(const RealBounds& bounds) {
  return "a number above " + short_number(bounds.above) + ", up to " + short_number(bounds.high) +
         in_unit(bounds.unit);
}

std::uint64_t read_unsigned(const std::string& where, const std::string& text, const Bounds& bounds) {
  const bool hex = text.rfind("0x", 0) == 0;
  std::uint64_t value = 0;
  const bool number = read(text.data() + (hex ? 2 : 0), text.data() + text.size(), value, hex ? 16 : 10);
  if (!number || !within(value, bounds)) refuse(where, text, allowed(bounds));
  return value;
}

std::int64_t read_signed(const std::string& where, const std::string& text, std::int64_t low,
                         std::int64_t high) {
  std::int64_t value = 0;
  if (!read(text.data(), text.data() + text.size(), value) || value < low || value > high) {
    refuse(where, text, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

double read_real(const std::string& where, const std::string& text, const RealBounds& bounds) {
  double value = 0;
  const bool number = read(text.data(), text.data() + text.size(), value);
  if (!number || !(value > bounds.above && value <= bounds.high)) refuse(where, text, allowed(bounds));
  return value;
}

void require(const std::string& where, std::uint64_t value, const Bounds& bounds) {
  if (!within(value, bounds)) refuse(where, std::to_string(value), allowed(bounds));
}

}  // namespace weft
