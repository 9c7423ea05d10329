// What one claim needs of its experiment: the claim alone, and the runs that its values look at.
#ifndef WEFT_STUDY_JUDGE_CLAIM_RUNS_H
#define WEFT_STUDY_JUDGE_CLAIM_RUNS_H

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "study/judge/experiment.h"
#include "study/plan/plan.h"

namespace weft::study {

// Runs by program and variant, as an experiment names them.
using RunNames = std::set<std::pair<std::string, std::string>>;

// From which the types of programs are computed; empty: no types are.
RunNames runs_of_types(const Experiment& experiment);
// That the claim looks at. Types must be settled (classify), else runs of all programs are there.
RunNames runs_of(const FindingPlan& finding);
// ... under its other readings, too.
RunNames runs_with_readings(const ClaimPlan& plan);

// The experiment with this claim alone, which it has: what else it shows is gone, and programs and variants
// that the claim does not need. A claim that is no headline has no settings.
Experiment with_claim_alone(Experiment experiment, const std::string& id);

// Numbers of the plan's runs of these names, each once; `changed`: those with a value of the machine changed
// (the third axis of an ExperimentPlan), else those of the machine as it is.
std::vector<std::size_t> numbers_of(const Plan& plan, const RunNames& names, bool changed);

}  // namespace weft::study

#endif
