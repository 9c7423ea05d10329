// Claims about energy, if events cost something else: by what the runs counted, so that none is repeated.
#ifndef WEFT_STUDY_JUDGE_OTHER_PRICES_H
#define WEFT_STUDY_JUDGE_OTHER_PRICES_H

#include <vector>

#include "study/judge/results.h"

namespace weft::study {

// A key of `energy`: it changes prices alone.
bool is_about_prices(const Sensitivity& sensitivity);

// The headline for each setting of such keys, and with each event at the experiment's multiples of its price.
// Only events that take a thousandth of a run's energy or more. `experiment` must outlive the results.
std::vector<SettingResult> with_other_prices(const Experiment& experiment, const Results& results,
                                             const Rules& rules, bool whole);

}  // namespace weft::study

#endif
