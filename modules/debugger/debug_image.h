// The file from which GDB knows kernels: an ELF file with their symbols, and their lines and frames in DWARF
// version 4 (the DWARF standard, sections 6.2, 6.4, 7.5).
//
// The instructions in it are nops: what a kernel does, GDB asks the simulation.
#ifndef WEFT_DEBUGGER_DEBUG_IMAGE_H
#define WEFT_DEBUGGER_DEBUG_IMAGE_H

#include <cstdint>
#include <string>
#include <vector>

#include "debugger/code_space.h"

namespace weft::debugger {

// A variable in device memory.
struct DataSymbol {
  std::string name;
  std::uint64_t address = 0, bytes = 0;
};

// The file's content. `folder`: the working directory, to which names of source files are relative.
// `begins`: it also has kThreadEnded, as the first of a run has.
std::string debug_image(const std::vector<const Code*>& codes, const std::vector<DataSymbol>& data,
                        const std::string& folder, bool begins);

// "vadd" of "_Z4vaddPfS_", also without namespace and template arguments; other names as they are.
std::string plain_name(const std::string& name);

// By PC: the place in a source file to which an instruction belongs. That is what .loc says, and in functions
// without .loc the place in the PTX text. What comes before a function's first .loc belongs to it.
std::vector<ptx::SourcePlace> lines_of(const ptx::Program& program);

}  // namespace weft::debugger

#endif
