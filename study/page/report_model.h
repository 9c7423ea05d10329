// What the page of `weft report` shows, as JSON: the runs' results, reduced and put into words where they
// need any, so that the page's scripts only draw.
#ifndef WEFT_STUDY_PAGE_REPORT_MODEL_H
#define WEFT_STUDY_PAGE_REPORT_MODEL_H

#include <nlohmann/json.hpp>
#include <vector>

#include "study/run/result_run.h"

namespace weft::study {

// {"weft": VERSION, "runs": [...], "differences": [{"key", "values": [one per run]}, ...]}. The keys of a run
// are in the README of study/page/report_page. Throws InputError for files that are broken.
nlohmann::ordered_json report_model(const std::vector<ResultRun>& runs);

// Keys of the configurations whose values are not the same in all runs: "warp_formation/scheme". `null` where
// a run has no such key.
nlohmann::ordered_json config_differences(const std::vector<ResultRun>& runs);

}  // namespace weft::study

#endif
