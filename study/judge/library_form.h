// The keys of the other files of the folder of experiments: library.json, claims.json, causes.json
// (claims.h), groups.json (groups.h), area.json (study/page/area_printed.h).
#ifndef WEFT_STUDY_JUDGE_LIBRARY_FORM_H
#define WEFT_STUDY_JUDGE_LIBRARY_FORM_H

#include <string>
#include <vector>

#include "study/plan/form.h"

namespace weft::study {

const FileForm& library_form();
const FileForm& claims_form();
const FileForm& causes_form();
const FileForm& groups_form();
const FileForm& area_form();

// Every file that people write for a study, experiments and sweeps among them.
std::vector<const FileForm*> study_files();
// experiments/REFERENCE.md.
std::string reference_of_study_files();

}  // namespace weft::study

#endif
