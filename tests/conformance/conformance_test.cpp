// Every opcode on at least 10,000 random operands, from PTX text to the register file, against its oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "conformance/machine.h"
#include "conformance/table.h"

namespace weft::test::conformance {
namespace {

// A machine without time that executes the table, and how many operands of a case it gets: 0 stands for all.
struct Column {
  Column(const char* of, std::unique_ptr<Machine> by, unsigned count)
      : name(of), machine(std::move(by)), bench(*machine), operands(count) {}
  const char* name;
  std::unique_ptr<Machine> machine;
  Bench bench;
  unsigned operands;
};

// Returns how many operands the machine executed.
std::size_t run_case(Column& column, const Case& c) {
  try {
    const Outcome outcome = column.bench.run(c, column.operands);
    const Verdict verdict = judge(c, outcome);
    EXPECT_EQ(verdict.wrong, 0u) << column.name << ": " << c.opcode << ", of " << outcome.results.size()
                                 << ":\n"
                                 << verdict.text;
    if (c.error && column.operands == 0) {
      std::cout << c.opcode << ": largest error " << verdict.worst << " of the bound " << c.bound_unit
                << '\n';
    }
    return outcome.results.size();
  } catch (const std::exception& error) {
    ADD_FAILURE() << column.name << ": " << c.opcode << ": " << error.what();
    return 0;
  }
}

void run_family(const std::string& family) {
  Column all = {"lane functions", make_straight_line_machine(), 0};
  Column samples[] = {{"lane functions, base", make_straight_line_machine(isa::InstructionSet::kBase), 640},
                      {"interpreter", make_interpreter_machine(), 640}};
  std::size_t opcodes = 0, operands = 0;
  for (const std::string& opcode : all_opcodes()) {
    std::size_t of_opcode = 0;
    for (const Case& c : cases_of(opcode)) {
      if (c.family != family) continue;
      of_opcode += run_case(all, c);
      for (Column& column : samples) EXPECT_EQ(run_case(column, c), column.operands) << c.opcode;
    }
    if (of_opcode == 0) continue;
    EXPECT_GE(of_opcode, 10'000u) << opcode;
    ++opcodes;
    operands += of_opcode;
  }
  EXPECT_GT(opcodes, 0u);
  std::cout << family << ": " << opcodes << " opcodes, " << operands << " operands\n";
}

TEST(Conformance, Integer) {
  run_family("Integer");
}
TEST(Conformance, Bits) {
  run_family("Bits");
}
TEST(Conformance, Comparison) {
  run_family("Comparison");
}
TEST(Conformance, Float) {
  run_family("Float");
}
TEST(Conformance, Approximate) {
  run_family("Approximate");
}
TEST(Conformance, Convert) {
  run_family("Convert");
}
TEST(Conformance, Video) {
  run_family("Video");
}
TEST(Conformance, Memory) {
  run_family("Memory");
}
TEST(Conformance, Atomic) {
  run_family("Atomic");
}
TEST(Conformance, Miscellaneous) {
  run_family("Miscellaneous");
}

// A pattern that no oracle knows would be left out without a word.
TEST(Conformance, EveryFurtherOpcodeHasAnOracle) {
  for (const std::string& opcode : read_further()) EXPECT_FALSE(cases_of(opcode).empty()) << opcode;
}

}  // namespace
}  // namespace weft::test::conformance
