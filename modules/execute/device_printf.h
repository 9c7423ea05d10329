// printf as device code calls it: vprintf(format, buffer of arguments).
//
// Conversions are those of CUDA's printf: %[flags][width][.precision][size]type with flags #, space, 0, +, -,
// width and precision as numbers or *, sizes h, l, ll, types c d i o u x X p e E f F g G a A s and %%.
// Arguments lie in the buffer one behind the other, each at a multiple of its size: 4 bytes for int and char,
// 8 for long, double and pointers.
#ifndef WEFT_EXECUTE_DEVICE_PRINTF_H
#define WEFT_EXECUTE_DEVICE_PRINTF_H

#include <cstdint>
#include <functional>
#include <string>

namespace weft::execute {

// Reads `bytes` (1, 4 or 8) bytes at a generic address of the calling thread. False: there is no memory.
using ReadMemory = std::function<bool(std::uint64_t address, unsigned bytes, std::uint64_t& value)>;

struct Printed {
  bool valid = true;           // false: the format, the buffer or a string is not in memory
  std::uint64_t address = 0;   // where it was not
  std::int32_t arguments = 0;  // how many were read: what printf of CUDA returns
  std::string text;
};
Printed device_printf(std::uint64_t format, std::uint64_t buffer, const ReadMemory& read);

// A string of at most `longest` characters; more are cut off. False: not in memory.
bool read_string(std::uint64_t address, const ReadMemory& read, std::string& text,
                 std::size_t longest = 65536);

}  // namespace weft::execute

#endif
