#include "platform/dram_standard.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/config_reader.h"
#include "common/config_writer.h"
#include "platform/config_files.h"
#include "weft/common/error.h"
#include "weft/dram/standard.h"

namespace weft {
namespace {

using nlohmann::json;

// The values of a standard, by their keys in the group `dram`.
struct StandardValues {
  dram::Standard& standard;
  void describe(config::Visitor& v) { standard.describe_values(v); }
};

json values_of(const std::string& name, const std::string& where) {
  const std::string path = config_path(name, "dram", where);
  const json document = config::read_file(path);
  dram::Standard standard;
  config::load(standard, document, path);
  StandardValues described{standard};
  json values = config::write(described);
  for (const auto& [key, value] : values.items()) {
    if (!document.contains(key))
      throw InputError(path + ": /" + key, "is missing; a DRAM standard gives every key that it can give");
  }
  standard.scheduler.timing.check(path + ": ");
  return values;
}

// Takes `dram.standard` out of the document.
bool take_standard(json& document, std::string& name, const std::string& where) {
  if (!document.is_object()) return false;
  const auto dram = document.find("dram");
  if (dram == document.end() || !dram->is_object()) return false;
  const auto standard = dram->find("standard");
  if (standard == dram->end()) return false;
  if (!standard->is_string())
    throw InputError(
        where, "is " + config::found(*standard) + "; allowed: the name of a file in configs/dram, or a path");
  name = standard->get<std::string>();
  dram->erase(standard);
  return true;
}

}  // namespace

void apply_dram_standard(json& document, const std::string& where) {
  std::string name;
  const std::string place = where + ": /dram/standard";
  if (!take_standard(document, name, place)) return;
  json& dram = document["dram"];
  const json values = values_of(name, place);
  for (const auto& [key, value] : values.items()) dram.emplace(key, value);
}

void apply_dram_standard(json& document, config::Override& setting) {
  std::string name;
  const std::string place = setting.origin() + (setting.option.empty() ? ": /dram/standard" : "");
  if (!take_standard(document, name, place)) return;
  json& dram = document["dram"];
  const json values = values_of(name, place);
  const auto sets = [&, given = setting.pointers](const std::string& pointer) {
    return std::find(given.begin(), given.end(), pointer) != given.end();
  };
  for (const auto& [key, value] : values.items()) {
    const std::string pointer = "/dram/" + key;
    // A setting of several keys, such as dram={"standard": "gddr3", "t_cl": 9}.
    if (sets(pointer) || (sets("/dram") && dram.contains(key))) continue;
    dram[key] = value;
    setting.pointers.push_back(pointer);
  }
}

}  // namespace weft
