// The page of an experiment, and the page of all claims.
#ifndef WEFT_STUDY_PAGE_EXPERIMENT_PAGE_H
#define WEFT_STUDY_PAGE_EXPERIMENT_PAGE_H

#include <optional>
#include <string>
#include <vector>

#include "study/judge/results.h"
#include "study/page/page.h"

namespace weft::study {

struct Reported {
  const Experiment& experiment;
  const Results& results;
  const std::vector<ClaimResult>& claims;
  const std::vector<SettingResult>& settings;
  const std::vector<SeedResult>& seeds;
  const Causes& causes;
  std::string command;  // that makes the page
  bool whole = true;    // all programs, at the sizes of the experiment
};
Page page_of(const Reported& reported);
// Headings of the columns with the verdicts of a claim, and of the rows that count them.
constexpr const char* kAtDefaults = "at the defaults";
constexpr const char* kWhatever = "whatever is not printed";
// "not judged" for none.
std::string cell_of(const std::optional<Verdict>& verdict);
// The claims with both verdicts, and why they are so.
Section claims_section(const std::vector<ClaimResult>& claims, const Causes& causes, bool whole);

// Every claim of every paper, with the verdict that the results of experiments (the JSON files of `folder`)
// give. Files of another form are left alone.
Page verdicts_of(const Claims& claims, const std::string& folder);

}  // namespace weft::study

#endif
