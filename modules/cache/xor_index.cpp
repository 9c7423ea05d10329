// The low bits of the line's number, combined with the bits above them by exclusive or (Gonzalez, Valero,
// Topham, Parcerisa: Eliminating cache conflict misses through XOR-based placement functions, ICS 1997).
#include "common/bits.h"
#include "weft/cache/set_index.h"

namespace weft::cache {
namespace {

class Xor final : public SetIndex {
 public:
  explicit Xor(const Setting& setting) : shift_(static_cast<unsigned>(__builtin_ctzll(setting.sets))) {}
  static std::string refuses(const Setting& setting) {
    return is_power_of_two(setting.sets) ? "" : "numbers of sets that are powers of two";
  }
  std::uint64_t mixed(std::uint64_t line) const override { return line ^ line >> shift_; }

 private:
  const unsigned shift_;
};

}  // namespace

WEFT_REGISTER_PART(part<Xor>("xor", "combined with as many bits above it").with_rule(Xor::refuses))

}  // namespace weft::cache
