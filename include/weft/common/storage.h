// What hardware is made of, as the part that has it declares it: arrays of bits with their ports. What they
// cost is modules/area's to say; `weft area` prints both.
#ifndef WEFT_COMMON_STORAGE_H
#define WEFT_COMMON_STORAGE_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::storage {

enum class Kind : std::uint8_t {
  kRam,       // a row is read or written at an address
  kTags,      // the ways of a set are read at an address and compared
  kCam,       // all entries are compared
  kCrossbar,  // from inputs to outputs; it stores nothing
};

inline const char* name_of(Kind kind) {
  constexpr const char* kNames[] = {"RAM", "tags", "CAM", "crossbar"};  // NOLINT(*-avoid-c-arrays)
  return kNames[static_cast<unsigned>(kind)];
}

struct Ports {
  std::uint64_t read_write = 1, read = 0, write = 0;
};

// Arrays of one kind and size: `copies` of them, each with ports of its own.
struct Array {
  std::string part;  // whose it is: a table's name, words joined by _
  Kind kind = Kind::kRam;
  std::uint64_t entries = 0;  // crossbar: inputs
  std::uint64_t bits = 0;     // of an entry; what is read, written or compared at a time
  std::uint64_t ways = 1;  // entries of a set: a row holds so many, of which one is chosen; crossbar: outputs
  Ports ports = {};
  std::uint64_t banks = 1;  // between which its entries are divided, behind the same ports
  std::uint64_t copies = 1;
  // The statistic of whoever declares it that counts its bits; empty: none does.
  std::string statistic = "storage_bits";

  Array&& counted_by(std::string name) && { return statistic = std::move(name), std::move(*this); }
  Array&& uncounted() && { return std::move(*this).counted_by(""); }
  Array&& with_copies(std::uint64_t number) && { return copies = number, std::move(*this); }
  Array&& with_ports(const Ports& has) && { return ports = has, std::move(*this); }

  // Of all copies.
  std::uint64_t stored_bits() const { return kind == Kind::kCrossbar ? 0 : entries * bits * copies; }
};

using Arrays = std::vector<Array>;

// With one port for reads and writes, of which there is one.
inline Array array(std::string part, Kind kind, std::uint64_t entries, std::uint64_t bits,
                   std::uint64_t ways = 1) {
  Array made;
  made.part = std::move(part);
  made.kind = kind;
  made.entries = entries;
  made.bits = bits;
  made.ways = ways;
  return made;
}
inline Array ram(std::string part, std::uint64_t entries, std::uint64_t bits, std::uint64_t ways = 1) {
  return array(std::move(part), Kind::kRam, entries, bits, ways);
}
inline Array tags(std::string part, std::uint64_t entries, std::uint64_t bits, std::uint64_t ways) {
  return array(std::move(part), Kind::kTags, entries, bits, ways);
}
inline Array cam(std::string part, std::uint64_t entries, std::uint64_t bits) {
  return array(std::move(part), Kind::kCam, entries, bits);
}

// Adds it, unless it has no bits: a table that the configuration leaves out.
inline void add(Arrays& arrays, Array array) {
  if (array.entries != 0 && array.bits != 0) arrays.push_back(std::move(array));
}

// Of those that this statistic counts.
inline std::uint64_t counted_bits(const Arrays& arrays, const std::string& statistic = "storage_bits") {
  std::uint64_t bits = 0;
  for (const Array& array : arrays) {
    if (array.statistic == statistic) bits += array.stored_bits();
  }
  return bits;
}

}  // namespace weft::storage

#endif
