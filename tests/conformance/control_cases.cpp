// Branches, calls, exits and barriers of whole blocks: PTX ISA 9.0, 9.7.12 and 9.7.13.1. These kernels
// branch, so they run on the whole GPU only.
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

// A function of two arguments, called by the threads for which it is right.
std::vector<Case> call() {
  Case c = control({kWord, kWord}, R"(mov.u32 %d, 0;
  setp.lt.u32 %p0, %a, %b;
  @%p0 bra LESS;
  { .param .b32 x; .param .b32 y; .param .b32 z;
  st.param.b32 [x], %a; st.param.b32 [y], %b; $op (z), minus, (x, y); ld.param.b32 %d, [z]; }
  bra DONE;
LESS:
  { .param .b32 x; .param .b32 y; .param .b32 z;
  st.param.b32 [x], %b; st.param.b32 [y], %a; $op (z), minus, (x, y); ld.param.b32 %d, [z]; }
DONE:)",
                   distance);
  c.globals =
      ".func (.param .b32 r) minus(.param .b32 a, .param .b32 b) {\n  .reg .b32 %r<4>;\n"
      "  ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b]; sub.u32 %r3, %r1, %r2; st.param.b32 [r], %r3;\n  "
      "ret;\n}\n";
  return {c};
}

// An argument goes to a function and comes back.
std::vector<Case> argument(Type type) {
  const std::string word = std::string(1, type.kind) + std::to_string(type.bits);
  Case c = control({type},
                   "{ .param ." + word + " x; .param ." + word +
                       " z;\n  $op [x], %a; call (z), same, (x); ld.param." + word + " %d, [z]; }",
                   [type](const Cells& x) { return Cells{low_bits(type.bits, x[0])}; });
  c.results = {type};
  c.oracle = "bytes";
  c.globals = ".func (.param ." + word + " r) same(.param ." + word + " a) {\n  .reg .b" +
              std::to_string(std::max(type.bits, 16u)) + " %v;\n  ld.param.b" + std::to_string(type.bits) +
              " %v, [a]; $op [r], %v;\n  ret;\n}\n";
  return {c};
}

// A trap that no thread makes; those that do end the kernel (tests/features).
std::vector<Case> no_trap() {
  return {control({kWord}, "setp.ne.u32 %p0, %a, %a;\n  @%p0 $op;\n  mov.u32 %d, %a;",
                  [](const Cells& x) { return Cells{x[0]}; })};
}

}  // namespace

std::vector<Case> control_cases(Words words) {
  const std::string m = words.mnemonic();
  if (m == "bra") {
    const bool uniform = words.take("uni");
    return words.done() ? branch(uniform) : std::vector<Case>();
  }
  if (m == "call") {
    words.take("uni");
    return words.done() ? call() : std::vector<Case>();
  }
  if (m == "st") {
    const auto type = words.take("param") ? words.type() : std::nullopt;
    return type && words.done() && type->parts == 1 ? argument(*type) : std::vector<Case>();
  }
  if (m == "trap") return words.done() ? no_trap() : std::vector<Case>();
  if (m == "ret" || m == "exit") return words.done() ? leave() : std::vector<Case>();
  if (m == "bar" || m == "barrier")
    return words.take("sync") && words.done() ? barrier() : std::vector<Case>();
  return {};
}

}  // namespace weft::test::conformance
