// SIMD video instructions: PTX ISA 9.0, 9.7.15.
#include "conformance/integers.h"

namespace weft::test::conformance {
namespace {

constexpr const char* kOracle = "int128";

// a and b of one part, before the result is cut or saturated.
Wide compute(const std::string& op, Wide a, Wide b) {
  if (op == "vadd") return a + b;
  if (op == "vsub") return a - b;
  if (op == "vabsdiff") return a < b ? b - a : a - b;
  if (op == "vmin") return std::min(a, b);
  if (op == "vmax") return std::max(a, b);
  return a + b >= 0 ? (a + b + 1) / 2 : -((1 - a - b) / 2);  // vavrg: halves go away from zero
}

}  // namespace

std::vector<Case> video_cases(Words words) {
  if (std::vector<Case> scalar = video_scalar_cases(words); !scalar.empty()) return scalar;
  std::string m = words.mnemonic();
  if (m.empty() || (m.back() != '2' && m.back() != '4')) return {};
  const unsigned parts = m.back() == '2' ? 2 : 4, width = 32 / parts;
  m.pop_back();
  if (m != "vadd" && m != "vsub" && m != "vabsdiff" && m != "vmin" && m != "vmax" && m != "vavrg") return {};
  const auto to = words.type(), ta = to ? words.type() : std::nullopt, tb = ta ? words.type() : std::nullopt;
  if (!tb || !is_integer(*to) || !is_integer(*ta) || !is_integer(*tb)) return {};
  const bool sat = words.take("sat"), adds = !sat && words.take("add");
  if (!words.done()) return {};
  const Type d{to->kind, width, 1}, a{ta->kind, width, 1}, b{tb->kind, width, 1};
  return {plain("Video", kOracle, *to, {*ta, *tb, *to}, [=](const Cells& x) {
    Wide sum = number(*to, x[2]);
    std::uint64_t merged = 0;
    for (unsigned k = 0; k < parts; ++k) {
      const Wide value = compute(m, number(a, x[0] >> (width * k)), number(b, x[1] >> (width * k)));
      sum += value;
      merged |= wrap(d, sat ? clamp(d, value) : value) << (width * k);
    }
    return Cells{adds ? wrap(*to, sum) : merged};
  })};
}

}  // namespace weft::test::conformance
