#include "silicon/warp_cases.h"

#include <algorithm>

namespace weft::test::silicon {
namespace {

using conformance::Case;
using conformance::Cells;
using conformance::Random;
using conformance::Type;

constexpr Type kWord{'u', 32, 1}, kLong{'u', 64, 1}, kPred{'p', 1, 1};
constexpr unsigned kWarp = 32;

// Operands that a warp has in common more often than chance would: all the same, two values, few values, or
// any. %c is the parity that chooses the threads that take part.
std::function<Cells(Random&)> per_warp(Type type) {
  return [=, n = 0u, mode = std::uint64_t{0}, one = std::uint64_t{0},
          other = std::uint64_t{0}](Random& random) mutable {
    if (n++ % kWarp == 0) {
      mode = random() % 4;
      one = random_value(type, random);
      other = random_value(type, random);
    }
    Cells x{one, random() % 3 == 0 ? random() : random() % 34, random() % 4 == 0 ? 0x1f1f : random()};
    if (mode == 1 && random() % 16 == 0) x[0] = other;
    if (mode == 2) x[0] = random() % 4;
    if (mode == 3) x[0] = random_value(type, random);
    return x;
  };
}

Case warp_case(Type type, std::vector<Type> results, const std::string& body) {
  Case c;
  c.family = "Warp";
  c.sources = {type, kWord, kWord};
  c.results = std::move(results);
  c.operands = per_warp(type);
  c.body = body;
  return c;
}

// `instruction` with # in the place of its mask: in whole warps, and in some of their threads.
std::vector<Case> masked(Type type, const std::vector<Type>& results, const std::string& instruction) {
  const auto with = [&](const std::string& mask) {
    std::string text = instruction;
    return text.replace(text.find('#'), 1, mask);
  };
  std::string zero;
  const char* const names[] = {"%d", "%d1"};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string name = names[i];
    zero += results[i] == kPred ? "setp.ne.u32 " + name + ", %y1, %y1;\n  " : "mov.u32 " + name + ", 0;\n  ";
  }
  return {warp_case(type, results, with("0xffffffff")),
          warp_case(type, results,
                    "and.b32 %y1, %c, 1;\n  setp.ne.u32 %p1, %y1, 0;\n  " + zero +
                        "vote.sync.ballot.b32 %y0, %p1, 0xffffffff;\n  @!%p1 bra DONE;\n  " + with("%y0") +
                        "\nDONE:")};
}

bool starts(const std::string& opcode, const char* with) {
  return opcode.rfind(with, 0) == 0;
}

}  // namespace

std::vector<std::string> warp_opcodes() {
  std::vector<std::string> all;
  for (const std::string mode : {"up", "down", "bfly", "idx"}) all.push_back("shfl.sync." + mode + ".b32");
  for (const std::string mode : {"all.pred", "any.pred", "uni.pred", "ballot.b32"})
    all.push_back("vote.sync." + mode);
  for (const std::string mode : {"any.sync.b32", "any.sync.b64", "all.sync.b32", "all.sync.b64"})
    all.push_back("match." + mode);
  for (const std::string mode :
       {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"})
    all.push_back("redux.sync." + mode);
  for (const std::string mode : {"popc.u32", "and.pred", "or.pred"}) all.push_back("bar.red." + mode);
  all.emplace_back("elect.sync");
  all.emplace_back("lanes");
  return all;
}

std::vector<Case> warp_cases(const std::string& opcode) {
  std::vector<Case> cases;
  static const std::vector<std::string> known = warp_opcodes();
  if (std::find(known.begin(), known.end(), opcode) == known.end()) return cases;
  if (starts(opcode, "shfl.")) {  // from a lane that takes no part the result is undefined: whole warps only
    cases = {warp_case(kWord, {kWord, kPred}, "$op %d|%d1, %a, %b, %c, 0xffffffff;")};
  } else if (starts(opcode, "vote.")) {
    const bool ballot = opcode == "vote.sync.ballot.b32";
    cases = masked(kPred, {ballot ? kWord : kPred}, "$op %d, %a, #;");
    const std::vector<Case> inverse = masked(kPred, {ballot ? kWord : kPred}, "$op %d, !%a, #;");
    cases.insert(cases.end(), inverse.begin(), inverse.end());
  } else if (starts(opcode, "match.any.")) {
    cases = masked(opcode.back() == '4' ? kLong : kWord, {kWord}, "$op %d, %a, #;");
  } else if (starts(opcode, "match.all.")) {
    cases = masked(opcode.back() == '4' ? kLong : kWord, {kWord, kPred}, "$op %d|%d1, %a, #;");
  } else if (starts(opcode, "redux.")) {
    cases = masked(kWord, {kWord}, "$op %d, %a, #;");
  } else if (starts(opcode, "bar.red.")) {
    cases = {warp_case(kPred, {opcode == "bar.red.popc.u32" ? kWord : kPred}, "$op %d, 0, %a;"),
             warp_case(kPred, {opcode == "bar.red.popc.u32" ? kWord : kPred}, "$op %d, 1, 128, !%a;")};
  } else if (opcode == "elect.sync") {
    cases = masked(kWord, {kWord, kPred}, "$op %d|%d1, #;");
  } else if (opcode == "lanes") {
    cases = {warp_case(kWord, {kWord, kWord, kWord, kWord},
                       "mov.u32 %d, %laneid;\n  mov.u32 %d1, %lanemask_eq;\n  mov.u32 %d2, %lanemask_lt;\n  "
                       "mov.u32 %d3, %lanemask_ge;"),
             warp_case(kWord, {kWord, kWord, kWord, kWord},
                       "mov.u32 %d, %lanemask_le;\n  mov.u32 %d1, %lanemask_gt;\n  mov.u32 %d2, "
                       "%ntid.x;\n  mov.u32 %d3, %nctaid.x;")};
  }
  for (Case& c : cases) c.opcode = opcode;
  return cases;
}

}  // namespace weft::test::silicon
