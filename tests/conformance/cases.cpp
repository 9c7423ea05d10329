// From an opcode to its cases, and from a case to the text of its kernel.
#include "conformance/words.h"

namespace weft::test::conformance {
namespace {

using Group = std::vector<Case> (*)(Words);
constexpr Group kGroups[] = {integer_cases,     bit_cases,           compare_cases, float_cases,
                             approximate_cases, convert_cases,       video_cases,   memory_cases,
                             atomic_cases,      miscellaneous_cases, control_cases};

// Which groups know a mnemonic.
bool knows(Group group, const std::string& m) {
  if (group == convert_cases) return m == "cvt";
  if (group == atomic_cases) return m == "atom" || m == "red";
  if (group == control_cases && m == "st") return true;  // st.param belongs to calls
  if (group == memory_cases) return m == "ld" || m == "ldu" || m == "st" || m == "cvta";
  return m != "cvt" && m != "atom" && m != "red" && m != "ld" && m != "ldu" && m != "st" && m != "cvta";
}

// The register type of a value: 8 bits travel in 32.
std::string register_type(Type t) {
  if (t.kind == 'p') return ".pred";
  return t.width() <= 8 ? ".b32" : ".b" + std::to_string(t.width());
}

constexpr const char* kSources[] = {"%a", "%b", "%c", "%e"};
constexpr const char* kResults[] = {"%d", "%d1", "%d2", "%d3"};

std::string load_operand(Type t, unsigned i) {
  const std::string at = ", [%in+" + std::to_string(8 * i) + "];\n";
  if (t.kind == 'p') {
    return "  ld.global.b32 %y7" + at + "  and.b32 %y7, %y7, 1;\n  setp.ne.u32 " + kSources[i] +
           ", %y7, 0;\n";
  }
  return "  ld.global" + register_type(t) + " " + kSources[i] + at;
}

std::string store_result(Type t, unsigned i) {
  const std::string at = "[%out+" + std::to_string(8 * i) + "], ";
  if (t.kind == 'p') {
    return std::string("  selp.u32 %y7, 1, 0, ") + kResults[i] + ";\n  st.global.b32 " + at + "%y7;\n";
  }
  return "  st.global" + register_type(t) + " " + at + kResults[i] + ";\n";
}

std::string with_opcode(std::string body, const std::string& opcode) {
  for (std::size_t at; (at = body.find("$op")) != std::string::npos;) body.replace(at, 3, opcode);
  return body;
}

}  // namespace

std::vector<Case> cases_of(const std::string& opcode) {
  const Words words(opcode);
  for (const Group group : kGroups) {
    if (!knows(group, words.mnemonic())) continue;
    std::vector<Case> cases = group(words);
    if (cases.empty()) continue;
    for (Case& c : cases) c.opcode = opcode;
    return cases;
  }
  return {};
}

std::string module_text(const Case& c, const std::string& header) {
  std::string text = header + ".address_size 64\n" + with_opcode(c.globals, c.opcode) +
                     "\n.visible .entry k(.param .u64 in, .param .u64 out";
  if (c.copy_to == "param") text += ", .param .align 16 .b8 block[" + std::to_string(16 * c.threads) + "]";
  text += ") {\n";
  if (!c.locals.empty()) text += "  " + c.locals + "\n";
  text +=
      "  .reg .b64 %in, %out, %x<8>;\n  .reg .b32 %index, %y<8>;\n  .reg .b16 %z<8>;\n  .reg .pred %p<8>;\n";
  for (unsigned i = 0; i < c.sources.size(); ++i) {
    text += "  .reg " + register_type(c.sources[i]) + " " + kSources[i] + ";\n";
  }
  for (unsigned i = 0; i < c.results.size(); ++i) {
    text += "  .reg " + register_type(c.results[i]) + " " + kResults[i] + ";\n";
  }
  text += R"(  ld.param.u64 %x0, [in];
  ld.param.u64 %x1, [out];
  mov.u32 %y0, %ctaid.x;
  mov.u32 %y1, %ntid.x;
  mov.u32 %y2, %tid.x;
  mad.lo.u32 %index, %y0, %y1, %y2;
  mul.wide.u32 %x2, %index, 32;
  add.u64 %in, %x0, %x2;
  add.u64 %out, %x1, %x2;
)";
  for (unsigned i = 0; c.loads && i < c.sources.size(); ++i) text += load_operand(c.sources[i], i);
  text += "  " + with_opcode(c.body, c.opcode) + "\n";
  for (unsigned i = 0; c.stores && i < c.results.size(); ++i) text += store_result(c.results[i], i);
  return text + "  ret;\n}\n";
}

}  // namespace weft::test::conformance
