#include "sc_main/own_program.h"

#include <algorithm>
#include <filesystem>

#include "weft/common/error.h"

namespace weft::cli {

dispatch::Dim3 KernelOptions::grid_size() const {
  return parse_dim3("--grid", grid, dispatch::kMostBlocks);
}

dispatch::Dim3 KernelOptions::block_size() const {
  return parse_dim3("--block", block, dispatch::kMostThreads);
}

std::vector<study::RawArgument> KernelOptions::raw_arguments() const {
  std::vector<study::RawArgument> raw;
  raw.reserve(arguments.size());
  for (const std::string& text : arguments)
    raw.push_back(study::parse_argument("--arg " + std::to_string(raw.size()), text));
  return raw;
}

const char* KernelOptions::given_without_ptx() const {
  return !kernel.empty()      ? "--kernel"
         : !grid.empty()      ? "--grid"
         : !block.empty()     ? "--block"
         : shared != 0        ? "--shared"
         : !arguments.empty() ? "--arg"
                              : "";
}

Options kernel_options(KernelOptions& kernel, const std::string& more) {
  Options options("your own kernel");
  options.list("ptx", kernel.ptx, "FILE", "PTX file; several are linked (--ptx A --ptx B)" + more, false)
      .text("kernel", kernel.kernel, "NAME", "kernel of the file, if the file has several")
      .text("grid", kernel.grid, "x,y,z", "thread blocks [each 1 to 2147483647, 65535, 65535]")
      .text("block", kernel.block, "x,y,z", "threads [each 1 to 1024, 1024, 64; 1 to 1024 in all]")
      .number("shared", kernel.shared, {0, machine::kMostSharedBytes, 1, "bytes"},
              "dynamic shared memory of a block")
      .list("arg", kernel.arguments, "TYPE:VALUE", study::kArgumentForms);
  return options;
}

void OwnProgram::check(const std::string& command) const {
  if (!kernel.ptx.empty() && !cuda.empty())
    throw InputError("--ptx", "found a CUDA program after -- as well; allowed: one of the two");
  if (kernel.ptx.empty()) {
    const std::string option = kernel.given_without_ptx();
    if (!option.empty()) throw InputError(option, "is allowed with --ptx only");
    return;
  }
  if (kernel.grid.empty() || kernel.block.empty())
    throw InputError(command, "--ptx needs --grid and --block");
  kernel.grid_size();
  kernel.block_size();
  const auto raw = kernel.raw_arguments();
  if (std::none_of(raw.begin(), raw.end(), [](const auto& one) { return one.buffer.has_value(); })) {
    throw InputError("--arg",
                     "found no buffer to compare with a functional run; allowed: at least one ptr:BYTES");
  }
}

std::string OwnProgram::name() const {
  namespace fs = std::filesystem;
  if (!cuda.empty()) return fs::path(cuda[0]).filename().string();
  return kernel.kernel.empty() ? fs::path(kernel.ptx[0]).stem().string() : kernel.kernel;
}

void OwnProgram::make(Run& run) const {
  run.program = name();
  run.size.clear();
  if (!cuda.empty()) {
    run.kind = Run::Kind::kCuda;
    run.file = cuda[0];
    run.arguments.assign(cuda.begin() + 1, cuda.end());
    return;
  }
  run.kind = Run::Kind::kPtx;
  run.file = kernel.ptx[0];
  run.arguments.clear();
  const auto add = [&](const char* option, const std::string& value) {
    run.arguments.insert(run.arguments.end(), {option, value});
  };
  for (std::size_t i = 1; i < kernel.ptx.size(); ++i) add("--ptx", kernel.ptx[i]);
  if (!kernel.kernel.empty()) add("--kernel", kernel.kernel);
  add("--grid", kernel.grid);
  add("--block", kernel.block);
  if (kernel.shared != 0) add("--shared", std::to_string(kernel.shared));
  for (const std::string& argument : kernel.arguments) add("--arg", argument);
}

Words take_cuda_program(const Words& words, OwnProgram& program) {
  const auto end = std::find(words.begin(), words.end(), "--");
  if (end != words.end()) {
    program.cuda.assign(end + 1, words.end());
    if (program.cuda.empty())
      throw InputError("--", "found no program after --; allowed: -- ./program ARGUMENTS");
  }
  return {words.begin(), end};
}

}  // namespace weft::cli
