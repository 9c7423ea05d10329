// Sections of an experiment's page with a row per program, or with means over programs.
#ifndef WEFT_STUDY_PAGE_EXPERIMENT_TABLES_H
#define WEFT_STUDY_PAGE_EXPERIMENT_TABLES_H

#include <optional>
#include <string>

#include "study/page/experiment_page.h"
#include "study/page/page.h"

namespace weft::study {

// With so many digits after the point; "-" for none.
std::string cell_of(const std::optional<double>& value, int digits);

// Every comparison of a measure.
Section ratios(const Reported& reported, const std::string& measure);
// A measure under all variants.
Section measured(const Reported& reported, const Measure& measure);
// What types are computed from, and how the means of the comparisons move with that; the experiment has such.
Section types_section(const Reported& reported);
Section numbers_section(const Reported& reported);
// Ours beside printed, with the rank correlation of both.
Section beside_printed(const Reported& reported, const ExperimentTable& of);

}  // namespace weft::study

#endif
