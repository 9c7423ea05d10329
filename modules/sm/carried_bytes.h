// Copies of bytes of memory that go along with transactions, where somebody looks at them: taken when an
// instruction is issued or a line is evicted, given to the transaction when it is sent.
#ifndef WEFT_SM_CARRIED_BYTES_H
#define WEFT_SM_CARRIED_BYTES_H

#include <cstdint>
#include <cstring>
#include <vector>

namespace weft::sm {

class CarriedBytes {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Copies have at most `bytes`.
  explicit CarriedBytes(std::size_t bytes) : stride_(bytes) {}
  void clear() { *this = CarriedBytes(stride_); }

  // Its number, until `give`.
  std::uint32_t take(const std::uint8_t* from, std::size_t bytes) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(bytes_.size() / stride_));
      bytes_.resize(bytes_.size() + stride_);
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    std::memcpy(bytes_.data() + number * stride_, from, bytes);
    return number;
  }
  const std::uint8_t* of(std::uint32_t number) const { return bytes_.data() + number * stride_; }
  void give(std::uint32_t number) {
    if (number != kNone) free_.push_back(number);
  }

 private:
  std::size_t stride_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint32_t> free_;
};

}  // namespace weft::sm

#endif
