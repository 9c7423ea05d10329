// What the headline of an experiment owes to its inputs: the same with others, generated from other seeds.
#ifndef WEFT_SC_MAIN_REPRODUCE_SPREAD_H
#define WEFT_SC_MAIN_REPRODUCE_SPREAD_H

#include "sc_main/reproduce_page.h"
#include "sc_main/reproduce_report.h"

namespace weft::cli {

// Per claim of the headline: the least, the mean, the most and the standard deviation over the inputs, and
// the verdict for how many of them. `reported.seeds` is not empty.
Section spread_section(const Reported& reported);

}  // namespace weft::cli

#endif
