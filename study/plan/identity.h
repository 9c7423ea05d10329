// The identity of a run: one hash over its record (run_record.h) and effective configuration. It names the
// folder of its results and its row in a store.
#ifndef WEFT_STUDY_PLAN_IDENTITY_H
#define WEFT_STUDY_PLAN_IDENTITY_H

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace weft::study {

// XXH3, 128 bits, as 32 hexadecimal digits.
std::string xxh3_128(const std::string& text);

// Removes what tells apart builds of Weft from a record, so that records of the same run of two builds are
// equal. The configuration's hash goes too: another build may know more keys. Compare effective
// configurations instead.
void remove_build(nlohmann::ordered_json& record);

}  // namespace weft::study

#endif
