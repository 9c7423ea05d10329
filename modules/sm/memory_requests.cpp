#include "sm/memory_requests.h"

namespace weft::sm {

void MemoryRequests::add_part(std::uint32_t& list, unsigned chunk, std::uint32_t mask) {
  for (std::uint32_t p = list; p != kNone; p = parts_[p].next) {
    if (parts_[p].chunk == chunk) {
      parts_[p].mask |= mask;
      return;
    }
  }
  const std::uint32_t part = parts_.take();
  parts_[part] = {mask, list, static_cast<std::uint16_t>(chunk)};
  list = part;
}

std::uint32_t MemoryRequests::find_or_add(std::uint32_t instruction, std::uint64_t block, Target target,
                                          std::uint32_t start, std::uint64_t window, bool& made) {
  made = false;
  std::uint32_t last = kNone;
  for (std::uint32_t r = start; r != kNone; r = requests_[r].next) {
    const Request& other = requests_[r];
    if (other.block == block && other.target == target && other.window == window) return r;
    last = r;
  }
  made = true;
  const std::uint32_t r = requests_.take();
  Request& request = requests_[r];
  request.block = block;
  request.instruction = instruction;
  request.target = target;
  request.window = window;
  request.low = UINT16_MAX;
  Instruction& owner = instructions_[instruction];
  ++owner.outstanding;
  if (owner.first == kNone) {
    owner.first = r;
    return r;
  }
  if (last == kNone) {
    for (last = owner.first; requests_[last].next != kNone;) last = requests_[last].next;
  }
  requests_[last].next = r;
  return r;
}

}  // namespace weft::sm
