// Division by a number that is known only at construction and is mostly a power of two.
#ifndef WEFT_COMMON_FAST_DIVIDER_H
#define WEFT_COMMON_FAST_DIVIDER_H

#include <cstdint>

namespace weft {

class FastDivider {
 public:
  // `divisor` > 0.
  explicit FastDivider(std::uint64_t divisor = 1) : divisor_(divisor) {
    power_of_two_ = (divisor & (divisor - 1)) == 0;
    while (power_of_two_ && (std::uint64_t{1} << shift_) < divisor) ++shift_;
  }
  std::uint64_t quotient(std::uint64_t x) const { return power_of_two_ ? x >> shift_ : x / divisor_; }
  std::uint64_t remainder(std::uint64_t x) const { return power_of_two_ ? x & (divisor_ - 1) : x % divisor_; }
  std::uint64_t divisor() const { return divisor_; }

 private:
  std::uint64_t divisor_;
  unsigned shift_ = 0;
  bool power_of_two_ = true;
};

}  // namespace weft

#endif
