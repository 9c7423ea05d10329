// The areas and access times that the papers print beside those of the machines' own tables:
// experiments/area.json says which array of which machine stands beside which claim.
#ifndef WEFT_STUDY_PAGE_AREA_PRINTED_H
#define WEFT_STUDY_PAGE_AREA_PRINTED_H

#include <string>
#include <vector>

#include "study/judge/library.h"
#include "study/page/claim_page.h"

namespace weft::study {

// Writes area.md and area.json to `folder`, and verdicts.md anew; prints the page if asked to. Returns
// whether all is where it should be. Throws InputError.
bool report_printed_areas(const Library& library, const std::string& folder, bool print);

// The claims of area.json, by ID, and one of them for claim_page.h. Throw InputError.
std::vector<std::string> printed_areas_of(const Library& library);
ShownClaim shown_area(const Library& library, const std::string& id);

}  // namespace weft::study

#endif
