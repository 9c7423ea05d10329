// Reads a VCD strictly: whatever the format does not allow throws std::runtime_error with the line number.
#ifndef WEFT_TESTS_VCD_VCD_READER_H
#define WEFT_TESTS_VCD_VCD_READER_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::vcd {

struct Change {
  std::uint64_t time = 0;
  std::string value;  // binary digits or "z"; of a string: the text
};

struct Wave {
  std::string type;
  unsigned width = 0;
  std::vector<Change> changes;  // the first is the dump at the start
};

struct Vcd {
  std::string timescale;
  std::map<std::string, Wave> waves;  // by full name: "gpu.sm0.pc"
  std::uint64_t begin = 0, end = 0;   // first and last time
  std::size_t lines = 0;
};

Vcd read_vcd(const std::string& text);

}  // namespace weft::vcd

#endif
