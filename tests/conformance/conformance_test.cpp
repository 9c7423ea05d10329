// Every opcode on at least 10,000 random operands, from PTX text to the register file, against its oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "conformance/machine.h"
#include "conformance/table.h"

namespace weft::test::conformance {
namespace {

std::vector<std::string> all_opcodes() {
  std::vector<std::string> all = read_further();
  for (const Entry& entry : read_table()) all.push_back(entry.opcode);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// The machines without time that execute the table, and how many operands of a case each gets: 0 stands for
// all.
struct Column {
  const char* name;
  std::unique_ptr<Machine> machine;
  unsigned operands;
};

std::vector<Column> columns() {
  std::vector<Column> all;
  all.push_back({"lane functions", make_straight_line_machine(), 0});
  all.push_back({"lane functions, base", make_straight_line_machine(isa::InstructionSet::kBase), 640});
  all.push_back({"interpreter", make_interpreter_machine(), 640});
  return all;
}

// Returns how many operands the machine executed.
std::size_t run_case(const Column& column, Bench& bench, const Case& c) {
  const Outcome outcome = bench.run(c, column.operands);
  const Verdict verdict = judge(c, outcome);
  EXPECT_EQ(verdict.wrong, 0u) << column.name << ": " << c.opcode << ", of " << outcome.results.size()
                               << ":\n"
                               << verdict.text;
  if (c.error && column.operands == 0) {
    std::cout << c.opcode << ": largest error " << verdict.worst << " of the bound " << c.bound_unit << '\n';
  }
  return outcome.results.size();
}

void run_family(const std::string& family) {
  for (const Column& column : columns()) {
    Bench bench(*column.machine);
    std::size_t opcodes = 0, operands = 0;
    for (const std::string& opcode : all_opcodes()) {
      std::size_t of_opcode = 0;
      for (const Case& c : cases_of(opcode)) {
        if (c.family != family) continue;
        try {
          of_opcode += run_case(column, bench, c);
        } catch (const std::exception& error) {
          ADD_FAILURE() << column.name << ": " << opcode << ": " << error.what();
          break;
        }
      }
      if (of_opcode == 0) continue;
      if (column.operands == 0) {
        EXPECT_GE(of_opcode, 10'000u) << opcode;
      }
      ++opcodes;
      operands += of_opcode;
    }
    EXPECT_GT(opcodes, 0u);
    std::cout << family << ", " << column.name << ": " << opcodes << " opcodes, " << operands
              << " operands\n";
  }
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
