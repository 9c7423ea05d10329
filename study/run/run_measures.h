// What one run measured, as tables of runs show it.
#ifndef WEFT_STUDY_RUN_RUN_MEASURES_H
#define WEFT_STUDY_RUN_RUN_MEASURES_H

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace weft::study {

// Shares and rates are of all SMs together.
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

// A row of a table of runs.
struct Row {
  std::string workload, scheme;
  int exit_code = 0;
  std::string result;  // "verified", or why not
  std::optional<Measures> measures;
};

}  // namespace weft::study

#endif
