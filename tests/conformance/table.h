// The table of opcodes, and the patterns of further ones.
//
// opcodes.txt: what compilers emit, one per line: opcode, test that executes it, oracle. A test is
// Suite.Name, or file:Suite.Name for one of another program in tests/; the word "refused" stands for what
// Weft refuses with a message, "pending" for what is not there yet. further.txt: opcodes beyond them, as
// patterns: "add{,.sat}.s32" is two of them.
#ifndef WEFT_TESTS_CONFORMANCE_TABLE_H
#define WEFT_TESTS_CONFORMANCE_TABLE_H

#include <string>
#include <vector>

namespace weft::test::conformance {

struct Entry {
  std::string opcode, test, oracle;
};
std::vector<Entry> read_table();
std::vector<std::string> read_further();
// The opcodes of both, sorted, each once.
std::vector<std::string> all_opcodes();
std::vector<std::string> expand(const std::string& pattern);

}  // namespace weft::test::conformance

#endif
