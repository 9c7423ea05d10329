// Forms of an instruction that mean what another one means: every opcode of the table, written otherwise,
// against the oracle of its usual form.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "conformance/machine.h"
#include "conformance/table.h"
#include "conformance/words.h"

namespace weft::test::conformance::forms_test {
namespace {

constexpr unsigned kOperands = 128;
constexpr const char* kSources[] = {"%a", "%b", "%c", "%e"};

bool is_straight(const Case& c) {
  return c.family != "Control";
}

void expect_right(Bench& bench, const Case& c, const std::string& what) {
  try {
    const Verdict verdict = judge(c, bench.run(c, kOperands, 11));
    EXPECT_EQ(verdict.wrong, 0u) << what << ":\n" << verdict.text;
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": " << error.what();
  }
}

bool is_name(char c) {
  return ('a' <= c && c <= 'z') || ('0' <= c && c <= '9') || c == '%';
}

// Where the instruction under test, which begins at "$op", reads `source` as an operand by itself: not as an
// element in braces or brackets, not negated or in part, and not as its result. npos: nowhere.
std::size_t operand_of(const std::string& body, const std::string& source) {
  const std::size_t begin = body.find("$op");
  if (begin == std::string::npos) return begin;
  int depth = 0;
  bool result = body.compare(begin, 6, "$op [%") != 0;  // the first operand
  for (std::size_t at = begin; at < body.size() && body[at] != ';'; ++at) {
    if (body[at] == '{' || body[at] == '[') ++depth;
    if (body[at] == '}' || body[at] == ']') --depth;
    if (body[at] == ',' && depth == 0) result = false;
    const bool here = body.compare(at, source.size(), source) == 0 && !is_name(body[at - 1]) &&
                      body[at - 1] != '!' && body[at - 1] != '-' && !is_name(body[at + source.size()]) &&
                      body[at + source.size()] != '.';
    if (here && depth == 0 && !result) return at;
  }
  return std::string::npos;
}

// "%a+5" is the sum of integers, as wide as the register. Registers of the cases are of .b types.
TEST(Forms, AddendOfEverySource) {
  const auto machine = make_straight_line_machine();
  Bench bench(*machine);
  std::map<std::string, unsigned> forms;  // by mnemonic
  for (const std::string& opcode : all_opcodes()) {
    std::vector<Case> cases = cases_of(opcode);
    cases.resize(std::min<std::size_t>(cases.size(), 2));
    for (const Case& usual : cases) {
      if (!is_straight(usual) || usual.error || !usual.loads) continue;
      for (std::size_t i = 0; i < usual.sources.size(); ++i) {
        const std::size_t at = operand_of(usual.body, kSources[i]);
        if (at == std::string::npos || usual.sources[i].kind == 'p') continue;
        const std::string mnemonic = opcode.substr(0, opcode.find('.'));
        if (mnemonic == "createpolicy") continue;  // its case looks at what is left of the operand
        const std::uint64_t addend = forms[mnemonic]++ % 2 == 0 ? 5 : std::uint64_t{0} - 3;
        Case c = usual;
        c.body.insert(at + 2, addend == 5 ? "+5" : "+-3");
        c.expected = [usual, i, addend](const Cells& x) {
          Cells sums = x;
          sums[i] = low_bits(usual.sources[i].width(), x[i] + addend);
          return usual.expected(sums);
        };
        expect_right(bench, c, opcode + ", source " + std::to_string(i));
      }
    }
  }
  unsigned all = 0;
  for (const auto& [mnemonic, count] : forms) all += count;
  std::cout << all << " forms of " << forms.size() << " mnemonics\n";
  EXPECT_GT(all, 700u);
  for (const char* mnemonic :
       {"st", "cvt", "add", "setp", "selp", "mad", "shl", "mov", "atom", "popc", "min"}) {
    EXPECT_GT(forms[mnemonic], 0u) << mnemonic;
  }
}

// --- the order of modifiers ---

// What ptxas keeps directly behind the mnemonic.
bool leads(const std::string& mnemonic, const std::string& word) {
  static const std::map<std::string, std::vector<std::string>> kLeading = {{"bar", {"warp", "cta", "red"}},
                                                                           {"barrier", {"cta", "red"}},
                                                                           {"brx", {"idx"}},
                                                                           {"cp", {"async"}},
                                                                           {"cvt", {"pack"}},
                                                                           {"cvta", {"to"}},
                                                                           {"div", {"full"}},
                                                                           {"dp2a", {"lo", "hi"}},
                                                                           {"mad", {"lo", "hi", "wide"}},
                                                                           {"mad24", {"lo", "hi"}},
                                                                           {"madc", {"lo", "hi"}},
                                                                           {"mul", {"lo", "hi", "wide"}},
                                                                           {"mul24", {"lo", "hi"}},
                                                                           {"shf", {"l", "r"}}};
  const auto known = kLeading.find(mnemonic);
  return known != kLeading.end() &&
         std::find(known->second.begin(), known->second.end(), word) != known->second.end();
}

struct Parts {
  std::vector<std::string> leading, free, types;  // a type has its .v2 before it
};

// Types of conversions and pairs that no register has.
bool is_small_type(const std::string& word) {
  static const std::vector<std::string> kSmall = {"e2m1x2", "e2m3x2",  "e3m2x2", "e4m3x2",
                                                  "e5m2x2", "ue8m0x2", "tf32",   "f32x2"};
  return std::find(kSmall.begin(), kSmall.end(), word) != kSmall.end();
}

Parts parts_of(const std::string& opcode) {
  Parts parts;
  Words words(opcode);
  std::string vector;
  while (!words.done()) {
    const std::string word = words.peek();
    words.take(word);
    if (word == "v2" || word == "v4" || word == "v8") {
      vector = word + ".";
    } else if (parse_type(word) || is_small_type(word)) {
      parts.types.push_back(vector + word);
      vector.clear();
    } else if (leads(words.mnemonic(), word)) {
      parts.leading.push_back(word);
    } else {
      parts.free.push_back(word);
    }
  }
  return parts;
}

// Another order: free words shuffled, types put among them in their order.
std::string shuffled(const std::string& opcode, Random& random) {
  Parts parts = parts_of(opcode);
  std::shuffle(parts.free.begin(), parts.free.end(), random);
  std::string text = opcode.substr(0, opcode.find('.'));
  for (const std::string& word : parts.leading) text += "." + word;
  std::size_t free = 0, type = 0;
  while (free < parts.free.size() || type < parts.types.size()) {
    const std::size_t left = parts.free.size() - free + parts.types.size() - type;
    const bool takes_free = random() % left < parts.free.size() - free;
    text += "." + (takes_free ? parts.free[free++] : parts.types[type++]);
  }
  return text;
}

TEST(Forms, OrderOfModifiers) {
  const auto machine = make_straight_line_machine();
  Bench bench(*machine);
  Random random(3);
  std::size_t forms = 0;
  for (const std::string& opcode : all_opcodes()) {
    const Parts parts = parts_of(opcode);
    if (parts.free.empty() || parts.free.size() + parts.types.size() < 2) continue;
    const std::vector<Case> cases = cases_of(opcode);
    if (cases.empty() || !is_straight(cases.front()) || opcode.find("param") != std::string::npos) continue;
    for (int k = 0; k < 2; ++k) {
      Case c = cases.front();
      c.opcode = shuffled(opcode, random);
      if (c.opcode == opcode) continue;
      expect_right(bench, c, opcode + " as " + c.opcode);
      ++forms;
    }
  }
  std::cout << forms << " forms\n";
  EXPECT_GT(forms, 800u);
}

}  // namespace
}  // namespace weft::test::conformance::forms_test
