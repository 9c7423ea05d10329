// The table of opcodes is complete and true.
#include "conformance/table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "conformance/case.h"
#include "weft/common/error.h"
#include "weft/ptx/module.h"

namespace weft::test::conformance {
namespace {

// What decode says to an opcode with a few operands; "" if it takes it.
std::string refusal(const std::string& opcode) {
  const std::string text =
      ".version 8.8\n.target sm_100\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<4>;\n" + opcode +
      " %r1, %r2;\nret;\n}\n";
  try {
    ptx::decode(ptx::parse(text, "k.ptx"), "k", {});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool is_test_here(const std::string& name) {
  const auto& unit = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < unit.total_test_suite_count(); ++s) {
    const auto& suite = *unit.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      if (name == std::string(suite.name()) + "." + suite.GetTestInfo(t)->name()) return true;
    }
  }
  return false;
}

// A file under tests/.
std::string text_of(const std::string& file) {
  std::ifstream in(std::string(WEFT_CONFORMANCE_DIR) + "/../" + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Whether a file under tests/ has this test.
bool is_test_elsewhere(const std::string& file, const std::string& name) {
  const std::string text = text_of(file);
  const std::size_t dot = name.find('.');
  return text.find("(" + name.substr(0, dot) + ", " + name.substr(dot + 1) + ")") != std::string::npos;
}

TEST(OpcodeTable, NamesForEveryOpcodeATestThatExecutesIt) {
  std::set<std::string> seen;
  for (const Entry& entry : read_table()) {
    EXPECT_TRUE(seen.insert(entry.opcode).second) << entry.opcode << " twice";
    if (entry.test == "refused") continue;
    EXPECT_NE(entry.test, "pending") << entry.opcode;
    if (const std::size_t colon = entry.test.find(':'); colon != std::string::npos) {
      const std::string file = entry.test.substr(0, colon);
      EXPECT_TRUE(is_test_elsewhere(file, entry.test.substr(colon + 1))) << entry.test;
      const bool image = entry.opcode.rfind("tex.", 0) == 0 || entry.opcode.rfind("su", 0) == 0;
      if (image) {
        EXPECT_NE(text_of(file).find(entry.opcode), std::string::npos) << entry.opcode;
      }
      EXPECT_EQ(refusal(entry.opcode).find("not executable"), std::string::npos) << entry.opcode;
      continue;
    }
    const std::vector<Case> cases = cases_of(entry.opcode);
    ASSERT_FALSE(cases.empty()) << entry.opcode << ": no oracle";
    EXPECT_EQ(entry.test, "Conformance." + cases[0].family) << entry.opcode;
    EXPECT_EQ(entry.oracle, cases[0].oracle) << entry.opcode;
    EXPECT_TRUE(is_test_here(entry.test)) << entry.test;
    for (const Case& c : cases) {
      ptx::Symbols symbols;
      const ptx::Module module = ptx::parse(module_text(c), "case.ptx");
      for (const ptx::Variable& variable : module.variables) symbols[variable.name] = 0x10000;
      EXPECT_NO_THROW(ptx::decode(module, "k", symbols)) << entry.opcode;
    }
  }
  EXPECT_GE(seen.size(), 688u);
}

TEST(OpcodeTable, MatricesAreRefusedWithAClearMessage) {
  std::size_t refused = 0;
  for (const Entry& entry : read_table()) {
    const bool matrix = entry.opcode.rfind("wmma.", 0) == 0 || entry.opcode.rfind("mma.", 0) == 0;
    EXPECT_EQ(entry.test == "refused", matrix) << entry.opcode;
    if (!matrix) continue;
    const std::string why = refusal(entry.opcode);
    EXPECT_NE(why.find("not executable"), std::string::npos) << entry.opcode << ": " << why;
    EXPECT_NE(why.find("k.ptx:6"), std::string::npos) << why;
    ++refused;
  }
  EXPECT_EQ(refused, 18u);
}

TEST(OpcodeTable, PatternsExpand) {
  EXPECT_EQ(expand("a{,.b}.{c,d}"), (std::vector<std::string>{"a.c", "a.d", "a.b.c", "a.b.d"}));
  EXPECT_EQ(expand("mov.b32"), (std::vector<std::string>{"mov.b32"}));
}

}  // namespace
}  // namespace weft::test::conformance
