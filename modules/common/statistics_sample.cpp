#include "common/statistics_sample.h"

#include <nlohmann/json.hpp>
#include <string>

#include "weft/common/error.h"

namespace weft::statistics {

using nlohmann::ordered_json;

namespace {

void add(const ordered_json& group, const std::string& name, std::vector<const ordered_json*>& to) {
  const auto found = group.find(name);
  if (found != group.end()) to.push_back(&*found);
}

}  // namespace

std::vector<const ordered_json*> Sample::find(Path path) const {
  std::vector<const ordered_json*> found{&json_};
  for (const Step& step : path) {
    std::vector<const ordered_json*> below;
    for (const ordered_json* group : found) {
      if (!group->is_object()) continue;
      add(*group, name_of(step.name, step.index), below);
      for (unsigned i = 0; !step.index; ++i) {
        const std::size_t before = below.size();
        add(*group, name_of(step.name, i), below);
        if (below.size() == before) break;
      }
    }
    found = std::move(below);
  }
  return found;
}

double Sample::sum(Path path) const {
  const auto found = find(path);
  if (found.empty()) {
    std::string text;
    for (const Step& step : path) text += "/" + name_of(step.name, step.index);
    throw InputError("statistics", "there is no " + text);
  }
  double sum = 0;
  for (const ordered_json* value : found) sum += value->get<double>();
  return sum;
}

}  // namespace weft::statistics
