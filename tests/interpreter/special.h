// Special registers that are constant for a thread.
#ifndef WEFT_TESTS_INTERPRETER_SPECIAL_H
#define WEFT_TESTS_INTERPRETER_SPECIAL_H

#include <array>
#include <cstdint>

#include "weft/ptx/program.h"

namespace weft::test {

using Coordinates = std::array<std::uint32_t, 3>;

struct ThreadPlace {
  std::uint64_t number = 0;  // in its block
  Coordinates index{}, block_index{}, block{}, grid{};
  std::uint64_t static_and_dynamic_shared = 0, dynamic_shared = 0;  // bytes
};

std::uint32_t special_value(ptx::Special which, const ThreadPlace& place);

}  // namespace weft::test

#endif
