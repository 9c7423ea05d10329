// The keys of an experiment (experiment.h).
#ifndef WEFT_STUDY_JUDGE_EXPERIMENT_FORM_H
#define WEFT_STUDY_JUDGE_EXPERIMENT_FORM_H

#include "study/plan/form.h"

namespace weft::study {

const FileForm& experiment_form();

}  // namespace weft::study

#endif
