#include "debugger/target_registers.h"

#include <cctype>
#include <utility>

namespace weft::debugger {
namespace {

const char* gdb_type(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::kF32:
      return "ieee_single";
    case Type::kF64:
      return "ieee_double";
    case Type::kS8:
      return "int8";
    case Type::kS16:
      return "int16";
    case Type::kS32:
      return "int32";
    case Type::kS64:
      return "int64";
    default:
      break;
  }
  const unsigned bytes = ptx::bytes_of(type);
  return bytes == 8 ? "uint64" : bytes == 4 ? "uint32" : bytes == 2 ? "uint16" : "uint8";
}

// "%r1" -> "r1", "%v.x" -> "v_x".
std::string gdb_name(const std::string& ptx) {
  std::string name;
  for (const char c : ptx) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += c;
    } else if (c != '%') {
      name += '_';
    }
  }
  return name;
}

void add_core(std::string& text) {
  text += "<feature name=\"org.gnu.gdb.riscv.cpu\">";
  for (unsigned i = 0; i < kPcRegister; ++i)
    text += "<reg name=\"x" + std::to_string(i) + "\" bitsize=\"64\" type=\"int\"/>";
  text += "<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\"/></feature>";
}

}  // namespace

TargetRegisters::TargetRegisters() {
  // Names of RISC-V's registers.
  for (const char* name : {"zero", "ra", "sp", "gp", "tp", "fp", "pc"}) taken_[name] = true;
  const auto take = [this](const char* letter, unsigned count) {
    for (unsigned i = 0; i < count; ++i) taken_[letter + std::to_string(i)] = true;
  };
  take("x", 32), take("t", 7), take("s", 12), take("a", 8);
  using Kind = TargetRegister::Kind;
  for (unsigned axis = 0; axis < 3; ++axis) add({Kind::kTid, axis, {}}, std::string("tid_") + "xyz"[axis]);
  for (unsigned axis = 0; axis < 3; ++axis)
    add({Kind::kCtaid, axis, {}}, std::string("ctaid_") + "xyz"[axis]);
  add({Kind::kLane, 0, {}}, "laneid");
  add({Kind::kSm, 0, {}}, "smid");
  add({Kind::kWarp, 0, {}}, "warpid");
}

void TargetRegisters::add(TargetRegister one, const std::string& wish) {
  one.name = wish.empty() ? "_" : wish;
  while (!taken_.emplace(one.name, true).second) one.name += '_';
  registers_.push_back(std::move(one));
}

void TargetRegisters::add(const Code& code) {
  if (!description_.empty()) return;
  for (const ptx::NamedRegister& named : code.registers) {
    const unsigned bytes = named.type == ptx::Type::kPred ? 1 : ptx::bytes_of(named.type);
    const auto [at, is_new] = named_.emplace(named.name, registers_.size());
    if (is_new) {
      TargetRegister one;
      one.ptx = named.name;
      one.type = named.type;
      one.bytes = bytes;
      add(std::move(one), gdb_name(named.name));
    } else if (registers_[at->second].bytes < bytes) {  // another kernel has a wider one
      registers_[at->second].bytes = bytes;
      registers_[at->second].type = named.type;
    }
  }
}

const std::string& TargetRegisters::description() {
  if (!description_.empty()) return description_;
  std::string text =
      "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">"
      "<architecture>riscv:rv64</architecture><osabi>none</osabi>";
  add_core(text);
  text += "<feature name=\"org.weft.ptx\">";
  for (const TargetRegister& one : registers_) {
    text += "<reg name=\"" + one.name + "\" bitsize=\"" + std::to_string(8 * one.bytes) + "\" type=\"" +
            gdb_type(one.type) + "\" group=\"general\"/>";
  }
  description_ = text + "</feature></target>";
  return description_;
}

const ptx::NamedRegister::Place* place_of(const Code& code, const std::string& name, ptx::Pc pc) {
  const ptx::NamedRegister::Place* found = nullptr;
  for (const ptx::NamedRegister& named : code.registers) {
    if (named.name != name) continue;
    for (const auto& place : named.places) {
      if (place.first <= pc && pc <= place.last) found = &place;  // the innermost scope's comes last
    }
  }
  return found;
}

}  // namespace weft::debugger
