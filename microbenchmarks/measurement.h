// A measurement: one number of a machine, with what it is of.
#ifndef WEFT_MICROBENCHMARKS_MEASUREMENT_H
#define WEFT_MICROBENCHMARKS_MEASUREMENT_H

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "microbenchmarks/bench.h"

namespace weft::microbenchmarks {

struct Measurement {
  std::string name, unit;
  // In the order in which they are shown; all digits: a number.
  std::vector<std::pair<std::string, std::string>> parameters;
  std::function<double(Bench&)> run;

  // "bandwidth level=l1 bytes=16"
  std::string id() const;
};

// What a machine of these facts can be asked, measured in this order. A file of its own makes each group.
std::vector<Measurement> all_measurements(const Facts& facts, const Sizes& sizes);

void add_instructions(std::vector<Measurement>& all, const Facts& facts);
void add_chases(std::vector<Measurement>& all, const Facts& facts, const Sizes& sizes);
void add_bandwidths(std::vector<Measurement>& all, const Facts& facts, const Sizes& sizes);
void add_access_patterns(std::vector<Measurement>& all, const Facts& facts);
void add_atomics(std::vector<Measurement>& all);
void add_launches(std::vector<Measurement>& all);

}  // namespace weft::microbenchmarks

#endif
