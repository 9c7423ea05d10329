// The result of `weft compare`: a row per workload and scheme, as a table, as CSV and as JSON.
#ifndef WEFT_STUDY_JUDGE_COMPARISON_H
#define WEFT_STUDY_JUDGE_COMPARISON_H

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "study/terminal/paint.h"

namespace weft::study {

// What one run measured. Shares and rates are of all SMs together.
struct Measures {
  std::uint64_t cycles = 0;
  std::uint64_t thread_instructions = 0, executed_thread_instructions = 0;  // issued; their guard held
  double ipc = 0;                                                           // of those issued
  double lane_activity = 0;                                                 // [HARP eq. 2]
  std::optional<double> oracle;  // lane activity that no regrouping exceeds [HARP 3.2]
  // Of the cycles of schedulers that held threads, the share in which ...
  double depth_utilisation = 0;   // a lane was active [HARP eq. 1]
  double idle_share = 0;          // no warp was ready and no beat under way [DWR III]
  double idle_share_blocked = 0;  // ... or ready warps waited for the load-store unit only
  double idle_share_k = 0;        // K: 1 - beats with an active lane / these cycles
  double simd_efficiency = 0;     // [ST Fig. 4]
  double coalescing_rate = 0;     // [DWR eq. 1]
  // Shares of the threads in cycles without an active lane. `stalled` is reconvergence and inactive,
  // which a scheme could have let run [HARP Fig. 14].
  std::optional<double> at_barrier, at_reconvergence, inactive, stalled;
  std::optional<double> stalled_of_launched;  // the same sum / launched threads x all cycles of their blocks
  std::uint64_t storage_bits = 0;             // of the scheme's tables, per SM; 0: it does not say
  // What bounded the run: a resource of stats.json's utilisation or "latency", how busy that was, and in
  // words.
  std::string bound, bound_by, bound_text, bound_waits;
  double bound_busy = 0;
  // Of sm.observe.events. EDP in J s.
  std::optional<double> joules, watts, edp, ed2p;
  // mm2 in an SM: the scheme's tables, and these with the registers; none if the scheme declares no arrays.
  std::optional<double> scheme_mm2, area_mm2;
  double cpu_seconds = 0;

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

}  // namespace weft::study

#endif
