#include "weft/runtime/arguments.h"

#include <algorithm>

#include "weft/common/error.h"

namespace weft::runtime {

std::string signature(const ptx::Program& program) {
  std::string text = "(";
  for (const ptx::Parameter& parameter : program.parameters) {
    if (text.size() > 1) text += ", ";
    text += std::string(ptx::name_of(parameter.type)) + " " + parameter.name;
    const std::uint64_t element = std::max(1u, ptx::bytes_of(parameter.type));
    if (parameter.size != element) text += "[" + std::to_string(parameter.size / element) + "]";
  }
  return text + ")";
}

std::vector<std::uint8_t> lay_out(const Arguments& arguments, const ptx::Program& program) {
  const auto& values = arguments.values();
  const std::string where = "kernel " + program.name;
  if (values.size() != program.parameters.size()) {
    throw InputError(where, "got " + std::to_string(values.size()) + " arguments; the kernel takes " +
                                std::to_string(program.parameters.size()) + ": " + signature(program));
  }
  std::vector<std::uint8_t> block(program.parameter_bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ptx::Parameter& parameter = program.parameters[i];
    if (values[i].size() != parameter.size) {
      throw InputError(where, "argument " + std::to_string(i) + " has " + std::to_string(values[i].size()) +
                                  " bytes; parameter " + parameter.name + " has " +
                                  std::to_string(parameter.size) + ": " + signature(program));
    }
    std::copy(values[i].begin(), values[i].end(),
              block.begin() + static_cast<std::ptrdiff_t>(parameter.offset));
  }
  return block;
}

}  // namespace weft::runtime
