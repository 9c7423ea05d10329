// The functions of a program: a kernel and every device function that it may call.
#ifndef WEFT_PTX_REACH_H
#define WEFT_PTX_REACH_H

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "ptx/symbols.h"

namespace weft::ptx {

// The functions of a program: 0 is the kernel.
using FunctionNumbers = std::map<const Function*, std::uint32_t>;

struct Reach {
  std::vector<std::unique_ptr<FunctionSymbols>> functions;  // 0 is the kernel; in the order of first mention
  FunctionNumbers numbers;
  std::unique_ptr<SharedLayout> shared = std::make_unique<SharedLayout>();  // the functions refer to it
  std::unique_ptr<ModuleLocals> locals = std::make_unique<ModuleLocals>();
  bool uses_dynamic_shared = false;
  std::vector<std::uint32_t> with_address;  // functions that a call through a register may reach
  std::uint64_t frame_alignment = kFrameAlignment;
};
// Direct calls, and, if there is a call through a register, the functions that it lists or else all whose
// address is taken. Throws InputError.
Reach find_reach(const Linkage& linkage, const FunctionReference& kernel);

// Bytes of the deepest stack, the kernel's frame included, if no function calls itself again; `recursive`
// says whether one may. `frames` are the functions' frame sizes.
struct StackDepth {
  std::uint64_t bytes = 0;
  bool recursive = false;
};
StackDepth stack_depth(const Reach& reach, const std::vector<std::uint64_t>& frames);

}  // namespace weft::ptx

#endif
