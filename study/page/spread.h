// What the headline of an experiment owes to its inputs: the same with others, generated from other seeds.
#ifndef WEFT_STUDY_PAGE_SPREAD_H
#define WEFT_STUDY_PAGE_SPREAD_H

#include "study/page/experiment_page.h"
#include "study/page/page.h"

namespace weft::study {

// Per claim of the headline: the least, the mean, the most and the standard deviation over the inputs, and
// the verdict for how many of them. `reported.seeds` is not empty.
Section spread_section(const Reported& reported);

}  // namespace weft::study

#endif
