// Results of a machine as JSON, and two of them beside each other. README.md describes the file.
#ifndef WEFT_MICROBENCHMARKS_RESULTS_H
#define WEFT_MICROBENCHMARKS_RESULTS_H

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "microbenchmarks/measurement.h"

namespace weft::microbenchmarks {

struct Result {
  std::string name, unit;
  std::vector<std::pair<std::string, std::string>> parameters;
  double value = 0;

  std::string id() const;
};

struct Results {
  std::string machine, software;
  unsigned sms = 0;
  double core_mhz = 0;
  std::vector<Result> measurements;
  // Measurements that the machine does not take, and why.
  std::vector<std::pair<std::string, std::string>> refused;
};

// Runs all of them; `begun` is told of each: its number, and what it is.
Results measure(Bench& bench, const std::vector<Measurement>& list,
                const std::function<void(std::size_t, const Measurement&)>& begun = {});

// A line for each measurement.
std::string json_text(const Results& results);
// Throws InputError naming `where`.
Results from_json(const nlohmann::ordered_json& json, const std::string& where);

}  // namespace weft::microbenchmarks

#endif
