// Golden vectors: what a device computed for the cases of opcodes.txt on operands that a seed gives.
//
// A file is compressed by gzip. Inside: a line "weft vectors 1"; lines "gpu NAME", "capability N.M", "driver
// N", "operands N", "seed N" in this order; then for each case a line "case OPCODE NUMBER HASH BYTES" and so
// many bytes of results, or "refused OPCODE NUMBER REASON" where the device's driver takes no such
// instruction. HASH is that of the operands, so that a changed generator shows.
#ifndef WEFT_TESTS_SILICON_VECTORS_H
#define WEFT_TESTS_SILICON_VECTORS_H

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

// Runs every case on the machine; gpu, capability and driver are the caller's to fill in.
Vectors record(conformance::Machine& machine, unsigned operands, std::uint64_t seed);

// Both throw std::runtime_error with the file's name.
void write(const Vectors& vectors, const std::string& path);
Vectors read(const std::string& path);

struct Comparison {
  std::size_t cases = 0, results = 0;  // compared
  std::size_t refused = 0;             // by the device's driver
  std::size_t wrong = 0;               // cases with a difference
  std::string text;                    // the first differences of each
};
// Runs the same cases on Weft. Exact results must be the same bits; of approximate functions the recorded
// ones must lie within the bound, as Weft's do.
Comparison compare(const Vectors& vectors, conformance::Machine& weft);

}  // namespace weft::test::silicon

#endif
