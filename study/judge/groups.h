// What one command reproduces: an experiment, the areas and access times of tables, or a group of these, as
// experiments/groups.json has them.
#ifndef WEFT_STUDY_JUDGE_GROUPS_H
#define WEFT_STUDY_JUDGE_GROUPS_H

#include <map>
#include <string>
#include <vector>

namespace weft::study {

// Stands among experiments, and needs no runs (area_printed.h).
constexpr const char* kAreaPage = "area";

struct ExperimentGroup {
  std::string about, size;               // size: of all programs; empty: as the experiments have it
  std::vector<std::string> experiments;  // in the order in which they are done
};
using ExperimentGroups = std::map<std::string, ExperimentGroup>;

// `experiments`: the names that groups may have, with kAreaPage. No file: no
// groups. Throws InputError.
ExperimentGroups read_groups(const std::string& file, const std::vector<std::string>& experiments);

}  // namespace weft::study

#endif
