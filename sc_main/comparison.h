// The result of `weft compare`: a row per workload and scheme, as a table, as CSV and as JSON.
#ifndef WEFT_SC_MAIN_COMPARISON_H
#define WEFT_SC_MAIN_COMPARISON_H

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

// What one run measured. Shares and rates are of all SMs together.
struct Measures {
  std::uint64_t cycles = 0, thread_instructions = 0;
  double ipc = 0;
  double lane_activity = 0;      // [HARP eq. 2]
  std::optional<double> oracle;  // lane activity that no regrouping exceeds [HARP 3.2]
  double depth_utilisation = 0;  // SIMD cycles with an active lane / SIMD cycles [HARP eq. 1]
  double simd_efficiency = 0;    // [ST Fig. 4]
  double idle_share = 0;         // [DWR III]
  double coalescing_rate = 0;    // [DWR eq. 1]
  // Shares of the threads in cycles in which no scheduler issued. `stalled` is reconvergence and inactive,
  // which a scheme could have let run [HARP Fig. 14].
  std::optional<double> at_barrier, at_reconvergence, inactive, stalled;
  std::uint64_t storage_bits = 0;  // of the scheme's tables, per SM; 0: it does not say
  double cpu_seconds = 0;

  // From the stats.json and config.json of a run that went to its end.
  static Measures of(const nlohmann::ordered_json& statistics, const nlohmann::ordered_json& config);
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

std::string table(const Comparison& comparison);
std::string csv(const Comparison& comparison);
nlohmann::ordered_json json(const Comparison& comparison);

}  // namespace weft::cli

#endif
