// Kernels of which a test says itself which instructions execute once for a warp, rightly or wrongly.
#ifndef WEFT_TESTS_PLATFORM_MARKED_KERNEL_H
#define WEFT_TESTS_PLATFORM_MARKED_KERNEL_H

#include <string>
#include <vector>

#include "platform/gpu_bench.h"

namespace weft::test {

// A kernel "k", with "//scalar" at the end of the lines of these instructions.
class MarkedKernel {
 public:
  MarkedKernel(GpuBench& bench, const std::string& text, bool marks = true)
      : bench_(bench), module_(bench.device.load_module(text, "k.ptx")) {
    ptx::DecodeOptions plain = module_.options();
    plain.scalarization = ptx::Scalarization::kOff;  // which has its own opinion
    module_.set_options(plain);
    std::vector<std::string> lines{""};
    for (const char c : text) {
      if (c == '\n') {
        lines.emplace_back();
      } else {
        lines.back() += c;
      }
    }
    // The module has made it for this one place, and nobody has looked at it yet.
    auto& program = const_cast<ptx::Program&>(*module_.program("k"));
    for (ptx::Instruction& in : program.code)
      in.scalar = marks && lines[in.ptx.line - 1].find("//scalar") != std::string::npos;
  }

  // Core cycles that it took.
  std::uint64_t run(const dispatch::Dim3& grid, const dispatch::Dim3& block,
                    const runtime::Arguments& arguments) {
    const std::uint64_t before = bench_.device.gpu().totals().cycles;
    bench_.device.launch(module_, "k", grid, block, arguments);
    bench_.device.synchronise();
    return bench_.device.gpu().totals().cycles - before;
  }

 private:
  GpuBench& bench_;
  runtime::LoadedModule& module_;
};

}  // namespace weft::test

#endif
