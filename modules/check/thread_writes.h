// What the threads of a launch write to registers, one after the other, and what device memory holds behind
// it: as a run without scalarization records it (write_recorder.h), for a run with it to be compared with
// (write_comparer.h). The two decode the same text to the same instructions; only rows, spills and what
// executes once for a warp differ. So a write is named by its place in the text.
#ifndef WEFT_CHECK_THREAD_WRITES_H
#define WEFT_CHECK_THREAD_WRITES_H

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "execute/access_observer.h"

namespace weft::check {

// Of a result: where it is written, and the value, of 64 bits a hash.
struct RegisterWrite {
  std::uint32_t place = 0, value = 0;
};
inline bool operator==(const RegisterWrite& a, const RegisterWrite& b) {
  return a.place == b.place && a.value == b.value;
}
constexpr std::uint32_t kResultsOfALine = 8;
inline std::uint32_t line_of(const RegisterWrite& write) {
  return write.place / kResultsOfALine;
}

// An allocation of the host's that lives.
struct ImagePart {
  std::uint64_t number = 0, address = 0, bytes = 0;
  std::uint64_t hash = 0;  // of its content; 0: not taken yet
};
std::uint64_t hash_of(const unsigned char* memory, std::uint64_t bytes);

// A launch that has come to its end.
struct LaunchWrites {
  std::string kernel;
  std::string unlike;  // why another order of threads gives other values; empty: it does not
  std::vector<ImagePart> image;
  std::vector<std::vector<RegisterWrite>> threads;  // by number in the grid; none if `unlike`

  void write(std::FILE* file) const;
  // False: the file has no further launch.
  bool read(std::FILE* file);
};

// Whether what the instruction writes can be compared: not what spills a register, nor where a call comes
// back to.
bool is_of_the_text(const ptx::Instruction& in);
RegisterWrite write_of(const execute::ObservedInstruction& o, std::size_t result, unsigned lane);
std::uint64_t thread_in_grid(const execute::ObservedInstruction& o, unsigned lane);

// Calls visit(number of the thread, lane, result, write) for each result of the instruction for each thread.
template <class Visit>
void visit_writes(const execute::ObservedInstruction& o, Visit visit) {
  const ptx::Instruction& in = o.kernel->program.code[o.pc];
  if (!is_of_the_text(in)) return;
  for (std::uint32_t rest = o.executing; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint64_t thread = thread_in_grid(o, lane);
    for (std::size_t result = 0; result < in.dst.size(); ++result) {
      const auto kind = in.dst[result].kind;
      if (kind != ptx::Operand::Kind::kRow && kind != ptx::Operand::Kind::kPredicate) continue;
      visit(thread, lane, result, write_of(o, result, lane));
    }
  }
}

}  // namespace weft::check

#endif
