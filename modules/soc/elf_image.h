// An executable of a host CPU: 64-bit little-endian ELF, statically linked at fixed addresses.
#ifndef WEFT_SOC_ELF_IMAGE_H
#define WEFT_SOC_ELF_IMAGE_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft::soc {

struct ElfImage {
  struct Segment {
    std::uint64_t address = 0;         // physical
    std::vector<unsigned char> bytes;  // as in the file, then zeros
  };
  std::uint64_t entry = 0;
  std::uint16_t machine = 0;  // e_machine: kRiscV, kAArch64
  std::vector<Segment> segments;

  static constexpr std::uint16_t kRiscV = 243, kAArch64 = 183;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // of all segments

  // Throws InputError with `name` if the content is no such file: not ELF, of another class, dynamically
  // linked, headers or segments outside the file, more than kMostBytes.
  static ElfImage parse(const std::string& content, const std::string& name);
  // The same from a file; InputError if it cannot be read or has more than 256 MiB.
  static ElfImage read(const std::string& path);
};

}  // namespace weft::soc

#endif
