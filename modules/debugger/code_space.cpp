#include "debugger/code_space.h"

#include <algorithm>
#include <utility>

namespace weft::debugger {

const Code& CodeSpace::add(const std::shared_ptr<const ptx::Program>& program,
                           std::vector<ptx::NamedRegister> registers) {
  if (const Code* const known = find(*program)) return *known;
  all_.push_back(std::make_unique<Code>(Code{program, std::move(registers), end_}));
  end_ += (all_.back()->bytes() + kAlignment - 1) / kAlignment * kAlignment;
  return *all_.back();
}

const Code* CodeSpace::find(const ptx::Program& program) const {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const auto& code) { return code->program.get() == &program; });
  return found == all_.end() ? nullptr : found->get();
}

const Code* CodeSpace::at(std::uint64_t address) const {
  auto after = std::upper_bound(all_.begin(), all_.end(), address,
                                [](std::uint64_t where, const auto& code) { return where < code->base; });
  if (after == all_.begin()) return nullptr;
  const Code& code = **--after;
  return address - code.base < code.bytes() ? &code : nullptr;
}

}  // namespace weft::debugger
