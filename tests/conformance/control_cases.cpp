// Branches, exits and barriers of whole blocks: PTX ISA 9.0, 9.7.12 and 9.7.13.1. These kernels branch, so
// they run on the whole GPU only.
#include "conformance/integers.h"

namespace weft::test::conformance {
namespace {

constexpr Type kWord{'u', 32, 1};

Case control(std::vector<Type> sources, const std::string& body, Oracle expected) {
  Case c = plain("Control", "int128", kWord, std::move(sources), std::move(expected));
  c.body = body;
  return c;
}

Cells distance(const Cells& x) {
  return {x[0] < x[1] ? x[1] - x[0] : x[0] - x[1]};
}

std::vector<Case> branch(bool uniform) {
  const std::string first = uniform ? "bra" : "$op";
  return {control({kWord, kWord},
                  "setp.lt.u32 %p0, %a, %b;\n  @%p0 " + first +
                      " LESS;\n  sub.u32 %d, %a, %b;\n  $op DONE;\nLESS:\n  sub.u32 %d, %b, %a;\nDONE:",
                  distance)};
}

// A thread that leaves early writes nothing more.
std::vector<Case> leave() {
  Case c = control({kWord, kWord},
                   "st.global.u32 [%out], %a;\n  setp.lt.u32 %p0, %a, %b;\n  @%p0 $op;\n  st.global.u32 "
                   "[%out], %b;\n  $op;",
                   [](const Cells& x) { return Cells{x[0] < x[1] ? x[0] : x[1]}; });
  c.stores = false;
  return {c};
}

// Every thread reads what a thread of another warp wrote before the barrier: 127 - its number.
std::vector<Case> barrier() {
  Case c = control({kWord}, R"(mov.u32 %y0, %tid.x;
  mov.u32 %y1, tile;
  mad.lo.u32 %y2, %y0, 4, %y1;
  st.shared.u32 [%y2], %y0;
  $op 0;
  sub.u32 %y3, 127, %y0;
  mad.lo.u32 %y2, %y3, 4, %y1;
  ld.shared.u32 %y4, [%y2];
  sub.u32 %y4, %y4, %y3;
  add.u32 %d, %a, %y4;)",
                   [](const Cells& x) { return Cells{x[0]}; });
  c.locals = ".shared .align 4 .b8 tile[512];";
  return {c};
}

}  // namespace

std::vector<Case> control_cases(Words words) {
  const std::string m = words.mnemonic();
  if (m == "bra") {
    const bool uniform = words.take("uni");
    return words.done() ? branch(uniform) : std::vector<Case>();
  }
  if (m == "ret" || m == "exit") return words.done() ? leave() : std::vector<Case>();
  if (m == "bar" || m == "barrier")
    return words.take("sync") && words.done() ? barrier() : std::vector<Case>();
  return {};
}

}  // namespace weft::test::conformance
