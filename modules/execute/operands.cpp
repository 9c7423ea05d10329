#include "execute/operands.h"

namespace weft::execute {
namespace {

template <class Word>
void spread(void* row, unsigned lane, std::uint32_t lanes) {
  auto* const words = static_cast<std::uint8_t*>(row);
  Word value;
  std::memcpy(&value, words + sizeof(Word) * lane, sizeof value);
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    std::memcpy(words + sizeof(Word) * static_cast<unsigned>(__builtin_ctz(rest)), &value, sizeof value);
}

}  // namespace

void Operands::broadcast(const Operation& op, unsigned chunk, unsigned lane, std::uint32_t lanes) const {
  std::uint32_t* const base = registers_.chunk_base(chunk);
  for (unsigned i = 0; i < op.dst.size(); ++i) {
    if (op.dst[i] < 0) continue;
    if ((op.instruction->wide_results >> i & 1) != 0) {
      spread<std::uint64_t>(base + op.dst[i], lane, lanes);
    } else {
      spread<std::uint32_t>(base + op.dst[i], lane, lanes);
    }
  }
  for (const std::int16_t number : op.dst_predicate) {
    if (number < 0) continue;
    const bool holds = (predicate(chunk, number) >> lane & 1) != 0;
    set_predicates(chunk, number, lanes, holds ? ~0u : 0);
  }
}

}  // namespace weft::execute
