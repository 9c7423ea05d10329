#include "weft/dispatch/launch.h"

#include "weft/common/error.h"
#include "weft/ptx/limits.h"

namespace weft::dispatch {
namespace {

std::string where(const Launch& launch) {
  return "kernel " + launch.program->name;
}

std::string shape(const Dim3& size) {
  return std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " + std::to_string(size[2]);
}

void check_range(const Launch& launch, const char* what, const Dim3& size, const Dim3& most,
                 const char* unit) {
  for (unsigned d = 0; d < size.size(); ++d) {
    if (size[d] >= 1 && size[d] <= most[d]) continue;
    throw InputError(where(launch), std::string(what) + "." + "xyz"[d] + " is " + std::to_string(size[d]) +
                                        "; allowed: 1 to " + std::to_string(most[d]) + " " + unit);
  }
}

// The dimensions of a block that check_block() has passed.
void check_directives(const Launch& launch) {
  const ptx::Program& program = *launch.program;
  if (program.required_threads[0] != 0 && program.required_threads != launch.block) {
    throw InputError(where(launch),
                     "a block of " + shape(launch.block) +
                         " threads; allowed by its .reqntid: " + shape(program.required_threads));
  }
  // PTX ISA, .maxntid: the limit is the product of the dimensions.
  if (launch.threads_per_block() <= program.most_threads()) return;
  throw InputError(where(launch),
                   "a block of " + std::to_string(launch.threads_per_block()) +
                       " threads; allowed by its .maxntid: " + std::to_string(program.most_threads()));
}

}  // namespace

void check_block(const Launch& launch) {
  check_range(launch, "block", launch.block, kMostThreads, "threads");
  if (launch.threads_per_block() > kMostBlockThreads) {
    throw InputError(where(launch), "a block of " + std::to_string(launch.threads_per_block()) +
                                        " threads; allowed: at most " + std::to_string(kMostBlockThreads));
  }
}

void check(const Launch& launch) {
  check_range(launch, "grid", launch.grid, kMostBlocks, "blocks");
  check_block(launch);
  check_directives(launch);
  if (launch.stack_bytes > ptx::kMaxLocalBytes) {
    throw InputError(where(launch), "a stack of " + std::to_string(launch.stack_bytes) +
                                        " bytes; allowed: at most " + std::to_string(ptx::kMaxLocalBytes));
  }
  if (launch.parameters.size() != launch.program->parameter_bytes) {
    throw InputError(where(launch), "parameters of " + std::to_string(launch.parameters.size()) +
                                        " bytes; the kernel takes " +
                                        std::to_string(launch.program->parameter_bytes));
  }
}

}  // namespace weft::dispatch
