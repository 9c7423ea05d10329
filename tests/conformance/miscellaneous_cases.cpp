// Fences, hints and address queries. One thread cannot see what a fence orders; that it executes, and leaves
// memory and registers as they are, is what is checked here. Orders between threads: tests/sm and
// tests/end_to_end.
#include "conformance/integers.h"

namespace weft::test::conformance {
namespace {

constexpr Type kLong{'b', 64, 1}, kWord{'b', 32, 1}, kPred{'p', 1, 1};

Case transparent(const std::string& between) {
  Case c = plain("Miscellaneous", "bytes", kLong, {kLong}, [](const Cells& x) { return Cells{x[0]}; });
  c.body = "st.global.b64 [%out+16], %a;\n  " + between + "\n  ld.global.b64 %d, [%out+16];";
  return c;
}

std::vector<Case> fence(Words& words) {
  if (words.mnemonic() == "membar") {
    if (words.any({"cta", "gl", "sys"}).empty()) return {};
  } else if (words.take("proxy")) {
    if (words.take("alias") || words.take("async"))
      words.any({"global", "shared::cta", "shared::cluster"});
    else if (!words.take("tensormap::generic") || !words.take("release") || !words.take("gpu"))
      return {};
  } else if (words.take("mbarrier_init")) {
    if (!words.take("release") || !words.take("cluster")) return {};
  } else {
    words.any({"sc", "acq_rel", "acquire", "release"});
    if (words.any({"cta", "cluster", "gpu", "sys"}).empty()) return {};
  }
  if (!words.done()) return {};
  return {transparent("$op;")};
}

// isspacep: a global, a shared and a local address in turn.
std::vector<Case> is_space(Words& words) {
  const std::string space = words.any({"global", "shared", "local", "const"});
  if (space.empty() || !words.done()) return {};
  Case c = plain("Miscellaneous", "bytes", kPred, {kWord}, nullptr);
  c.results = {kPred, kPred, kPred};
  c.locals = ".shared .align 16 .b8 tile[2048];\n  .local .align 16 .b8 box[16];";
  c.body = R"(and.b32 %y0, %a, 7;
  mov.u64 %x0, tile;
  cvta.shared.u64 %x0, %x0;
  mov.u64 %x1, box;
  cvta.local.u64 %x1, %x1;
  cvt.u64.u32 %x2, %y0;
  add.u64 %x0, %x0, %x2;
  add.u64 %x1, %x1, %x2;
  $op %d, %out;
  $op %d1, %x0;
  $op %d2, %x1;)";
  c.expected = [=](const Cells&) { return Cells{space == "global", space == "shared", space == "local"}; };
  return {c};
}

}  // namespace

std::vector<Case> miscellaneous_cases(Words words) {
  const std::string m = words.mnemonic();
  if (m == "membar" || m == "fence") return fence(words);
  if (m == "isspacep") return is_space(words);
  if (m == "nanosleep") {
    if (!words.take("u32") || !words.done()) return {};
    Case c = plain("Miscellaneous", "bytes", kWord, {kWord}, [](const Cells& x) { return Cells{x[0]}; });
    c.body = "$op %a;\n  mov.b32 %d, %a;";
    c.operands = [](Random& random) { return Cells{random() % 1000}; };
    return {c};
  }
  if (m == "griddepcontrol")
    return words.any({"wait", "launch_dependents"}).empty() ? std::vector<Case>()
                                                            : std::vector<Case>{transparent("$op;")};
  if (m == "pmevent") return {transparent("$op 3;")};
  if (m == "createpolicy") {
    const bool range = words.peek() == "range", property = words.peek() == "cvt";
    return {transparent("$op %x5" + std::string(range      ? ", [%in], 128, 256;"
                                                : property ? ", %a;"
                                                           : ", 0.25;"))};
  }
  // A launch without clusters: each block is a cluster.
  if (m == "mapa" || m == "getctarank") {
    const bool wide = words.take("u64");
    if (!wide && !words.take("u32")) return {};
    const Type t{'u', wide ? 64u : 32u, 1};
    const bool maps = m == "mapa";
    Case c = plain("Miscellaneous", "bytes", maps ? t : kWord, {t},
                   [=](const Cells& x) { return Cells{maps ? x[0] : 0}; });
    if (maps) c.body = "$op %d, %a, 0;";
    c.open = [](const Cells&) { return true; };  // of addresses outside shared memory (9.7.9.25)
    return {c};
  }
  if (m == "prefetch" || m == "prefetchu") return {transparent("$op [%in];")};
  if (m == "applypriority" || m == "discard") {
    // The address is a multiple of the size; what is discarded are operands that are in registers already.
    return {transparent("and.b64 %x4, %in, -128;\n  $op [%x4], 128;")};
  }
  return {};
}

}  // namespace weft::test::conformance
