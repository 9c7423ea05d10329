// The keys of plans that people write as files (plan_file.h).
#ifndef WEFT_STUDY_PLAN_PLAN_FORM_H
#define WEFT_STUDY_PLAN_PLAN_FORM_H

#include <cstddef>

#include "study/plan/form.h"

namespace weft::study {

// Combinations that a plan may have.
inline constexpr std::size_t kMostPoints = 1'000'000;

const FileForm& plan_form();

}  // namespace weft::study

#endif
