// samples.csv and power.csv as series over time for a page: all SMs together, in few enough points to draw.
#ifndef WEFT_STUDY_PAGE_REPORT_SERIES_H
#define WEFT_STUDY_PAGE_REPORT_SERIES_H

#include <nlohmann/json.hpp>

#include "study/run/result_run.h"

namespace weft::study {

inline constexpr std::size_t kMostPoints = 1000;

// {"cycle": [last cycle of each point], "columns": {NAME: [value, ...], ...}}: counters are summed over the
// SMs and the intervals of a point, gauges over the SMs as they were at its end. null if the run was not
// sampled. Throws InputError for a broken table.
nlohmann::ordered_json sample_series(const ResultRun& run);
// The same of power.csv: energies summed, `power_w` averaged over the cycles.
nlohmann::ordered_json power_series(const ResultRun& run);

}  // namespace weft::study

#endif
