// The result of `weft compare`: a row per workload and scheme, as a table, as CSV and as JSON.
#ifndef WEFT_SC_MAIN_COMPARISON_H
#define WEFT_SC_MAIN_COMPARISON_H

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sc_main/paint.h"

namespace weft::cli {

// What one run measured. Shares and rates are of all SMs together.
struct Measures {
  std::uint64_t cycles = 0;
  std::uint64_t thread_instructions = 0, executed_thread_instructions = 0;  // issued; their guard held
  // Shares and rates of modules/measures by name: those that the run has.
  std::map<std::string, double, std::less<>> derived;
  std::uint64_t storage_bits = 0;  // of the scheme's tables, per SM; 0: it does not say
  // What bounded the run: a resource of stats.json's utilisation or "latency", how busy that was, and in
  // words.
  std::string bound, bound_by, bound_text, bound_waits;
  double bound_busy = 0;
  // Of sm.observe.events. EDP in J s.
  std::optional<double> joules, watts, edp, ed2p;
  // mm2 in an SM: the scheme's tables, and these with the registers; none if the scheme declares no arrays.
  std::optional<double> scheme_mm2, area_mm2;
  double cpu_seconds = 0;

  // The derived value of this name; none if the run does not have it.
  std::optional<double> of(const char* name) const;
  // From the stats.json of a run that went to its end.
  static Measures of(const nlohmann::ordered_json& statistics);
};

struct Row {
  std::string workload, scheme;
  int exit_code = 0;
  std::string result;  // "verified", or why not
  std::optional<Measures> measures;
};

struct Comparison {
  std::string config, size;
  std::vector<Row> rows;  // by workload, then by scheme, in the order asked for

  // Cycles of the first scheme on the same workload / those of this row; none if either did not finish.
  std::optional<double> speedup(const Row& row) const;
  // Harmonic and geometric mean of a scheme's speed-ups; none if one is missing.
  struct Means {
    double harmonic = 0, geometric = 0;
  };
  std::optional<Means> means(const std::string& scheme) const;
};

std::vector<std::string> schemes_of(const Comparison& comparison);
// A table for each subject, at most kPageWidth wide as far as names and reasons leave room, and a legend.
std::string table(const Comparison& comparison, const Paint& paint = {});
std::string csv(const Comparison& comparison);
nlohmann::ordered_json json(const Comparison& comparison);

std::string fixed(double value, int digits);

}  // namespace weft::cli

#endif
