// printf of device code against that of the C library.
#include "execute/device_printf.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace weft::execute::device_printf_test {
namespace {

// Memory from address 4096 on.
struct Memory {
  std::vector<std::uint8_t> bytes;

  std::uint64_t add(const void* data, std::size_t size, std::size_t align) {
    bytes.resize((bytes.size() + align - 1) / align * align);
    const std::uint64_t address = 4096 + bytes.size();
    const auto* from = static_cast<const std::uint8_t*>(data);
    bytes.insert(bytes.end(), from, from + size);
    return address;
  }
  std::uint64_t add(const std::string& text) { return add(text.c_str(), text.size() + 1, 1); }
  ReadMemory reader() {
    return [this](std::uint64_t address, unsigned size, std::uint64_t& value) {
      value = 0;
      if (address < 4096 || address % size != 0 || address - 4096 + size > bytes.size()) return false;
      std::memcpy(&value, bytes.data() + (address - 4096), size);
      return true;
    };
  }
};

// Arguments as a CUDA compiler lays them out: int 4 bytes, long, double and pointers 8, each aligned to its
// size.
template <class... Values>
Printed print(Memory& memory, const std::string& format, Values... values) {
  const std::uint64_t text = memory.add(format);
  const std::uint64_t buffer = memory.add("", 0, 16);
  (memory.add(&values, sizeof values, sizeof values), ...);
  return device_printf(text, buffer, memory.reader());
}

template <class... Values>
void same(const char* format, Values... values) {
  char expected[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  std::snprintf(expected, sizeof expected, format, values...);
#pragma GCC diagnostic pop
  Memory memory;
  const Printed printed = print(memory, format, values...);
  EXPECT_TRUE(printed.valid) << format;
  EXPECT_EQ(printed.text, expected) << format;
  EXPECT_EQ(printed.arguments, static_cast<int>(sizeof...(values))) << format;
}

TEST(DevicePrintf, IsThatOfTheCLibrary) {
  same("plain %% text");
  same("%d %i %u %x %X %o", -5, 77, 4000000000u, 0xbeefu, 0xbeefu, 511u);
  same("%5d|%-5d|%05d|%+d|% d|%#x|%#o", 42, 42, 42, 42, 42, 42u, 42u);
  same("%ld %lld %lu %llx", -5000000000l, -6000000000ll, 7000000000ul, 0xfedcba9876543210ull);
  same("%d %ld %d %lf %d", 1, 2l, 3, 4.5, 6);  // alignment of mixed sizes
  same("%f %.0f %10.3f %-10.2e| %g %G %a %E", 3.14159, 2.5, -1.0 / 3, 12345.678, 1e-10, 1e20, 0.1, 1e300);
  same("%c%c|%5c|%-3c|", 97, 98, 99, 100);
  same("%*d|%-*d|%.*f|%*.*f", 8, 1, 6, 2, 3, 3.14159, 9, 2, 2.71828);
  same("%hd %hu %hhd", 70000, 70000, 300);
  same("%.3d %8.5x", 7, 255u);
  same("%f %f %f", 1e308 * 10, -1e308 * 10, 0.0);
}

TEST(DevicePrintf, Strings) {
  Memory memory;
  const std::uint64_t a = memory.add("left"), b = memory.add("a longer one");
  const Printed printed = print(memory, "[%s|%8s|%-6s|%.5s]", a, a, a, b);
  EXPECT_EQ(printed.text, "[left|    left|left  |a lon]");
  EXPECT_EQ(printed.arguments, 4);
}

TEST(DevicePrintf, WhatIsNoConversionIsPrintedAsItStands) {
  Memory memory;
  EXPECT_EQ(print(memory, "100%y %d%", 7).text, "100%y 7%");
}

TEST(DevicePrintf, WhatIsNotInMemory) {
  Memory memory;
  EXPECT_EQ(device_printf(0, 0, memory.reader()).arguments, -1);
  EXPECT_FALSE(device_printf(16, 0, memory.reader()).valid);
  const std::uint64_t format = memory.add("%d");
  const Printed printed = device_printf(format, 64, memory.reader());
  EXPECT_FALSE(printed.valid);
  EXPECT_EQ(printed.address, 64u);
}

TEST(DevicePrintf, FieldsAreBounded) {
  Memory memory;
  EXPECT_LE(print(memory, "%999999999d", 1).text.size(), 4096u);
  EXPECT_LE(print(memory, "%*d", 2000000000, 1).text.size(), 4096u);
}

}  // namespace
}  // namespace weft::execute::device_printf_test
