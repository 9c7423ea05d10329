// Plans written as JSON files: a machine, axes, and a run for each combination of their values. plan_form.h
// has the keys of the files, docs/sweeps.md is the guide.
#ifndef WEFT_STUDY_PLAN_PLAN_FILE_H
#define WEFT_STUDY_PLAN_PLAN_FILE_H

#include <string>

#include "study/plan/plan.h"

namespace weft::study {

// The machine of a plan that names none.
inline constexpr const char* kDefaultConfig = "gtx480";

// Whether a text names a file: it has a slash, or ends in .json.
bool names_file(const std::string& name);

// Throws InputError with the place for what is no plan, and for a configuration, a workload or a program that
// does not exist.
Plan plan_of_file(const std::string& file);

}  // namespace weft::study

#endif
