// Golden vectors: what a device computed for the cases of opcodes.txt on operands that a seed gives.
//
// A file is compressed by gzip. Inside: a line "weft vectors 1"; lines "gpu NAME", "capability N.M", "driver
// N", "operands N", "seed N" in this order; then for each case a line "case OPCODE NUMBER HASH BYTES" and so
// many bytes of results, or "refused OPCODE NUMBER REASON" where the device's driver takes no such
// instruction. HASH is that of the operands, so that a changed generator shows.
#ifndef WEFT_TESTS_SILICON_VECTORS_H
#define WEFT_TESTS_SILICON_VECTORS_H

#include <map>
#include <set>

#include "conformance/machine.h"

namespace weft::test::silicon {

struct Recorded {
  std::string opcode;
  std::size_t number = 0;  // among the opcode's cases
  std::string refused;     // why; empty: it ran
  std::uint64_t operand_hash = 0;
  std::vector<std::uint8_t> results;  // each in as few bytes as it takes, operand after operand
};

struct Vectors {
  std::string gpu, capability;
  int driver = 0;
  unsigned operands = 0;  // per case, a multiple of 128
  std::uint64_t seed = 0;
  std::vector<Recorded> cases;
};

inline constexpr std::size_t kCasesPerOpcode = 16;  // lop3 has one for each table

// Runs every case of the opcodes on the machine; gpu, capability and driver are the caller's to fill in.
Vectors record(conformance::Machine& machine, const std::vector<std::string>& opcodes, unsigned operands,
               std::uint64_t seed);

// Both throw std::runtime_error with the file's name.
void write(const Vectors& vectors, const std::string& path);
Vectors read(const std::string& path);

struct Comparison {
  std::size_t cases = 0, results = 0;             // compared
  std::size_t open = 0;                           // results that PTX leaves to the machine
  std::size_t refused = 0;                        // by the device's driver
  std::size_t wrong = 0;                          // cases with a difference, the known ones not counted
  std::string text;                               // the first difference of each
  std::map<std::string, std::size_t> departures;  // cases with a difference, by mnemonic of the known ones
};
// Runs the same cases on Weft: those that branch on `whole`, the others on `straight`. Exact results must be
// the same bits; a NaN that an arithmetic instruction made need only be a NaN, and of f64 one of the same
// payload if one operand is a NaN; of approximate functions the recorded results must lie within the bound,
// as Weft's do. `known`: mnemonics of which GPUs are known to depart from the text of the PTX ISA.
Comparison compare(const Vectors& vectors, conformance::Machine& straight, conformance::Machine& whole,
                   const std::set<std::string>& known = {});

}  // namespace weft::test::silicon

#endif
