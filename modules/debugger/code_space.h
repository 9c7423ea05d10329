// Where the instructions of kernels lie for GDB: each program has addresses of its own, four bytes for each
// instruction, in a part of the address space in which a GPU has no memory.
#ifndef WEFT_DEBUGGER_CODE_SPACE_H
#define WEFT_DEBUGGER_CODE_SPACE_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "weft/ptx/named_registers.h"
#include "weft/ptx/program.h"

namespace weft::debugger {

inline constexpr std::uint64_t kInstructionBytes = 4;
// What GDB reads as an instruction: the architecture's nop.
inline constexpr std::uint32_t kNop = 0x0000'0013;
inline constexpr std::uint64_t kCodeBase = 0x4000'0000'0000'0000;
// Where a thread stands that has ended, until the run goes on.
inline constexpr std::uint64_t kThreadEnded = kCodeBase;

// Frames of device functions as GDB finds them, from here downwards: 16 bytes each, of which the upper half
// is the address to return to. (Where a thread's own stack lies, and what it holds, is the program's affair.)
inline constexpr std::uint64_t kFramesEnd = 0x5000'0000'0000'0000;
inline constexpr std::uint64_t kFrameBytes = 16, kReturnOffset = 8;

struct Code {
  std::shared_ptr<const ptx::Program> program;
  std::vector<ptx::NamedRegister> registers;
  std::uint64_t base = 0;

  std::uint64_t bytes() const { return program->code.size() * kInstructionBytes; }
  std::uint64_t address_of(ptx::Pc pc) const { return base + pc * kInstructionBytes; }
};

class CodeSpace {
 public:
  // Gives the program addresses, if it has none yet. The reference stays valid.
  const Code& add(const std::shared_ptr<const ptx::Program>& program,
                  std::vector<ptx::NamedRegister> registers);
  // nullptr: it has no addresses.
  const Code* find(const ptx::Program& program) const;
  // The code that has the address; nullptr: none.
  const Code* at(std::uint64_t address) const;
  bool contains(std::uint64_t address) const { return address >= kCodeBase && address < end_; }

  // In the order in which they came.
  const std::vector<std::unique_ptr<Code>>& all() const { return all_; }

 private:
  static constexpr std::uint64_t kAlignment = 0x1000;
  std::vector<std::unique_ptr<Code>> all_;
  std::uint64_t end_ = kCodeBase + kAlignment;
};

}  // namespace weft::debugger

#endif
