#include "microbenchmarks/measurement.h"

namespace weft::microbenchmarks {

std::string Measurement::id() const {
  std::string text = name;
  for (const auto& [key, value] : parameters) text.append(" ").append(key).append("=").append(value);
  return text;
}

std::vector<Measurement> all_measurements(const Facts& facts, const Sizes& sizes) {
  std::vector<Measurement> all;
  add_instructions(all, facts);
  add_access_patterns(all, facts);
  add_atomics(all);
  add_launches(all);
  add_bandwidths(all, facts, sizes);
  add_chases(all, facts, sizes);
  return all;
}

}  // namespace weft::microbenchmarks
