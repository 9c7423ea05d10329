#include "ptx/mnemonic.h"

#include <algorithm>

namespace weft::ptx {

Mnemonic::Mnemonic(const Instruction& in) {
  constexpr std::array<const char*, 7> kSpaces = {"", ".global", ".shared", ".local", ".const", ".param", ""};
  add(name_of(in.op));
  if (in.unit == Unit::kMemory) add(kSpaces[static_cast<unsigned>(in.space)]);
  if (in.type == Type::kNone) return;
  add(".");
  add(name_of(in.type));
}

void Mnemonic::add(std::string_view part) {
  const std::size_t count = std::min(part.size(), text_.size() - size_);
  std::copy_n(part.data(), count, text_.data() + size_);
  size_ += count;
}

}  // namespace weft::ptx
