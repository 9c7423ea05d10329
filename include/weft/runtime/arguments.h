// Kernel arguments, and their layout in the parameter block of a launch.
#ifndef WEFT_RUNTIME_ARGUMENTS_H
#define WEFT_RUNTIME_ARGUMENTS_H

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/ptx/program.h"

namespace weft::runtime {

// Values of any trivially copyable type, in the order of the kernel's parameters.
class Arguments {
 public:
  template <class T>
  Arguments& add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    values_.emplace_back(bytes, bytes + sizeof(T));
    return *this;
  }
  Arguments& add_bytes(std::vector<std::uint8_t> bytes) {
    values_.push_back(std::move(bytes));
    return *this;
  }
  const std::vector<std::vector<std::uint8_t>>& values() const { return values_; }

 private:
  std::vector<std::vector<std::uint8_t>> values_;
};

// The parameter block: program.parameter_bytes bytes. Throws InputError if the number of arguments or the
// size of one differs from the kernel's parameter list, which the message gives.
std::vector<std::uint8_t> lay_out(const Arguments& arguments, const ptx::Program& program);

// "(u64 a, f32 scale, b8 table[64])"
std::string signature(const ptx::Program& program);

}  // namespace weft::runtime

#endif
