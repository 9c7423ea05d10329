// The memory that one thread sees.
#ifndef WEFT_TESTS_INTERPRETER_MEMORY_H
#define WEFT_TESTS_INTERPRETER_MEMORY_H

#include <cstdint>
#include <vector>

#include "weft/ptx/program.h"

namespace weft::test {

struct View {
  std::vector<std::uint8_t>* global = nullptr;
  std::uint64_t global_base = 0;
  std::vector<std::uint8_t>* shared = nullptr;
  std::vector<std::uint8_t>* local = nullptr;
  const std::vector<std::uint8_t>* parameters = nullptr;
};

// Where a generic address leads: kShared, kLocal or kGlobal.
ptx::Space space_of(std::uint64_t generic);

// The host's address of `bytes` bytes. Throws std::runtime_error for an address that is misaligned, outside
// of its space, or (write) in a space that cannot be written.
std::uint8_t* locate(const View& view, ptx::Space space, std::uint64_t address, unsigned bytes, bool write);

}  // namespace weft::test

#endif
