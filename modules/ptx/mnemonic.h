// An instruction in a few words, for waveforms and timelines. Nothing is allocated.
//
//   writer.name(ptx::Mnemonic(instruction).text())   // "ld.global.f32"
#ifndef WEFT_PTX_MNEMONIC_H
#define WEFT_PTX_MNEMONIC_H

#include <array>
#include <cstddef>
#include <string_view>

#include "weft/ptx/program.h"

namespace weft::ptx {

// Opcode, state space and type.
class Mnemonic {
 public:
  Mnemonic() = default;
  explicit Mnemonic(const Instruction& in);
  std::string_view text() const { return {text_.data(), size_}; }

 private:
  void add(std::string_view part);
  std::array<char, 40> text_{};
  std::size_t size_ = 0;
};

}  // namespace weft::ptx

#endif
