// Where things lie in a function's frame, and instructions that reach them. A kernel's frame begins at
// address 0, so that an offset is an address; the other functions count from the stack pointer.
#ifndef WEFT_PTX_STACK_FRAME_H
#define WEFT_PTX_STACK_FRAME_H

#include <cstdint>

#include "ptx/draft_builder.h"
#include "ptx/symbols.h"

namespace weft::ptx {

// `alignment`: of all frames of the program; `saved_bytes`, `spilled_bytes`: room for values saved across
// calls and for spilled registers.
Frame lay_out_frame(const FunctionSymbols& symbols, std::uint64_t alignment, std::uint64_t saved_bytes,
                    std::uint64_t spilled_bytes);

class StackFrame {
 public:
  StackFrame(DraftBuilder& code, const Frame& frame, std::uint64_t alignment)
      : code_(code), frame_(frame), alignment_(alignment) {}

  const Frame& layout() const { return frame_; }
  // Offsets from 0 in the kernel, else from the stack pointer.
  std::int64_t offset(const Meaning& meaning) const;
  std::int64_t own_offset(const Slot& slot) const;     // of an argument or result of the function
  std::int64_t area_offset(std::uint64_t area) const;  // of a call's results and arguments
  std::int64_t link_offset() const;                    // of the kept link register

  // The address of an access at that offset.
  void set_address(DraftInstruction& d, std::int64_t offset) const;
  void load(VirtualId to, Type type, std::int64_t offset) const;
  void store(const Source& from, Type type, std::int64_t offset) const;
  // The address of a variable of the frame as a value, in the local space.
  Source value(const Meaning& meaning, std::uint64_t addend, Type type) const;

 private:
  DraftInstruction access(Opcode op, Type type, std::int64_t offset) const;
  std::int64_t begin() const;

  DraftBuilder& code_;
  const Frame& frame_;
  const std::uint64_t alignment_;
};

}  // namespace weft::ptx

#endif
