#include "study/judge/groups.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/config_document.h"
#include "study/judge/library_form.h"
#include "study/plan/place.h"
#include "weft/common/error.h"

namespace weft::study {

ExperimentGroups read_groups(const std::string& file, const std::vector<std::string>& experiments) {
  ExperimentGroups groups;
  std::error_code none;
  if (!std::filesystem::exists(file, none)) return groups;
  const nlohmann::json document = config::read_file(file);
  for (const auto& [name, place] : Place(document, file).members()) {
    place.keys(groups_form()["group"]);
    ExperimentGroup group{place.at("about").text(), place.text_of("size"), {}};
    if (std::find(experiments.begin(), experiments.end(), name) != experiments.end())
      throw InputError(place.where(), "duplicate name: an experiment has this name");
    for (const Place& item : place.at("experiments").items()) {
      const std::string experiment = item.one_of(experiments);
      if (std::find(group.experiments.begin(), group.experiments.end(), experiment) !=
          group.experiments.end())
        item.refuse("each experiment once");
      group.experiments.push_back(experiment);
    }
    groups[name] = group;
  }
  return groups;
}

}  // namespace weft::study
