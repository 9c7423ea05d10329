// A kernel of one's own as options name it: its code, the buffers of its arguments and its launch.
#ifndef WEFT_SC_MAIN_RAW_KERNEL_H
#define WEFT_SC_MAIN_RAW_KERNEL_H

#include <vector>

#include "sc_main/own_program.h"
#include "study/session/outcome.h"
#include "weft/runtime/device.h"

namespace weft::cli {

class RawKernel {
 public:
  // Reads its files. Throws InputError.
  explicit RawKernel(const KernelOptions& options);

  const std::vector<RawArgument>& arguments() const { return raw_; }
  // What is to be run, before it has run.
  const Outcome& outcome() const { return outcome_; }

  // Makes the buffers, launches the kernel and waits. Returns the buffers' addresses, by argument.
  std::vector<runtime::Address> run(runtime::Device& device, Outcome& result) const;
  // Keeps a digest of each buffer in `result`.
  void keep_outputs(const std::vector<runtime::Address>& buffers, runtime::Device& device,
                    Outcome& result) const;

 private:
  const KernelOptions& options_;
  const dispatch::Dim3 grid_, block_;
  const std::vector<RawArgument> raw_;
  Outcome outcome_;
  std::vector<runtime::Device::Source> sources_;
};

}  // namespace weft::cli

#endif
