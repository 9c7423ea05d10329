#include "execute/watch.h"

namespace weft::execute {

using Kind = ObservedAccess::Kind;

std::uint32_t Watch::permitted(const Access& access) {
  const ptx::Opcode opcode = access.op.instruction->op;
  const bool copies = access.op.memory == nullptr;  // from its own space to shared memory
  // Nobody knows what is allocated in system memory.
  const std::uint32_t unwatched =
      access.space == ptx::Space::kGlobal
          ? spaces_.in_system(access.mask, access.address, access.op.element_bytes)
          : 0;
  const std::uint32_t watched = access.mask & ~unwatched;
  if (watched == 0) return unwatched;
  const Kind kind = opcode == ptx::Opcode::kLd || (copies && access.space != ptx::Space::kShared)
                        ? Kind::kLoad
                    : opcode == ptx::Opcode::kSt || copies ? Kind::kStore
                                                           : Kind::kAtomic;
  const std::uint8_t* const memory = spaces_.region(access.space, access.block).base;
  return ask(access.of(watched), kind, access.op.element_bytes, memory) | unwatched;
}

bool Watch::texel_permitted(const Access& access, Kind kind, unsigned bytes) {
  return ask(access, kind, bytes, spaces_.memory().image) != 0;
}

std::uint32_t Watch::ask(const Access& access, Kind kind, std::uint32_t bytes, const std::uint8_t* memory) {
  const std::uint32_t allowed =
      access.mask & observer_->access({access, kind, state_.kernel, sm_, bytes, memory,
                                       operands_.registers_of(access.chunk)});
  state_.refused[access.group] |= access.mask & ~allowed;
  return allowed;
}

bool Watch::stop() {
  return faults_.refuse(FaultKind::kStopped, observer_->stop_reason());
}

}  // namespace weft::execute
