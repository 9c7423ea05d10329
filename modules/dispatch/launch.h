// A kernel launch, as the thread-block dispatcher takes it.
#ifndef WEFT_DISPATCH_LAUNCH_H
#define WEFT_DISPATCH_LAUNCH_H

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/program.h"

namespace weft::dispatch {

using Dim3 = std::array<std::uint32_t, 3>;

struct Launch {
  std::shared_ptr<const ptx::Program> program;
  Dim3 grid{1, 1, 1};                    // thread blocks
  Dim3 block{1, 1, 1};                   // threads
  std::vector<std::uint8_t> parameters;  // program->parameter_bytes bytes, laid out as its parameter list
  std::uint64_t dynamic_shared = 0;      // bytes
  std::uint64_t parameter_address =
      0;  // where the parameter block lies in device memory (constant cache traffic)
  std::uint64_t local_address = 0;  // device memory for local variables, 0 if the kernel has none
  // Local memory of a thread whose functions call themselves: as far as they can go (cudaLimitStackSize).
  std::uint64_t stack_bytes = 1024;
  std::uint64_t code_address = 0;  // where the instructions lie (instruction cache traffic)

  std::uint64_t blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  std::uint32_t threads_per_block() const { return block[0] * block[1] * block[2]; }
};

}  // namespace weft::dispatch

#endif
