// A value of an experiment for people: its formula in words, and the numbers of programs that go into it.
#ifndef WEFT_STUDY_PAGE_VALUE_WORDS_H
#define WEFT_STUDY_PAGE_VALUE_WORDS_H

#include <string>

#include "study/judge/experiment.h"
#include "study/page/page.h"

namespace weft::study {

// "harmonic mean over 13 programs of speed under HARP over that under SBR"
std::string in_words(const Experiment& experiment, const Value& value);

// A row per value of the claim, or per part of one: what it is in words, and what it comes to.
Table formula_table(const Experiment& experiment, const FindingPlan& finding, const Lookup& at);

// A row per program of each of these: the measure under each variant, and what goes into the value.
Table numbers_table(const Experiment& experiment, const FindingPlan& finding, const Lookup& at);

}  // namespace weft::study

#endif
