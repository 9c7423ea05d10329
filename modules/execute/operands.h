// The operands of an instruction, in the registers of one chunk of threads or among its constants.
//
// Lanes that are no operand are null pointers. Everything here is small and on the way of each instruction,
// therefore in the header.
#ifndef WEFT_EXECUTE_OPERANDS_H
#define WEFT_EXECUTE_OPERANDS_H

#include <cstdint>
#include <cstring>

#include "execute/access.h"
#include "execute/kernel.h"
#include "execute/register_file.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::execute {

class Operands {
 public:
  explicit Operands(RegisterFile& registers) : registers_(registers) {}

  std::uint32_t* registers_of(unsigned chunk) const { return registers_.chunk_base(chunk); }
  std::uint32_t& predicate(unsigned chunk, std::int16_t number) const {
    return registers_.predicate(chunk, static_cast<unsigned>(number));
  }

  // Threads of `group` whose guard holds.
  std::uint32_t guarded(const ptx::Instruction& in, const warp_formation::ThreadGroup& group) const {
    if (in.guard < 0) return group.mask;
    const std::uint32_t bits = registers_.predicate(group.chunk, static_cast<unsigned>(in.guard));
    return group.mask & (in.guard_negated ? ~bits : bits);
  }

  // 32 lanes of a register or a constant; nullptr: there is none.
  const void* lanes_of(const Source& source, unsigned chunk) const {
    if (source.kind == Source::Kind::kRow) return registers_.chunk_base(chunk) + source.offset;
    return source.kind == Source::Kind::kConstant ? source.constant : nullptr;
  }
  // The same of a 32-bit operand.
  const std::uint32_t* words_of(const Source& source, unsigned chunk) const {
    return static_cast<const std::uint32_t*>(lanes_of(source, chunk));
  }
  std::uint32_t predicates_of(const Source& source, unsigned chunk) const {
    const std::uint32_t bits = registers_.predicate(chunk, source.index);
    return source.negated ? ~bits : bits;
  }
  // One lane's value, of 64 bits if `wide`, else of 32; 0: there is no operand.
  std::uint64_t value_of(const Source& source, bool wide, unsigned chunk, unsigned lane) const {
    const auto* const lanes = static_cast<const std::uint8_t*>(lanes_of(source, chunk));
    if (lanes == nullptr) return 0;
    std::uint64_t value = 0;
    const std::size_t bytes = wide ? 8 : 4;
    std::memcpy(&value, lanes + bytes * lane, bytes);
    return value;
  }

  // The registers and constants that a memory instruction names; base, offset and lanes are the caller's.
  isa::MemoryLanes memory_lanes(const Operation& op, unsigned chunk) const {
    std::uint32_t* const registers = registers_.chunk_base(chunk);
    isa::MemoryLanes lanes;
    for (unsigned i = 0; i < 4; ++i) {
      if (op.dst[i] >= 0) lanes.dst[i] = registers + op.dst[i];
      const Source& source = op.src[i + 1];
      if (source.kind == Source::Kind::kRow) {
        lanes.src[i] = registers + source.offset;
      } else if (source.kind == Source::Kind::kConstant) {
        lanes.src[i] = source.constant;
      }
    }
    return lanes;
  }
  // Loads, stores or changes the threads' elements, at `base` and their offsets.
  void transfer(isa::MemoryFunction function, const Access& access, std::uint8_t* base,
                const std::uint64_t* offset) const {
    isa::MemoryLanes lanes = memory_lanes(access.op, access.chunk);
    lanes.base = base;
    lanes.offset = offset;
    lanes.active = access.mask;
    function(lanes);
  }

  // What the instruction has written for one lane becomes the value of these lanes too.
  void broadcast(const Operation& op, unsigned chunk, unsigned lane, std::uint32_t lanes) const;

  // Writes predicates of some lanes.
  void set_predicates(unsigned chunk, std::int16_t number, std::uint32_t lanes, std::uint32_t values) const {
    std::uint32_t& bits = predicate(chunk, number);
    bits = (bits & ~lanes) | (values & lanes);
  }

 private:
  RegisterFile& registers_;
};

}  // namespace weft::execute

#endif
