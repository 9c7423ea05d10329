// The line's number modulo an irreducible polynomial over GF(2) (Rau: Pseudo-randomly interleaved memory,
// ISCA 1991): lines at any distance that is a power of two lie in different sets.
#include "common/bits.h"
#include "common/polynomial_hash.h"
#include "weft/cache/set_index.h"

namespace weft::cache {
namespace {

class Polynomial final : public SetIndex {
 public:
  explicit Polynomial(const Setting& setting) : hash_(static_cast<unsigned>(__builtin_ctzll(setting.sets))) {}
  static std::string refuses(const Setting& setting) {
    const bool fits = is_power_of_two(setting.sets) && setting.sets > 1 &&
                      setting.sets <= std::uint64_t{1} << PolynomialHash::kMostBits;
    return fits ? "" : "numbers of sets that are powers of two from 2 to 65536";
  }
  std::uint64_t mixed(std::uint64_t line) const override { return hash_.remainder(line); }

 private:
  const PolynomialHash hash_;
};

}  // namespace

WEFT_REGISTER_PART(part<Polynomial>("polynomial", "the line's number modulo an irreducible polynomial")
                       .with_rule(Polynomial::refuses))

}  // namespace weft::cache
