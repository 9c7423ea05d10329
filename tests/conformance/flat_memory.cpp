#include "conformance/flat_memory.h"

#include <cstring>

#include "weft/ptx/module.h"
#include "weft/runtime/arguments.h"

namespace weft::test::conformance {

std::uint64_t FlatMemory::allocate(std::uint64_t bytes) {
  const std::uint64_t at = used_;
  used_ += (bytes + 255) / 256 * 256;
  if (used_ > kBytes) throw std::runtime_error("no device memory left");
  return kBase + at;
}

void FlatMemory::write(std::uint64_t to, const void* from, std::uint64_t bytes) {
  std::memcpy(memory_.data() + (to - kBase), from, bytes);
}

void FlatMemory::read(void* to, std::uint64_t from, std::uint64_t bytes) {
  std::memcpy(to, memory_.data() + (from - kBase), bytes);
}

void FlatMemory::load(const std::string& text) {
  const ptx::Module module = ptx::parse(text, "case.ptx");
  symbols_.clear();
  for (const ptx::Variable& variable : module.variables) {
    std::uint64_t& place = places_[variable.name];
    if (place == 0) place = allocate(variable.size);
    symbols_[variable.name] = place;
  }
  program_ = std::make_shared<const ptx::Program>(ptx::decode(module, "k", symbols_));
}

std::vector<std::uint8_t> FlatMemory::parameters(
    const std::vector<std::vector<std::uint8_t>>& arguments) const {
  runtime::Arguments list;
  for (const auto& argument : arguments) list.add_bytes(argument);
  return runtime::lay_out(list, *program_);
}

}  // namespace weft::test::conformance
