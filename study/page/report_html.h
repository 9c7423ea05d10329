// The page of `weft report`: the sources in report_page/ and the data, in one file that loads nothing.
#ifndef WEFT_STUDY_PAGE_REPORT_HTML_H
#define WEFT_STUDY_PAGE_REPORT_HTML_H

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace weft::study {

// The chart libraries as one script (report_page/README.md); empty if they were not there when Weft was
// built.
std::string chart_libraries();

// `charts`: as above. Text from the model is data: it is never read as markup or as a script. Throws
// InputError if a source of the page is missing.
std::string report_html(const nlohmann::ordered_json& model, const std::string& charts);

}  // namespace weft::study

#endif
