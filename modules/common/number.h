// Numbers that a user writes: the one reader for options, sizes of workloads and what the environment says.
//
//   std::uint64_t jobs = read_unsigned("--jobs", text, {1, 1024, 1, "runs"});
//
// A whole number is decimal or, with 0x, hexadecimal; all of the text is it. What is none, or lies outside
// its bounds, throws an InputError such as
//   --jobs: found '-1'; allowed: a whole number from 1 to 1024 (runs)
#ifndef WEFT_COMMON_NUMBER_H
#define WEFT_COMMON_NUMBER_H

#include <cstdint>
#include <string>

namespace weft {

struct Bounds {
  std::uint64_t low = 0, high = UINT64_MAX;
  std::uint64_t multiple = 1;  // values are multiples of this
  const char* unit = "";
};
// Values above `above`, up to `high`.
struct RealBounds {
  double above = 0, high = 0;
  const char* unit = "";
};

// "a whole number from 1 to 1024 (runs)"
std::string allowed(const Bounds& bounds);
std::string allowed(const RealBounds& bounds);

std::uint64_t read_unsigned(const std::string& where, const std::string& text, const Bounds& bounds = {});
std::int64_t read_signed(const std::string& where, const std::string& text, std::int64_t low,
                         std::int64_t high);
double read_real(const std::string& where, const std::string& text, const RealBounds& bounds);
// The same check for a number that has been read already.
void require(const std::string& where, std::uint64_t value, const Bounds& bounds);

}  // namespace weft

#endif
