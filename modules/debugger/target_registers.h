// The registers that GDB knows: those of RISC-V that the architecture demands, those that the PTX of the
// kernels names, and what a thread can ask of its place (%tid.x and such).
//
// GDB is told of them once, when it connects, in an XML text (the GDB manual, appendix "Target
// Descriptions"). A kernel has some of the named ones; the others are unavailable in it.
#ifndef WEFT_DEBUGGER_TARGET_REGISTERS_H
#define WEFT_DEBUGGER_TARGET_REGISTERS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "debugger/code_space.h"

namespace weft::debugger {

// Numbers of RISC-V's registers in packets. GDB demands the 16 of the embedded variant.
inline constexpr unsigned kStackRegister = 2, kPcRegister = 16, kCoreRegisters = 17;

struct TargetRegister {
  enum class Kind : std::uint8_t { kNamed, kTid, kCtaid, kLane, kSm, kWarp };
  Kind kind = Kind::kNamed;
  unsigned axis = 0;  // kTid, kCtaid
  std::string ptx;    // kNamed: its name in the text
  ptx::Type type = ptx::Type::kU32;
  unsigned bytes = 4;
  std::string name = {};  // GDB's
};

class TargetRegisters {
 public:
  TargetRegisters();

  // Adds those of a kernel, unless GDB has already been told.
  void add(const Code& code);
  // What GDB is told. From now on nothing is added.
  const std::string& description();

  // By number in packets; nullptr: RISC-V's, or none.
  const TargetRegister* find(std::uint64_t number) const {
    return number < kCoreRegisters || number - kCoreRegisters >= registers_.size()
               ? nullptr
               : &registers_[number - kCoreRegisters];
  }

 private:
  void add(TargetRegister one, const std::string& wish);

  std::vector<TargetRegister> registers_;
  std::map<std::string, std::size_t> named_;  // by name in PTX
  std::map<std::string, bool> taken_;         // names
  std::string description_;
};

// Where a named register of a kernel lies before the instruction at `pc`; nullptr: nowhere.
const ptx::NamedRegister::Place* place_of(const Code& code, const std::string& name, ptx::Pc pc);

}  // namespace weft::debugger

#endif
