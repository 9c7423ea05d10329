// Names that changed: results and stores of an older Weft are read under today's.
//
// A row of the table says where a statistic or a key of the configuration was, and where it is now. Whoever
// renames one adds a row here.
#ifndef WEFT_STUDY_RUN_RENAMES_H
#define WEFT_STUDY_RUN_RENAMES_H

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace weft::study {

// Both with dots. A statistic has the kinds of its groups: "sm*.memory.l1d.hits". A path of a group renames
// what is in it, too.
struct Rename {
  std::string from, to;
};
const std::vector<Rename>& renamed_statistics();
const std::vector<Rename>& renamed_keys();

// A configuration as `config.json` has it. A key that stands there under both names stays, to be refused.
void rename_keys(nlohmann::json& config, const std::vector<Rename>& renames = renamed_keys());
// A setting, "sm.l1d.sets=64", whose key may have changed its name.
std::string renamed_setting(const std::string& setting, const std::vector<Rename>& renames = renamed_keys());
// What a stats.json has in "statistics". Only the names of a path may change, not the number of its steps.
void rename_statistics(nlohmann::ordered_json& statistics,
                       const std::vector<Rename>& renames = renamed_statistics());
// The same in a whole stats.json.
void rename_results(nlohmann::ordered_json& results);
// A path of a statistic, of kinds ("sm*.memory.l1d.hits"), of an experiment ("sm.memory.l1d.hits") or of one
// instance ("sm3.memory.l1d.hits").
std::string renamed_path(const std::string& path, const std::vector<Rename>& renames = renamed_statistics());

}  // namespace weft::study

#endif
