// The line's number modulo the sets.
#include "weft/cache/set_index.h"

namespace weft::cache {
namespace {

class Modulo final : public SetIndex {
 public:
  explicit Modulo(const Setting&) {}
  std::uint64_t mixed(std::uint64_t line) const override { return line; }
  bool plain() const override { return true; }
};

}  // namespace

WEFT_REGISTER_PART(part<Modulo>("modulo", "the line's number modulo the sets"))

}  // namespace weft::cache
