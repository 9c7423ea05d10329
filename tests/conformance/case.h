// One opcode of PTX under test: the kernel that executes it, the operands that it gets, and the oracle that
// says what must come out.
//
// Oracles are written from the PTX ISA (9.0) and share no code with modules/: opcodes are read here from
// their text, integers are computed in 128 bits, floating-point numbers by MPFR.
//
// Values travel as their bits in cells of 64: low bits first, the bits above a value's width zero.
#ifndef WEFT_TESTS_CONFORMANCE_CASE_H
#define WEFT_TESTS_CONFORMANCE_CASE_H

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace weft::test::conformance {

// u32, s64, f32, f16x2 ...: kind 'u', 's', 'b', 'f', 'g' (bf16) or 'p' (pred).
struct Type {
  char kind = 'b';
  unsigned bits = 32;  // of one part
  unsigned parts = 1;  // f16x2: 2
  unsigned width() const { return bits * parts; }
  bool is_float() const { return kind == 'f' || kind == 'g'; }
  bool is_signed() const { return kind == 's'; }
  Type part() const { return {kind, bits, 1}; }
};
inline bool operator==(const Type& a, const Type& b) {
  return a.kind == b.kind && a.bits == b.bits && a.parts == b.parts;
}
std::optional<Type> parse_type(std::string_view word);

using Cells = std::array<std::uint64_t, 4>;
using Random = std::mt19937_64;
using Oracle = std::function<Cells(const Cells&)>;

inline constexpr unsigned kOperandBytes = 32;  // of a thread: four cells
inline constexpr unsigned kResultBytes = 32;

// An approximate function: how far `found` is from the exact value, in units of the bound (at most 1 is
// right; infinity: wrong kind of value).
using Error = std::function<double(const Cells& operands, const Cells& found)>;

struct Case {
  std::string opcode;
  std::string family;  // "Integer", "Float" ...: the test that runs it
  std::string oracle;  // "int128", "MPFR", "bytes"
  std::vector<Type> sources;
  std::vector<Type> results;  // width of each result; cells beyond are not compared
  // PTX between the loading of operands %a, %b, %c, %e and the storing of results %d, %d1, %d2, %d3. It may
  // use %in and %out, the addresses of this thread's operands and results, %index, and the scratch registers
  // %x<8> (b64), %y<8> (b32), %z<8> (b16), %p<8> (pred).
  std::string body;
  std::string globals;  // declarations at module scope
  std::string locals;   // declarations in the kernel
  bool loads = true;    // operands are loaded into registers
  bool stores = true;   // results are stored from registers
  std::string
      copy_to;  // "bank": operands go to this .const variable instead of %in; "param": to the parameter
  unsigned threads = 2048;   // of one launch
  unsigned wanted = 10'240;  // random operands in all
  Oracle expected;           // exact
  Error error;               // approximate, instead of `expected`
  double bound = 0;          // for messages: the ISA's bound, and
  std::string bound_unit;    // "relative", "absolute", "ulp"
  // Operands for which PTX leaves the result to the machine; Weft's own statement is tested, a GPU's result
  // is not compared (tests/silicon).
  std::function<bool(const Cells&)> open;
  // Operands other than random ones of the sources' types.
  std::function<Cells(Random&)> operands;
};

// The case of an opcode, as written in PTX ("mad.lo.s32"); an empty list if it has none. Opcodes with a
// literal operand have several.
std::vector<Case> cases_of(const std::string& opcode);

inline constexpr const char* kHeader = ".version 8.8\n.target sm_100\n";
// The whole module of a case: kernel "k"(in, out). `header`: .version and .target.
std::string module_text(const Case& c, const std::string& header = kHeader);

// Corner values of the type (NaNs with payloads, infinities, subnormals, extremes, halfway cases), small
// numbers, numbers of one magnitude, or any bits.
std::uint64_t random_value(Type type, Random& random);

}  // namespace weft::test::conformance

#endif
