#include "check/check_bench.h"

#include <stdexcept>

#include "weft/common/error.h"
#include "weft/ptx/module.h"

namespace weft::test {

std::string reports_of(const Mode& mode, const check::Options& check,
                       const std::function<void(GpuBench&)>& work) {
  return apart([&] {
    runtime::DeviceOptions options;
    options.functional.all = mode.functional;
    options.check = check;
    GpuBench bench({"sm.count=2", "dram.bytes=67108864", std::string("sm.dependence=") + mode.dependence},
                   "gtx480", options);
    std::string text;
    try {
      work(bench);
    } catch (const SimulatedFault& fault) {
      text = std::string("fault: ") + fault.what() + "\n";
    }
    for (const check::Report& report : bench.device.reports()) {
      text += report.kind + " | " + std::to_string(report.count) + " | " + report.text + "\n";
    }
    return text;
  });
}

ptx::Pc pc_of(const std::string& text, ptx::Opcode op, unsigned n) {
  const ptx::Program program = ptx::decode(ptx::parse(text, "k.ptx"), "k", {});
  for (ptx::Pc pc = 0; pc < program.code.size(); ++pc) {
    if (program.code[pc].op == op && n-- == 0) return pc;
  }
  throw std::runtime_error("the kernel has no such instruction");
}

}  // namespace weft::test
