#include "silicon/divergence_kernels.h"

#include <sstream>

namespace weft::test::silicon {
namespace {

constexpr unsigned kRandomKernels = 240;

const char* const kRegisters =
    "  .reg .pred %p<10>; .reg .b32 %x<4>, %a<16>, %c<32>, %lane, %v, %spins, %bound, %mask, %now, %zero;\n"
    "  .reg .b64 %log, %last, %values, %words, %d<8>;\n  mov.u32 %zero, 0;\n";

std::string prologue() {
  std::ostringstream text;
  text << ".visible .entry k(.param .u64 log, .param .u64 data, .param .u64 values, .param .u64 words,\n"
          "                  .param .u32 bound) {\n"
       << kRegisters
       << "  ld.param.u64 %log, [log]; ld.param.u64 %d0, [data]; ld.param.u64 %values, [values];\n"
          "  ld.param.u64 %words, [words]; ld.param.u32 %bound, [bound];\n"
          "  mov.u32 %lane, %tid.x; mov.u32 %a0, %ctaid.x; mad.lo.u32 %a1, %a0, 32, %lane;\n"
          "  mad.wide.u32 %log, %a1, "
       << kLogEntries * 16 << ", %log; add.u64 %last, %log, " << (kLogEntries - 1) * 16
       << ";\n"
          "  mad.wide.u32 %d0, %a1, 16, %d0; mad.wide.u32 %values, %a1, 8, %values;\n"
          "  mad.wide.u32 %words, %a0, 256, %words; mov.u32 %v, 0; mov.u32 %spins, 0;\n"
          "  ld.global.v4.u32 {%x0, %x1, %x2, %x3}, [%d0];\n";
  return text.str();
}

std::string point(const std::string& number) {
  return "  activemask.b32 %mask; mov.u32 %now, %clock; mov.u32 %a15, " + number +
         ";\n  st.volatile.global.v4.u32 [%log], {%a15, %mask, %now, %zero};\n"
         "  add.u64 %log, %log, 16; min.u64 %log, %log, %last; mad.lo.u32 %v, %v, 1664525, " +
         number + ";\n";
}

std::string with_points(const std::string& body) {
  std::istringstream lines(body);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    text += line.empty() || line[0] != '#' ? line + "\n" : point(line.substr(1));
  }
  return text;
}

std::string with_registers(std::string functions) {
  for (std::size_t at; (at = functions.find("$REGISTERS")) != std::string::npos;) {
    functions.replace(at, 10, kRegisters);
  }
  return functions;
}

}  // namespace

std::vector<DivergenceKernel> divergence_kernels(const std::string& list) {
  if (list != "shapes" && list != "divergence") return {};
  std::vector<DivergenceKernel> all = shaped_kernels();
  const auto add = [&](const std::vector<DivergenceKernel>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add(waiting_kernels());
  if (list == "divergence") add(random_control_flow(kRandomKernels));
  return all;
}

std::string module_of(const DivergenceKernel& kernel, const std::string& header) {
  // A kernel that waits tells in %v whether it went on, so points leave it alone.
  const std::string end = "DONE:\n" + with_points("#" + std::to_string(kLastPoint) + "\n") +
                          "  st.global.v2.u32 [%values], {" + (kernel.waits ? "%c31" : "%v") +
                          ", %spins};\n  ret;\n}\n";
  return header + ".address_size 64\n" + with_points(with_registers(kernel.functions)) + prologue() +
         with_points(kernel.body) + end;
}

}  // namespace weft::test::silicon
