// Of 32 or 64 sets of 128-byte lines: the address bits from 7 on, of which five are combined by exclusive or
// with bits 13, 14, 15, 17 and 19, as measured on that generation (Nugteren et al., HPCA 2014). Lines at
// distances that are powers of two then lie in different sets.
#include "weft/cache/set_index.h"

namespace weft::cache {
namespace {

class Fermi final : public SetIndex {
 public:
  explicit Fermi(const Setting&) {}
  static std::string refuses(const Setting& setting) {
    const bool fits = (setting.sets == 32 || setting.sets == 64) && setting.line_bytes == 128;
    return fits ? "" : "32 or 64 sets of 128 bytes";
  }
  std::uint64_t mixed(std::uint64_t line) const override {
    return line ^ ((line >> 6 & 7) | (line >> 7 & 8) | (line >> 8 & 16));
  }
};

}  // namespace

WEFT_REGISTER_PART(part<Fermi>("fermi",
                               "five of its bits combined with higher ones, for 32 or 64 sets of 128 bytes")
                       .with_rule(Fermi::refuses))

}  // namespace weft::cache
