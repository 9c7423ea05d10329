// The checks of accesses that a device can make while kernels run, and what they report.
#ifndef WEFT_CHECK_CHECK_H
#define WEFT_CHECK_CHECK_H

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "weft/ptx/program.h"

namespace weft::check {

struct Options {
  bool memory = false, race = false;
  std::uint64_t reports = 16;  // different places after which a launch ends; at least 1
  bool warp = false;
  bool scalar = false;
  // A run without scalarization records here what its threads write, and one with `scalar` is compared with
  // that. `ptx`: the kernels' text, in which the comparison finds the registers' names; may be empty.
  std::FILE* records_writes = nullptr;
  std::FILE* compares_writes = nullptr;
  std::string ptx{};
  // Whether room stays free behind allocations. Not in runs that are compared: addresses are values too.
  bool gaps() const { return memory && records_writes == nullptr && compares_writes == nullptr; }
  bool any() const { return memory || race || warp || scalar || records_writes != nullptr; }
};
// The checks of these names. Throws InputError for another name, and for 0 reports.
Options options_of(const std::vector<std::string>& names, std::uint64_t reports);

// One per kernel and PC.
struct Report {
  std::string kind;    // "out of bounds", "race" ...
  std::string kernel;  // its name
  ptx::Pc pc = 0;
  std::string text;         // thread, PC, source line, access, allocation
  std::uint64_t count = 1;  // accesses of threads; the text is about the first
};

}  // namespace weft::check

#endif
