// A program of one's own: PTX with its launch, or a CUDA program, as options name it.
#ifndef WEFT_SC_MAIN_OWN_PROGRAM_H
#define WEFT_SC_MAIN_OWN_PROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

#include "sc_main/options.h"
#include "study/plan/plan.h"
#include "study/session/raw_argument.h"

namespace weft::cli {

// --ptx, --kernel, --grid, --block, --shared, --arg.
struct KernelOptions {
  std::vector<std::string> ptx;  // files, which are linked
  std::string kernel, grid, block;
  std::uint64_t shared = 0;
  std::vector<std::string> arguments;

  // Throw InputError for what is no such size or argument.
  dispatch::Dim3 grid_size() const;
  dispatch::Dim3 block_size() const;
  std::vector<study::RawArgument> raw_arguments() const;
  // One that has a meaning with --ptx only; empty: none is given.
  const char* given_without_ptx() const;
};
// `more` is added to what --help says of --ptx.
Options kernel_options(KernelOptions& kernel, const std::string& more = "");

struct OwnProgram {
  KernelOptions kernel;
  Words cuda;  // a program and its arguments, behind "--"

  bool given() const { return !kernel.ptx.empty() || !cuda.empty(); }
  // Throws InputError for options that do not go together. `command` is for messages.
  void check(const std::string& command) const;
  // "--ptx", or words for what stands behind "--": for messages.
  std::string option() const { return cuda.empty() ? "--ptx" : "a program after --"; }
  // The name that its runs have: of the kernel, or of the file.
  std::string name() const;
  // Makes it the program of a run.
  void make(Run& run) const;
};
// Moves what stands behind "--" into `program`; returns the words before it.
Words take_cuda_program(const Words& words, OwnProgram& program);

}  // namespace weft::cli

#endif
